//! Bytes are API: what any release wrote, every later one reads and writes the same.
//!
//! `PDS_WRITE_GOLDEN=1 cargo test -p pds-cms --test golden` writes the files that are missing. An existing one is never
//! changed: other bytes need a new version and a new file.

use pds_cms::prelude::*;
use pds_cms::{Cell, Fingerprint, WyHasher};
use pds_testkit::golden;

fn check<C: Cell, H: Fingerprint>(name: &str, sketch: &CountMinSketch<C, H>) {
    let bytes = sketch.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), &format!("{name}.bin"), &bytes);
    let read = CountMinSketch::<C, H>::from_bytes_with(&bytes, sketch.hasher().clone());
    assert!(read.is_ok_and(|read| read == *sketch), "{name}: another sketch is read, or none");
}

fn counted<C: Cell>(
    params: CountMinParams,
    stream: impl IntoIterator<Item = (u64, u64)>,
) -> CountMinSketch<C> {
    let mut sketch = CountMinSketch::with_hasher(params, WyHasher::default());
    for (key, n) in stream {
        sketch.insert_n(&key, n);
    }
    sketch
}

#[test]
fn an_empty_sketch() {
    check("empty", &CountMinSketch::new(CountMinParams::with_shape(16, 3).unwrap()));
}

#[test]
fn words_in_cells_of_4_bytes() {
    let mut sketch = CountMinSketch::new(CountMinParams::for_error(0.02, 0.05).unwrap());
    for (word, n) in [("the", 61_847), ("of", 29_391), ("count-min", 1), ("", 2), ("naïve", 3)] {
        sketch.insert_n(word, n);
    }
    check("words", &sketch);
}

#[test]
fn numbers_in_cells_of_8_bytes() {
    let stream = (0..100).map(|i| (i, i << (i % 48)));
    check("wide", &counted::<u64>(CountMinParams::textbook(0.05, 0.05).unwrap(), stream));
}

#[test]
fn saturated_cells() {
    let stream = (0..20).map(|i| (i, (1 << 30) + i));
    check("saturated", &counted::<u32>(CountMinParams::with_shape(7, 2).unwrap(), stream));
}

#[test]
fn a_saturated_total() {
    let stream = (0..5).map(|i| (i, u64::MAX / 3 - i));
    check("saturated-total", &counted::<u64>(CountMinParams::with_shape(7, 2).unwrap(), stream));
}

#[test]
fn a_seeded_hasher() {
    let params = CountMinParams::with_shape(9, 2).unwrap();
    let mut sketch = CountMinSketch::<u32>::with_hasher(params, WyHasher::with_seed(42));
    sketch.insert("seeded");
    check("seeded", &sketch);
}
