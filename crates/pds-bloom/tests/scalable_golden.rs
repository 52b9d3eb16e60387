//! The bytes of scalable filters, version 1: written once (`PDS_WRITE_GOLDEN=1 cargo test -p pds-bloom`), kept for ever.

use pds_bloom::prelude::*;
use pds_bloom::{ScalableBloomFilter, ScalableBloomParams};
use pds_testkit::golden;

fn check(name: &str, fpr: f64, keys: u32) {
    let mut filter = ScalableBloomFilter::new(ScalableBloomParams::for_fpr(10, fpr).expect("valid targets"));
    for key in 0..keys {
        filter.insert(&key).expect("room");
    }
    let bytes = filter.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), name, &bytes);
    assert_eq!(ScalableBloomFilter::from_bytes(&bytes), Ok(filter));
}

#[test]
fn version_1_of_an_empty_filter() {
    check("scalable-v1-empty.bin", 0.01, 0);
}

#[test]
fn version_1_of_blocked_layers() {
    check("scalable-v1-300-keys.bin", 0.01, 300);
}

#[test]
fn version_1_of_blocked_and_classic_layers() {
    check("scalable-v1-classic-layers.bin", 0.0007, 300);
}
