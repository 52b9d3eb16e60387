//! What the scalable filter promises, as laws.

use pds_bloom::prelude::*;
use pds_bloom::{ScalableBloomFilter, ScalableBloomParams, WyHasher};
use pds_testkit::{DistinctKeys, WireLaws, forge, laws, refused_merge_law, wire_laws};
use proptest::prelude::*;

fn params(keys: u64, fpr: f64) -> ScalableBloomParams {
    ScalableBloomParams::for_fpr(keys, fpr).expect("valid targets")
}

fn grown(params: ScalableBloomParams, keys: impl IntoIterator<Item = u64>) -> ScalableBloomFilter {
    let mut filter = ScalableBloomFilter::new(params);
    for key in keys {
        filter.insert(&key).expect("room");
    }
    filter
}

fn filter(keys: &[u64]) -> ScalableBloomFilter {
    // Small enough to grow: by the third layer, rates are those of classic layers.
    grown(params(4, 0.0005), keys.iter().copied())
}

const WIRE: WireLaws<ScalableBloomFilter> = WireLaws {
    exercise: |filter| {
        let _ = (filter.contains(&1u64), filter.fill_ratio(), filter.estimated_len(), filter.is_saturated());
        let mut filter = filter.clone();
        if filter.insert(&1u64).is_ok() {
            assert!(filter.contains(&1u64));
        }
        assert!(filter.layers() >= 1 && filter.capacity() >= 1);
    },
    view: |bytes| {
        if let Ok(view) = ScalableBloomFilter::view(bytes) {
            let _ = (view.contains(&1u64), view.contains("key"), view.verify().is_ok(), view.layers());
            let _ = (view.is_saturated(), view.capacity());
            let mut found = [false; 3];
            assert_eq!(view.contains_batch(&[1, 2, 3], &mut found), 3);
            assert!((0.0..=1.0).contains(&view.fill_ratio()) && view.estimated_len() >= 0.0);
            let _ = view.estimated_fpr();
        }
        let _ = ScalableBloomParams::peek(bytes);
    },
    ..WireLaws::new(ScalableBloomFilter::from_bytes)
};

wire_laws! { wire, WIRE, filter }

#[test]
fn what_decodes_is_canonical_and_equal() {
    for keys in [0, 1, 30, 300] {
        let filter = filter(&DistinctKeys::new(1).range(0..keys).collect::<Vec<_>>());
        WIRE.round_trips_to_an_equal(&filter);
        WIRE.accepts_canonical_bytes_only(&filter.to_bytes());
    }
}

proptest! {
    #[test]
    fn never_forgets_a_key(keys in prop::collection::vec(any::<u64>(), 0..600), first in 0u64..40) {
        let filter = grown(params(first, 0.01), keys.iter().copied());
        prop_assert!(keys.iter().all(|key| filter.contains(key)));
        let bytes = filter.to_bytes();
        let view = ScalableBloomFilter::view(&bytes).unwrap();
        prop_assert!(keys.iter().all(|key| view.contains(key)));
        prop_assert_eq!(view.to_owned().unwrap(), filter);
    }

    #[test]
    fn batches_answer_as_single_calls_do(keys in prop::collection::vec(any::<u64>(), 0..900), first in 1u64..40) {
        let hasher = WyHasher::default();
        let hashes: Vec<u64> = keys.iter().map(|&key| hasher.hash_u64(key)).collect();
        let (some, others) = hashes.split_at(hashes.len() / 2);
        let mut one = ScalableBloomFilter::new(params(first, 0.01));
        for &hash in some {
            one.insert_hash(hash).unwrap();
        }
        let mut many = ScalableBloomFilter::new(params(first, 0.01));
        many.insert_batch(some).unwrap();
        prop_assert_eq!(&one, &many);
        let bytes = one.to_bytes();
        let view = ScalableBloomFilter::view(&bytes).unwrap();
        for asked in [&hashes[..], others] {
            let (mut found, mut viewed) = (vec![true; asked.len() + 1], vec![false; asked.len()]);
            prop_assert_eq!(one.contains_batch(asked, &mut found), asked.len());
            prop_assert_eq!(view.contains_batch(asked, &mut viewed), asked.len());
            prop_assert!(found[asked.len()]);
            for (i, &hash) in asked.iter().enumerate() {
                prop_assert_eq!(one.contains_hash(hash), found[i]);
                prop_assert_eq!(one.contains_hash(hash), viewed[i]);
                prop_assert_eq!(one.contains_hash(hash), view.contains_hash(hash));
            }
        }
    }
}

/// Others: a promise of 1% was 4% after growing; the first layer took the whole rate.
#[test]
fn the_rate_holds_however_much_the_filter_grows() {
    for (first, fpr, growths) in [(100u64, 0.01, [1u64, 10, 100, 1000]), (50, 0.0003, [1, 10, 100, 2000])] {
        let keys = DistinctKeys::new(first);
        let mut filter = ScalableBloomFilter::new(params(first, fpr));
        let mut done = 0;
        for growth in growths {
            for key in keys.range(done..first * growth) {
                filter.insert(&key).unwrap();
            }
            done = first * growth;
            let probes = 2_000_000;
            let hits = keys.range(done..done + probes).filter(|key| filter.contains(key)).count() as u64;
            laws::rate_at_most(hits, probes, fpr).assert(&format!("{growth} times {first} at {fpr}"));
            assert!(filter.estimated_fpr() <= fpr * 1.02);
            assert!((filter.estimated_len() / done as f64 - 1.0).abs() < 0.1, "{}", filter.estimated_len());
            assert!(!filter.is_saturated());
        }
        assert!(filter.layers() > 4);
        assert!(keys.range(0..done).all(|key| filter.contains(&key)));
    }
}

#[test]
fn the_price_is_what_the_filter_takes() {
    let params = params(1000, 0.01);
    for keys in [0, 1, 1000, 5000, 100_000] {
        let filter = grown(params, DistinctKeys::new(9).range(0..keys));
        let price = params.size_bytes(keys).unwrap();
        // A layer is left at an expected fill: some keys sooner or later than at the exact number.
        let next = params.size_bytes(keys + keys / 10).unwrap();
        assert!((price..=next).contains(&(filter.size_bytes() as u64)), "{keys}");
    }
}

/// Others: a key counted as new was skipped because of a wrong yes, and the fill never reached the mark.
#[test]
fn repeated_keys_do_not_grow_the_filter() {
    let mut filter = ScalableBloomFilter::new(params(1000, 0.01));
    let keys = DistinctKeys::new(2);
    for _ in 0..50 {
        for key in keys.range(0..900) {
            filter.insert(&key).unwrap();
        }
    }
    assert_eq!(filter.layers(), 1);
    assert!(!filter.insert(&keys.key(3)).unwrap());
    assert!(filter.insert("something new").unwrap() && filter.contains("something new"));
}

#[test]
fn a_full_filter_refuses_what_is_new_and_keeps_its_promise() {
    let bounded = params(100, 0.01).with_max_bytes(1300).unwrap();
    let mut filter = ScalableBloomFilter::new(bounded);
    let keys = DistinctKeys::new(4);
    let mut inserted = 0;
    let error = loop {
        match filter.insert(&keys.key(inserted)) {
            Ok(_) => inserted += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, Error::Full);
    assert!(filter.is_saturated() && filter.size_bytes() <= 1300 && inserted > 200);
    let before = filter.to_bytes();
    let hash = filter.hasher().hash_u64(keys.key(inserted));
    assert_eq!(filter.insert_hash(hash), Err(Error::Full));
    assert_eq!(filter.insert_batch(&[hash]), Err(Error::Full));
    assert_eq!(filter.to_bytes(), before);
    assert_eq!(filter.insert(&keys.key(0)), Ok(false), "a known key is no news");
    let probes = 1_000_000;
    let hits = keys.range(inserted + 1..inserted + 1 + probes).filter(|key| filter.contains(key)).count();
    laws::rate_at_most(hits as u64, probes, 0.01).assert("the promise of a full filter");
    filter.clear();
    assert!(filter.is_empty() && filter.layers() == 1 && filter.insert("key") == Ok(true));
}

/// Others: a panic, or ever larger allocations, once the layers' rates fell below what hashes can give.
#[test]
fn the_floor_of_the_rate_is_an_error() {
    let mut filter = ScalableBloomFilter::new(params(2, 1e-17));
    let keys = DistinctKeys::new(4);
    let refused = (0..1000).find_map(|i| filter.insert(&keys.key(i)).err());
    assert_eq!(refused, Some(Error::Full));
    assert!(filter.is_saturated());
    assert!(ScalableBloomParams::for_fpr(1 << 40, 1e-9).is_err(), "not even the first layer");
}

#[test]
fn each_bad_argument_is_named() {
    let name = |result: Result<ScalableBloomParams, Error>| match result {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for fpr in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1.0] {
        assert_eq!(name(ScalableBloomParams::for_fpr(100, fpr)), "fpr");
    }
    let good = params(100, 0.01);
    for growth in [0, 1, 65, u32::MAX] {
        assert_eq!(name(good.with_growth(growth)), "growth");
    }
    for shares in [0, 65, u32::MAX] {
        assert_eq!(name(good.with_shares(shares)), "shares");
    }
    assert_eq!(name(good.with_max_bytes(10)), "max_bytes");
    assert!(ScalableBloomParams::for_fpr(u64::MAX, 0.01).is_err());
    assert_eq!(good.size_bytes(u64::MAX), None);
}

#[test]
fn twenty_first_and_grown_sizes_stay() {
    for ((keys, fpr, growth, reached), bytes) in PINNED {
        let params = params(keys, fpr).with_growth(growth).unwrap();
        // Where pointers have 32 bits, the largest are beyond them.
        let bytes = Some(bytes).filter(|_| usize::BITS == 64 || reached < 1_000_000_000);
        assert_eq!(params.size_bytes(reached), bytes, "{keys} {fpr} {growth} {reached}");
    }
}

const PINNED: [((u64, f64, u32, u64), u64); 20] = [
    ((0, 0.01, 4, 0), 64),
    ((1, 0.01, 4, 1), 64),
    ((10, 0.1, 4, 10), 64),
    ((100, 0.01, 4, 100), 256),
    ((100, 0.01, 4, 112), 1088),
    ((100, 0.01, 2, 1000), 3200),
    ((100, 0.01, 4, 10_000), 70_976),
    ((1000, 0.001, 4, 1000), 2752),
    ((1000, 0.001, 4, 100_000), 937_920),
    ((1000, 0.0001, 4, 100_000), 1_033_792),
    ((1000, 1e-6, 4, 1_000_000), 5_825_520),
    ((1000, 1e-6, 2, 1_000_000), 4_770_960),
    ((10_000, 0.05, 4, 10_000), 13_888),
    ((10_000, 0.05, 8, 1_000_000), 8_113_152),
    ((10_000, 0.5, 4, 10_000_000), 10_056_064),
    ((100_000, 0.01, 4, 100_000_000), 256_400_256),
    ((1_000_000, 0.01, 4, 1_000_000), 1_874_368),
    ((1_000_000, 0.01, 16, 1_000_000_000), 8_188_941_184),
    ((1_000_000, 1e-5, 4, 20_000_000), 74_346_336),
    ((50_000_000, 0.001, 4, 5_000_000_000), 45_444_425_664),
];

#[test]
fn merging_keeps_every_key_and_the_promise_or_is_refused() {
    let keys = DistinctKeys::new(6);
    // Two chains of two layers spend four of eight shares: it fits.
    let mut left = grown(params(500, 0.01), keys.range(0..2000));
    let right = grown(params(500, 0.01), keys.range(2000..4000));
    assert_eq!((left.layers(), right.layers()), (2, 2));
    left.merge(&right).unwrap();
    assert!(keys.range(0..4000).all(|key| left.contains(&key)));
    let probes = 2_000_000;
    let hits = keys.range(4000..4000 + probes).filter(|key| left.contains(key)).count() as u64;
    laws::rate_at_most(hits, probes, 0.01).assert("the promise after a merge");
    WIRE.round_trips_to_an_equal(&left);
    // It still grows.
    for key in keys.range(4000..40_000) {
        left.insert(&key).unwrap();
    }
    assert!(keys.range(0..40_000).all(|key| left.contains(&key)));
    // Many grown chains do not fit.
    let mut all = grown(params(500, 0.01), keys.range(0..2000));
    let refused = (1..10).find_map(|i| {
        let shard = grown(params(500, 0.01), keys.range(2000 * i..2000 * (i + 1)));
        let before = all.clone();
        let error = all.merge(&shard).err();
        assert!(error.is_none() || all == before);
        error
    });
    assert_eq!(refused, Some(Error::Full));
}

#[test]
fn small_shards_merge_into_one_layer() {
    let keys = DistinctKeys::new(7);
    let mut all = ScalableBloomFilter::new(params(1000, 0.01));
    for shard in 0..9 {
        all.merge(&grown(params(1000, 0.01), keys.range(100 * shard..100 * (shard + 1)))).unwrap();
    }
    assert_eq!(all.layers(), 1);
    assert_eq!(all, grown(params(1000, 0.01), keys.range(0..900)));
}

#[test]
fn merging_refuses_what_differs_and_changes_nothing() {
    let mine = filter(&[1, 2, 3]);
    let same = params(4, 0.0005);
    for (other, field) in [
        (params(5, 0.0005), "keys"),
        (params(4, 0.0006), "design_fpr"),
        (same.with_growth(2).unwrap(), "growth"),
        (same.with_shares(9).unwrap(), "shares"),
    ] {
        let error = refused_merge_law(mine.clone(), &ScalableBloomFilter::new(other));
        assert_eq!(error, Error::Incompatible { field });
    }
    // The limit of memory is each side's own.
    let mut mine = mine;
    mine.merge(&ScalableBloomFilter::new(same.with_max_bytes(1 << 20).unwrap())).unwrap();
    let seeded = |seed| ScalableBloomFilter::with_hasher(params(4, 0.01), WyHasher::with_seed(seed));
    assert!(matches!(refused_merge_law(seeded(0), &seeded(1)), Error::Hasher { .. }));
}

/// Others: a filter sized for n keys had a second layer, four times as large, before it held them.
#[test]
fn a_filter_of_the_first_size_does_not_grow() {
    for first in [1, 2, 10, 100, 1000, 20_000] {
        for seed in 0..20 {
            let filter = grown(params(first, 0.01), DistinctKeys::new(seed).range(0..first));
            assert_eq!(filter.layers(), 1, "{first} keys");
        }
    }
}

#[test]
fn merging_what_is_there_already_changes_nothing() {
    for shares in [1, 2, 8] {
        let params = params(100, 0.01).with_shares(shares).unwrap();
        let full = grown(params, DistinctKeys::new(1).range(0..5000));
        let mut empty = ScalableBloomFilter::new(params);
        empty.merge(&full).unwrap();
        assert_eq!(empty, full);
        let mut twice = full.clone();
        twice.merge(&full).unwrap();
        twice.merge(&ScalableBloomFilter::new(params)).unwrap();
        assert_eq!(twice, full);
    }
}

/// Chains that are filled to the last key before they would grow, merged until no more fit: nothing is left of the rate.
#[test]
fn a_merge_that_spends_all_of_the_rate_keeps_it() {
    for (shares, fpr, first) in
        [(64, 0.001, 2), (1, 0.001, 30), (8, 0.001, 25), (2, 0.001, 60), (64, 0.001, 5)]
    {
        let params = params(first, fpr).with_shares(shares).unwrap();
        let mut from = 0;
        let mut shard = || {
            let keys = DistinctKeys::new(first);
            let mut shard = ScalableBloomFilter::new(params);
            loop {
                let mut more = shard.clone();
                more.insert(&keys.key(from)).unwrap();
                from += 1;
                if more.layers() > 1 {
                    return shard;
                }
                shard = more;
            }
        };
        let mut all = shard();
        let refusals = (0..200).filter(|_| all.merge(&shard()).is_err()).count();
        assert!(refusals > 0);
        let keys = DistinctKeys::new(1 << 40);
        let probes = 1_500_000;
        let hits = keys.range(0..probes).filter(|key| all.contains(key)).count() as u64;
        laws::rate_at_most(hits, probes, fpr).assert(&format!("{shares} shares of {fpr}, first {first}"));
        assert!(all.estimated_fpr() <= fpr * 1.01, "{}", all.estimated_fpr());
    }
}

/// Others: layers that claimed any number of keys decoded, and the next one was of hundreds of gigabytes.
#[test]
fn bytes_that_would_make_it_grow_beyond_reason_are_refused() {
    let donor = ScalableBloomFilter::new(params(1, 0.9999)).to_bytes();
    let varint = |value: u64| postcard_varint(value);
    let head = |keys: u64, fpr: f64, growth: u64, layers: &[(u64, u64, f64)]| {
        let mut bytes =
            [varint(keys), fpr.to_le_bytes().to_vec(), varint(growth), varint(8), varint(u64::MAX)].concat();
        bytes.extend(varint(layers.len() as u64));
        for &(keys, k, target) in layers {
            // A blocked layer of one line.
            bytes.extend(
                [varint(keys), vec![0, 1], varint(k), vec![1], target.to_le_bytes().to_vec()].concat(),
            );
        }
        bytes
    };
    let line = [0u8; 64];
    let share = 0.9999 / 8.0;
    let good = forge(&donor, &head(1, 0.9999, 4, &[(3, 1, share)]), &line);
    assert!(ScalableBloomFilter::from_bytes(&good).is_ok(), "the forger's tools work");
    for (params, lines) in [
        (head(1, 0.9999, 64, &[(1 << 30, 1, 0.991), (1, 8, 0.005)]), 2),
        (head(1 << 40, 0.5, 4, &[(1, 4, 0.01)]), 1),
        (head(1 << 40, 0.5, 4, &[((1 << 40) + (1 << 20) + 1, 4, 0.0625)]), 1),
        (head(1, 0.9999, 4, &[(3, 1, share), (13, 1, share)]), 2),
        (head(1, 0.9999, 4, &[(3, 1, share); 9]), 9),
        (head(1, 0.9999, 4, &[]), 0),
    ] {
        let bytes = forge(&donor, &params, &line.repeat(lines));
        assert!(matches!(ScalableBloomFilter::from_bytes(&bytes), Err(Error::Malformed { .. })));
    }
    // Many more layers than there can be are not even read.
    let many = head(1, 0.9999, 4, &vec![(3, 1, share); 100_000]);
    assert!(ScalableBloomFilter::view(&forge(&donor, &many, &line)).is_err());
}

fn postcard_varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Others: rates far below the precision of 1 were 0.
#[test]
fn tiny_rates_are_not_lost() {
    let keys = DistinctKeys::new(3);
    let filter = grown(params(10, 1e-15), keys.range(0..10));
    let mut single = BloomFilter::new(BloomParams::for_fpr(14, 1e-15 / 8.0).unwrap());
    single.extend(keys.range(0..10));
    assert_eq!(filter.estimated_fpr().to_bits(), single.estimated_fpr().to_bits());
    assert!(filter.estimated_fpr() > 0.0);
}
