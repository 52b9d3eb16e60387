//! Cuckoo filters that grow and shrink, and what the removal of strangers does.

use pds_cuckoo::{CuckooFilter, CuckooParams, GrowableCuckooFilter, GrowableCuckooParams};
use pds_hash::{KeyHasher, WyHasher};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, laws};

use super::cuckoo::{answers, found, insert};
use super::filters;

pub(super) const GROWTH: Experiment = Experiment {
    id: "cuckoo-growth",
    table: Some("T5"),
    claim: "One table that grew from 64 keys to all of them, lost the older half of its keys or the newer one, \
          and shrank, has every other key, forgets the removed ones, and has the rate that the number of its \
          keys predicts. A chain of filters does not.",
    law: "wrong yeses to strangers and to removed keys against the prediction for the present number of keys, \
          and against p as an upper bound, by Chernoff's law; no insertion or removal refused, and no survivor \
          lost, in every trial. The chain, which looks for a key to remove in its oldest filter first, is not \
          judged.",
    cells: |scale| {
        let mut cells = Vec::new();
        for (i, rate) in [0.01, 0.001].into_iter().enumerate() {
            for half in [OLDER, NEWER] {
                cells.push(Cell {
                    index: 2 * i as u64 + half as u64,
                    trials: scale.pick(2, 3, 4, 40),
                    inputs: vec![
                        rate,
                        half,
                        scale.pick(20_000.0, 200_000.0, 1e6, 1e7),
                        scale.pick(20_000.0, 200_000.0, 1e6, 1e6),
                    ],
                });
            }
        }
        cells
    },
    trial: |cell, seed| {
        let [rate, half, keys, probes] = cell.inputs[..] else { return Vec::new() };
        let (keys, probes) = (keys as u64, probes as u64);
        let stream = DistinctKeys::new(seed);
        let (older, newer) = (0..keys / 2, keys / 2..keys);
        let (removed, kept) = if half == OLDER { (older, newer) } else { (newer, older) };
        let mut filter = GrowableCuckooFilter::new(plan(keys, rate));
        let mut chain = Chain::new(rate);
        let mut results = Vec::new();
        let strangers = stream.range(keys..keys + probes);
        let found = |filter: &GrowableCuckooFilter, keys: &dyn Fn() -> Box<dyn Iterator<Item = u64>>| {
            answers(keys(), |hashes, answers| filter.contains_batch(hashes, answers)) as f64
        };
        let all = |keys: std::ops::Range<u64>| move || Box::new(stream.range(keys.clone())) as Box<_>;
        let asked = || Box::new(strangers.clone()) as Box<dyn Iterator<Item = u64>>;

        let mut refused = 0;
        filters::each_chunk(stream.range(0..keys), |hashes| {
            refused += hashes.len() - filter.insert_batch(hashes);
            for &hash in hashes {
                chain.insert(hash);
            }
        });
        let mut state = |filter: &GrowableCuckooFilter, refused: usize, lost: f64, again: f64, chain: f64| {
            let bytes = filter.size_bytes() as f64;
            let doublings = f64::from(filter.doublings());
            results.extend([doublings, bytes, refused as f64, lost, found(filter, &asked), again, chain]);
        };
        let lost = keys as f64 - found(&filter, &all(0..keys));
        state(&filter, refused, lost, 0.0, chain.lost(stream.range(0..keys)));

        let mut refused = 0;
        filters::each_chunk(stream.range(removed.clone()), |hashes| {
            refused += hashes.iter().filter(|&&hash| filter.remove_hash(hash).is_err()).count();
            for &hash in hashes {
                chain.remove(hash);
            }
        });
        let chain_lost = chain.lost(stream.range(kept.clone()));
        for shrunk in [false, true] {
            if shrunk {
                filter.shrink_to_fit();
            }
            let lost = (kept.end - kept.start) as f64 - found(&filter, &all(kept.clone()));
            let again = found(&filter, &all(removed.clone()));
            state(&filter, refused, lost, again, chain_lost);
        }
        results
    },
    rows: |cell, outcomes| {
        let [rate, half, keys, probes] = cell.inputs[..] else { return Vec::new() };
        let (keys, asked) = (keys as u64, probes as u64 * cell.trials);
        let params = plan(keys, rate);
        let removed = keys / 2;
        let row = |step: usize, moment: &str| {
            let sum = |i: usize| outcomes.iter().map(|outcome| outcome[STATE * step + i]).sum::<f64>();
            let count = |i: usize| sum(i) as u64;
            let left = if step == 0 { keys } else { keys - removed };
            let predicted = params.fpr(left);
            let trials = cell.trials;
            let row = Row::new()
                .percent("p", rate, 3)
                .text("half removed", if half == OLDER { "older" } else { "newer" })
                .text("moment", moment)
                .count("keys", left)
                .real("doublings", sum(0) / trials as f64, 3)
                .real("bits/key", sum(1) * 8.0 / (left * trials) as f64, 4)
                .percent("predicted", predicted, 4)
                .percent("measured", sum(4) / asked as f64, 4);
            let row = if step == 0 {
                row.missing("removed, and found again")
            } else {
                row.percent("removed, and found again", sum(5) / (removed * trials) as f64, 4)
            };
            let row = row
                .count("survivors lost", count(3))
                .percent("lost by a chain", sum(6) / (left * trials) as f64, 3)
                .check("rate", laws::rate_is(count(4), asked, predicted))
                .check("promise", laws::rate_at_most(count(4), asked, rate))
                .check("none refused", laws::all_hold(count(2), keys * trials))
                .check("none lost", laws::all_hold(count(3), left * trials));
            if step == 0 {
                row
            } else {
                row.check("forgotten", laws::rate_is(count(5), removed * trials, predicted))
            }
        };
        ["grown", "half removed", "shrunk"].iter().enumerate().map(|(i, moment)| row(i, moment)).collect()
    },
    plot: None,
};

/// Which half of the keys is removed.
const OLDER: f64 = 0.0;
const NEWER: f64 = 1.0;

/// Numbers of a state of the filter.
const STATE: usize = 7;

/// Keys that growth starts from.
const FIRST: u64 = 64;

fn plan(keys: u64, rate: f64) -> GrowableCuckooParams {
    GrowableCuckooParams::for_fpr(FIRST, keys, rate).expect("a usual plan")
}

/// What other libraries grow by: when a filter is full, another of twice the size follows, with fingerprints of its own.
struct Chain {
    layers: Vec<CuckooFilter>,
    rate: f64,
    /// Keys that the last one is for.
    room: u64,
}

impl Chain {
    fn new(rate: f64) -> Self {
        Self { layers: vec![layer(FIRST, rate)], rate, room: FIRST }
    }

    fn insert(&mut self, hash: u64) {
        let last = self.layers.last_mut().expect("at least one layer");
        if last.len() < self.room && last.insert_hash(hash).is_ok() {
            return;
        }
        self.room *= 2;
        let mut next = layer(self.room, self.rate);
        next.insert_hash(hash).expect("it is empty");
        self.layers.push(next);
    }

    /// In the first layer that says yes, the oldest one first.
    fn remove(&mut self, hash: u64) {
        self.layers.iter_mut().any(|layer| layer.remove_hash(hash).is_ok());
    }

    fn lost(&self, keys: impl Iterator<Item = u64>) -> f64 {
        let mut lost = 0;
        filters::each_chunk(keys, |hashes| {
            let finds = |hash: u64| self.layers.iter().rev().any(|layer| layer.contains_hash(hash));
            lost += hashes.iter().filter(|&&hash| !finds(hash)).count();
        });
        lost as f64
    }
}

fn layer(keys: u64, rate: f64) -> CuckooFilter {
    CuckooFilter::new(CuckooParams::for_fpr(keys, rate).expect("a usual target"))
}

pub(super) const STRANGERS: Experiment = Experiment {
    id: "cuckoo-strangers",
    table: Some("T5"),
    claim: "The removal of a key that was never inserted is refused but for the filter's rate of false \
          positives; each one that is not takes another key's entry, and that key is forgotten.",
    law: "removals that are accepted against the predicted rate before all of them as an upper bound, and \
          after all of them as a lower bound, by Chernoff's law; at most one key is lost by each, and the \
          entries fall by as many, in every trial. Keys lost are the price of breaking the rule: their number \
          is not judged otherwise.",
    cells: |scale| {
        let trials = scale.pick(2, 5, 20, 200);
        let mut cells = Vec::new();
        for (i, rate) in [0.1, 0.01, 0.001].into_iter().enumerate() {
            for (j, share) in [0.01, 0.1, 1.0].into_iter().enumerate() {
                cells.push(Cell { index: (10 * i + j) as u64, trials, inputs: vec![rate, share] });
            }
        }
        cells
    },
    trial: |cell, seed| {
        let [rate, share] = cell.inputs[..] else { return Vec::new() };
        let stream = DistinctKeys::new(seed);
        let mut filter = layer(MEMBERS, rate);
        let stored = insert(&mut filter, stream.range(0..MEMBERS));
        let before = filter.estimated_fpr();
        let hasher = WyHasher::default();
        let mut accepted = 0u64;
        for key in stream.range(MEMBERS..MEMBERS + strangers(share)) {
            accepted += u64::from(filter.remove_hash(hasher.hash_key(&key)).is_ok());
        }
        let lost = stored - found(&filter, stream.range(0..stored));
        let wrong = u64::from(lost > accepted) + u64::from(filter.len() + accepted != MEMBERS);
        vec![accepted as f64, before, filter.estimated_fpr(), lost as f64, wrong as f64]
    },
    rows: |cell, outcomes| {
        let [rate, share] = cell.inputs[..] else { return Vec::new() };
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let asked = strangers(share) * cell.trials;
        let (before, after) = (laws::mean(&column(1)), laws::mean(&column(2)));
        let row = Row::new()
            .percent("target", rate, 3)
            .percent("strangers removed / keys", share, 3)
            .percent("refused", 1.0 - sum(0) as f64 / asked as f64, 5)
            .percent("1 - own rate, before", 1.0 - before, 5)
            .percent("after", 1.0 - after, 5)
            .percent("keys lost", sum(3) as f64 / (MEMBERS * cell.trials) as f64, 3);
        let row = if sum(0) > 0 {
            row.real("lost per accepted removal", sum(3) as f64 / sum(0) as f64, 3)
        } else {
            row.missing("lost per accepted removal")
        };
        vec![
            row.check("at most", laws::rate_at_most(sum(0), asked, before))
                .check("at least", laws::rate_at_least(sum(0), asked, after))
                .check("one key each", laws::all_hold(sum(4), 2 * cell.trials)),
        ]
    },
    plot: None,
};

const MEMBERS: u64 = 20_000;

fn strangers(share: f64) -> u64 {
    libm::round(MEMBERS as f64 * share) as u64
}
