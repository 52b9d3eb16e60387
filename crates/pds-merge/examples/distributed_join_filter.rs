//! A join over two machines: a filter of the small side's keys is shipped, and the big side drops most rows that do not
//! join before it sends any.
//!
//! `cargo run --release -p pds-merge --example distributed_join_filter -- small.txt big.txt`

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use pds_bloom::{BlockedBloomFilter, BlockedBloomParams, BloomFilter, BloomParams, Merge, Sketch};
use pds_hll::{HllParams, HyperLogLog};
use pds_merge::merge_all;
use pds_static_filters::BinaryFuseFilter8;

mod common;
use common::{Outcome, bytes, claim, random, some};

const USAGE: &str = "usage: distributed_join_filter [SMALL BIG]\n\
    SMALL, BIG: join keys of the small and of the big side's rows, one a line, plain or gzip; one of them may be -, standard\n\
    input; without them, generated keys";
const FPR: f64 = 0.01;
const SHARDS: usize = 4;

type Contains<'a> = &'a dyn Fn(&[u8]) -> bool;

fn main() -> ExitCode {
    common::run(USAGE, |files| files == 0 || files == 2, example)
}

/// The sketch of what all shards hold, of which each has its part of the rows.
fn merged<S: Merge + Clone>(empty: &S, rows: &[Vec<u8>], insert: impl Fn(&mut S, &Vec<u8>)) -> Outcome<S> {
    let part = |shard| {
        let mut part = empty.clone();
        rows.iter().skip(shard).step_by(SHARDS).for_each(|key| insert(&mut part, key));
        part
    };
    let mut whole = empty.clone();
    merge_all(&mut whole, (0..SHARDS).map(part))?;
    Ok(whole)
}

fn example(files: &[OsString], out: &mut dyn Write) -> Outcome {
    let mut small = Vec::new();
    let customers = (0..20_000u64).map(|i| format!("customer {}", random(i) % 1_000_000));
    common::each_line(files.first(), customers, |key| {
        small.push(key.to_vec());
        Ok(())
    })?;
    some(!small.is_empty(), "key of the small side")?;

    // On machine A. All shards size for the keys of the whole, or they would not merge: so they are counted first.
    let count =
        merged(&HyperLogLog::new(HllParams::for_error(0.01)?), &small, |count, key| _ = count.insert(key))?;
    let most = count.bounds(3.0).1.ceil() as u64;
    let empty = BloomFilter::new(BloomParams::for_fpr(most, FPR)?);
    let bloom = merged(&empty, &small, |filter, key| _ = filter.insert(key))?.to_bytes();
    let empty = BlockedBloomFilter::new(BlockedBloomParams::for_fpr(most, FPR)?);
    let blocked = merged(&empty, &small, |filter, key| _ = filter.insert(key))?.to_bytes();
    // Does not merge: needs all keys, or their hashes, in one place.
    let fuse = BinaryFuseFilter8::from_keys(&small)?.to_bytes();

    // On machine B: from the bytes where they lie. They came over a network, so all of them are checked first.
    let (bloom_view, blocked_view) = (BloomFilter::view(&bloom)?, BlockedBloomFilter::view(&blocked)?);
    let fuse_view = BinaryFuseFilter8::view(&fuse)?;
    bloom_view.verify()?;
    blocked_view.verify()?;
    fuse_view.verify()?;
    let filters: [(&str, usize, Contains); 3] = [
        ("Bloom, 1%", bloom.len(), &|key| bloom_view.contains(key)),
        ("blocked Bloom, 1%", blocked.len(), &|key| blocked_view.contains(key)),
        ("binary fuse, 1/256", fuse.len(), &|key| fuse_view.contains(key)),
    ];

    let keys: HashSet<&Vec<u8>> = small.iter().collect();
    let (mut total, mut joined) = (0u64, 0u64);
    let (mut survived, mut lost) = ([0u64; 3], 0u64);
    let orders = (0..300_000u64).map(|i| format!("customer {}", random(!i) % 1_000_000));
    common::each_line(files.get(1), orders, |row| {
        let joins = keys.contains(&row.to_vec());
        total += 1;
        joined += u64::from(joins);
        for ((.., filter), survived) in filters.iter().zip(&mut survived) {
            let survives = filter(row);
            *survived += u64::from(survives);
            lost += u64::from(joins && !survives);
        }
        Ok(())
    })?;
    some(total > 0, "row of the big side")?;

    writeln!(
        out,
        "small side: {} rows, {} keys; big side: {total} rows, of which {joined} join",
        small.len(),
        keys.len()
    )?;
    writeln!(
        out,
        "{:<24}{:>10}{:>12}{:>16}{:>10}{:>20}",
        "", "shipped", "bits a key", "rows that stay", "in vain", "of what to drop"
    )?;
    for ((name, size, _), survived) in filters.iter().zip(survived) {
        let bits = 8.0 * *size as f64 / keys.len().max(1) as f64;
        let vain = survived.saturating_sub(joined);
        let share = format!("{:.3}%", 100.0 * vain as f64 / (total - joined).max(1) as f64);
        writeln!(out, "{name:<24}{:>10}{bits:>12.2}{survived:>16}{vain:>10}{share:>20}", bytes(*size))?;
    }
    let size: usize = keys.iter().map(|key| key.len() + 1).sum();
    let bits = 8.0 * size as f64 / keys.len().max(1) as f64;
    writeln!(out, "{:<24}{:>10}{bits:>12.2}{joined:>16}{:>10}{:>20}", "exact: the keys", bytes(size), 0, "")?;
    claim(lost == 0, "no row that joins is dropped")
}
