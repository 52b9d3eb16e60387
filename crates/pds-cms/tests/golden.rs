//! Bytes are API: what any release wrote, every later one reads and writes the same.
//!
//! `PDS_WRITE_GOLDEN=1 cargo test -p pds-cms --test golden` writes the files that are missing. An existing one is never
//! changed: other bytes need a new version and a new file.

use pds_cms::prelude::*;
use pds_cms::{Cell, WyHasher};
use pds_testkit::golden;

fn check<S: Sketch<Hasher: Clone> + PartialEq>(name: &str, sketch: &S, hasher: &S::Hasher) {
    let bytes = sketch.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), &format!("{name}.bin"), &bytes);
    let read = S::from_bytes_with(&bytes, hasher.clone());
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
    check("empty", &CountMinSketch::new(CountMinParams::with_shape(16, 3).unwrap()), &WyHasher::default());
}

#[test]
fn words_in_cells_of_4_bytes() {
    let mut sketch = CountMinSketch::new(CountMinParams::for_error(0.02, 0.05).unwrap());
    for (word, n) in [("the", 61_847), ("of", 29_391), ("count-min", 1), ("", 2), ("naïve", 3)] {
        sketch.insert_n(word, n);
    }
    check("words", &sketch, &WyHasher::default());
}

#[test]
fn numbers_in_cells_of_8_bytes() {
    let stream = (0..100).map(|i| (i, i << (i % 48)));
    check(
        "wide",
        &counted::<u64>(CountMinParams::textbook(0.05, 0.05).unwrap(), stream),
        &WyHasher::default(),
    );
}

#[test]
fn saturated_cells() {
    let stream = (0..20).map(|i| (i, (1 << 30) + i));
    check(
        "saturated",
        &counted::<u32>(CountMinParams::with_shape(7, 2).unwrap(), stream),
        &WyHasher::default(),
    );
}

#[test]
fn a_saturated_total() {
    let stream = (0..5).map(|i| (i, u64::MAX / 3 - i));
    check(
        "saturated-total",
        &counted::<u64>(CountMinParams::with_shape(7, 2).unwrap(), stream),
        &WyHasher::default(),
    );
}

#[test]
fn a_seeded_hasher() {
    let params = CountMinParams::with_shape(9, 2).unwrap();
    let mut sketch = CountMinSketch::<u32>::with_hasher(params, WyHasher::with_seed(42));
    sketch.insert("seeded");
    check("seeded", &sketch, sketch.hasher());
}

#[test]
fn small_cells() {
    let stream = || (0..20).map(|i| (i, i * i));
    let params = CountMinParams::with_shape(7, 2).unwrap();
    check("bytes", &counted::<u8>(params, stream()), &WyHasher::default());
    check("halfwords", &counted::<u16>(params, stream()), &WyHasher::default());
}

#[test]
fn halved_counts() {
    let params = CountMinParams::with_shape(7, 2).unwrap();
    let mut sketch = counted::<u32>(params, (0..20).map(|i| (i, i)));
    sketch.halve();
    check("halved", &sketch, &WyHasher::default());
    let mut sketch = counted::<u8>(params, (0..20).map(|i| (i, 300 - 15 * i)));
    assert!(sketch.is_saturated());
    sketch.halve();
    check("halved-saturated", &sketch, &WyHasher::default());
}

#[test]
fn conservative_counts() {
    let mut sketch = ConservativeCountMin::new(CountMinParams::with_shape(16, 3).unwrap());
    (0..100u64).for_each(|i| _ = sketch.insert_n(&(i % 40), i));
    check("conservative", &sketch, &WyHasher::default());
}

#[test]
fn signed_counts() {
    let params = CountSketchParams::for_error(0.5, 0.01).unwrap();
    let mut sketch = CountSketch::new(params);
    (0..100i64).for_each(|i| _ = sketch.insert_n(&(i % 40), i - 30).unwrap());
    check("count-sketch", &sketch, &WyHasher::default());
    let mut wide = CountSketch::<i64>::with_hasher(params, WyHasher::default());
    (0..100i64).for_each(|i| _ = wide.insert_n(&(i % 40), i << 40).unwrap());
    check("count-sketch-wide", &wide, &WyHasher::default());
}

#[test]
fn windows() {
    let pane = CountMinParams::with_shape(16, 3).unwrap();
    let params = SlidingCountMinParams::with_panes(pane, 3).unwrap();
    let mut window = SlidingCountMin::new(params);
    let mut conservative =
        SlidingCountMin::<ConservativeCountMin<u16>>::with_hasher(params, WyHasher::default());
    for i in 0..50u64 {
        window.insert_n(&(i % 7), i);
        conservative.insert_n(&(i % 7), i);
        if i % 10 == 9 {
            window.advance();
            conservative.advance();
        }
    }
    check("sliding", &window, &WyHasher::default());
    check("sliding-conservative", &conservative, &WyHasher::default());
}

/// The powers of two are those of `libm`, the same on every machine.
#[test]
fn fading_counts() {
    let table = CountMinParams::with_shape(16, 3).unwrap();
    let mut sketch = DecayingCountMin::new(DecayingCountMinParams::with_half_life(table, 60.0).unwrap());
    (0..100u64).for_each(|i| _ = sketch.insert_n(&(i % 7), i, 1e6 + 77.7 * i as f64).unwrap());
    check("decaying", &sketch, &WyHasher::default());
}
