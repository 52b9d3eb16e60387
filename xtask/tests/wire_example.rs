//! The example in the specification of the byte form is what the code writes, and its names of kinds are the code's.

use std::fs;

use pds_bloom::{BloomFilter, BloomParams, Sketch};
use pds_core::wire::Kind;

/// The bytes of the block behind a marker: an offset, then up to sixteen bytes in hex, on every line.
fn example(page: &str, marker: &str) -> Vec<u8> {
    let (_, rest) = page.split_once(marker).expect("the marker");
    let block = rest.split("```").nth(1).expect("a block behind the marker");
    let mut bytes = Vec::new();
    for line in block.lines().filter(|line| *line != "text") {
        let mut words = line.split_whitespace();
        if let Some(offset) = words.next() {
            assert_eq!(usize::from_str_radix(offset, 16), Ok(bytes.len()), "the offset of {line:?}");
        }
        bytes.extend(words.map(|byte| u8::from_str_radix(byte, 16).expect("two hex digits")));
    }
    bytes
}

#[test]
fn the_example_of_a_bloom_filter_is_what_is_written() {
    let page = fs::read_to_string(xtask::root().join("docs/src/wire.md")).expect("the chapter");
    let mut filter = BloomFilter::new(BloomParams::with_shape(64, 2).expect("a valid shape"));
    filter.insert("alice");
    assert_eq!(example(&page, "<!-- hex: bloom -->"), filter.to_bytes());
}

#[test]
fn the_kinds_have_the_names_of_the_specification() {
    let page = fs::read_to_string(xtask::root().join("docs/src/wire.md")).expect("the chapter");
    let (_, rest) = page.split_once("| kind | structure | A |").expect("the table of kinds");
    let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut listed = [None; 256];
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        // The last row is the range of those that are not ours.
        if let Ok(kind) = cells[1].parse::<usize>() {
            listed[kind] = Some(cells[2]);
        }
    }
    assert!(listed.iter().flatten().count() > 20, "the table of kinds is not where it was");
    assert_eq!((0..=u8::MAX).map(|kind| Kind(kind).name()).collect::<Vec<_>>(), listed);
}
