//! The bytes of version 1: written once (`PDS_WRITE_GOLDEN=1 cargo test -p pds-cuckoo`), kept for ever.

use pds_cuckoo::WyHasher;
use pds_cuckoo::prelude::*;
use pds_testkit::golden;

fn fixed<H: Fingerprint + std::fmt::Debug>(name: &str, filter: &CuckooFilter<H>) {
    let bytes = filter.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), name, &bytes);
    let read = CuckooFilter::from_bytes_with(&bytes, filter.hasher().clone()).expect("its own bytes");
    assert_eq!(&read, filter);
}

fn growable(name: &str, filter: &GrowableCuckooFilter) {
    let bytes = filter.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), name, &bytes);
    assert_eq!(&GrowableCuckooFilter::from_bytes(&bytes).expect("its own bytes"), filter);
}

#[test]
fn version_1_of_an_empty_filter() {
    fixed("cuckoo-v1-empty.bin", &CuckooFilter::new(CuckooParams::for_fpr(0, 0.01).expect("valid targets")));
}

#[test]
fn version_1_of_a_sized_filter() {
    let mut filter = CuckooFilter::new(CuckooParams::for_fpr(101, 0.01).expect("valid targets"));
    for key in 0..100u32 {
        assert_eq!(filter.insert(&key), Ok(true));
    }
    filter.insert("text").expect("room");
    fixed("cuckoo-v1-101-keys.bin", &filter);
}

/// Every form of a bucket, an odd number of buckets, and entries that had to be moved.
#[test]
fn version_1_of_full_tables() {
    for (bits, name) in [
        (7, "cuckoo-v1-full-7-bits.bin"),
        (12, "cuckoo-v1-full-12-bits.bin"),
        (19, "cuckoo-v1-full-19-bits.bin"),
        (32, "cuckoo-v1-full-32-bits.bin"),
    ] {
        let mut filter = CuckooFilter::new(CuckooParams::with_shape(5, bits).expect("a valid shape"));
        for key in 0..200u32 {
            _ = filter.insert(&key);
        }
        assert_eq!(filter.len(), 20);
        fixed(name, &filter);
    }
}

#[test]
fn version_1_with_other_hashers() {
    let params = CuckooParams::with_shape(4, 12).expect("a valid shape");
    let mut keyed = CuckooFilter::with_hasher(params, SipHasher::new(*b"sixteen byte key"));
    keyed.insert("a").expect("room");
    fixed("cuckoo-v1-siphash.bin", &keyed);
    let mut seeded = CuckooFilter::with_hasher(params, WyHasher::with_seed(1));
    seeded.insert("a").expect("room");
    fixed("cuckoo-v1-seeded.bin", &seeded);
}

#[test]
fn version_1_of_a_growable_filter_at_every_size() {
    let params = GrowableCuckooParams::for_fpr(8, 100, 0.01).expect("valid targets");
    let mut filter = GrowableCuckooFilter::new(params);
    growable("growable-cuckoo-v1-empty.bin", &filter);
    for key in 0..8u32 {
        filter.insert(&key).expect("room");
    }
    growable("growable-cuckoo-v1-8-keys.bin", &filter);
    for key in 8..100u32 {
        filter.insert(&key).expect("room");
    }
    growable("growable-cuckoo-v1-100-keys.bin", &filter);
    for key in 10..100u32 {
        filter.remove(&key).expect("it was inserted");
    }
    assert!(filter.shrink_to_fit());
    growable("growable-cuckoo-v1-shrunk.bin", &filter);
}
