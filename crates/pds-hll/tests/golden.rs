//! Bytes are API: what a release wrote, every later one reads, and writes again.
//!
//! The files in `golden/` are never edited. A new one, for a new state or version, is added to a list and written by
//! `PDS_WRITE_GOLDEN=1 cargo test -p pds-hll --test golden`, which leaves files that exist as they are.

use std::fs;
use std::path::PathBuf;

use pds_hll::{HllParams, HyperLogLog, Sketch, StreamingHyperLogLog, UllParams, UltraLogLog};
use pds_testkit::golden;

fn sketch(precision: u8) -> HyperLogLog {
    HyperLogLog::new(HllParams::with_precision(precision).expect("4 to 18"))
}

/// Each file and how its sketch is made.
fn states() -> Vec<(&'static str, HyperLogLog)> {
    let mut few = sketch(4);
    few.extend(["alice", "bob", "carol"]);
    let mut many = sketch(12);
    many.extend(0..100_000u32);
    let mut saturated = sketch(4);
    saturated.insert_batch(&(0..16).collect::<Vec<u64>>());
    let mut signed = sketch(8);
    signed.extend(-500..500i32);
    let mut thousand = sketch(14);
    thousand.extend(0..1000u32);
    let mut dozen = sketch(4);
    dozen.extend(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]);
    vec![
        ("v1-p4-empty.bin", sketch(4)),
        ("v1-p4-sparse.bin", few),
        ("v1-p4-packed.bin", dozen),
        ("v1-p4-saturated.bin", saturated),
        ("v1-p8-coded.bin", signed),
        ("v1-p12-coded.bin", many),
        ("v1-p14-sparse.bin", thousand),
    ]
}

/// The same of running estimates.
fn streams() -> Vec<(&'static str, StreamingHyperLogLog)> {
    let empty = |precision| StreamingHyperLogLog::new(sketch(precision).params());
    let (mut few, mut some, mut many) = (empty(4), empty(4), empty(12));
    few.extend(["alice", "bob", "carol"]);
    some.extend(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]);
    many.extend(0..100_000u32);
    vec![
        ("streaming-v1-p4-sparse.bin", few),
        ("streaming-v1-p4-packed.bin", some),
        ("streaming-v1-p12-coded.bin", many),
    ]
}

fn ull_sketch(precision: u8) -> UltraLogLog {
    UltraLogLog::new(UllParams::with_precision(precision).expect("4 to 18"))
}

/// The same of UltraLogLog.
fn ull_states() -> Vec<(&'static str, UltraLogLog)> {
    let mut few = ull_sketch(4);
    few.extend(["alice", "bob", "carol"]);
    let mut sparse = ull_sketch(14);
    sparse.extend(0..1000u32);
    let mut many = ull_sketch(12);
    many.extend(0..100_000u32);
    // All three values that a register remembers, in each of them.
    let mut saturated = ull_sketch(4);
    for register in 0..16 {
        saturated.insert_batch(&[register, 1 << 18 | register, 1 << 19 | register]);
    }
    let mut signed = ull_sketch(8);
    signed.extend(-500..500i32);
    let mut raw = ull_sketch(4);
    raw.extend(0..100u8);
    vec![
        ("ull-v1-p4-empty.bin", ull_sketch(4)),
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

/// Asserts that each state has the bytes of its file, from which the same is read, with the same estimate.
fn never_change<S>(states: Vec<(&'static str, S)>, estimate: fn(&S) -> f64)
where
    S: Sketch<Hasher: Default> + PartialEq,
{
    for (file, sketch) in states {
        let bytes = sketch.to_bytes();
        golden(env!("CARGO_MANIFEST_DIR"), file, &bytes);
        let read = S::from_bytes(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(read == sketch, "{file}: another sketch is read");
        assert_eq!(estimate(&read).to_bits(), estimate(&sketch).to_bits(), "{file}");
    }
}

#[test]
fn the_bytes_of_a_sketch_never_change() {
    never_change(states(), HyperLogLog::estimate);
}

#[test]
fn the_bytes_of_a_running_estimate_never_change() {
    never_change(streams(), StreamingHyperLogLog::estimate);
}

#[test]
fn the_bytes_of_an_ultraloglog_never_change() {
    never_change(ull_states(), UltraLogLog::estimate);
}

#[test]
#[cfg_attr(miri, ignore = "of names, for which all states are built again")]
fn every_golden_file_is_of_a_known_state() {
    fn files<S>(states: Vec<(&'static str, S)>) -> impl Iterator<Item = PathBuf> {
        states.into_iter().map(|(file, _)| path(file))
    }
    let known: Vec<_> = files(states()).chain(files(streams())).chain(files(ull_states())).collect();
    for entry in fs::read_dir(path("")).unwrap() {
        let found = entry.unwrap().path();
        assert!(known.contains(&found), "{} is never read", found.display());
    }
}

/// The layout, spelled out: 24 bytes of header, the precision, the form, 16 registers in 12 bytes.
#[test]
fn packed_registers_are_six_bits_each_from_the_lowest_bit() {
    let mut sketch = sketch(4);
    sketch.insert_hash(1 << 63); // register 0: no leading zero, value 1
    sketch.insert_hash(1 << 60 | 1); // register 1: value 4
    sketch.insert_hash(1 << 32 | 2); // register 2: value 32
    sketch.insert_hash(15); // register 15: value 47, the greatest
    let bytes = sketch.to_bytes();
    assert_eq!(bytes[..8], *b"PDS1\x10\x01\x00\x00");
    assert_eq!(bytes[24..26], [4, 1]);
    // 47 in the top six bits; 32, 4, 1 in the low eighteen.
    let payload: u128 = 47 << 90 | 32 << 12 | 4 << 6 | 1;
    assert_eq!(bytes[26..], payload.to_le_bytes()[..12]);
}

/// The same of three keys: their number, then 23 bits of each gap as they are, for floor(log2(2^26 ln 2 / 3)) = 23.
#[test]
fn tokens_are_gaps_and_leading_zeros_in_order() {
    let mut sketch = sketch(4);
    sketch.insert_hash(1 << 63 | 5); // index 5, no leading zero
    sketch.insert_hash(1 << 24 | 5); // index 2^24 + 5, 39 leading zeros: 38, and no end
    sketch.insert_hash(1 << 61 | 5); // index 5, 2 leading zeros
    let bytes = sketch.to_bytes();
    assert_eq!(bytes[24..27], [4, 0, 3]);
    let mut bits = String::new();
    let mut token = |quotient: usize, remainder: u32, zeros: usize, end: &str| {
        bits += &("0".repeat(quotient) + "1");
        bits.extend(format!("{remainder:023b}").chars().rev());
        bits += &("0".repeat(zeros) + end);
    };
    token(0, 5, 0, "1");
    token(0, 0, 2, "1");
    token(2, 0, 38, "");
    let bit = |i: usize| u8::from(bits.as_bytes().get(i) == Some(&b'1'));
    let expected: Vec<u8> =
        (0..bits.len().div_ceil(8)).map(|i| (0..8).map(|j| bit(8 * i + j) << j).sum()).collect();
    assert_eq!(bytes[27..], expected);
}

/// The layout of UltraLogLog, spelled out: 24 bytes of header, the precision, the form, 16 registers.
#[test]
fn ultraloglog_registers_are_a_byte_each() {
    let mut sketch = ull_sketch(4);
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

/// One code of UltraLogLog, spelled out: 24 bytes of header, the precision, the form, the least and the greatest register.
#[test]
fn ultraloglog_registers_that_are_all_one_take_two_bytes() {
    let mut sketch = ull_sketch(4);
    for register in 0..16 {
        sketch.insert_hash(1 << 60 | register);
    }
    assert_eq!(sketch.to_bytes()[24..], [4, 2, 16, 16]);
}
