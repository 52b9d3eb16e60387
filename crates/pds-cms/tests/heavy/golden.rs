//! Bytes are API: what any release wrote, every later one reads and writes the same.
//!
//! `PDS_WRITE_GOLDEN=1 cargo test -p pds-cms --test heavy golden` writes the files that are missing. An existing one is
//! never changed: other bytes need a new version and a new file.

use pds_cms::WyHasher;
use pds_cms::prelude::*;
use pds_testkit::golden;

fn check<S: Sketch<Hasher = WyHasher> + PartialEq>(name: &str, sketch: &S, hasher: WyHasher) {
    let bytes = sketch.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), &format!("{name}.bin"), &bytes);
    let read = S::from_bytes_with(&bytes, hasher);
    assert!(read.is_ok_and(|read| read == *sketch), "{name}: another sketch is read, or none");
}

const WORDS: [(&str, u64); 6] =
    [("the", 61_847), ("of", 29_391), ("count-min", 1), ("", 2), ("naïve", 3), ("the", 1)];

#[test]
fn space_saving() {
    let hasher = WyHasher::default();
    let params = SpaceSavingParams::with_capacity(4).unwrap();
    check("space-saving-empty", &SpaceSaving::<u64>::new(params), hasher);
    let mut words = SpaceSaving::<String>::new(params);
    for (word, n) in WORDS {
        words.insert_n(word, n);
    }
    check("space-saving-words", &words, hasher);
    let mut numbers = SpaceSaving::<i64>::with_hasher(params, WyHasher::with_seed(42));
    numbers.extend((0..100).map(|i| (i % 7) * (i % 5) - 3));
    numbers.insert_n(&-1, u64::MAX);
    check("space-saving-saturated", &numbers, WyHasher::with_seed(42));
}

#[test]
fn misra_gries() {
    let hasher = WyHasher::default();
    let params = MisraGriesParams::with_capacity(4).unwrap();
    check("misra-gries-empty", &MisraGries::<u64>::new(params), hasher);
    let mut words = MisraGries::<String>::new(params);
    for (word, n) in WORDS {
        words.insert_n(word, n);
    }
    check("misra-gries-words", &words, hasher);
}

#[test]
fn top_k() {
    let hasher = WyHasher::default();
    let params = TopKParams::with_sketch(3, CountMinParams::with_shape(9, 2).unwrap()).unwrap();
    check("top-k-empty", &TopK::<u64>::new(params), hasher);
    let mut words = TopK::<Vec<u8>>::new(params);
    for (word, n) in WORDS {
        words.insert_n(word.as_bytes(), n);
    }
    check("top-k-words", &words, hasher);
}

#[test]
fn heavy_keeper() {
    let hasher = WyHasher::default();
    let params = HeavyKeeperParams::with_shape(3, 1).unwrap().with_seed(7);
    check("heavy-keeper-empty", &HeavyKeeper::<u64>::new(params), hasher);
    let mut numbers = HeavyKeeper::<u32>::new(params);
    // Single counts draw integers alone; weights draw logarithms too, by libm, which are the same everywhere.
    numbers.extend((0..500).map(|i| i * i % 37));
    for key in 0..50 {
        numbers.insert_n(&key, u64::from(key) * 9);
    }
    check("heavy-keeper-numbers", &numbers, hasher);
}
