//! The bytes of version 1: written once (`PDS_WRITE_GOLDEN=1 cargo test -p pds-static-filters`), kept for ever.

use pds_static_filters::prelude::*;
use pds_static_filters::{Layout, Slot, StaticFilter, WyHasher};
use pds_testkit::golden;

fn check<L: Layout, S: Slot + std::fmt::Debug, H: Fingerprint + std::fmt::Debug>(
    name: &str,
    filter: &StaticFilter<L, S, H>,
) {
    let bytes = filter.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), name, &bytes);
    let read =
        StaticFilter::<L, S, H>::from_bytes_with(&bytes, filter.hasher().clone()).expect("its own bytes");
    assert_eq!(&read, filter);
}

#[test]
fn version_1_of_empty_filters() {
    let none = || std::iter::empty::<u64>();
    check("fuse8-v1-empty.bin", &BinaryFuseFilter8::from_keys(none()).unwrap());
    check("xor8-v1-empty.bin", &XorFilter8::from_keys(none()).unwrap());
}

#[test]
fn version_1_of_a_hundred_keys() {
    check("fuse8-v1-100-keys.bin", &BinaryFuseFilter8::from_keys(0..100u32).unwrap());
    check("fuse16-v1-100-keys.bin", &BinaryFuseFilter16::from_keys(0..100u32).unwrap());
    check("fuse32-v1-100-keys.bin", &BinaryFuseFilter32::from_keys(0..100u32).unwrap());
    check("fuse8x4-v1-100-keys.bin", &BinaryFuseFilter8x4::from_keys(0..100u32).unwrap());
    check("fuse16x4-v1-100-keys.bin", &BinaryFuseFilter16x4::from_keys(0..100u32).unwrap());
    check("fuse32x4-v1-100-keys.bin", &BinaryFuseFilter32x4::from_keys(0..100u32).unwrap());
    check("xor8-v1-100-keys.bin", &XorFilter8::from_keys(0..100u32).unwrap());
    check("xor16-v1-100-keys.bin", &XorFilter16::from_keys(0..100u32).unwrap());
}

#[test]
fn version_1_with_other_hashers() {
    let keyed = SipHasher::new(*b"sixteen byte key");
    check("fuse8-v1-siphash.bin", &BinaryFuseFilter8::from_keys_with(["a"], keyed).unwrap());
    check("fuse8-v1-seeded.bin", &BinaryFuseFilter8::from_keys_with(["a"], WyHasher::with_seed(1)).unwrap());
}

/// The checksum of the payload, as its envelope has it: pinned for filters too large for a file, and the same whether shards
/// and segments were solved by one thread or by many.
#[test]
#[cfg_attr(miri, ignore = "millions of keys, for hours")]
fn large_filters_have_the_same_bytes_with_and_without_threads() {
    let hashes: Vec<u64> = pds_testkit::DistinctKeys::new(1).range(0..5_000_000).collect();
    let checksum = |bytes: Vec<u8>| u32::from_le_bytes(bytes[20..24].try_into().expect("four bytes"));
    let fuse = BinaryFuseFilter8::from_hashes(&hashes).unwrap();
    assert_eq!(fuse.params().layout().shards(), 2);
    let ribbon = RibbonFilter::from_hashes(RibbonParams::for_fpr(0.01).unwrap(), &hashes[..300_000]).unwrap();
    assert_eq!([checksum(fuse.to_bytes()), checksum(ribbon.to_bytes())], [0x4d27_545c, 0x9742_a3b2]);
}
