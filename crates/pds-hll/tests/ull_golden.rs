//! Bytes are API: what a release wrote, every later one reads, and writes again.
//!
//! The files `golden/ull-*` are never edited. A new one, for a new state or version, is added to `states` and written by
//! `PDS_WRITE_GOLDEN=1 cargo test -p pds-hll --test ull_golden`, which leaves files that exist as they are.

use std::fs;
use std::path::PathBuf;

use pds_hll::{Sketch, UllParams, UltraLogLog};
use pds_testkit::golden;

fn sketch(precision: u8) -> UltraLogLog {
    UltraLogLog::new(UllParams::with_precision(precision).expect("4 to 18"))
}

/// Each file and how its sketch is made.
fn states() -> Vec<(&'static str, UltraLogLog)> {
    let mut few = sketch(4);
    few.extend(["alice", "bob", "carol"]);
    let mut sparse = sketch(14);
    sparse.extend(0..1000u32);
    let mut many = sketch(12);
    many.extend(0..100_000u32);
    // All three values that a register remembers, in each of them.
    let mut saturated = sketch(4);
    for register in 0..16 {
        saturated.insert_batch(&[register, 1 << 18 | register, 1 << 19 | register]);
    }
    let mut signed = sketch(8);
    signed.extend(-500..500i32);
    let mut raw = sketch(4);
    raw.extend(0..100u8);
    vec![
        ("ull-v1-p4-empty.bin", sketch(4)),
        ("ull-v1-p4-three-words.bin", few),
        ("ull-v1-p14-sparse.bin", sparse),
        ("ull-v1-p4-saturated.bin", saturated),
        ("ull-v1-p12-100000-integers.bin", many),
        ("ull-v1-p8-1000-integers.bin", signed),
        ("ull-v1-p4-raw.bin", raw),
    ]
}

fn path(file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "golden", file].iter().collect()
}

#[test]
fn the_bytes_of_a_sketch_never_change() {
    for (file, sketch) in states() {
        let bytes = sketch.to_bytes();
        golden(env!("CARGO_MANIFEST_DIR"), file, &bytes);
        let read = UltraLogLog::from_bytes(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(read == sketch, "{file}: another sketch is read");
        assert_eq!(read.estimate().to_bits(), sketch.estimate().to_bits(), "{file}");
    }
}

#[test]
fn every_golden_file_is_of_a_known_state() {
    let known: Vec<_> = states().into_iter().map(|(file, _)| path(file)).collect();
    for entry in fs::read_dir(path("")).unwrap() {
        let found = entry.unwrap().path();
        if found.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ull-")) {
            assert!(known.contains(&found), "{} is never read", found.display());
        }
    }
}

/// The layout, spelled out: 24 bytes of header, the precision, the form, 16 registers.
#[test]
fn raw_registers_are_a_byte_each() {
    let mut sketch = sketch(4);
    sketch.insert_hash(1 << 63); // register 0: no leading zero, value 1
    sketch.insert_batch(&[1 << 60 | 1, 1 << 61 | 1]); // register 1: value 4, and 3
    sketch.insert_batch(&[1 << 32 | 2, 1 << 34 | 2]); // register 2: value 32, and 30
    for more in 0..4 {
        // Register 15: values 1 to 4.
        sketch.insert_hash(1 << (63 - more) | 15);
    }
    // Register 14: the greatest value. Different values elsewhere, that a code is not shorter.
    sketch.insert_hash(14);
    for register in 3..14 {
        sketch.insert_hash(1 << (60 - 2 * register) | register);
    }
    let bytes = sketch.to_bytes();
    assert_eq!(bytes[..8], *b"PDS1\x11\x01\x00\x00");
    assert_eq!(bytes[24..26], [4, 1]);
    let expected: Vec<u8> = (3..14).map(|register| 4 * (4 + 2 * register)).collect();
    assert_eq!(bytes[26..], [&[4, 18, 129][..], &expected, &[188, 19]].concat());
}

/// One code, spelled out: 24 bytes of header, the precision, the form, the least and the greatest register.
#[test]
fn registers_that_are_all_one_take_two_bytes() {
    let mut sketch = sketch(4);
    for register in 0..16 {
        sketch.insert_hash(1 << 60 | register);
    }
    assert_eq!(sketch.to_bytes()[24..], [4, 2, 16, 16]);
}
