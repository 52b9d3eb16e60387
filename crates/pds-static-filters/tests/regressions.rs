//! Faults that users of other filters reported, each with its right value.

use pds_static_filters::prelude::*;
use pds_testkit::{DistinctKeys, forge};

/// 2^32 - 1 as it is written.
const U32_MAX: [u8; 5] = [0xff, 0xff, 0xff, 0xff, 0x0f];

/// Others: repeated keys made the build run for ever, or fail; dropping them dropped the first key too.
#[test]
fn repeated_keys_build() {
    let few = XorFilter8::from_hashes(&[1, 2, 1]).unwrap();
    assert!(few.contains_hash(1) && few.contains_hash(2) && few.len() == 2);
    let hashes: Vec<u64> = DistinctKeys::new(1).range(0..1000).collect();
    let repeated = [&hashes[..], &hashes[..100]].concat();
    let filter = BinaryFuseFilter8::from_hashes(&repeated).unwrap();
    assert_eq!(filter.len(), 1000);
    assert_eq!(filter, BinaryFuseFilter8::from_hashes(&hashes).unwrap());
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
}

/// Others: many copies of one key overflowed a counter, or hung.
#[test]
fn one_key_many_times_builds() {
    for copies in [1, 2, 3, 63, 64, 65, 128, 255, 256, 257, 1000, 100_000] {
        for hash in [0, 1, u64::MAX] {
            let hashes = vec![hash; copies];
            let fuse = BinaryFuseFilter8::from_hashes(&hashes).unwrap();
            let xor = XorFilter16::from_hashes(&hashes).unwrap();
            assert!(
                fuse.contains_hash(hash) && xor.contains_hash(hash) && fuse.len() == 1,
                "{copies} copies"
            );
        }
    }
}

/// Others: a filter of no key said yes to every stranger whose fingerprint is 0: 2 of 1000.
#[test]
fn a_filter_of_no_key_says_no() {
    fn check(hits: usize) {
        assert_eq!(hits, 0);
    }
    let strangers: Vec<u64> = DistinctKeys::new(2).range(0..100_000).collect();
    let fuse = BinaryFuseFilter8::from_hashes(&[]).unwrap();
    let wide = BinaryFuseFilter8x4::from_hashes(&[]).unwrap();
    let xor = XorFilter8::from_hashes(&[]).unwrap();
    check(strangers.iter().filter(|&&hash| fuse.contains_hash(hash)).count());
    check(strangers.iter().filter(|&&hash| wide.contains_hash(hash)).count());
    check(strangers.iter().filter(|&&hash| xor.contains_hash(hash)).count());
    assert!(fuse.is_empty() && fuse.size_bytes() == 0 && fuse.estimated_fpr() == 0.0);
    let bytes = fuse.to_bytes();
    let view = BinaryFuseFilter8::view(&bytes).unwrap();
    let mut found = [true; 4];
    assert_eq!((view.contains_batch(&[0, 1, 2, 3], &mut found), found), (4, [false; 4]));
}

/// Others: 20 to 40 in a hundred sets of 11,480 to 11,521 keys could not be built, and those of other sizes at which
/// segments double.
#[test]
fn sizes_at_which_segments_double_build() {
    let plateaus =
        [1008, 3361, 3362, 6216, 11_197, 11_480, 11_500, 11_521, 20_704, 37_290, 68_952, 124_179, 229_616];
    for keys in plateaus {
        for seed in 0..3 {
            let hashes: Vec<u64> = DistinctKeys::new(seed).range(0..keys).collect();
            let (three, four) = (
                BinaryFuseFilter8::from_hashes(&hashes).unwrap(),
                BinaryFuseFilter8x4::from_hashes(&hashes).unwrap(),
            );
            assert!(
                hashes.iter().all(|&hash| three.contains_hash(hash) && four.contains_hash(hash)),
                "{keys} keys"
            );
            // Not by taking many more slots.
            let promised = BinaryFuseParams8::for_keys(keys).unwrap();
            assert!(
                three.size_bytes() as u64
                    <= promised.size_bytes() + u64::from(2 * promised.layout().segment())
            );
        }
    }
}

/// Others: hashes that differ by a multiple of 2^32 were taken for equal when repeated ones were dropped.
#[test]
fn hashes_that_differ_in_their_high_half_alone_are_different() {
    let hashes: Vec<u64> = (0..1000u64).map(|i| i << 32 | 7).chain([7]).collect();
    let filter = BinaryFuseFilter8::from_hashes(&hashes).unwrap();
    assert_eq!(filter.len(), 1000);
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
}

/// Others: start positions were computed in 32 bits, and wrapped where keys times hash pass 2^32.
#[test]
fn structured_hashes_build_too() {
    for spread in [0, 8, 20, 32, 44] {
        let hashes: Vec<u64> = (0..20_000u64).map(|i| i << spread).collect();
        let (three, four) = (
            BinaryFuseFilter8::from_hashes(&hashes).unwrap(),
            BinaryFuseFilter16x4::from_hashes(&hashes).unwrap(),
        );
        assert!(hashes.iter().all(|&hash| three.contains_hash(hash) && four.contains_hash(hash)));
    }
}

/// Others: a descriptor from elsewhere was believed: index 2^32 - 1, a slice out of range, a segment of no slots.
#[test]
fn a_shape_that_cannot_be_is_refused_behind_right_checksums() {
    let donor = BinaryFuseFilter8::from_hashes(&[1]).unwrap().to_bytes();
    let refused = |params: &[u8], payload: &[u8]| {
        let bytes = forge(&donor, params, payload);
        assert!(BinaryFuseFilter8::view(&bytes).is_err() && BinaryFuseParams8::peek(&bytes).is_err());
        BinaryFuseFilter8::from_bytes(&bytes).unwrap_err()
    };
    let params = Error::Malformed { field: "params" };
    let length = Error::Malformed { field: "payload length" };
    // Slots of a key, bits of a slot, keys; shards, windows, log2 of the segment; seed.
    assert!(
        BinaryFuseFilter8::from_bytes(&forge(&donor, &[3, 8, 1, 1, 1, 0, 0], &[0; 3])).is_ok(),
        "the tools work"
    );
    assert_eq!(refused(&[3, 8, 1, 1, 0, 0, 0], &[0; 2]), params, "no window");
    assert_eq!(refused(&[3, 8, 1, 1, 1, 15, 0], &vec![0; 3 << 15]), params, "a segment of 2^15");
    assert_eq!(refused(&[3, 8, 1, 1, 1, 64, 0], &[0; 3]), params, "a segment of 2^64");
    assert_eq!(refused(&[3, 8, 1, 1, 1, 255, 0], &[0; 3]), params, "a segment of 2^255");
    assert_eq!(refused(&[3, 8, 1, 0, 1, 0, 0], &[]), params, "a key and no shard");
    assert_eq!(refused(&[3, 8, 0, 1, 1, 0, 0], &[0; 3]), params, "a shard and no key");
    assert_eq!(refused(&[3, 8, 0, 0, 2, 0, 0], &[]), params, "windows of no shard");
    assert_eq!(refused(&[3, 8, 4, 1, 1, 0, 0], &[0; 3]), params, "more keys than slots");
    let huge = [&[3, 8, 1, 1][..], &U32_MAX, &[14, 0]].concat();
    assert_eq!(refused(&huge, &[0; 3]), params, "2^46 slots in a shard");
    let many = [&[3, 8, 1][..], &U32_MAX, &[0x80, 0x80, 2, 14, 0]].concat();
    assert_eq!(refused(&many, &[0; 3]), if cfg!(target_pointer_width = "64") { length } else { params });
    assert_eq!(refused(&[3, 8, 1, 1, 1, 0, 0], &[0; 2]), length, "a slot is missing");
    assert_eq!(refused(&[3, 8, 1, 1, 1, 0, 0], &[0; 4]), length, "a slot too many");
    assert_eq!(refused(&[3, 16, 1, 1, 1, 0, 0], &[0; 6]), Error::Incompatible { field: "bits" });
    assert_eq!(refused(&[4, 8, 1, 1, 1, 0, 0], &[0; 4]), Error::Incompatible { field: "arity" });
    let donor = XorFilter8::from_hashes(&[1]).unwrap().to_bytes();
    let refused =
        |params: &[u8], payload: &[u8]| XorFilter8::from_bytes(&forge(&donor, params, payload)).unwrap_err();
    assert!(XorFilter8::from_bytes(&forge(&donor, &[3, 8, 1, 1, 0], &[0; 3])).is_ok(), "the tools work");
    assert_eq!(refused(&[3, 8, 1, 0, 0], &[]), params, "a key and no slot");
    assert_eq!(refused(&[&[3, 8, 1][..], &U32_MAX, &[0]].concat(), &[0; 3]), params, "3 * 2^32 slots");
}

/// Others: a round trip through bytes lost every key.
#[test]
fn a_round_trip_loses_no_key() {
    let hashes: Vec<u64> = DistinctKeys::new(3).range(0..5000).collect();
    let bytes = BinaryFuseFilter16::from_hashes(&hashes).unwrap().to_bytes();
    let filter = BinaryFuseFilter16::from_bytes(&bytes).unwrap();
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
}

/// Others: the capacity of an xor filter was cut to whole thirds from above.
#[test]
fn a_xor_filter_has_at_least_the_published_slots() {
    for keys in 1..2000 {
        let slots = XorParams8::for_keys(keys).unwrap().size_bytes();
        assert!(
            slots.is_multiple_of(3) && slots * 100 >= 3200 + 123 * keys && slots < 32 + 2 * keys + 3,
            "{keys} keys"
        );
    }
}
