//! Bytes are API: what a release wrote, every later one reads, and writes again.
//!
//! The files in `golden/` are never edited. A new one, for a new state or version, is added to `states` and written by
//! `PDS_WRITE_GOLDEN=1 cargo test -p pds-theta --test golden`, which leaves files that exist as they are.

use std::fs;
use std::path::PathBuf;

use pds_testkit::golden;
use pds_theta::prelude::*;
use pds_theta::{difference, intersection};

fn sketch(lg_k: u8) -> ThetaSketch {
    ThetaSketch::new(ThetaParams::with_lg_k(lg_k).expect("5 to 26"))
}

fn of(lg_k: u8, keys: std::ops::Range<i32>) -> ThetaSketch {
    let mut sketch = sketch(lg_k);
    sketch.extend(keys);
    sketch
}

/// A file and how its sketch is made.
type State = (&'static str, fn() -> ThetaSketch);

fn states() -> [State; 5] {
    fn few() -> ThetaSketch {
        let mut few = sketch(5);
        few.extend(["alice", "bob", "carol"]);
        few
    }
    [
        ("v1-k32-empty.bin", || sketch(5)),
        ("v1-k32-three-words.bin", few),
        ("v1-k32-33-integers.bin", || of(5, 0..33)),
        ("v1-k4096-100000-integers.bin", || of(12, 0..100_000)),
        ("v1-k1024-1000-integers.bin", || of(10, -500..500)),
    ]
}

/// Each file and how its result is made.
fn results() -> Vec<(&'static str, CompactTheta)> {
    let (a, b) = (of(6, 0..10_000), of(7, 5000..6000));
    let nothing = difference(&of(5, 0..5000), &[&of(9, 0..5000)]).expect("one hasher");
    vec![
        ("v1-result-empty.bin", sketch(5).compact()),
        ("v1-result-intersection.bin", intersection(&[&a, &b]).expect("one hasher")),
        ("v1-result-difference.bin", difference(&a, &[&b]).expect("one hasher")),
        ("v1-result-nothing-retained.bin", nothing),
    ]
}

fn path(file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "golden", file].iter().collect()
}

#[test]
fn the_bytes_of_a_sketch_never_change() {
    for (file, sketch) in states() {
        // Minutes in an interpreter.
        if cfg!(miri) && file.contains("100000") {
            continue;
        }
        let sketch = sketch();
        let bytes = sketch.to_bytes();
        golden(env!("CARGO_MANIFEST_DIR"), file, &bytes);
        let read = ThetaSketch::from_bytes(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(read == sketch, "{file}: another sketch is read");
        assert_eq!(read.estimate().to_bits(), sketch.estimate().to_bits(), "{file}");
    }
    for (file, result) in results() {
        let bytes = result.to_bytes();
        golden(env!("CARGO_MANIFEST_DIR"), file, &bytes);
        let read = CompactTheta::from_bytes(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(read == result, "{file}: another result is read");
    }
}

#[test]
fn every_golden_file_is_of_a_known_state() {
    let sketches = states().into_iter().map(|(file, _)| path(file));
    let known: Vec<_> = sketches.chain(results().into_iter().map(|(file, _)| path(file))).collect();
    for entry in fs::read_dir(path("")).unwrap() {
        let found = entry.unwrap().path();
        assert!(known.contains(&found), "{} is never read", found.display());
    }
}

/// The layout, spelled out: 24 bytes of header, lg_k, count and threshold, then the code.
#[test]
fn the_payload_is_a_rice_code_of_the_gaps_from_the_lowest_bit() {
    // No threshold, that is 2^64 - 1, over two hashes is 2^63 - 1: 62 low bits.
    const LOW_BITS: u32 = 62;
    let mut sketch = sketch(5);
    sketch.insert_hash(1 << 62); // less 1: quotient 0, low bits 2^62 - 1
    sketch.insert_hash(u64::MAX - 1); // gap, less 1: 3 * 2^62 - 3, quotient 2, low bits 2^62 - 3
    let bytes = sketch.to_bytes();
    assert_eq!(bytes[..8], *b"PDS1\x13\x01\x00\x00");
    assert_eq!(bytes[24..27], [5, 2, 0]);
    let first = 0b1 | ((1u128 << LOW_BITS) - 1) << 1;
    let second = 0b100 | ((1u128 << LOW_BITS) - 3) << 3;
    assert_eq!(bytes[27..], (first | second << (1 + LOW_BITS)).to_le_bytes());
}
