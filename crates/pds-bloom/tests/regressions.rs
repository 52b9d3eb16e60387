//! Faults that users of other filters reported, each with its right value.

use pds_bloom::WyHasher;
use pds_bloom::prelude::*;
use pds_core::wire;
use pds_hash::{Probes, reduce};
use pds_testkit::{DistinctKeys, forge, laws};

/// Others: a union of filters with different random keys succeeded and lost every key of one side.
#[test]
fn a_merge_across_seeds_is_refused() {
    let params = BloomParams::for_fpr(500, 0.01).unwrap();
    let mut left = BloomFilter::with_hasher(params, SipHasher::new([1; 16]));
    let mut right = BloomFilter::with_hasher(params, SipHasher::new([2; 16]));
    left.extend(0..500u32);
    right.extend(500..1000u32);
    assert!(matches!(left.merge(&right), Err(Error::Hasher { .. })));
    assert!(matches!(left.intersect(&right), Err(Error::Hasher { .. })));
    assert!((0..500u32).all(|key| left.contains(&key)));
}

/// Others: a header with no bits, or with 2^32 probes, was accepted; the query then divided by zero, or hung.
#[test]
fn a_shape_that_cannot_be_is_refused_behind_right_checksums() {
    let donor = BloomFilter::new(BloomParams::with_shape(64, 1).unwrap()).to_bytes();
    let word = [0u8; 8];
    // Words, k, no design rate.
    let malformed = |params: &[u8], payload: &[u8]| {
        let bytes = forge(&donor, params, payload);
        assert!(BloomFilter::view(&bytes).is_err() && BloomParams::peek(&bytes).is_err());
        BloomFilter::from_bytes(&bytes).unwrap_err()
    };
    let params = Error::Malformed { field: "params" };
    let length = Error::Malformed { field: "payload length" };
    assert_eq!(malformed(&[0, 1, 0], &[]), params, "no words");
    assert_eq!(malformed(&[1, 0, 0], &word), params, "no probes");
    assert_eq!(malformed(&[1, 65, 0], &word), params, "65 probes");
    assert_eq!(malformed(&[1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0], &word), params, "2^32 - 1 probes");
    assert_eq!(malformed(&[1, 1, 0], &[]), length, "a missing word");
    assert_eq!(malformed(&[1, 1, 0], &[0; 16]), length, "a word too many");
    assert_eq!(malformed(&[1, 1, 0], &[0; 9]), length, "a byte too many");
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1, 0];
    assert_eq!(malformed(&huge, &word), params, "2^64 - 1 words");
    let nearly = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0];
    let refused = if usize::BITS < 64 { params } else { length };
    assert_eq!(malformed(&nearly, &word), refused, "2^56 - 1 words are not allocated");
    let nan = [&[1, 1, 1][..], &f64::NAN.to_le_bytes()].concat();
    assert_eq!(malformed(&nan, &word), params, "a design rate that is no rate");
    assert!(BloomFilter::from_bytes(&forge(&donor, &[1, 1, 0], &word)).is_ok(), "the forger's tools work");
}

/// Others: index arithmetic in 32 bits: filters beyond 2^32 bits used a part of them, or said yes to everything.
#[test]
fn positions_cover_shapes_beyond_32_bits() {
    for bits in [1u64 << 31, 1 << 32, (1 << 32) + 64, 1 << 36, 1 << 40] {
        let (mut counts, mut places) = ([0; 64], [0; 64]);
        for hash in DistinctKeys::new(bits).range(0..20_000) {
            let mut probes = Probes::new(hash);
            for _ in 0..7 {
                let (word, bit) = probes.next(bits / 64);
                assert!(word < bits / 64 && bit < 64);
                counts[(u128::from(word) * 64 / u128::from(bits / 64)) as usize] += 1;
                places[bit as usize] += 1;
            }
        }
        laws::chi_square_uniform(&places).assert(&format!("bits of a word, in {bits} bits"));
        laws::chi_square_uniform(&counts).assert(&format!("positions in {bits} bits"));
    }
    assert_eq!(reduce(u64::MAX, (1 << 32) + 1), 1 << 32);
}

/// Others: two 32-bit halves of a hash, or one 32-bit hash: hundreds of times the promised rate in large filters.
#[test]
fn a_rate_of_one_in_ten_million_is_kept() {
    const KEYS: u64 = 1_000_000;
    const PROBES: u64 = 10_000_000;
    let params = BloomParams::for_fpr(KEYS, 1e-7).unwrap();
    let keys = DistinctKeys::new(5);
    let mut filter = BloomFilter::new(params);
    let hashes: Vec<u64> = keys.range(0..KEYS).map(|key| filter.hasher().hash_u64(key)).collect();
    filter.insert_batch(&hashes);
    let hits = keys.range(KEYS..KEYS + PROBES).filter(|key| filter.contains(key)).count() as u64;
    laws::rate_at_most(hits, PROBES, 1e-7).assert("the promise");
}

/// Others: a structured id (sequence, multiples of 2^32) met far more strangers than promised.
#[test]
fn structured_ids_keep_the_promise() {
    const KEYS: u64 = 50_000;
    const PROBES: u64 = 500_000;
    for spread in [0, 12, 32, 40] {
        let mut filter = BloomFilter::new(BloomParams::for_fpr(KEYS, 0.01).unwrap());
        filter.extend((0..KEYS).map(|i| i << spread));
        let hits = (KEYS..KEYS + PROBES).filter(|i| filter.contains(&(i << spread))).count() as u64;
        laws::rate_at_most(hits, PROBES, 0.01).assert("the promise");
    }
}

/// Others: a filter of no bits divided by zero on the first query.
#[test]
fn a_filter_for_no_keys_answers_no() {
    let filter = BloomFilter::new(BloomParams::for_fpr(0, 0.01).unwrap());
    assert!(!filter.contains("key"));
    assert_eq!(BloomFilter::from_bytes(&filter.to_bytes()), Ok(filter));
}

/// Others: a filter written by one version answered no to its keys in the next, without a word.
#[test]
fn bytes_of_another_hasher_seed_or_version_are_refused() {
    let mut filter =
        BloomFilter::with_hasher(BloomParams::for_fpr(10, 0.01).unwrap(), WyHasher::with_seed(3));
    filter.insert("key");
    let mut bytes = filter.to_bytes();
    let found = wire::peek(&bytes).unwrap().fingerprint;
    let refused = BloomFilter::from_bytes(&bytes).unwrap_err();
    assert!(matches!(refused, Error::Hasher { found: theirs, .. } if theirs == found));
    bytes[5] = 2;
    assert_eq!(BloomFilter::from_bytes(&bytes).unwrap_err(), Error::Version { found: 2, newest: 1 });
}

/// Others: an "expected rate" that left 0..=1, or was negative, once saturated.
#[test]
fn estimates_stay_in_range_at_any_fill() {
    for keys in [0, 1, 10, 100, 1000, 100_000u64] {
        let mut filter = BloomFilter::new(BloomParams::for_fpr(10, 0.1).unwrap());
        filter.extend(0..keys);
        assert!((0.0..=1.0).contains(&filter.estimated_fpr()) && (0.0..=1.0).contains(&filter.fill_ratio()));
        assert!(filter.estimated_len() >= 0.0);
    }
}
