//! Ribbon filters of any rate and any budget, and every static filter beside the limit.

use pds_bloom::BloomParams;
use pds_cuckoo::CuckooParams;
use pds_static_filters::{
    BinaryFuseParams8, BinaryFuseParams8x4, BinaryFuseParams16, BinaryFuseParams16x4, BinaryFuseParams32,
    BinaryFuseParams32x4, Error, RibbonFilter, RibbonParams, XorParams8, XorParams16,
};
use pds_testkit::{Cell, DistinctKeys, Experiment, Plot, Row, laws};

use super::cuckoo::answers;
use super::static_filters::hashes;

pub(super) const RATES: Experiment = Experiment {
    id: "static-ribbon",
    table: Some("T6"),
    claim: "A ribbon filter is made for any rate, whole columns or not, keeps it, and takes little more than \
          log2(1/p) bits a key.",
    law: "wrong yeses against p as an upper bound, and, of fractional columns, against the prediction for them, by \
          Chernoff's law; no member is denied; at most 1.01 log2(1/p) bits a key, 1/64 of a bit for thresholds, and \
          0.0862 for the fraction: s of the rows with one more column cost s bits and save -log2(1 - s/2).",
    cells: |scale| {
        let cell = |(rate, index)| Cell {
            index,
            trials: scale.pick(1, 2, 8, 40),
            inputs: vec![rate, scale.pick(100_000.0, 200_000.0, 1e6, 1e7)],
        };
        RIBBON_RATES.into_iter().zip(0..).map(cell).collect()
    },
    trial: |cell, seed| {
        let [rate, probes] = cell.inputs[..] else { return Vec::new() };
        let params = RibbonParams::for_fpr(rate).expect("a usual rate");
        measured(params, KEYS, probes as u64, seed)
    },
    rows: |cell, outcomes| {
        let [rate, probes] = cell.inputs[..] else { return Vec::new() };
        let params = RibbonParams::for_fpr(rate).expect("a usual rate");
        let totals = Totals::of(outcomes, KEYS, probes as u64);
        let limit = -libm::log2(rate);
        let bits = totals.bytes * 8.0 / (KEYS * cell.trials) as f64;
        vec![
            Row::new()
                .percent("p", rate, 3)
                .real("columns", params.columns(), 5)
                .percent("predicted", params.fpr(KEYS), 4)
                .percent("measured", totals.rate(), 4)
                .real("predicted bits/key", params.bits_per_key(KEYS).expect("a usual number of keys"), 4)
                .real("bits/key", bits, 4)
                .real("limit log2(1/p)", limit, 4)
                .percent("above the limit", bits / limit - 1.0, 3)
                .check("promise", totals.at_most(rate))
                .check("rate", totals.at_most(params.fpr(KEYS)))
                .check("no member denied", totals.none_denied())
                .check("size", laws::at_most(bits, most_bits(limit))),
        ]
    },
    plot: None,
};

const RIBBON_RATES: [f64; 14] =
    [0.5, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.007, 0.005, 0.002, 0.001, 0.0005, 1e-4, 1e-5];

const KEYS: u64 = 100_000;

/// What a ribbon filter may take, where the limit is so many bits a key.
fn most_bits(limit: f64) -> f64 {
    /// Empty rows, and the small last layers.
    const ROWS: f64 = 1.01;
    /// Two bits for 128 rows.
    const THRESHOLDS: f64 = 1.0 / 64.0;
    /// The greatest value of s + log2(1 - s/2), at s = 2 - 1 / ln 2.
    const FRACTION: f64 = 0.0862;
    ROWS * limit + THRESHOLDS + FRACTION
}

/// Builds a filter and asks it: its bytes, its own rate, members denied, wrong yeses.
fn measured(params: RibbonParams, keys: u64, probes: u64, seed: u64) -> Vec<f64> {
    let stream = DistinctKeys::new(seed);
    let Ok(filter) = RibbonFilter::from_hashes(params, &hashes(stream, keys)) else {
        return vec![f64::NAN, f64::NAN, keys as f64, probes as f64];
    };
    let found = |range| answers(stream.range(range), |hashes, found| filter.contains_batch(hashes, found));
    let denied = keys - found(0..keys);
    let hits = found(keys..keys + probes);
    vec![filter.size_bytes() as f64, filter.estimated_fpr(), denied as f64, hits as f64]
}

/// What the filters of a cell found together.
struct Totals {
    bytes: f64,
    own_rate: f64,
    denied: u64,
    hits: u64,
    members: u64,
    probes: u64,
}

impl Totals {
    fn of(outcomes: &[Vec<f64>], keys: u64, probes: u64) -> Self {
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>();
        let filters = outcomes.len() as u64;
        Self {
            bytes: sum(0),
            own_rate: sum(1) / filters as f64,
            denied: sum(2) as u64,
            hits: sum(3) as u64,
            members: keys * filters,
            probes: probes * filters,
        }
    }

    fn rate(&self) -> f64 {
        self.hits as f64 / self.probes as f64
    }

    fn at_most(&self, rate: f64) -> laws::Verdict {
        laws::rate_at_most(self.hits, self.probes, rate)
    }

    fn none_denied(&self) -> laws::Verdict {
        laws::all_hold(self.denied, self.members)
    }
}

pub(super) const BUDGETS: Experiment = Experiment {
    id: "static-budget",
    table: Some("T6"),
    claim: "A ribbon filter is made for any budget of bytes, takes no more, and has the rate that it states then.",
    law: "no filter takes more than its budget, and none less than 98% of it, a word of 8 bytes for each column of \
          each layer aside; wrong yeses against the filters' own rates as an upper bound by Chernoff's law; no member \
          is denied.",
    cells: |scale| {
        let mut cells = Vec::new();
        for (i, (keys, trials)) in [(1000.0, 200), (30_000.0, 20), (1e6, 2)].into_iter().enumerate() {
            if keys > scale.pick(1e4, 1e5, 1e6, 1e6) {
                continue;
            }
            for (j, bits) in BUDGET_BITS.into_iter().enumerate() {
                cells.push(Cell {
                    index: (10 * i + j) as u64,
                    trials: trials.min(scale.pick(5, 20, 200, 200)) * scale.pick(1, 1, 1, 10),
                    inputs: vec![keys, bits, scale.pick(20_000.0, 50_000.0, 1e5, 1e6)],
                });
            }
        }
        cells
    },
    trial: |cell, seed| {
        let [keys, bits, probes] = cell.inputs[..] else { return Vec::new() };
        match RibbonParams::for_bytes(keys as u64, budget(keys, bits)) {
            Ok(params) => measured(params, keys as u64, probes as u64, seed),
            Err(_) => vec![f64::NAN, f64::NAN, keys, probes],
        }
    },
    rows: |cell, outcomes| {
        let [keys, bits, probes] = cell.inputs[..] else { return Vec::new() };
        let (n, budget) = (keys as u64, budget(keys, bits));
        let totals = Totals::of(outcomes, n, probes as u64);
        let bytes = || outcomes.iter().map(|outcome| outcome[0]);
        let within = bytes().filter(|bytes| *bytes <= budget as f64).count() as u64;
        let steps = 8.0 * f64::from(MOST_LAYERS);
        let below =
            bytes().filter(|bytes| bytes + steps * (bits + 1.0) < 0.98 * budget as f64).count() as u64;
        vec![
            Row::new()
                .count("keys", n)
                .count("budget, bytes", budget)
                .real("budget, bits/key", bits, 4)
                .count("filters", cell.trials)
                .count("most bytes", bytes().fold(0.0, f64::max) as u64)
                .percent("of the budget, mean", totals.bytes / (budget * cell.trials) as f64, 4)
                .percent("own rate, mean", totals.own_rate, 4)
                .percent("measured", totals.rate(), 4)
                .real("limit log2(1/rate)", -libm::log2(totals.own_rate), 4)
                .check("budget", laws::all_hold(cell.trials - within, cell.trials))
                .check("used", laws::all_hold(below, cell.trials))
                .check("rate", totals.at_most(totals.own_rate))
                .check("no member denied", totals.none_denied()),
        ]
    },
    plot: None,
};

const BUDGET_BITS: [f64; 6] = [2.0, 5.0, 6.7, 8.0, 10.5, 16.0];

/// Layers of a million keys: each bumps some 3 in a hundred.
const MOST_LAYERS: u32 = 4;

fn budget(keys: f64, bits: f64) -> u64 {
    libm::floor(keys * bits / 8.0) as u64
}

pub(super) const LIMIT: Experiment = Experiment {
    id: "static-limit",
    table: Some("T6"),
    claim: "At every rate a ribbon filter is next to the limit of log2(1/p) bits a key, and a Bloom filter takes 1.44 \
          times that; binary fuse and xor filters, which exist for 8, 16 and 32 bits, lie between.",
    law: "computed, from the shapes that sizing gives for a million keys. Ribbon: at most 1.01 log2(1/p) bits a key, \
          1/64 for thresholds and 0.0862 for the fraction; 3-wise binary fuse at most 9.05/8 of the limit, 4-wise \
          8.65/8; none below the limit, and ribbon and 3-wise binary fuse below the Bloom filter.",
    cells: |_| {
        let cell = |(rate, index)| Cell { index, trials: 1, inputs: vec![rate] };
        let mut cells: Vec<_> = LIMIT_RATES.into_iter().zip(0..).map(cell).collect();
        cells.extend(
            WIDTHS.into_iter().zip(LIMIT_RATES.len() as u64..).map(|(bits, i)| cell((libm::exp2(-bits), i))),
        );
        cells.sort_by(|a, b| b.inputs[0].total_cmp(&a.inputs[0]));
        cells
    },
    trial: |_, _| Vec::new(),
    rows: |cell, _| {
        let rate = cell.inputs[0];
        let limit = -libm::log2(rate);
        let usual = "a usual target";
        let ribbon = RibbonParams::for_fpr(rate).expect(usual).bits_per_key(MANY).expect(usual);
        // Its fingerprints end at 32 bits.
        let cuckoo = CuckooParams::for_fpr(MANY, rate).ok();
        let bloom = BloomParams::for_fpr(MANY, rate).expect(usual).bits() as f64 / MANY as f64;
        let width = WIDTHS.into_iter().find(|&bits| bits == limit).unwrap_or(0.0) as u32;
        let peeled = peeled(width).expect(usual);
        let mut row =
            Row::new().real("1/p", 1.0 / rate, 5).real("limit log2(1/p)", limit, 4).real("ribbon", ribbon, 4);
        for (name, bits) in PEELED.into_iter().zip(peeled) {
            row = match bits {
                Some(bits) => row.real(name, bits, 4),
                None => row.missing(name),
            };
        }
        row = match cuckoo {
            Some(params) => row.real("cuckoo", params.size_bytes() as f64 * 8.0 / MANY as f64, 4),
            None => row.missing("cuckoo"),
        };
        let row = row
            .real("Bloom", bloom, 4)
            .real("ribbon / limit", ribbon / limit, 4)
            .real("Bloom / limit", bloom / limit, 4)
            .check("ribbon", laws::at_most(ribbon, most_bits(limit)))
            .check("above the limit", laws::at_least(ribbon, limit))
            .check("below Bloom", laws::at_most(ribbon, bloom));
        let [four, three, _] = peeled;
        vec![match (four, three) {
            (Some(four), Some(three)) => row
                .check("4-wise", laws::at_most(four, 8.65 / 8.0 * limit))
                .check("3-wise", laws::at_most(three, 9.05 / 8.0 * limit))
                .check("3-wise below Bloom", laws::at_most(three, bloom)),
            _ => row,
        }]
    },
    plot: Some(Plot {
        x: "1/p",
        y: &["limit log2(1/p)", "ribbon", PEELED[0], PEELED[1], "cuckoo", "Bloom"],
        series: None,
        log_x: true,
        log_y: false,
        x_label: "1 / rate of false positives",
        y_label: "bits per key",
    }),
};

/// Keys of a filter whose rounding does not show.
const MANY: u64 = 1_000_000;

const LIMIT_RATES: [f64; 16] =
    [0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// Bits of the slots that there are.
const WIDTHS: [f64; 3] = [8.0, 16.0, 32.0];

/// Columns of the filters that are solved by peeling.
const PEELED: [&str; 3] = ["binary fuse, 4-wise", "binary fuse, 3-wise", "xor"];

/// Their bits a key, for slots of so many bits; xor filters have 8 or 16.
fn peeled(bits: u32) -> Result<[Option<f64>; 3], Error> {
    Ok(match bits {
        8 => [
            Some(BinaryFuseParams8x4::for_keys(MANY)?.bits_per_key()),
            Some(BinaryFuseParams8::for_keys(MANY)?.bits_per_key()),
            Some(XorParams8::for_keys(MANY)?.bits_per_key()),
        ],
        16 => [
            Some(BinaryFuseParams16x4::for_keys(MANY)?.bits_per_key()),
            Some(BinaryFuseParams16::for_keys(MANY)?.bits_per_key()),
            Some(XorParams16::for_keys(MANY)?.bits_per_key()),
        ],
        32 => [
            Some(BinaryFuseParams32x4::for_keys(MANY)?.bits_per_key()),
            Some(BinaryFuseParams32::for_keys(MANY)?.bits_per_key()),
            None,
        ],
        _ => [None; 3],
    })
}
