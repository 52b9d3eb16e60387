//! A filter per sorted file: a lookup opens only the files whose filter says yes, and verifies behind it.
//!
//! `cargo run -p pds-bloom --example sstables`

use std::collections::BTreeMap;

use pds_bloom::prelude::*;

/// A file as a storage engine has it: sorted rows, and the bytes of a filter over their keys.
struct SortedFile {
    rows: BTreeMap<u64, String>,
    filter: Vec<u8>,
}

impl SortedFile {
    fn write(rows: BTreeMap<u64, String>) -> Result<Self, Error> {
        let mut filter = BloomFilter::new(BloomParams::for_fpr(rows.len() as u64, 0.01)?);
        filter.extend(rows.keys());
        Ok(Self { rows, filter: filter.to_bytes() })
    }
}

fn main() -> Result<(), Error> {
    const FILES: u64 = 7;
    const ROWS: u64 = 10_000;
    // Key k lies in file k mod 7.
    let files = (0..FILES)
        .map(|file| SortedFile::write((0..ROWS).map(|i| (i * FILES + file, format!("row {i}"))).collect()))
        .collect::<Result<Vec<_>, _>>()?;
    // Opened once, in constant time, where the bytes lie; a server would map them into memory.
    let views = files.iter().map(|file| BloomFilter::view(&file.filter)).collect::<Result<Vec<_>, _>>()?;

    let mut opened = [0u64; 2];
    let mut found = 0;
    for key in 0..2 * FILES * ROWS {
        let present = usize::from(key < FILES * ROWS);
        for (file, view) in files.iter().zip(&views) {
            // A no is certain; a yes is a hint, and the rows decide.
            if view.contains(&key) {
                opened[present] += 1;
                found += u64::from(file.rows.contains_key(&key));
            }
        }
    }
    assert_eq!(found, FILES * ROWS, "no key is ever lost");
    let lookups = (FILES * ROWS) as f64;
    println!("files opened per lookup of an absent key:  {:.3} of {FILES}", opened[0] as f64 / lookups);
    println!("files opened per lookup of a present key:  {:.3} of {FILES}", opened[1] as f64 / lookups);
    let bytes: usize = files.iter().map(|file| file.filter.len()).sum();
    println!("bytes of all filters: {bytes}, {:.2} bits a key", 8.0 * bytes as f64 / lookups);
    Ok(())
}
