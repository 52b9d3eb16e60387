//! What the ribbon filter promises, as laws.

use pds_static_filters::WyHasher;
use pds_static_filters::prelude::*;
use pds_testkit::{DistinctKeys, WireLaws, forge, golden, laws, wire_laws};
use proptest::prelude::*;

fn params() -> RibbonParams {
    RibbonParams::for_fpr(0.01).expect("a rate")
}

fn filter(keys: &[u64]) -> RibbonFilter {
    RibbonFilter::from_keys(params(), keys).expect("a seed")
}

const WIRE: WireLaws<RibbonFilter> = WireLaws {
    exercise: |filter| {
        let _ = (filter.contains(&1u64), filter.len(), filter.bits_per_key(), filter.estimated_fpr());
        let mut found = [false; 3];
        assert_eq!(filter.contains_batch(&[1, 2, 3], &mut found), 3);
    },
    view: |bytes| {
        if let Ok(view) = RibbonFilter::view(bytes) {
            let _ = (view.contains("key"), view.verify().is_ok(), view.len(), view.is_empty(), view.params());
            let hashes: [u64; 200] = std::array::from_fn(|i| (i as u64).wrapping_mul(0x0148_0a5f_d7e3_51f1));
            let mut found = [false; 200];
            assert_eq!(view.contains_batch(&hashes, &mut found), 200);
            assert_eq!(found, hashes.map(|hash| view.contains_hash(hash)));
        }
        let _ = RibbonParams::peek(bytes);
    },
    ..WireLaws::new(RibbonFilter::from_bytes)
};

wire_laws! { wire, WIRE, filter, canonical }

#[test]
fn what_decodes_is_canonical_and_equal() {
    let many: Vec<u64> = (0..1500).collect();
    for keys in [&[][..], &[1], &[1, 2, 3], &many] {
        WIRE.round_trips_to_an_equal(&filter(keys));
        WIRE.accepts_canonical_bytes_only(&filter(keys).to_bytes());
    }
}

#[test]
fn bytes_of_version_1_stay() {
    let columns = |columns| RibbonParams::with_columns(columns).expect("columns");
    let check = |name, filter: &RibbonFilter| golden(env!("CARGO_MANIFEST_DIR"), name, &filter.to_bytes());
    check("ribbon-v1-empty.bin", &filter(&[]));
    check("ribbon-v1-100-keys.bin", &RibbonFilter::from_keys(columns(8), 0..100u32).expect("a seed"));
    check("ribbon-v1-3000-keys.bin", &RibbonFilter::from_keys(params(), 0..3000u32).expect("a seed"));
    let budget = RibbonParams::for_bytes(3000, 2500).expect("a budget");
    check("ribbon-v1-2500-bytes.bin", &RibbonFilter::from_keys(budget, 0..3000u32).expect("a seed"));
}

#[test]
fn every_number_of_keys_up_to_2000_builds_and_answers() {
    for keys in 0..=2000 {
        for seed in 0..2 {
            let hashes: Vec<u64> = DistinctKeys::new(keys << 8 | seed).range(0..keys).collect();
            let filter = RibbonFilter::from_hashes(params(), &hashes).expect("a seed");
            assert!(filter.contains_all(&hashes) && filter.len() == keys, "{keys} keys");
        }
    }
}

/// Sizes at which a layer gets another bucket, segment, or layer behind it.
#[test]
fn sizes_around_every_border_build_and_answer() {
    for keys in [2680, 4096, 20_000, 68_624, 68_625, 68_626, 137_250, 300_000, 1_000_000] {
        let hashes: Vec<u64> = DistinctKeys::new(keys).range(0..keys).collect();
        let filter = RibbonFilter::from_hashes(params(), &hashes).expect("a seed");
        assert!(filter.contains_all(&hashes) && filter.len() == keys, "{keys} keys");
        let expected = params().size_bytes(keys).expect("a size") as f64;
        // Two buckets of 7 columns, and two in a hundred.
        let slack = 2.0 * 128.0 * 7.0 / 8.0 + expected * 0.02;
        assert!((filter.size_bytes() as f64 - expected).abs() <= slack, "{keys} keys: {expected}");
    }
}

#[test]
fn sizes_meet_what_is_said_of_them() {
    for keys in [100_000, 1_000_000] {
        let hashes: Vec<u64> = DistinctKeys::new(keys).range(0..keys).collect();
        let bits = |params| RibbonFilter::from_hashes(params, &hashes).expect("a seed").bits_per_key();
        let (eight, percent) = (bits(RibbonParams::with_columns(8).expect("columns")), bits(params()));
        assert!(eight <= 8.1 && percent <= 6.81, "{keys} keys: {eight}, {percent}");
    }
}

proptest! {
    #[test]
    fn never_denies_a_key_however_often_it_comes(keys: Vec<u16>, wide: Vec<u64>, copies in 1..2000usize) {
        let mut all: Vec<u64> = keys.iter().map(|&key| u64::from(key % 64)).chain(wide).collect();
        all.extend(all.clone().iter().rev().cycle().take(if all.is_empty() { 0 } else { copies }));
        let distinct = all.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
        let filter = filter(&all);
        prop_assert!(all.iter().all(|key| filter.contains(key)));
        prop_assert_eq!(filter.len(), distinct);
        let bytes = filter.to_bytes();
        let view = RibbonFilter::view(&bytes).expect("its own bytes");
        prop_assert!(all.iter().all(|key| view.contains(key)));
    }

    #[test]
    fn bytes_depend_on_the_set_alone(keys in proptest::collection::vec(any::<u64>(), 0..3000)) {
        let mut other = keys.clone();
        other.reverse();
        other.extend(&keys);
        prop_assert_eq!(filter(&keys).to_bytes(), filter(&other).to_bytes());
    }

    #[test]
    fn a_budget_of_bytes_is_kept_and_used(keys in 1..5000u64, bits in 1.0..30.0f64) {
        let bytes = (keys as f64 * bits / 8.0) as u64 + 40;
        let params = RibbonParams::for_bytes(keys, bytes).expect("a budget");
        let hashes: Vec<u64> = DistinctKeys::new(keys).range(0..keys).collect();
        let filter = RibbonFilter::from_hashes(params, &hashes).expect("a seed");
        prop_assert!(filter.contains_all(&hashes));
        prop_assert!(filter.size_bytes() as u64 <= bytes);
        // Each layer, of 12 at most, gives up less than a word to rounding.
        prop_assert!(filter.size_bytes() as u64 + 8 * 12 >= bytes);
    }

    #[test]
    fn batches_views_and_single_calls_agree(
        members in proptest::collection::vec(any::<u64>(), 0..2000),
        strangers in proptest::collection::vec(any::<u64>(), 0..200),
        short in 0..10usize,
    ) {
        let filter = RibbonFilter::from_hashes(params(), &members).expect("a seed");
        let asked = [&members[..], &strangers[..]].concat();
        let mut found = vec![true; asked.len().saturating_sub(short)];
        prop_assert_eq!(filter.contains_batch(&asked, &mut found), found.len());
        let mut more = vec![true; asked.len() + 3];
        prop_assert_eq!(filter.contains_batch(&asked, &mut more), asked.len());
        prop_assert_eq!(&more[asked.len()..], &[true; 3]);
        for (i, &hash) in asked.iter().enumerate() {
            let alone = filter.contains_hash(hash);
            prop_assert_eq!(more[i], alone);
            prop_assert!(i >= found.len() || found[i] == alone);
        }
    }
}

/// 1,000,000 strangers, alpha 1e-9 a tail; whole columns and fractions, one layer and four.
#[test]
fn strangers_are_taken_for_members_as_often_as_the_law_says() {
    const PROBES: u64 = 1_000_000;
    for keys in [1, 100, 700, 10_000, 200_000] {
        for fpr in [0.7, 0.5, 0.1, 0.01, 1.0 / 256.0, 0.0003] {
            let params = RibbonParams::for_fpr(fpr).expect("a rate");
            let source = DistinctKeys::new(keys);
            let filter = RibbonFilter::from_keys(params, source.range(0..keys)).expect("a seed");
            let hits = source.range(keys..keys + PROBES).filter(|key| filter.contains(key)).count() as u64;
            laws::rate_at_most(hits, PROBES, fpr).assert("the promise");
            laws::rate_is(hits, PROBES, filter.estimated_fpr()).assert("its own rate");
            // Of a filter of few blocks, only whole ones have a column more.
            if keys >= 10_000 {
                laws::rate_at_least(hits, PROBES, fpr * 0.99).assert("no column is wasted");
            }
        }
    }
}

#[test]
fn sixteen_and_more_columns_keep_their_rate() {
    let source = DistinctKeys::new(16);
    for columns in [9, 12, 16, 17, 24, 32] {
        let params = RibbonParams::with_columns(columns).expect("columns");
        let filter = RibbonFilter::from_keys(params, source.range(0..50_000)).expect("a seed");
        assert!(source.range(0..50_000).all(|key| filter.contains(&key)), "{columns} columns");
        let hits = source.range(50_000..2_050_000).filter(|key| filter.contains(key)).count() as u64;
        laws::rate_is(hits, 2_000_000, filter.estimated_fpr()).assert(&format!("{columns} columns"));
    }
}

/// Others: 70.4 bits a key at 10,000 keys and 8 columns; or 3.98 in a hundred for 1, reported as 0.78, in 9.1 bytes a key.
#[test]
fn ten_thousand_keys_take_few_bits_and_keep_the_rate() {
    let keys = DistinctKeys::new(10);
    let eight =
        RibbonFilter::from_keys(RibbonParams::with_columns(8).expect("columns"), keys.range(0..10_000));
    assert!(eight.expect("a seed").bits_per_key() <= 8.8);
    let percent = RibbonFilter::from_keys(params(), keys.range(0..10_000)).expect("a seed");
    assert!(percent.bits_per_key() <= 7.0 && percent.estimated_fpr() <= 0.01 + 1e-12);
    let hits = keys.range(10_000..1_010_000).filter(|key| percent.contains(key)).count() as u64;
    laws::rate_at_most(hits, 1_000_000, 0.01).assert("the promise");
}

#[test]
fn one_key_many_times_and_no_key_build() {
    for copies in [1, 2, 100, 1024, 1025, 100_000] {
        let filter = RibbonFilter::from_hashes(params(), &vec![7; copies]).expect("a seed");
        assert!(filter.contains_hash(7) && filter.len() == 1, "{copies} copies");
    }
    let none = RibbonFilter::from_hashes(params(), &[]).expect("nothing to do");
    assert!(none.is_empty() && none.size_bytes() == 0 && (0..10_000).all(|hash| !none.contains_hash(hash)));
}

#[test]
fn structured_hashes_build_too() {
    for spread in [0, 8, 20, 32, 44] {
        let hashes: Vec<u64> = (0..20_000u64).map(|i| i << spread).collect();
        assert!(RibbonFilter::from_hashes(params(), &hashes).expect("a seed").contains_all(&hashes));
    }
}

#[test]
fn each_bad_argument_is_named() {
    let name = |result: Result<RibbonParams, Error>| match result {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for fpr in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1.0, 1e-10] {
        assert_eq!(name(RibbonParams::for_fpr(fpr)), "fpr");
    }
    for columns in [0, 33, u32::MAX] {
        let refused = RibbonParams::with_columns(columns);
        let domain = "1 to 32";
        assert_eq!(refused, Err(Error::Parameter { name: "columns", value: f64::from(columns), domain }));
    }
    assert_eq!(name(RibbonParams::for_bytes(1000, 0)), "bytes");
    assert_eq!(name(RibbonParams::for_bytes(u64::MAX, u64::MAX)), "keys");
    for keys in [0, 1, 1000, 1025, 1_000_000, 1 << 33] {
        let least = RibbonParams::least_bytes(keys).expect("not too many");
        assert!(RibbonParams::for_bytes(keys, least).is_ok());
        assert!(least == 0 || name(RibbonParams::for_bytes(keys, least - 1)) == "bytes");
    }
    assert!(RibbonParams::least_bytes(u64::MAX).is_err());
    assert!(RibbonParams::for_fpr(2f64.powi(-32)).is_ok_and(|params| params.columns() >= 32.0));
    match params().size_bytes(10_000_000_000) {
        Ok(bytes) => assert!(usize::BITS == 64 && bytes > 1 << 32),
        refused => assert!(usize::BITS < 64 && refused.is_err()),
    }
    let text = serde_json::to_string(&params()).expect("plain numbers");
    assert_eq!(serde_json::from_str::<RibbonParams>(&text).expect("what was written reads"), params());
    assert!(serde_json::from_str::<RibbonParams>(r#"{"columns":0,"extra":0,"budget":null}"#).is_err());
    assert!(serde_json::from_str::<RibbonParams>(r#"{"columns":8,"extra":65536,"budget":null}"#).is_err());
}

#[test]
fn twenty_sizes_stay() {
    for (fpr, keys, bytes) in PINNED {
        let size = RibbonParams::for_fpr(fpr).and_then(|params| params.size_bytes(keys));
        // Where pointers have 32 bits, the largest are beyond them.
        if usize::BITS < 64 && bytes > 1 << 31 {
            assert!(size.is_err(), "{keys} keys at {fpr}");
        } else {
            assert_eq!(size, Ok(bytes), "{keys} keys at {fpr}");
        }
    }
}

/// A shape that cannot be, behind right checksums, is refused; thresholds that cannot be are survived.
#[test]
fn hostile_bytes_are_refused_or_answered_from() {
    let donor = filter(&[1]).to_bytes();
    let layers = |blocks: &[u8]| {
        let mut layers = vec![0; 12];
        layers[..blocks.len()].copy_from_slice(blocks);
        layers
    };
    // Columns, extra, keys, seed, attempt, complete; blocks of 12 layers.
    let open = |head: &[u8], blocks: &[u8], payload: &[u8]| {
        let bytes = forge(&donor, &[head, &layers(blocks)].concat(), payload);
        let view = RibbonFilter::view(&bytes);
        if let Ok(view) = &view {
            for hash in DistinctKeys::new(1).range(0..10_000) {
                view.contains_hash(hash);
            }
        }
        view.map(|_| ()).err()
    };
    let params = Some(Error::Malformed { field: "params" });
    assert_eq!(open(&[1, 0, 1, 0, 0, 1], &[1], &[0; 8]), None, "the tools work");
    assert_eq!(open(&[2, 0, 1, 0, 0, 0], &[2], &[0; 40]), None, "no threshold is set");
    assert_eq!(open(&[2, 0, 1, 0, 0, 0], &[4, 2], &[0xff; 64 + 8 + 32 + 8]), None, "every threshold is set");
    assert_eq!(open(&[0, 0, 1, 0, 0, 1], &[1], &[]), params, "no column");
    assert_eq!(open(&[33, 0, 1, 0, 0, 1], &[1], &[0; 264]), params, "33 columns");
    assert_eq!(open(&[1, 0, 1, 0, 64, 1], &[1], &[0; 8]), params, "an attempt too many");
    assert_eq!(open(&[1, 0, 1, 0, 1, 0], &[2], &[0; 24]), params, "an attempt of no last layer");
    assert_eq!(open(&[1, 0, 1, 0, 0, 0], &[3], &[0; 40]), params, "half a bucket");
    assert_eq!(open(&[1, 0, 1, 0, 0, 1], &[1, 0, 1], &[0; 16]), params, "a hole");
    assert_eq!(open(&[1, 0, 1, 0, 0, 1], &[], &[]), params, "a key and no layer");
    assert_eq!(open(&[1, 0, 0, 0, 0, 1], &[], &[]), params, "complete without a layer");
    assert_eq!(open(&[1, 0, 0, 7, 0, 0], &[], &[]), params, "a seed and no key");
    assert_eq!(open(&[1, 0, 1, 7, 0, 1], &[1], &[0; 8]), None, "any seed");
    assert_eq!(open(&[1, 0, 65, 0, 0, 1], &[1], &[0; 8]), params, "more keys than rows");
    assert_eq!(open(&[1, 0, 1, 0, 0, 1], &[1], &[0; 16]), Some(Error::Malformed { field: "payload length" }));
}

#[test]
fn views_open_at_any_address_and_verify_tells_damage() {
    let filter = filter(&[1, 2, 3]);
    let mut bytes = filter.to_bytes();
    for shift in 0..8 {
        let shifted = [&vec![0; shift][..], &bytes[..]].concat();
        let view = RibbonFilter::view(&shifted[shift..]).expect("its own bytes");
        assert!(view.contains(&2u64) && view.verify().is_ok());
        assert_eq!(view.to_owned().expect("its own bytes"), filter);
    }
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let view = RibbonFilter::view(&bytes).expect("the header is whole");
    assert_eq!(view.verify(), Err(Error::Checksum));
    assert!(matches!(view.to_owned(), Err(Error::Checksum)));
}

#[test]
fn a_stand_in_for_a_secret_hasher_answers_for_hashes() {
    let hasher = SipHasher::new(*b"sixteen byte key");
    let bytes = RibbonFilter::from_keys_with(params(), ["key"], hasher).expect("a seed").to_bytes();
    assert!(matches!(RibbonFilter::from_bytes(&bytes), Err(Error::Hasher { .. })));
    let stand_in = Prehashed::of_bytes(&bytes).expect("a fingerprint");
    let elsewhere = RibbonFilter::from_bytes_with(&bytes, stand_in).expect("the fingerprint is right");
    assert!(elsewhere.contains_hash(hasher.hash_key("key")));
    let text = serde_json::to_string(&filter(&[1])).expect("bytes encode");
    assert_eq!(
        serde_json::from_str::<RibbonFilter<WyHasher>>(&text).expect("what was written reads"),
        filter(&[1])
    );
}

const PINNED: [(f64, u64, u64); 20] = [
    (0.5, 1, 8),
    (0.5, 1000, 136),
    (0.5, 1_000_000, 127_464),
    (0.5, 10_000_000_000, 1_274_156_384),
    (0.1, 1, 32),
    (0.1, 1000, 472),
    (0.1, 1_000_000, 428_704),
    (0.1, 10_000_000_000, 4_285_097_432),
    (0.01, 1, 56),
    (0.01, 1000, 920),
    (0.01, 1_000_000, 845_336),
    (0.01, 10_000_000_000, 8_450_206_568),
    (1.0 / 256.0, 1, 64),
    (1.0 / 256.0, 1000, 1088),
    (1.0 / 256.0, 1_000_000, 1_005_936),
    (1.0 / 256.0, 10_000_000_000, 10_056_034_048),
    (1e-6, 1, 160),
    (1e-6, 1000, 2720),
    (1e-6, 1_000_000, 2_505_808),
    (1e-6, 10_000_000_000, 25_049_749_408),
];
