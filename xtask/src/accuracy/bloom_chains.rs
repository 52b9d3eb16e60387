//! Merging scalable filters: chains of layers into one.

use pds_bloom::{ScalableBloomFilter, ScalableBloomParams};
use pds_core::{Merge, Sketch};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, laws};

use super::filters;

pub(super) const CHAINS: Experiment = Experiment {
    id: "bloom-scalable-merge",
    table: Some("T13"),
    claim: "Chains of four shards merge into one that keeps their promise of 1%, while the rate has room for their \
          layers; then a merge is refused, and changes nothing.",
    law: "wrong yeses against the merged filters' own rates, and against p as an upper bound, by Chernoff's \
          law; no key of a shard that was taken in is lost, and a refused merge leaves the bytes as they \
          were, in every trial.",
    cells: |scale| {
        let trials = scale.pick(2, 4, 20, 200);
        let probes = scale.pick(10_000.0, 50_000.0, 200_000.0, 1e6);
        Cell::numbered(trials, [0.2, 0.5, 1.0, 3.0, 15.0, 60.0].map(|share| [share, probes]))
    },
    trial: |cell, seed| {
        let [share, probes] = cell.inputs[..] else { return Vec::new() };
        let each = (FIRST * share) as u64;
        let stream = DistinctKeys::new(seed);
        let params = ScalableBloomParams::for_fpr(FIRST as u64, CHAIN_FPR).expect("a usual target");
        let keys = |shard: u64| stream.range(shard * each..(shard + 1) * each);
        let mut merged = ScalableBloomFilter::new(params);
        let (mut refused, mut changed, mut lost, mut layers) = (0u64, 0u64, 0, 0);
        let mut taken = Vec::new();
        for shard in 0..SHARDS {
            let mut filter = ScalableBloomFilter::new(params);
            let mut full = false;
            filters::each_chunk(keys(shard), |hashes| full |= filter.insert_batch(hashes).is_err());
            layers = layers.max(filter.layers());
            let before = merged.to_bytes();
            if !full && merged.merge(&filter).is_ok() {
                taken.push(shard);
            } else {
                refused += 1;
                changed += u64::from(merged.to_bytes() != before);
            }
        }
        for &shard in &taken {
            lost += keys(shard).filter(|key| !merged.contains(key)).count();
        }
        let strangers = stream.range(SHARDS * each..SHARDS * each + probes as u64);
        let hits = strangers.filter(|key| merged.contains(key)).count();
        vec![
            refused as f64,
            changed as f64,
            lost as f64,
            layers as f64,
            merged.layers() as f64,
            hits as f64,
            merged.estimated_fpr(),
            taken.len() as f64,
        ]
    },
    rows: |cell, outcomes| {
        let [share, probes] = cell.inputs[..] else { return Vec::new() };
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let asked = probes as u64 * cell.trials;
        let own = laws::mean(&column(6));
        let merges = SHARDS * cell.trials;
        let keys = (FIRST * share) as u64 * sum(7);
        vec![
            Row::new()
                .real("keys of a shard / of the first layer", share, 3)
                .real("layers of a shard", laws::mean(&column(3)), 2)
                .real("layers of the merged", laws::mean(&column(4)), 3)
                .count("merges", merges)
                .count("refused", sum(0))
                .percent("own rate", own, 3)
                .percent("measured", sum(5) as f64 / asked as f64, 3)
                .check("rate", laws::rate_is(sum(5), asked, own))
                .check("promise", laws::rate_at_most(sum(5), asked, CHAIN_FPR))
                .check("no key lost", laws::all_hold(sum(2), keys))
                .check("refused unchanged", laws::all_hold(sum(1), merges)),
        ]
    },
    plot: None,
};

const CHAIN_FPR: f64 = 0.01;

/// Keys that the first layer of a chain is for.
const FIRST: f64 = 1000.0;

const SHARDS: u64 = 4;
