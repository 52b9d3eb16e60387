//! Faults that users of other split-block filters reported, each with its right value.

use pds_bloom::WyHasher;
use pds_bloom::prelude::*;
use pds_testkit::{DistinctKeys, forge, laws};

/// Others: a size of `usize::MAX` keys wrapped around, and a null pointer was handed out as a slice.
#[test]
fn a_size_beyond_the_address_space_is_refused() {
    for blocks in
        [SplitBlockParams::MAX_BLOCKS + 1, u64::MAX / 32, u64::MAX / 32 + 1, usize::MAX as u64, u64::MAX]
    {
        assert!(matches!(SplitBlockParams::with_shape(blocks), Err(Error::Parameter { name: "blocks", .. })));
    }
    assert!(SplitBlockParams::for_fpr(usize::MAX as u64, 0.1).is_err());
}

/// Others: a rate of 0 gave one block; 2^64 - 1 keys were clamped to the largest filter without a word.
#[test]
fn a_target_that_cannot_be_met_is_refused() {
    for (keys, fpr) in [
        (1_000_000, 0.0),
        (1_000_000, -0.0),
        (1_000_000, f64::NAN),
        (1_000_000, 1.0),
        (u64::MAX, 0.01),
        (u64::MAX, 0.9),
        (1 << 40, 0.01),
        // 2^31 blocks keep no more than a key in 2^63.
        (1000, 1e-17),
    ] {
        assert!(matches!(SplitBlockParams::for_fpr(keys, fpr), Err(Error::Parameter { name: "fpr", .. })));
    }
}

/// Others: an empty bitset was accepted and the first query panicked.
#[test]
fn a_bitset_of_no_or_of_broken_blocks_is_refused() {
    for len in [0, 1, 31, 33, 63, 65] {
        let (bitset, hasher) = (vec![0; len], WyHasher::new());
        let refused = Error::Malformed { field: "bitset length" };
        assert_eq!(SplitBlockBloomFilter::from_bitset(&bitset, hasher).unwrap_err(), refused);
        assert_eq!(SplitBlockBloomView::of_bitset(&bitset, hasher).unwrap_err(), refused);
    }
}

/// apache/parquet-format#547. Others: the formula for blocks that are all equally full, 9.68 bits per key at 0.01, has a
/// rate of 0.0146; at 1e-4 it is off by three times.
#[test]
fn the_formula_for_even_blocks_breaks_the_promise_and_ours_keeps_it() {
    const KEYS: u64 = 1_000_000;
    const PROBES: u64 = 2_000_000;
    let even = |fpr: f64| -8.0 / (1.0 - fpr.powf(0.125)).ln();
    let blocks = |bits_per_key: f64| (KEYS as f64 * bits_per_key / 256.0) as u64;
    let rate = |fpr: f64| SplitBlockParams::with_shape(blocks(even(fpr))).unwrap().fpr(KEYS);
    assert_eq!(format!("{:.2} {:.4}", even(0.01), rate(0.01)), "9.68 0.0146");
    assert!(rate(1e-4) > 3e-4, "{}", rate(1e-4));

    let ours = SplitBlockParams::for_fpr(KEYS, 0.01).unwrap();
    assert_eq!(format!("{:.2}", ours.size_bytes() as f64 * 8.0 / KEYS as f64), "10.53");
    assert!(ours.fpr(KEYS) <= 0.01);

    let all = DistinctKeys::new(547);
    for (params, kept) in [(ours, true), (SplitBlockParams::with_shape(blocks(even(0.01))).unwrap(), false)] {
        let mut filter = SplitBlockBloomFilter::new(params);
        filter.extend(all.range(0..KEYS));
        let hits = all.range(KEYS..KEYS + PROBES).filter(|key| filter.contains(key)).count() as u64;
        assert_eq!(laws::rate_at_most(hits, PROBES, 0.01).pass, kept);
    }
}

/// apache/arrow#50008. Others: arithmetic in 32 bits went wrong in filters beyond 512 MB. That blocks are drawn evenly
/// there is tested where a block is chosen, without the memory.
#[test]
fn filters_beyond_half_a_gigabyte_are_priced() {
    for blocks in [1 << 24, (1 << 24) + 1, SplitBlockParams::MAX_BLOCKS] {
        let params = SplitBlockParams::with_shape(blocks).unwrap();
        assert_eq!(params.size_bytes(), blocks * 32);
        let (rate, fill) = (params.fpr(8 * blocks), params.fill(8 * blocks));
        assert!((1e-5..1e-4).contains(&rate) && (0.2..0.25).contains(&fill), "{rate} {fill}");
    }
}

/// Others: a header with no blocks was accepted, and the query divided by zero; lengths were believed.
#[test]
fn a_shape_that_cannot_be_is_refused_behind_right_checksums() {
    let donor = SplitBlockBloomFilter::new(SplitBlockParams::with_shape(1).unwrap()).to_bytes();
    let malformed = |params: &[u8], payload: &[u8]| {
        let bytes = forge(&donor, params, payload);
        assert!(SplitBlockBloomFilter::view(&bytes).is_err() && SplitBlockParams::peek(&bytes).is_err());
        SplitBlockBloomFilter::from_bytes(&bytes).unwrap_err()
    };
    let params = Error::Malformed { field: "params" };
    let length = Error::Malformed { field: "payload length" };
    // Blocks, no design rate.
    assert_eq!(malformed(&[0, 0], &[]), params, "no blocks");
    assert_eq!(malformed(&[1, 0], &[]), length, "a missing block");
    assert_eq!(malformed(&[1, 0], &[0; 64]), length, "a block too many");
    assert_eq!(malformed(&[1, 0], &[0; 33]), length, "a byte too many");
    assert_eq!(malformed(&[0x81, 0x80, 0x80, 0x80, 0x08, 0], &[0; 32]), params, "2^31 + 1 blocks");
    if SplitBlockParams::MAX_BLOCKS == 1 << 31 {
        assert_eq!(
            malformed(&[0x80, 0x80, 0x80, 0x80, 0x08, 0], &[0; 32]),
            length,
            "2^31 blocks are not allocated"
        );
    }
    let nan = [&[1, 1][..], &f64::NAN.to_le_bytes()].concat();
    assert_eq!(malformed(&nan, &[0; 32]), params, "a design rate that is no rate");
    assert!(
        SplitBlockBloomFilter::from_bytes(&forge(&donor, &[1, 0], &[0; 32])).is_ok(),
        "the forger's tools work"
    );
}

/// Others: a union of filters with different hashers succeeded and lost every key of one side.
#[test]
fn a_merge_across_hashers_is_refused() {
    let params = SplitBlockParams::for_fpr(500, 0.01).unwrap();
    let mut left = SplitBlockBloomFilter::with_hasher(params, SipHasher::new([1; 16]));
    let right = SplitBlockBloomFilter::with_hasher(params, SipHasher::new([2; 16]));
    left.extend(0..500u32);
    assert!(matches!(left.merge(&right), Err(Error::Hasher { .. })));
    assert!((0..500u32).all(|key| left.contains(&key)));
}

/// Others: estimates that left 0..=1 once saturated, or were fill^8 and half of the truth.
#[test]
fn estimates_stay_in_range_at_any_fill() {
    for keys in [0, 1, 10, 100, 1000, 100_000u64] {
        let mut filter = SplitBlockBloomFilter::new(SplitBlockParams::for_fpr(10, 0.1).unwrap());
        filter.extend(0..keys);
        assert!((0.0..=1.0).contains(&filter.estimated_fpr()) && (0.0..=1.0).contains(&filter.fill_ratio()));
        assert!(filter.estimated_len() >= 0.0);
        let params = filter.params();
        assert!((0.0..=1.0).contains(&params.fpr(keys)) && (0.0..=1.0).contains(&params.fill(keys)));
    }
}

/// Others: structured ids (a sequence, multiples of 2^32) met far more strangers than promised.
#[test]
fn structured_ids_keep_the_promise() {
    const KEYS: u64 = 50_000;
    const PROBES: u64 = 500_000;
    for spread in [0, 12, 32, 40] {
        let mut filter = SplitBlockBloomFilter::new(SplitBlockParams::for_fpr(KEYS, 0.01).unwrap());
        filter.extend((0..KEYS).map(|i| i << spread));
        let hits = (KEYS..KEYS + PROBES).filter(|i| filter.contains(&(i << spread))).count() as u64;
        laws::rate_at_most(hits, PROBES, 0.01).assert("the promise");
    }
}

/// Others: a search for the design load wrapped around, and never ended, for a target next to 1.
#[test]
fn targets_next_to_one_have_an_alarm() {
    for target in [1.0 - f64::EPSILON / 2.0, 1.0 - f64::EPSILON, 1.0 - 2.0 * f64::EPSILON, 0.9999] {
        let mut filter = SplitBlockBloomFilter::new(SplitBlockParams::for_fpr(10, target).unwrap());
        assert!(!filter.is_saturated());
        filter.extend(0..100_000u32);
        let bytes = filter.to_bytes();
        assert!(filter.is_saturated() && SplitBlockBloomFilter::view(&bytes).unwrap().is_saturated());
    }
}
