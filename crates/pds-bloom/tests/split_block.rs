//! What the split-block filter promises, as laws.

#[macro_use]
mod shared;

use pds_bloom::WyHasher;
use pds_bloom::prelude::*;
use pds_testkit::{DistinctKeys, golden, laws};
use proptest::prelude::*;

type Filter<H = WyHasher> = SplitBlockBloomFilter<H>;

fn shape(blocks: u64) -> SplitBlockParams {
    SplitBlockParams::with_shape(blocks).expect("a valid shape")
}

/// The bits of a hash: the format, written a second time.
fn bits_of(hash: u64, params: SplitBlockParams) -> Vec<u64> {
    const SALTS: [u32; 8] = [
        0x47b6_137b,
        0x4497_4d91,
        0x8824_ad5b,
        0xa2b7_289d,
        0x7054_95c7,
        0x2df1_424b,
        0x9efc_4947,
        0x5c6b_fb31,
    ];
    let block = ((hash >> 32) * params.blocks()) >> 32;
    let bit = |(word, salt): (u64, &u32)| {
        (block * 8 + word) * 32 + u64::from((hash as u32).wrapping_mul(*salt) >> 27)
    };
    (0..).zip(&SALTS).map(bit).collect()
}

filter_laws! {
    SplitBlockBloomFilter, SplitBlockParams,
    small: shape(5),
    any: (1..50u64).prop_map(shape),
    large: shape(1 << 15),
    tiny: shape(1),
    loops: [1, 2, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, 1 << 15].map(shape),
    bits_of: bits_of,
    exercise: |filter: &mut Filter| filter.fold(filter.params().blocks()).expect("a number divides itself"),
    lowest_rate: 1e-18,
    unlike: [
        (shape(4), shape(5), "blocks"),
        (sized(1000, 0.01), sized(1000, 0.02), "blocks"),
        (shape(sized(1000, 0.01).blocks()), sized(1000, 0.01), "design_fpr"),
    ],
    malformed: [
        r#"{"blocks":0,"target":null}"#,
        r#"{"blocks":1,"target":1.0}"#,
        r#"{"blocks":18446744073709551615,"target":null}"#,
    ],
}

proptest! {
    #[test]
    fn the_bare_bitset_is_the_payload_and_answers_as_the_filter(
        members: Vec<u64>, strangers: Vec<u64>, large: bool,
    ) {
        let mut filter = Filter::new(shape(if large { 1 << 15 } else { 3 }));
        filter.insert_batch(&members);
        let bitset = filter.to_bitset();
        prop_assert_eq!(bitset.len() as u64, filter.params().size_bytes());
        prop_assert!(filter.to_bytes().ends_with(&bitset));
        prop_assert_eq!(&Filter::from_bitset(&bitset, WyHasher::new()).expect("whole blocks"), &filter);
        let view = SplitBlockBloomView::of_bitset(&bitset, WyHasher::new()).expect("whole blocks");
        prop_assert_eq!(&view.to_owned().expect("what was written"), &filter);
        let asked = [&members[..], &strangers[..]].concat();
        let (mut found, mut viewed) = (vec![false; asked.len()], vec![true; asked.len()]);
        filter.contains_batch(&asked, &mut found);
        prop_assert_eq!(view.contains_batch(&asked, &mut viewed), asked.len());
        prop_assert_eq!(&viewed, &found);
        prop_assert!(asked.iter().zip(found).all(|(&hash, found)| view.contains_hash(hash) == found));
        let measures = |fill: f64, len: f64, fpr: f64| [fill, len, fpr].map(f64::to_bits);
        prop_assert_eq!(
            measures(view.fill_ratio(), view.estimated_len(), view.estimated_fpr()),
            measures(filter.fill_ratio(), filter.estimated_len(), filter.estimated_fpr())
        );
        prop_assert_eq!(view.is_saturated(), filter.is_saturated());
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
        // A tolerance of a hundredth: chance moves the count of ten million bits by far less at any of these loads.
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
    // So few that hardly two share a block; pointers of 32 bits reach 2^26 of them.
    let keys = if usize::BITS < 64 { 1u64 << 10 } else { 1 << 20 };
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
    let mut raw = Filter::new(shape(10));
    raw.extend(0..100u64);
    assert!(!raw.is_saturated());
    raw.extend(0..1000u64);
    assert!(raw.is_saturated());
}

/// The alarm stands 6 standard deviations above the fill of the design load: with the right deviation, a hundredth more
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
fn views_of_a_bare_bitset_open_at_any_address() {
    let filter = filter(&[1, 2, 3]);
    for shift in 0..33 {
        let shifted = [&vec![0; shift][..], &filter.to_bitset()[..]].concat();
        let view = SplitBlockBloomView::of_bitset(&shifted[shift..], WyHasher::new()).expect("whole blocks");
        assert!(view.contains(&2u64) && view.verify().is_ok());
    }
}

#[test]
fn a_stand_in_for_a_secret_hasher_folds() {
    let hasher = SipHasher::new(*b"sixteen byte key");
    let mut filter = Filter::with_hasher(shape(6), hasher);
    filter.insert("key");
    let bytes = filter.to_bytes();
    let stand_in = Prehashed::of_bytes(&bytes).expect("a fingerprint");
    let mut elsewhere = Filter::from_bytes_with(&bytes, stand_in).expect("the fingerprint is right");
    elsewhere.fold(3).expect("a divisor");
    assert!(elsewhere.contains_hash(hasher.hash_key("key")));
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
