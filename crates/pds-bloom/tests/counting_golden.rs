//! The bytes of version 1: written once (`PDS_WRITE_GOLDEN=1 cargo test -p pds-bloom`), kept for ever.

use pds_bloom::prelude::*;
use pds_bloom::{CountingBloomFilter, CountingBloomParams, WyHasher};
use pds_testkit::golden;

fn check<H: pds_bloom::Fingerprint + std::fmt::Debug>(name: &str, filter: &CountingBloomFilter<H>) {
    let bytes = filter.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), name, &bytes);
    let read = CountingBloomFilter::from_bytes_with(&bytes, filter.hasher().clone()).expect("its own bytes");
    assert_eq!(&read, filter);
}

#[test]
fn version_1_of_an_empty_filter() {
    let params = CountingBloomParams::for_fpr(0, 0.01).expect("valid targets");
    check("counting-v1-empty.bin", &CountingBloomFilter::new(params));
}

#[test]
fn version_1_of_a_sized_filter() {
    let mut filter =
        CountingBloomFilter::new(CountingBloomParams::for_fpr(100, 0.01).expect("valid targets"));
    filter.extend(0..110u32);
    filter.insert("text");
    for key in 100..110u32 {
        filter.remove(&key).expect("inserted above");
    }
    check("counting-v1-100-keys.bin", &filter);
}

/// Rounds that meet in a bit, and counters that stick.
#[test]
fn version_1_of_a_raw_shape() {
    let mut filter =
        CountingBloomFilter::new(CountingBloomParams::with_shape(600, 20).expect("a valid shape"));
    for copies in 1..=20 {
        filter.extend(std::iter::repeat_n(copies, copies));
    }
    check("counting-v1-raw-shape.bin", &filter);
}

#[test]
fn version_1_with_other_hashers() {
    let params = CountingBloomParams::with_shape(512, 4).expect("a valid shape");
    let mut keyed = CountingBloomFilter::with_hasher(params, SipHasher::new(*b"sixteen byte key"));
    keyed.insert("a");
    check("counting-v1-siphash.bin", &keyed);
    let mut seeded = CountingBloomFilter::with_hasher(params, WyHasher::with_seed(1));
    seeded.insert("a");
    check("counting-v1-seeded.bin", &seeded);
}
