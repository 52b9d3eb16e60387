//! The bytes of blocked filters, version 1: written once (`PDS_WRITE_GOLDEN=1 cargo test -p pds-bloom`), kept for ever.

use pds_bloom::prelude::*;
use pds_bloom::{BlockedBloomFilter, BlockedBloomParams, WyHasher};
use pds_testkit::golden;

fn check<H: pds_bloom::Fingerprint + std::fmt::Debug>(name: &str, filter: &BlockedBloomFilter<H>) {
    let bytes = filter.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), name, &bytes);
    let read = BlockedBloomFilter::from_bytes_with(&bytes, filter.hasher().clone()).expect("its own bytes");
    assert_eq!(&read, filter);
}

#[test]
fn version_1_of_an_empty_filter() {
    check(
        "blocked-v1-empty.bin",
        &BlockedBloomFilter::new(BlockedBloomParams::for_fpr(0, 0.01).expect("valid targets")),
    );
}

#[test]
fn version_1_of_a_sized_filter() {
    let mut filter = BlockedBloomFilter::new(BlockedBloomParams::for_fpr(100, 0.01).expect("valid targets"));
    filter.extend(0..100u32);
    filter.insert("text");
    check("blocked-v1-100-keys.bin", &filter);
}

#[test]
fn version_1_of_a_raw_shape() {
    let mut filter = BlockedBloomFilter::new(BlockedBloomParams::with_shape(300, 3).expect("a valid shape"));
    filter.extend(["a", "b", "c"]);
    check("blocked-v1-raw-shape.bin", &filter);
}

#[test]
fn version_1_with_other_hashers() {
    let params = BlockedBloomParams::with_shape(128, 4).expect("a valid shape");
    let mut keyed = BlockedBloomFilter::with_hasher(params, SipHasher::new(*b"sixteen byte key"));
    keyed.insert("a");
    check("blocked-v1-siphash.bin", &keyed);
    let mut seeded = BlockedBloomFilter::with_hasher(params, WyHasher::with_seed(1));
    seeded.insert("a");
    check("blocked-v1-seeded.bin", &seeded);
}

#[test]
fn version_1_of_several_rounds() {
    let mut filter =
        BlockedBloomFilter::new(BlockedBloomParams::with_shape(2048, 20).expect("a valid shape"));
    filter.extend(0..20u32);
    check("blocked-v1-20-bits.bin", &filter);
}
