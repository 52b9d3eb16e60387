//! Filters that grow, and filters that forget.

use pds_bloom::{
    BlockedBloomFilter, BlockedBloomParams, ScalableBloomFilter, ScalableBloomParams, WindowedBloomFilter,
    WindowedBloomParams,
};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, laws};

use super::filters::{self, Layout};

pub(super) const SCALABLE: Experiment = Experiment {
    id: "bloom-scalable",
    table: Some("T4"),
    claim: "A filter that began with room for n keys and grew a thousandfold keeps its rate, for at most \
          1.6 times the bits of a filter made for its capacity.",
    law: "wrong yeses against the filters' own rates, and against p as an upper bound, by Chernoff's law; \
          no key is ever lost; bits against those of a classic filter for as many keys as the layers are \
          made for, at most 1.6 times in every trial. The textbook's chain, every layer of it with the \
          whole of p, is not judged.",
    cells: |scale| {
        // Fewer layers where it has to be quick.
        let growths = f64::from(scale.pick(6, 8, 9, 10));
        let (trials, probes) = (scale.pick(2, 2, 4, 50), scale.pick(20_000.0, 50_000.0, 200_000.0, 1e6));
        Cell::numbered(trials, [0.01, 0.001].map(|fpr| [fpr, probes, growths]))
    },
    trial: |cell, seed| {
        let [fpr, probes, growths] = cell.inputs[..] else { return Vec::new() };
        let stream = DistinctKeys::new(seed);
        let params = ScalableBloomParams::for_fpr(FIRST, fpr).expect("a usual target");
        let (mut filter, mut textbook) = (ScalableBloomFilter::new(params), Textbook::new(fpr));
        let mut results = Vec::new();
        let mut keys = 0;
        for &(growth, _) in &GROWTHS[..growths as usize] {
            let more = stream.range(keys..grown(growth));
            keys = grown(growth);
            let mut full = false;
            filters::each_chunk(more.clone(), |hashes| full |= filter.insert_batch(hashes).is_err());
            filters::each_chunk(more, |hashes| hashes.iter().for_each(|&hash| textbook.insert(hash)));
            let (mut hits, mut textbook_hits, mut lost) = (0, 0, 0);
            filters::each_chunk(stream.range(keys..keys + probes as u64), |hashes| {
                hits += hashes.iter().filter(|&&hash| filter.contains_hash(hash)).count();
                textbook_hits += hashes.iter().filter(|&&hash| textbook.contains(hash)).count();
            });
            filters::each_chunk(stream.range(0..keys), |hashes| {
                lost += hashes.iter().filter(|&&hash| !filter.contains_hash(hash)).count();
            });
            let fits = Layout::Classic.for_fpr(filter.capacity(), fpr).expect("a usual target");
            results.extend([
                hits as f64,
                filter.estimated_fpr(),
                if full { f64::INFINITY } else { lost as f64 },
                filter.size_bytes() as f64 * 8.0,
                filter.size_bytes() as f64 * 8.0 / fits.bits() as f64,
                filter.layers() as f64,
                textbook_hits as f64,
                textbook.bits(),
            ]);
        }
        results
    },
    rows: |cell, outcomes| {
        let [fpr, probes, growths] = cell.inputs[..] else { return Vec::new() };
        let row = |step: usize| {
            let column =
                |i: usize| outcomes.iter().map(|outcome| outcome[GROWN * step + i]).collect::<Vec<_>>();
            let sum = |i: usize| column(i).iter().sum::<f64>();
            let largest = |i: usize| column(i).into_iter().fold(0.0, f64::max);
            let (growth, name) = GROWTHS[step];
            let keys = grown(growth);
            let right = Layout::Classic.for_fpr(keys, fpr).expect("a usual target").bits() as f64;
            let (hits, asked) = (sum(0) as u64, probes as u64 * cell.trials);
            Row::new()
                .percent("p", fpr, 3)
                .text("keys", name)
                .real("layers", laws::mean(&column(5)), 2)
                .percent("own rate", laws::mean(&column(1)), 3)
                .percent("measured", hits as f64 / asked as f64, 3)
                .real("bits/key", laws::mean(&column(3)) / keys as f64, 4)
                .real("bits / right-sized for the keys", laws::mean(&column(3)) / right, 3)
                .real("bits / right-sized for the capacity", laws::mean(&column(4)), 3)
                .percent("textbook's rate", sum(6) / asked as f64, 3)
                .real("its bits / right-sized for the keys", laws::mean(&column(7)) / right, 3)
                .check("rate", laws::rate_is(hits, asked, laws::mean(&column(1))))
                .check("promise", laws::rate_at_most(hits, asked, fpr))
                .check("no key lost", laws::all_hold(sum(2) as u64, keys * cell.trials))
                .check("size", laws::at_most(largest(4), DEAREST))
        };
        (0..growths as usize).map(row).collect()
    },
    plot: None,
};

/// Keys that the first layer is for.
const FIRST: u64 = 1000;

/// Keys over keys of the first layer: powers of ten, and of so many layers 98% of the capacity, so that none has begun
/// a layer too soon.
const GROWTHS: [(f64, &str); 10] = [
    (0.98, "98 % of 1x"),
    (4.9, "98 % of 5x"),
    (10.0, "10x"),
    (20.58, "98 % of 21x"),
    (83.3, "98 % of 85x"),
    (100.0, "100x"),
    (334.18, "98 % of 341x"),
    (1000.0, "1000x"),
    (1337.7, "98 % of 1365x"),
    (5351.78, "98 % of 5461x"),
];

/// Keys at a growth.
fn grown(growth: f64) -> u64 {
    libm::round(growth * FIRST as f64) as u64
}

/// Numbers per growth.
const GROWN: usize = 8;

/// The most that a chain may cost against one classic filter for its capacity.
const DEAREST: f64 = 1.6;

/// A chain in which every layer has the rate of the whole, as some libraries build it: layers grow as ours do, and are
/// left after so many keys that were not known.
struct Textbook {
    layers: Vec<BlockedBloomFilter>,
    fpr: f64,
    /// Keys that the last layer is for, and that it got.
    room: u64,
    used: u64,
}

impl Textbook {
    fn new(fpr: f64) -> Self {
        Self { layers: vec![layer(FIRST, fpr)], fpr, room: FIRST, used: 0 }
    }

    fn insert(&mut self, hash: u64) {
        if self.contains(hash) {
            return;
        }
        if self.used == self.room {
            (self.room, self.used) = (self.room * u64::from(ScalableBloomParams::GROWTH), 0);
            self.layers.push(layer(self.room, self.fpr));
        }
        self.used += 1;
        self.layers.last_mut().expect("at least one layer").insert_hash(hash);
    }

    fn contains(&self, hash: u64) -> bool {
        self.layers.iter().rev().any(|layer| layer.contains_hash(hash))
    }

    fn bits(&self) -> f64 {
        self.layers.iter().map(|layer| layer.params().bits() as f64).sum()
    }
}

fn layer(keys: u64, fpr: f64) -> BlockedBloomFilter {
    BlockedBloomFilter::new(BlockedBloomParams::for_fpr(keys, fpr).expect("a usual target"))
}

pub(super) const WINDOWED: Experiment = Experiment {
    id: "bloom-windowed",
    table: Some("T4"),
    claim: "Of G generations, a key is found until it is G of them old, with its age; older keys and \
          strangers are found as often as the rate of false positives says, which is at most p = 1%.",
    law: "younger than G: every key found, and none said to be older than it is, in every trial; said to be \
          younger against 1 - (1 - p)^(age/G) as an upper bound. Older, and strangers: wrong yeses against \
          the filters' own rates, and against p as an upper bound, by Chernoff's law.",
    cells: |scale| {
        let trials = scale.pick(2, 5, 40, 400);
        [2.0, 4.0, 8.0]
            .map(|generations| Cell {
                index: generations as u64,
                trials,
                inputs: vec![generations, scale.pick(2000.0, 10_000.0, 20_000.0, 20_000.0)],
            })
            .into()
    },
    trial: |cell, seed| {
        let [generations, keys] = cell.inputs[..] else { return Vec::new() };
        let (generations, keys) = (generations as u64, keys as u64);
        let params =
            WindowedBloomParams::for_fpr(keys, WINDOW_FPR, generations as u32).expect("a usual target");
        let stream = DistinctKeys::new(seed);
        let mut filter = WindowedBloomFilter::new(params);
        // Twice round the ring.
        let born = |generation: u64| stream.range(generation * keys..(generation + 1) * keys);
        let last = 2 * generations;
        for generation in 0..=last {
            if generation > 0 {
                filter.advance();
            }
            filters::insert(&mut filter, born(generation));
        }
        let mut results = vec![filter.estimated_fpr()];
        // The last one: keys that were never inserted.
        for age in 0..generations + 3 {
            let of_age = if age == generations + 2 { born(last + 1) } else { born(last - age) };
            let (mut found, mut younger, mut older) = (0u64, 0u64, 0u64);
            for key in of_age {
                found += u64::from(filter.contains(&key));
                if let Some(said) = filter.age(&key).map(u64::from) {
                    younger += u64::from(said < age);
                    older += u64::from(said > age);
                }
            }
            results.extend([found as f64, younger as f64, older as f64]);
        }
        results
    },
    rows: |cell, outcomes| {
        let [generations, keys] = cell.inputs[..] else { return Vec::new() };
        let params = WindowedBloomParams::for_fpr(keys as u64, WINDOW_FPR, generations as u32)
            .expect("a usual target");
        let asked = keys as u64 * cell.trials;
        let own = laws::mean(&outcomes.iter().map(|outcome| outcome[0]).collect::<Vec<_>>());
        let row = |age: usize| {
            let sum = |i: usize| outcomes.iter().map(|outcome| outcome[1 + 3 * age + i]).sum::<f64>() as u64;
            let share = |i: usize| sum(i) as f64 / asked as f64;
            let row = Row::new()
                .count("generations", generations as u64)
                .real("bits per key and generation", params.bits_per_generation() as f64 / keys, 4)
                .text(
                    "age",
                    if age as f64 > generations + 1.0 { "never".to_owned() } else { age.to_string() },
                )
                .percent("found", share(0), 4);
            if (age as f64) < generations {
                let misled = -libm::expm1(age as f64 / generations * libm::log1p(-WINDOW_FPR));
                row.percent("said to be younger", share(1), 3)
                    .missing("own rate")
                    .check("found", laws::all_hold(asked - sum(0), asked))
                    .check("older", laws::all_hold(sum(2), asked))
                    .check("younger", laws::rate_at_most(sum(1), asked, misled))
            } else {
                row.missing("said to be younger")
                    .percent("own rate", own, 4)
                    .check("rate", laws::rate_is(sum(0), asked, own))
                    .check("promise", laws::rate_at_most(sum(0), asked, WINDOW_FPR))
            }
        };
        (0..generations as usize + 3).map(row).collect()
    },
    plot: None,
};

const WINDOW_FPR: f64 = 0.01;
