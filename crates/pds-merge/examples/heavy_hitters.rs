//! The most frequent keys of a stream that four shards saw: summaries merged, bounds for each key, and which are certain.
//!
//! `cargo run --release -p pds-merge --example heavy_hitters -- keys.txt`

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use pds_cms::{Guarantee, Sketch, SpaceSaving, SpaceSavingParams, WyHasher};
use pds_merge::merge_encoded;

mod common;
use common::{Outcome, bytes, claim, random, shown, some, table_bytes};

const USAGE: &str = "usage: heavy_hitters [FILE]\n\
    FILE: keys, one a line, plain or gzip; - is standard input; without it, generated keys";
const SHARDS: usize = 4;
const TOP: usize = 20;

/// What makes up more than one in two hundred lines is listed, for certain.
const PHI: f64 = 0.005;

fn main() -> ExitCode {
    common::run(USAGE, |files| files <= 1, example)
}

/// Addresses, the one of rank r about as often as 1/r.
fn generated() -> impl Iterator<Item = String> {
    (0..200_000).map(|i| {
        let rank = 1u64 << (random(i) % 16);
        let host = rank + random(i ^ 0x5eed) % rank;
        format!("198.18.{}.{}", host / 256, host % 256)
    })
}

fn example(files: &[OsString], out: &mut dyn Write) -> Outcome {
    let params = SpaceSavingParams::for_phi(PHI)?;
    let mut shards = vec![SpaceSaving::<Vec<u8>>::new(params); SHARDS];
    let (mut counts, mut line) = (HashMap::<Vec<u8>, u64>::new(), 0);
    common::each_line(files.first(), generated(), |key| {
        // By turn, so that a key goes to all shards: the hard case.
        shards[line % SHARDS].insert(key);
        line += 1;
        match counts.get_mut(key) {
            Some(count) => *count += 1,
            None => _ = counts.insert(key.to_vec(), 1),
        }
        Ok(())
    })?;

    some(line > 0, "key")?;

    // Shards send bytes, and one of them merges.
    let sent: Vec<Vec<u8>> = shards.iter().map(Sketch::to_bytes).collect();
    let all: SpaceSaving<Vec<u8>> =
        merge_encoded(&sent, WyHasher::default())?.unwrap_or_else(|| SpaceSaving::new(params));

    let mut exact: Vec<(&Vec<u8>, u64)> = counts.iter().map(|(key, &count)| (key, count)).collect();
    exact.sort_by_key(|&(key, count)| (Reverse(count), key));
    let certain = all.guaranteed_top(TOP);
    writeln!(out, "{} lines, {} different keys, {SHARDS} shards", all.total(), counts.len())?;
    writeln!(
        out,
        "a count is too high by at most {}, a key that is not listed came at most so often",
        all.max_error()
    )?;
    writeln!(
        out,
        "{:>4}{:>10}{:>11}{:>10}  {:<13}key",
        "rank", "exact", "at least", "at most", "in the top?"
    )?;
    for (rank, &(key, count)) in exact.iter().take(TOP).enumerate() {
        let (low, high) = all.bounds(key);
        claim(low <= count && count <= high, "every count is within its bounds")?;
        let certain = if certain.iter().any(|hit| hit.key == key) { "certainly" } else { "perhaps" };
        writeln!(out, "{:>4}{count:>10}{low:>11}{high:>10}  {certain:<13}{}", rank + 1, shown(key, 50))?;
    }

    let frequent = |key: &Vec<u8>| counts[key] as f64 > PHI * all.total() as f64;
    let listed = all.heavy_hitters(PHI, Guarantee::NoFalseNegatives)?;
    let wanted = counts.keys().filter(|key| frequent(key)).count();
    let right = listed.iter().filter(|hit| frequent(hit.key)).count();
    claim(right == wanted, "no key above the threshold is missing")?;
    writeln!(
        out,
        "above {PHI} of all lines: {wanted} keys; listed: {}, all of these among them",
        listed.len()
    )?;

    let own: usize = all.top(all.len()).iter().map(|hit| hit.key.len()).sum();
    writeln!(out, "memory of the merged summary: {}", bytes(all.size_bytes() + own))?;
    writeln!(out, "sent by the {SHARDS} shards:         {}", bytes(sent.iter().map(Vec::len).sum()))?;
    let exact = table_bytes(counts.capacity(), size_of::<(Vec<u8>, u64)>(), counts.keys());
    writeln!(out, "memory of exact counts:       {}", bytes(exact))?;
    Ok(())
}
