//! The bytes of version 1: written once (`PDS_WRITE_GOLDEN=1 cargo test -p pds-bloom`), kept for ever.

use pds_bloom::prelude::*;
use pds_bloom::{WindowedBloomFilter, WindowedBloomParams, WyHasher};
use pds_testkit::golden;

fn check<H: pds_bloom::Fingerprint + std::fmt::Debug>(name: &str, filter: &WindowedBloomFilter<H>) {
    let bytes = filter.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), name, &bytes);
    let read = WindowedBloomFilter::from_bytes_with(&bytes, filter.hasher().clone()).expect("its own bytes");
    assert_eq!(&read, filter);
}

#[test]
fn version_1_of_an_empty_filter() {
    let params = WindowedBloomParams::for_fpr(0, 0.01, 2).expect("valid targets");
    check("windowed-v1-empty.bin", &WindowedBloomFilter::new(params));
}

#[test]
fn version_1_of_a_sized_filter() {
    let params = WindowedBloomParams::for_fpr(100, 0.01, 4).expect("valid targets");
    let mut filter = WindowedBloomFilter::new(params);
    for generation in 0..6u32 {
        filter.advance();
        filter.extend(100 * generation..100 * (generation + 1));
    }
    filter.insert("text");
    check("windowed-v1-600-keys.bin", &filter);
}

#[test]
fn version_1_of_a_raw_shape() {
    let mut filter =
        WindowedBloomFilter::new(WindowedBloomParams::with_shape(600, 12, 3).expect("a valid shape"));
    filter.insert("a");
    for _ in 0..300 {
        filter.advance();
    }
    filter.extend(["b", "c"]);
    filter.advance();
    check("windowed-v1-raw-shape.bin", &filter);
}

#[test]
fn version_1_with_other_hashers() {
    let params = WindowedBloomParams::with_shape(512, 4, 2).expect("a valid shape");
    let mut keyed = WindowedBloomFilter::with_hasher(params, SipHasher::new(*b"sixteen byte key"));
    keyed.insert("a");
    check("windowed-v1-siphash.bin", &keyed);
    let mut seeded = WindowedBloomFilter::with_hasher(params, WyHasher::with_seed(1));
    seeded.insert("a");
    check("windowed-v1-seeded.bin", &seeded);
}
