//! Merging the family: shards to the whole stream's filter, and chains into one.

use pds_bloom::{
    BlockedBloomFilter, BlockedBloomParams, BloomFilter, BloomParams, CountingBloomFilter,
    CountingBloomParams, ScalableBloomFilter, ScalableBloomParams, SplitBlockBloomFilter, SplitBlockParams,
    WindowedBloomFilter, WindowedBloomParams,
};
use pds_core::{Merge, Sketch};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, Zipf, laws};

use super::filters;
use super::merge::{SHARDS as NUMBER, merges, shards_merge};

pub(super) const SHARDS: Experiment = Experiment {
    id: "bloom-shards",
    table: Some("T13"),
    claim: "Shards of a stream merge to the whole stream's filter, byte for byte, whatever the layout.",
    law: "bytes are equal in every trial, for shards by key and for shards by turn, merged in both orders.",
    cells: |scale| {
        let events = scale.pick(20_000.0, 100_000.0, 400_000.0, 1e6);
        let trials = scale.pick(1, 1, 5, 50);
        (0..SHARDED.len() as u64).map(|index| Cell { index, trials, inputs: vec![events] }).collect()
    },
    trial: |cell, seed| {
        let events: Vec<u64> = Zipf::new(RANKS, 1.0, seed).take(cell.inputs[0] as usize).collect();
        let target = "a usual target";
        match cell.index {
            0 => {
                let params = BloomParams::for_fpr(RANKS, 0.01).expect(target);
                shards_merge(&events, || BloomFilter::new(params), |filter, key| filter.insert(&key))
            }
            1 => {
                let params = BlockedBloomParams::for_fpr(RANKS, 0.01).expect(target);
                shards_merge(&events, || BlockedBloomFilter::new(params), |filter, key| filter.insert(&key))
            }
            2 => {
                let params = SplitBlockParams::for_fpr(RANKS, 0.01).expect(target);
                shards_merge(
                    &events,
                    || SplitBlockBloomFilter::new(params),
                    |filter, key| filter.insert(&key),
                )
            }
            3 => {
                // Many copies: counters that stick are among those that are added.
                let params = CountingBloomParams::for_fpr(RANKS, 0.01).expect(target);
                shards_merge(&events, || CountingBloomFilter::new(params), |filter, key| filter.insert(&key))
            }
            _ => windows_merge(&events, WindowedBloomParams::for_fpr(RANKS, 0.01, 4).expect(target)),
        }
    },
    rows: |cell, outcomes| {
        let unequal = outcomes.iter().map(|outcome| outcome[0]).sum::<f64>() as u64;
        let merges = 4 * cell.trials;
        vec![
            Row::new()
                .text("filter", SHARDED[cell.index as usize])
                .count("shards", u64::from(NUMBER))
                .count("events", cell.inputs[0] as u64)
                .count("bytes of one", outcomes[0][1] as u64)
                .count("merges compared", merges)
                .count("unequal", unequal)
                .check("equal bytes", laws::all_hold(unequal, merges)),
        ]
    },
    plot: None,
};

const SHARDED: [&str; 5] = ["classic", "blocked", "split-block", "counting", "windowed, 4 generations"];
const RANKS: u64 = 100_000;

/// For filters that all advance at the same events.
fn windows_merge(events: &[u64], params: WindowedBloomParams) -> Vec<f64> {
    let quarter = events.len() / 4;
    merges(|number, shard_of| {
        let mut shards = vec![WindowedBloomFilter::new(params); number];
        for (turn, &key) in events.iter().enumerate() {
            if turn > 0 && turn % quarter == 0 {
                shards.iter_mut().for_each(WindowedBloomFilter::advance);
            }
            shards[shard_of(turn, key) as usize].insert(&key);
        }
        shards
    })
}

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
        for shard in 0..u64::from(NUMBER) {
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
        let strangers = stream.range(u64::from(NUMBER) * each..u64::from(NUMBER) * each + probes as u64);
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
        let merges = u64::from(NUMBER) * cell.trials;
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
