//! The example in the specification of the byte form is what the code writes.

use std::fs;

use pds_bloom::{BloomFilter, BloomParams, Sketch};

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
