//! Frequent keys of many shards: bounds after merging.

use pds_cms::{
    Merge, MisraGries, MisraGriesParams, Sketch, SpaceSaving, SpaceSavingParams, TopK, TopKParams,
};
use pds_hash::route;
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, SplitMix64, Zipf, laws};

use super::heavy::{Kind, Summary};

const SHARDS: usize = 32;
const RANKS: u64 = 20_000;
const KINDS: [Kind; 3] = [Kind::SpaceSaving, Kind::MisraGries, Kind::TopK];

/// How events are dealt to the shards.
const DEALS: [&str; 3] = ["at random", "by key", "in order of the keys"];

pub(super) const MERGE: Experiment = Experiment {
    id: "heavy-merge",
    table: None,
    claim: "Merged from 32 shards, SpaceSaving and Misra-Gries keep the bounds of one summary, however the stream was divided; \
            a top-k list keeps its bounds, and says how much a key may have that it does not list.",
    law: "of every key: count within the bounds (top-k's lower bound: but for a share of at most delta by Chernoff's law), and no \
          key missing from the list that is above the bound of what is not listed; for the first two that bound, and the width \
          of all bounds, at most the error that the capacity states for the total; totals exact. Merged in a row and in a \
          tree of pairs, by turns.",
    cells: |scale| {
        let trials = scale.pick(2, 4, 20, 200);
        let events = scale.pick(100_000.0, 320_000.0, 320_000.0, 320_000.0);
        let cell =
            |index: u64| Cell { index, trials, inputs: vec![(index / 3) as f64, (index % 3) as f64, events] };
        (0..9).map(cell).collect()
    },
    trial: |cell, seed| {
        let [kind, deal, events] = cell.inputs[..] else { return Vec::new() };
        let keys = DistinctKeys::new(seed);
        let mut random = SplitMix64::new(seed);
        let mut ranks: Vec<u64> = Zipf::new(RANKS, 1.0, seed).take(events as usize).collect();
        if deal == 2.0 {
            ranks.sort_unstable();
        }
        let mut shard = |i: usize, rank: u64| match deal as usize {
            0 => random.below(SHARDS as u64) as usize,
            1 => route(rank, SHARDS as u32) as usize,
            _ => i * SHARDS / ranks.len(),
        };
        let events: Vec<(usize, u64)> =
            ranks.iter().enumerate().map(|(i, &rank)| (shard(i, rank), keys.key(rank))).collect();
        let tree = seed % 2 == 0;
        match KINDS[kind as usize] {
            Kind::SpaceSaving => {
                let params = SpaceSavingParams::with_capacity(CAPACITY).expect("a usual capacity");
                judged(|| SpaceSaving::new(params), SHARDS, &events, |shards| merged(shards, tree))
            }
            Kind::MisraGries => {
                let params = MisraGriesParams::with_capacity(CAPACITY).expect("a usual capacity");
                judged(|| MisraGries::new(params), SHARDS, &events, |shards| merged(shards, tree))
            }
            _ => judged(|| TopK::new(top_k()), SHARDS, &events, |shards| merged(shards, tree)),
        }
    },
    rows: |cell, outcomes| {
        let [kind, deal, _] = cell.inputs[..] else { return Vec::new() };
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let none = |i: usize| laws::all_hold(sum(i), sum(0));
        let kind = KINDS[kind as usize];
        let bound = column(7)[0];
        let row = Row::new()
            .text("structure", kind.name())
            .text("events dealt", DEALS[deal as usize])
            .real("bound of the error", bound, 5)
            .real("largest width of bounds, merged", laws::mean(&column(8)), 4)
            .real("one summary", laws::mean(&column(9)), 4)
            .real("most of what is not listed, merged", laws::mean(&column(5)), 4)
            .real("one summary's", laws::mean(&column(6)), 4)
            .check("totals", laws::all_hold(sum(10), cell.trials))
            .check("upper bounds", none(2))
            .check("none missing", none(4))
            .check("width of the bounds", none(3));
        vec![if kind == Kind::TopK {
            row.check("lower bounds", laws::rate_at_most(sum(1), sum(0), top_k().sketch().delta()))
        } else {
            let most = column(5).into_iter().fold(0.0, f64::max);
            row.check("lower bounds", none(1)).check("unlisted", laws::at_most(most, bound))
        }]
    },
    plot: None,
};

pub(super) const CAPACITY: u32 = 256;

pub(super) fn top_k() -> TopKParams {
    TopKParams::for_error(CAPACITY, 0.004, 0.01).expect("usual targets")
}

/// Fills shards and the whole, merges, and measures: distinct keys, and of these those below and above their bounds, those whose
/// bounds are too wide, those missing from the list; the most of what is not listed, of the merged and of the whole; the bound of
/// the error, and the greatest widths; whether the totals differ, and whether the bytes do.
pub(super) fn judged<S: Summary + Sketch>(
    new: impl Fn() -> S,
    number: usize,
    events: &[(usize, u64)],
    merge: impl FnOnce(Vec<S>) -> S,
) -> Vec<f64> {
    let mut shards: Vec<S> = (0..number).map(|_| new()).collect();
    let mut whole = new();
    let mut exact = std::collections::BTreeMap::new();
    for &(shard, key) in events {
        shards[shard].insert(key);
        whole.insert(key);
        *exact.entry(key).or_insert(0u64) += 1;
    }
    let merged = merge(shards);
    let (bound, _) = merged.promise().expect("all of them state one");
    let whole_bound = whole.promise().expect("all of them state one").0;
    let mut outcome = vec![exact.len() as f64, 0.0, 0.0, 0.0, 0.0];
    let (mut widest, mut widest_whole) = (0, 0);
    let unlisted = merged.unlisted().expect("all of them know it");
    for (&key, &count) in &exact {
        let (lower, upper) = merged.bounds(key);
        outcome[1] += f64::from(u8::from(lower > count));
        outcome[2] += f64::from(u8::from(upper < count));
        outcome[3] += f64::from(u8::from(upper - lower > bound));
        outcome[4] += f64::from(u8::from(count > unlisted && !merged.lists(key)));
        widest = widest.max(upper - lower);
        let (lower, upper) = whole.bounds(key);
        widest_whole = widest_whole.max(upper - lower);
    }
    outcome.extend([unlisted, whole.unlisted().expect("all of them know it")].map(|most| most as f64));
    outcome.extend([bound as f64, widest as f64, widest_whole as f64]);
    // Bounds are a share of the total: it is the same, then.
    outcome.extend(
        [bound != whole_bound, merged.to_bytes() != whole.to_bytes()].map(|it| f64::from(u8::from(it))),
    );
    outcome
}

/// In a tree of pairs, or in a row.
fn merged<S: Merge>(shards: Vec<S>, tree: bool) -> S {
    if tree { by_pairs(shards) } else { in_a_row(shards) }
}

fn in_a_row<S: Merge>(shards: Vec<S>) -> S {
    let merged = shards.into_iter().reduce(|mut merged, shard| {
        merged.merge(&shard).expect("of one shape");
        merged
    });
    merged.expect("a shard at least")
}

fn by_pairs<S: Merge>(mut shards: Vec<S>) -> S {
    while shards.len() > 1 {
        let half = shards.split_off(shards.len() / 2);
        for (merged, shard) in shards.iter_mut().zip(half) {
            merged.merge(&shard).expect("of one shape");
        }
    }
    shards.pop().expect("a shard at least")
}
