//! What fuzzing begins with: the golden files, and histories drawn at random.

use std::path::{Path, PathBuf};
use std::{fs, io};

use pds_testkit::SplitMix64;

use crate::{pair, unsealed};

/// A golden file: its path, and what it holds.
pub type Golden = (PathBuf, Vec<u8>);

/// The golden files of every crate, in the order of their paths.
///
/// # Errors
///
/// Whatever keeps them from being read.
pub fn golden_files() -> io::Result<Vec<Golden>> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for member in fs::read_dir(crates)? {
        let Ok(golden) = fs::read_dir(member?.path().join("golden")) else { continue };
        for file in golden {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "bin") {
                let bytes = fs::read(&path)?;
                files.push((path, bytes));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Inputs for a target to begin with.
pub fn seeds(target: &str, golden: &[Golden]) -> Vec<Vec<u8>> {
    /// Lengths of histories.
    const LENGTHS: [usize; 6] = [16, 64, 128, 512, 1024, 4096];
    /// Histories of each length.
    const EACH: usize = 4;
    let envelopes = || golden.iter().filter_map(|(_, bytes)| unsealed(bytes));
    match target {
        "decode" => envelopes().collect(),
        "merge" => {
            let envelopes: Vec<_> = envelopes().collect();
            let of_kind = |kind| envelopes.iter().filter(move |bytes| bytes[4] == kind);
            envelopes.iter().flat_map(|left| of_kind(left[4]).map(move |right| pair(left, right))).collect()
        }
        _ => {
            let mut random = SplitMix64::new(target.len() as u64);
            let lengths = LENGTHS.iter().flat_map(|&length| [length; EACH]);
            lengths.map(|length| (0..length).map(|_| random.next_u64() as u8).collect()).collect()
        }
    }
}
