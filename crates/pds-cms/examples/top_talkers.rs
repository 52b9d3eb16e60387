//! Alerting on top talkers over shards: an address above the threshold is never missed, and may be a false alarm.
//!
//! `cargo run -p pds-cms --example top_talkers`

use std::collections::BTreeMap;

use pds_cms::prelude::*;

/// Requests by address: a few talk much, many little.
fn requests() -> impl Iterator<Item = (usize, String)> {
    (0..200_000u64).map(|i| {
        let address = if i % 10 == 0 { i % 3 } else { (i * i) % 50_021 };
        ((i % 4) as usize, format!("198.18.{}.{}", address / 256, address % 256))
    })
}

fn main() -> Result<(), Error> {
    // At most 0.1% of all requests too many, in 99 of 100 addresses.
    let params = CountMinParams::for_error(0.001, 0.01)?;
    let mut shards = vec![CountMinSketch::new(params); 4];
    let mut exact = BTreeMap::new();
    for (shard, address) in requests() {
        shards[shard].insert(&address);
        *exact.entry(address).or_insert(0u64) += 1;
    }

    // The shards' sketches are merged, not their answers.
    let mut all: CountMinSketch = CountMinSketch::new(params);
    for shard in &shards {
        all.merge(shard)?;
    }
    let threshold = all.total() / 100;
    println!("{} requests; alert above {threshold}", all.total());
    for (address, &count) in &exact {
        let (low, high) = all.bounds(address);
        if high > threshold {
            let certain = if low > threshold { "certain" } else { "to be checked" };
            println!("{address:<12} {low:>6} to {high:>6} requests, {certain} (exact: {count})");
        }
        assert!(high >= count, "never under-counted");
    }
    Ok(())
}
