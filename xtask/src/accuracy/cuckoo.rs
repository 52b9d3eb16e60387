//! Cuckoo filters of a fixed size: the rate by load, how full they get, and their price beside a Bloom filter's.

use pds_bloom::BloomParams;
use pds_cuckoo::{CuckooFilter, CuckooParams};
use pds_hash::{KeyHasher, WyHasher};
use pds_testkit::{Cell, DistinctKeys, Experiment, Plot, Row, laws};

use super::filters;

pub(super) const FPR: Experiment = Experiment {
    id: "cuckoo-fpr",
    table: Some("T5"),
    claim: "A stranger is taken for a member as often as 1 - (1 - 2 / (m (2^f - 1)))^n says, at any load, and \
          never more often than the published bound 2b / 2^f.",
    law: "wrong yeses against the prediction, and against the bound as an upper one, by Chernoff's law; at 95% \
          load at most 1.01 f / 0.95 bits a key; no key is ever lost. The Bloom filter is one that is sized \
          for the predicted rate.",
    cells: |scale| {
        let trials = scale.pick(2, 4, 20, 200);
        let mut cells = Vec::new();
        for (i, bits) in [8.0, 12.0, 16.0].into_iter().enumerate() {
            for (j, load) in [0.5, 0.9, CuckooParams::MAX_LOAD].into_iter().enumerate() {
                cells.push(Cell {
                    index: (10 * i + j) as u64,
                    trials,
                    inputs: vec![bits, load, scale.pick(50_000.0, 200_000.0, 1e6, 1e6)],
                });
            }
        }
        cells
    },
    trial: |cell, seed| {
        let [bits, load, probes] = cell.inputs[..] else { return Vec::new() };
        let mut filter = CuckooFilter::new(shape(BUCKETS, bits));
        let keys = keys_at(load, &filter.params());
        let stream = DistinctKeys::new(seed);
        let stored = insert(&mut filter, stream.range(0..keys));
        let lost = keys.min(stored) - found(&filter, stream.range(0..stored));
        let hits = found(&filter, stream.range(keys..keys + probes as u64));
        [keys - stored, lost, hits].map(|count| count as f64).into()
    },
    rows: |cell, outcomes| {
        let [bits, load, probes] = cell.inputs[..] else { return Vec::new() };
        let params = shape(BUCKETS, bits);
        let keys = keys_at(load, &params);
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>() as u64;
        let (hits, asked) = (sum(2), probes as u64 * cell.trials);
        let predicted = params.fpr(keys);
        let bound = f64::from(CuckooParams::MAX_COPIES) / libm::exp2(bits);
        let bits_per_key = params.size_bytes() as f64 * 8.0 / keys as f64;
        let bloom =
            BloomParams::for_fpr(keys, predicted).expect("a usual target").bits() as f64 / keys as f64;
        let full = load >= CuckooParams::MAX_LOAD;
        let row = Row::new()
            .count("f", bits as u64)
            .percent("load", load, 3)
            .percent("bound 2b / 2^f", bound, 4)
            .percent("predicted", predicted, 4)
            .percent("measured", hits as f64 / asked as f64, 4)
            .real("measured / predicted", hits as f64 / asked as f64 / predicted, 4)
            .real("bits/key", bits_per_key, 4)
            .real("a Bloom filter's", bloom, 4);
        let row = if full && bits as u32 == PUBLISHED.0 {
            row.text("published: at most, bits/key, a Bloom filter's at 0.2 %", PUBLISHED.1)
        } else {
            row.missing("published: at most, bits/key, a Bloom filter's at 0.2 %")
        };
        let row = row
            .check("rate", laws::rate_is(hits, asked, predicted))
            .check("bound", laws::rate_at_most(hits, asked, bound))
            .check("no key refused", laws::all_hold(sum(0), keys * cell.trials))
            .check("no key lost", laws::all_hold(sum(1), keys * cell.trials));
        vec![if full {
            row.check("size", laws::at_most(bits_per_key, MOST * bits / CuckooParams::MAX_LOAD))
        } else {
            row
        }]
    },
    plot: None,
};

/// Neither a power of two nor near one: 100,000 slots.
const BUCKETS: u64 = 25_000;

/// The published row: bits of a fingerprint, and what is said of it at 95% load.
const PUBLISHED: (u32, &str) = (12, "0.195 %, 12.63, 12.93");

/// What a key may cost against the formula f / 0.95.
const MOST: f64 = 1.01;

pub(super) fn shape(buckets: u64, bits: f64) -> CuckooParams {
    CuckooParams::with_shape(buckets, bits as u32).expect("a usual shape")
}

fn keys_at(load: f64, params: &CuckooParams) -> u64 {
    libm::floor(load * params.slots() as f64) as u64
}

/// Stores keys up to the first that is refused; how many were.
pub(super) fn insert(filter: &mut CuckooFilter, keys: impl Iterator<Item = u64>) -> u64 {
    let (mut stored, mut full) = (0, false);
    filters::each_chunk(keys, |hashes| {
        if !full {
            let inserted = filter.insert_batch(hashes);
            full = inserted < hashes.len();
            stored += inserted as u64;
        }
    });
    stored
}

/// How many of the keys the filter says yes to.
pub(super) fn found(filter: &CuckooFilter, keys: impl Iterator<Item = u64>) -> u64 {
    answers(keys, |hashes, answers| filter.contains_batch(hashes, answers))
}

/// How many yeses a batch query gives.
pub(super) fn answers(keys: impl Iterator<Item = u64>, ask: impl Fn(&[u64], &mut [bool]) -> usize) -> u64 {
    let (mut yes, mut answers) = (0, Vec::new());
    filters::each_chunk(keys, |hashes| {
        answers.clear();
        answers.resize(hashes.len(), false);
        let answered = ask(hashes, &mut answers);
        yes += answers[..answered].iter().filter(|&&answer| answer).count() as u64;
    });
    yes
}

pub(super) const LOAD: Experiment = Experiment {
    id: "cuckoo-load",
    table: Some("T5"),
    claim: "Tables of any number of buckets, powers of two or not, take as many keys as their capacity says: \
          95% of the slots from 400 buckets on. The alarm comes at 90%, and a refused key changes nothing.",
    law: "tables that refuse one of capacity() keys, and tables of 400 buckets and more that refuse one \
          below 95%, against the stated probability of failure, one in a million, as an upper bound by \
          Chernoff's law; the alarm is silent up to 90% and raised by the next key, refused keys change \
          nothing, and no key is lost, in every trial.",
    cells: |scale| {
        let shapes = [
            (32.0, 12.0),
            (100.0, 12.0),
            (128.0, 12.0),
            (400.0, 12.0),
            (512.0, 12.0),
            (1000.0, 12.0),
            (1024.0, 12.0),
            (4096.0, 12.0),
            (5000.0, 12.0),
            (16_384.0, 12.0),
            (20_000.0, 12.0),
            (1000.0, 8.0),
            (5000.0, 8.0),
            (1000.0, 16.0),
            (5000.0, 16.0),
        ];
        let slots_filled = scale.pick(1e5, 2e6, 1e7, 1e8);
        let (least, most) = (scale.pick(2.0, 20.0, 1000.0, 10_000.0), scale.pick(1000.0, 1e4, 5e4, 1e6));
        shapes
            .iter()
            .enumerate()
            .map(|(i, &(buckets, bits))| Cell {
                index: i as u64,
                trials: libm::floor(slots_filled / (4.0 * buckets)).clamp(least, most) as u64,
                inputs: vec![buckets, bits],
            })
            .collect()
    },
    trial: |cell, seed| {
        let [buckets, bits] = cell.inputs[..] else { return Vec::new() };
        let params = shape(buckets as u64, bits);
        let alarm = keys_at(0.9, &params);
        let mut filter = CuckooFilter::new(params);
        let stream = DistinctKeys::new(seed);
        let mut stored = insert(&mut filter, stream.range(0..alarm));
        let mut wrong_alarms = u64::from(filter.is_saturated());
        if stored == alarm {
            stored += insert(&mut filter, stream.range(alarm..alarm + 1));
            wrong_alarms += u64::from(stored > alarm && !filter.is_saturated());
        }
        stored += insert(&mut filter, stream.range(stored..params.slots() + 1));
        // The refused key again, and more of them.
        let hasher = WyHasher::default();
        let mut changed = 0;
        for key in stream.range(stored..stored + REFUSED) {
            let before = filter.clone();
            changed += u64::from(filter.insert_hash(hasher.hash_key(&key)).is_err() && filter != before);
        }
        let lost = stored - found(&filter, stream.range(0..stored));
        vec![stored as f64, wrong_alarms as f64, changed as f64, lost as f64]
    },
    rows: |cell, outcomes| {
        let [buckets, bits] = cell.inputs[..] else { return Vec::new() };
        let params = shape(buckets as u64, bits);
        let slots = params.slots() as f64;
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>() as u64;
        let below = |keys: u64| outcomes.iter().filter(|outcome| outcome[0] < keys as f64).count() as u64;
        let stored: Vec<f64> = outcomes.iter().map(|outcome| outcome[0]).collect();
        let early = below(keys_at(CuckooParams::MAX_LOAD, &params));
        let failures = below(params.capacity());
        let row = Row::new()
            .count("buckets", buckets as u64)
            .text("power of two", if params.buckets().is_power_of_two() { "yes" } else { "no" })
            .count("f", bits as u64)
            .count("tables", cell.trials)
            .percent("promised load", params.capacity() as f64 / slots, 4)
            .percent("load at first refusal: least", stored.iter().fold(slots, |a, &b| a.min(b)) / slots, 4)
            .percent("mean", laws::mean(&stored) / slots, 4)
            .percent("greatest", stored.iter().fold(0.0, |a: f64, &b| a.max(b)) / slots, 4)
            .percent("share below 95 %", early as f64 / cell.trials as f64, 3)
            .count("below the promise", failures)
            .check("capacity", laws::rate_at_most(failures, cell.trials, CuckooParams::FAILURE_PROBABILITY))
            .check("alarm", laws::all_hold(sum(1), 2 * cell.trials))
            .check("refused keys change nothing", laws::all_hold(sum(2), REFUSED * cell.trials))
            .check("no key lost", laws::all_hold(sum(3), cell.trials));
        vec![if buckets >= LARGE {
            row.check("95 %", laws::rate_at_most(early, cell.trials, CuckooParams::FAILURE_PROBABILITY))
        } else {
            row
        }]
    },
    plot: None,
};

/// Keys that are offered to a full table.
const REFUSED: u64 = 8;

/// Buckets from which 95% load are promised.
const LARGE: f64 = 400.0;

pub(super) const CROSSING: Experiment = Experiment {
    id: "cuckoo-crossing",
    table: Some("T5"),
    claim: "At 95% load a cuckoo filter takes fewer bits than a Bloom filter below a rate of about 0.4%, and more \
          above it. Whole bits of a fingerprint make it a staircase, which crosses the line several times \
          before it stays below.",
    law: "computed, from the shapes that sizing gives for a million keys. At most 1.01 f / 0.95 bits a key; more \
          than a Bloom filter's at 0.5% and above, fewer at 0.05% and below; the rate at which the formulas \
          log2(7.6 / p) / 0.95 and log2(e) log2(1/p) meet is 0.4%, as published, to that digit. Published at \
          3% and 10%: the bits of the source are mended, it prints 3 to 5 for the cuckoo filter.",
    cells: |_| {
        let cell = |index, rate| Cell { index, trials: 1, inputs: vec![rate] };
        let mut cells: Vec<_> = CROSSING_RATES.iter().zip(0..).map(|(&rate, i)| cell(i, rate)).collect();
        // By the rate, so that lines of the plot run from one side to the other.
        cells.push(cell(CROSSING_RATES.len() as u64, formulas_meet()));
        cells.sort_by(|a, b| b.inputs[0].total_cmp(&a.inputs[0]));
        cells
    },
    trial: |_, _| Vec::new(),
    rows: |cell, _| {
        let rate = cell.inputs[0];
        let cuckoo = CuckooParams::for_fpr(MANY, rate).expect("a usual target");
        let bloom = BloomParams::for_fpr(MANY, rate).expect("a usual target");
        let (ours, theirs) =
            (cuckoo.size_bytes() as f64 * 8.0 / MANY as f64, bloom.bits() as f64 / MANY as f64);
        let meet = formulas_meet();
        let row = Row::new()
            .percent("rate", rate, 3)
            .count("f", u64::from(cuckoo.fingerprint_bits()))
            .real("cuckoo", ours, 4)
            .real("cuckoo, by the formula", cuckoo_formula(rate), 4)
            .real("Bloom", theirs, 4)
            .real("Bloom, by the formula", bloom_formula(rate), 4)
            .real("cuckoo / Bloom", ours / theirs, 4)
            .text("fewer bits", if ours < theirs { "cuckoo" } else { "Bloom" });
        let published = PUBLISHED_BITS.iter().find(|published| published.0 == rate);
        let row = match published {
            Some(&(_, bits)) => row.text("published: cuckoo (mended), Bloom", bits),
            None if rate == meet => {
                row.text("published: cuckoo (mended), Bloom", "here they cross: near 0.4 %")
            }
            None => row.missing("published: cuckoo (mended), Bloom"),
        };
        let formula = f64::from(cuckoo.fingerprint_bits()) / CuckooParams::MAX_LOAD;
        let row = row.check("size", laws::at_most(ours, MOST * formula));
        vec![if rate >= 0.005 {
            row.check("Bloom is smaller", laws::at_least(ours, theirs))
        } else if rate <= 0.0005 {
            row.check("cuckoo is smaller", laws::at_most(ours, theirs))
        } else if rate == meet {
            row.check("crossing", laws::equals(libm::round(1000.0 * rate), 4.0))
        } else {
            row
        }]
    },
    plot: Some(Plot {
        x: "rate",
        y: &["cuckoo", "cuckoo, by the formula", "Bloom"],
        series: None,
        log_x: true,
        log_y: false,
        x_label: "rate of false positives",
        y_label: "bits per key",
    }),
};

/// Keys of a filter whose rounding to whole buckets and words does not show.
const MANY: u64 = 1_000_000;

const CROSSING_RATES: [f64; 22] = [
    0.1, 0.07, 0.05, 0.03, 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002, 0.0018, 0.0015, 0.001, 0.0007,
    0.0005, 0.0003, 0.0002, 1e-4, 5e-5, 2e-5, 1e-5,
];

/// Bits a key as printed, at two rates.
const PUBLISHED_BITS: [(f64, &str); 2] = [(0.1, "6.7, 4.8"), (0.03, "8.5, 7.3")];

/// Bits a key with as many bits of a fingerprint as the rate needs, whole or not: 8 load / 2^f = p.
fn cuckoo_formula(rate: f64) -> f64 {
    let load = CuckooParams::MAX_LOAD;
    libm::log2(f64::from(CuckooParams::MAX_COPIES) * load / rate) / load
}

fn bloom_formula(rate: f64) -> f64 {
    std::f64::consts::LOG2_E * libm::log2(1.0 / rate)
}

/// The rate at which both formulas give as many bits: they are linear in its logarithm.
fn formulas_meet() -> f64 {
    let load = CuckooParams::MAX_LOAD;
    let fixed = libm::log2(f64::from(CuckooParams::MAX_COPIES) * load) / load;
    libm::exp2(-fixed / (std::f64::consts::LOG2_E - 1.0 / load))
}
