//! What the split-block filter promises, as laws.

use pds_bloom::WyHasher;
use pds_bloom::prelude::*;
use pds_testkit::{DistinctKeys, WireLaws, golden, laws, merge_laws, refused_merge_law, wire_laws};
use proptest::prelude::*;

type Filter<H = WyHasher> = SplitBlockBloomFilter<H>;

fn shape(blocks: u64) -> SplitBlockParams {
    SplitBlockParams::with_shape(blocks).expect("a valid shape")
}

fn sized(keys: u64, fpr: f64) -> SplitBlockParams {
    SplitBlockParams::for_fpr(keys, fpr).expect("valid targets")
}

fn filled(params: SplitBlockParams, keys: &[u64]) -> Filter {
    let mut filter = Filter::new(params);
    filter.extend(keys);
    filter
}

fn filter(keys: &[u64]) -> Filter {
    filled(shape(5), keys)
}

merge_laws! { merging, filter, idempotent }

const WIRE: WireLaws<Filter> = WireLaws {
    exercise: |filter| {
        let _ =
            (filter.contains(&1u64), filter.estimated_fpr(), filter.estimated_len(), filter.is_saturated());
        let mut filter = filter.clone();
        filter.insert(&1u64);
        assert!(filter.contains(&1u64));
        filter.fold(filter.params().blocks()).expect("a number divides itself");
        assert!(filter.contains(&1u64));
    },
    view: |bytes| {
        if let Ok(view) = Filter::view(bytes) {
            let _ =
                (view.contains(&1u64), view.contains("key"), view.verify().is_ok(), view.to_owned().is_ok());
            let mut found = [false; 3];
            assert_eq!(view.contains_batch(&[1, 2, 3], &mut found), 3);
            assert!((0.0..=1.0).contains(&view.fill_ratio()) && view.estimated_len() >= 0.0);
            assert!((0.0..=1.0).contains(&view.estimated_fpr()));
            let _ = view.is_saturated();
        }
        let _ = SplitBlockParams::peek(bytes);
    },
    ..WireLaws::new(Filter::from_bytes)
};

wire_laws! { wire, WIRE, filter, canonical }

#[test]
fn what_decodes_is_canonical_and_equal() {
    let filter = filter(&[1, 2, 3]);
    WIRE.round_trips_to_an_equal(&filter);
    WIRE.accepts_canonical_bytes_only(&filter.to_bytes());
}

proptest! {
    #[test]
    fn never_forgets_a_key(keys: Vec<u64>, blocks in 1..50u64) {
        let mut filter = Filter::new(shape(blocks));
        for key in &keys {
            let known = filter.contains(key);
            prop_assert_eq!(filter.insert(key), !known);
        }
        prop_assert!(keys.iter().all(|key| filter.contains(key)));
        let bytes = filter.to_bytes();
        let view = Filter::view(&bytes).expect("its own bytes");
        prop_assert!(keys.iter().all(|key| view.contains(key)));
    }

    /// The format, written a second time, bit by bit.
    #[test]
    fn bits_lie_where_the_format_says(hashes: Vec<u64>, blocks in 1..50u64) {
        const SALTS: [u32; 8] = [
            0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31,
        ];
        let mut filter = Filter::new(shape(blocks));
        let mut bitset = vec![0u8; blocks as usize * 32];
        for &hash in &hashes {
            filter.insert_hash(hash);
            let block = ((hash >> 32) * blocks) >> 32;
            for (word, salt) in SALTS.iter().enumerate() {
                let bit = (hash as u32).wrapping_mul(*salt) >> 27;
                let bit = (block as usize * 8 + word) * 32 + bit as usize;
                bitset[bit / 8] |= 1 << (bit % 8);
            }
        }
        prop_assert!(filter.to_bytes().ends_with(&bitset));
        prop_assert_eq!(&filter.to_bitset(), &bitset);
        let ones: u32 = bitset.iter().map(|byte| byte.count_ones()).sum();
        prop_assert_eq!(filter.fill_ratio().to_bits(), (f64::from(ones) / (blocks * 256) as f64).to_bits());
        let read = Filter::from_bitset(&bitset, WyHasher::new()).expect("whole blocks");
        prop_assert_eq!(read, filter);
    }

    #[test]
    fn batches_views_and_single_calls_agree(
        members: Vec<u64>, strangers: Vec<u64>, short in 0..10usize, large: bool,
    ) {
        // The large shape takes the prefetching loop.
        let params = shape(if large { 1 << 15 } else { 3 });
        let (mut single, mut batch) = (Filter::new(params), Filter::new(params));
        for &hash in &members {
            single.insert_hash(hash);
        }
        batch.insert_batch(&members);
        prop_assert_eq!(&single, &batch);
        let asked = [&members[..], &strangers[..]].concat();
        let mut found = vec![true; asked.len().saturating_sub(short)];
        prop_assert_eq!(single.contains_batch(&asked, &mut found), found.len());
        let mut more = vec![true; asked.len() + 3];
        prop_assert_eq!(single.contains_batch(&asked, &mut more), asked.len());
        prop_assert_eq!(&more[asked.len()..], &[true; 3]);
        let (bytes, bitset) = (single.to_bytes(), single.to_bitset());
        let view = Filter::view(&bytes).expect("its own bytes");
        let raw = SplitBlockBloomView::of_bitset(&bitset, WyHasher::new()).expect("whole blocks");
        let measures = |fill: f64, len: f64, fpr: f64| [fill, len, fpr].map(f64::to_bits);
        for view in [view, raw] {
            let mut viewed = vec![false; asked.len()];
            prop_assert_eq!(view.contains_batch(&asked, &mut viewed), asked.len());
            prop_assert_eq!(&viewed[..], &more[..asked.len()]);
            prop_assert_eq!(
                measures(view.fill_ratio(), view.estimated_len(), view.estimated_fpr()),
                measures(single.fill_ratio(), single.estimated_len(), single.estimated_fpr())
            );
            prop_assert_eq!(view.is_saturated(), single.is_saturated());
            prop_assert_eq!(&view.to_owned().expect("what was written"), &single);
        }
        for (i, &hash) in asked.iter().enumerate() {
            let alone = single.contains_hash(hash);
            prop_assert!(more[i] == alone && view.contains_hash(hash) == alone && raw.contains_hash(hash) == alone);
            prop_assert!(i >= found.len() || found[i] == alone);
        }
    }

    #[test]
    fn keys_and_their_hashes_are_one(key: String, number: i32) {
        let mut filter = Filter::with_hasher(shape(4), SipHasher::new([9; 16]));
        let hash = filter.hasher().hash_key(&key);
        prop_assert!(filter.insert(&key));
        prop_assert!(filter.contains_hash(hash) && !filter.insert_hash(hash));
        filter.insert(&number);
        prop_assert!(filter.contains(&i64::from(number)));
    }

    #[test]
    fn an_intersection_holds_the_keys_of_both(a: Vec<u64>, b: Vec<u64>, both: Vec<u64>) {
        let mut left = filter(&[&a[..], &both[..]].concat());
        let right = filter(&[&b[..], &both[..]].concat());
        left.intersect(&right).expect("equal shapes");
        prop_assert!(both.iter().all(|key| left.contains(key)));
        let mut union = left.clone();
        union.merge(&filter(&both)).expect("equal shapes");
        prop_assert_eq!(union, left, "a superset of the intersection's filter");
    }

    #[test]
    fn a_folded_filter_is_the_one_built_small(keys: Vec<u64>, left in 1..40u64, factor in 1..40u64, raw: bool) {
        let large = if raw { shape(left * factor) } else {
            // A shape with a target, of that many blocks.
            let text = format!(r#"{{"blocks":{},"target":0.01}}"#, left * factor);
            serde_json::from_str(&text).expect("a valid shape")
        };
        let small = large.fold(factor).expect("a divisor");
        prop_assert_eq!((small.blocks(), small.design_fpr()), (left, large.design_fpr()));
        let mut folded = filled(large, &keys);
        folded.fold(factor).expect("a divisor");
        prop_assert_eq!(folded.to_bytes(), filled(small, &keys).to_bytes());
        prop_assert_eq!(folded.size_bytes(), left as usize * 32);
        folded.merge(&filled(small, &[1, 2])).expect("equal shapes and targets");
    }

    #[test]
    fn folding_to_a_rate_takes_the_largest_factor_that_keeps_it(
        seed: u64, keys in 0..3000u64, blocks in 1..400u64, exponent in 0.1..20.0f64,
    ) {
        let fpr = (-exponent).exp2();
        let keys: Vec<u64> = DistinctKeys::new(seed).range(0..keys).collect();
        let original = filled(shape(blocks), &keys);
        let best = (1..=blocks).rev().filter(|factor| blocks % factor == 0).find(|&factor| {
            let mut folded = original.clone();
            folded.fold(factor).expect("a divisor");
            folded.estimated_fpr() <= fpr
        });
        let mut folded = original.clone();
        prop_assert_eq!(folded.fold_to(fpr).expect("a rate"), best.unwrap_or(1));
        prop_assert_eq!(folded.params().blocks(), blocks / best.unwrap_or(1));
        prop_assert!(keys.iter().all(|key| folded.contains(key)));
        if best.is_none() {
            prop_assert_eq!(folded, original);
        }
    }
}

#[test]
fn a_fold_that_does_not_divide_is_refused_and_changes_nothing() {
    let mut filter = filled(shape(12), &[1, 2, 3]);
    let before = filter.clone();
    for factor in [0, 5, 7, 13, 24, u64::MAX] {
        assert!(matches!(filter.fold(factor), Err(Error::Parameter { name: "factor", .. })));
        assert!(matches!(filter.params().fold(factor), Err(Error::Parameter { name: "factor", .. })));
    }
    for fpr in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(matches!(filter.fold_to(fpr), Err(Error::Parameter { name: "fpr", .. })));
    }
    assert_eq!(filter, before);
}

#[test]
fn merging_and_intersecting_refuse_what_differs_and_change_nothing() {
    let targeted = sized(1000, 0.01);
    let incompatible = |field| Error::Incompatible { field };
    for (mine, theirs, error) in [
        (shape(4), shape(5), incompatible("blocks")),
        (targeted, sized(1000, 0.02), incompatible("blocks")),
        (shape(targeted.blocks()), targeted, incompatible("design_fpr")),
    ] {
        let (mine, theirs) = (filled(mine, &[1, 2, 3]), filled(theirs, &[4]));
        assert_eq!(refused_merge_law(mine.clone(), &theirs), error);
        let mut unchanged = mine.clone();
        assert_eq!(unchanged.intersect(&theirs), Err(error));
        assert_eq!(unchanged, mine);
    }
    let keyed = |key| Filter::with_hasher(shape(3), SipHasher::new([key; 16]));
    assert!(matches!(refused_merge_law(keyed(1), &keyed(2)), Error::Hasher { .. }));
    let seeded = |seed| Filter::with_hasher(shape(3), WyHasher::with_seed(seed));
    assert!(matches!(refused_merge_law(seeded(0), &seeded(1)), Error::Hasher { .. }));
}

/// The law, at several numbers of bits per key; then the estimate, of that very filter.
#[test]
fn the_rate_is_the_one_of_the_law() {
    const PROBES: u64 = 4_000_000;
    for (cell, bits_per_key) in [3.0f64, 6.0, 8.0, 10.53, 14.0, 18.0].into_iter().enumerate() {
        let blocks = 40_000;
        let keys = (blocks as f64 * 256.0 / bits_per_key) as u64;
        let all = DistinctKeys::new(cell as u64);
        let mut filter = Filter::new(shape(blocks));
        filter.extend(all.range(0..keys));
        let hits = all.range(keys..keys + PROBES).filter(|key| filter.contains(key)).count() as u64;
        laws::rate_is(hits, PROBES, filter.params().fpr(keys)).assert("the law");
        laws::rate_is(hits, PROBES, filter.estimated_fpr()).assert("the estimate of this filter");
        laws::rate_is(
            (filter.fill_ratio() * (blocks * 256) as f64) as u64,
            blocks * 256,
            filter.params().fill(keys),
        )
        .assert("fill");
        assert!((filter.estimated_len() / keys as f64 - 1.0).abs() < 0.01, "{bits_per_key}");
        // The product of the means of all words is no mean of products.
        let even = filter.fill_ratio().powi(8);
        assert!(bits_per_key < 8.0 || !laws::rate_is(hits, PROBES, even).pass, "fill^8 is too little");
    }
}

#[test]
fn small_filters_have_the_rate_of_the_law_too() {
    const FILTERS: u64 = 2000;
    const PROBES: u64 = 1000;
    for (blocks, keys) in [(1, 20), (1, 1), (2, 30), (3, 10), (7, 150)] {
        let mut hits = 0;
        for seed in 0..FILTERS {
            let all = DistinctKeys::new(seed);
            let mut filter = Filter::new(shape(blocks));
            filter.extend(all.range(0..keys));
            hits += all.range(keys..keys + PROBES).filter(|key| filter.contains(key)).count() as u64;
        }
        laws::rate_is(hits, FILTERS * PROBES, shape(blocks).fpr(keys)).assert("the law");
    }
}

/// A number of keys at which lower halves meet more often than eight bits are set: only the chance of a shared half
/// explains the hits. Hashes whose upper half is one block's.
#[test]
fn a_shared_lower_half_is_counted() {
    let params = shape(SplitBlockParams::MAX_BLOCKS);
    let keys = 1u64 << 20;
    // Loads of at most a few: one key in a block says yes to 2^-32 of its strangers by the half, to 2^-40 by bits.
    let load = keys as f64 / params.blocks() as f64;
    let (by_half, by_bits) = (load / 2f64.powi(32), load / 2f64.powi(40));
    laws::at_least(params.fpr(keys), by_half).assert("the shared half");
    laws::at_most(params.fpr(keys), by_half + 2.0 * by_bits).assert("the shared half, and the bits");
}

#[test]
fn a_full_filter_is_saturated_and_one_at_its_design_load_is_not() {
    for (cell, (keys, fpr)) in
        [(5, 0.01), (100, 0.3), (1000, 0.1), (20_000, 0.01), (20_000, 0.001), (3000, 1e-6)]
            .into_iter()
            .enumerate()
    {
        let params = sized(keys, fpr);
        for seed in 0..20 {
            let all = DistinctKeys::new(seed * 100 + cell as u64);
            let mut filter = Filter::new(params);
            filter.extend(all.range(0..keys));
            assert!(!filter.is_saturated(), "{keys} keys at {fpr}, its design load");
            filter.extend(all.range(keys..10 * keys + 200));
            assert!(filter.is_saturated(), "{keys} keys at {fpr}, far beyond");
        }
    }
    for (keys, fpr) in [(1, 0.8), (5, 0.9), (50, 0.95), (1000, 0.999)] {
        let mut filter = Filter::new(sized(keys, fpr));
        filter.extend(0..100_000u64);
        assert!(filter.is_saturated(), "{keys} keys at {fpr}: every bit is set");
    }
    let mut raw = Filter::new(shape(10));
    raw.extend(0..100u64);
    assert!(!raw.is_saturated());
    raw.extend(0..1000u64);
    assert!(raw.is_saturated());
}

/// The alarm stands 6 standard deviations above the fill of the design load: with the right deviation, a tenth more
/// keys raise it in a large filter, and the design load never does.
#[test]
fn the_alarm_is_near_the_design_load_in_a_large_filter() {
    let keys = 1_000_000;
    let all = DistinctKeys::new(77);
    let mut filter = Filter::new(sized(keys, 0.01));
    filter.extend(all.range(0..keys));
    assert!(!filter.is_saturated());
    filter.extend(all.range(keys..keys + keys / 100));
    assert!(filter.is_saturated(), "a hundredth more");
}

#[test]
fn every_bit_set_is_full_and_says_so() {
    let mut filter = Filter::new(shape(1));
    filter.extend(0..10_000u64);
    assert_eq!((filter.fill_ratio(), filter.estimated_fpr()), (1.0, 1.0));
    assert!(filter.estimated_len().is_infinite() && filter.is_saturated());
    assert!(!filter.insert("stranger") && filter.contains("stranger"));
}

#[test]
fn no_key_at_all_is_legal_and_answers_no() {
    for fpr in [0.5, 0.01, 1e-18] {
        let mut filter = Filter::new(sized(0, fpr));
        assert!(filter.is_empty() && !filter.contains("key") && !filter.is_saturated());
        assert_eq!((filter.fill_ratio(), filter.estimated_len(), filter.estimated_fpr()), (0.0, 0.0, 0.0));
        assert!(filter.insert("key") && !filter.is_empty());
        filter.clear();
        assert!(filter.is_empty() && !filter.contains("key"));
    }
}

#[test]
fn views_open_at_any_address() {
    let filter = filter(&[1, 2, 3]);
    let (bytes, bitset) = (filter.to_bytes(), filter.to_bitset());
    for shift in 0..33 {
        let shifted = [&vec![0; shift][..], &bytes[..]].concat();
        let view = Filter::view(&shifted[shift..]).expect("its own bytes");
        assert!(view.contains(&2u64) && view.verify().is_ok());
        assert_eq!(view.to_owned().expect("its own bytes"), filter);
        let shifted = [&vec![0; shift][..], &bitset[..]].concat();
        let view = SplitBlockBloomView::of_bitset(&shifted[shift..], WyHasher::new()).expect("whole blocks");
        assert!(view.contains(&2u64) && view.verify().is_ok());
    }
}

#[test]
fn a_view_of_damaged_bytes_answers_and_does_not_verify() {
    let mut bytes = filter(&[1, 2, 3]).to_bytes();
    *bytes.last_mut().expect("bytes") ^= 1;
    let view = Filter::view(&bytes).expect("the header is whole");
    let _ = view.contains(&1u64);
    assert_eq!(view.verify(), Err(Error::Checksum));
    assert_eq!(view.to_owned(), Err(Error::Checksum));
}

#[test]
fn a_stand_in_for_a_secret_hasher_merges_folds_and_answers_for_hashes() {
    let hasher = SipHasher::new(*b"sixteen byte key");
    let mut filter = Filter::with_hasher(shape(6), hasher);
    filter.insert("key");
    let bytes = filter.to_bytes();
    assert!(matches!(Filter::from_bytes(&bytes), Err(Error::Hasher { .. })));
    let stand_in = Prehashed::of_bytes(&bytes).expect("a fingerprint");
    let mut elsewhere = Filter::from_bytes_with(&bytes, stand_in).expect("the fingerprint is right");
    elsewhere.merge(&elsewhere.clone()).expect("equal in all");
    assert_eq!(elsewhere.to_bytes(), bytes);
    elsewhere.fold(3).expect("a divisor");
    assert!(elsewhere.contains_hash(hasher.hash_key("key")));
    assert!(Filter::view_with(&bytes, stand_in).is_ok_and(|view| view.contains_hash(hasher.hash_key("key"))));
}

#[test]
fn serde_carries_the_envelope() {
    let filter = filter(&[1, 2, 3]);
    let text = serde_json::to_string(&filter).expect("bytes encode");
    assert_eq!(text, serde_json::to_string(&filter.to_bytes()).expect("bytes encode"));
    assert_eq!(serde_json::from_str::<Filter>(&text).expect("what was written reads"), filter);
}

fn check<H: Fingerprint + std::fmt::Debug>(name: &str, filter: &Filter<H>) {
    let bytes = filter.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), name, &bytes);
    let read = Filter::from_bytes_with(&bytes, filter.hasher().clone()).expect("its own bytes");
    assert_eq!(&read, filter);
}

/// The bytes of version 1: written once (`PDS_WRITE_GOLDEN=1 cargo test -p pds-bloom`), kept for ever.
#[test]
fn version_1_stays() {
    check("split-block-v1-empty.bin", &Filter::new(sized(0, 0.01)));
    let mut filter = Filter::new(sized(100, 0.01));
    filter.extend(0..100u32);
    filter.insert("text");
    check("split-block-v1-100-keys.bin", &filter);
    let mut filter = Filter::new(shape(3));
    filter.extend(["a", "b", "c"]);
    check("split-block-v1-raw-shape.bin", &filter);
    let mut keyed = Filter::with_hasher(shape(2), SipHasher::new(*b"sixteen byte key"));
    keyed.insert("a");
    check("split-block-v1-siphash.bin", &keyed);
}
