//! Merging quantile sketches: many small ones, shards that differ, and the mean of percentiles beside them.

use pds_quantiles::{Contract, KllParams, Quantiles};
use pds_testkit::{Cell, ExactQuantiles, Experiment, Row, SplitMix64, laws, seed_for};

use super::quantile_sketches::{ALPHA, Kind, Made, SHARES, Stream, exact_quantile, relative};

/// The shares that are compared: p50, p99, p99.9.
pub(super) const COMPARED: [usize; 3] = [5000, 9900, 9990];

/// Values of one small sketch.
const PART: usize = 200;

/// How much merging may add to the mean rank error of a t-digest.
pub(super) const FACTOR: f64 = 1.3;

const PPM: f64 = 1e-6;

/// How often KLL may be beyond its bound.
pub(super) const DOUBT: f64 = 1.0 - KllParams::CONFIDENCE;

const MERGED: [Kind; 4] = [Kind::Digest100, Kind::Digest200, Kind::Kll, Kind::Cubic];

pub(super) const PARTS: Experiment = Experiment {
    id: "quantile-merge",
    table: Some("T12"),
    claim: "Merged from 500 small digests that went through their bytes, a t-digest errs at most 1.3 times as much as in one pass.",
    law: "t-digest: mean rank error after merging less 1.3 times that of one pass over the same values, at most 0 but for what its \
          spread explains, at p50, p99 and p99.9. KLL: trials beyond its bound at the three shares by Chernoff's law. DDSketch: the bytes of one pass, \
          in every trial. The tests merge 20 parts.",
    cells: |scale| {
        let trials = scale.pick(3, 8, 100, 500);
        let parts = scale.pick(20.0, 500.0, 500.0, 500.0);
        let cell = |i: usize| Cell {
            index: i as u64,
            trials,
            inputs: vec![(i / MERGED.len()) as f64, (i % MERGED.len()) as f64, parts],
        };
        (0..3 * MERGED.len()).map(cell).collect()
    },
    trial: |cell, seed| {
        let (stream, kind) = (Stream::of(cell.inputs[0]), MERGED[cell.inputs[1] as usize]);
        let values = stream.values(seed, PART * cell.inputs[2] as usize);
        let once = kind.sketch(&values, seed);
        let mut many = kind.sketch(&[], seed);
        let mut failed = false;
        for (part, chunk) in values.chunks(PART).enumerate() {
            let small = kind.sketch(chunk, seed_for("parts", part as u64, seed));
            failed |= many.merge_bytes(&small.to_bytes()).is_err();
        }
        let unequal = once.to_bytes() != many.to_bytes();
        let exact = ExactQuantiles::new(values);
        let error = |answers: &dyn Quantiles, share: usize| {
            let q = share as f64 / SHARES as f64;
            exact.rank_error(q, answers.quantile(q).unwrap_or(f64::NAN))
        };
        let (once, answers) = (once.snapshot(), many.snapshot());
        let bound = match answers.contract() {
            Contract::Rank { epsilon, .. } => epsilon,
            _ => f64::INFINITY,
        };
        let after = COMPARED.map(|share| error(answers.as_ref(), share));
        let beyond = after.iter().any(|&error| error > bound);
        let mut outcome = COMPARED.map(|share| error(once.as_ref(), share)).to_vec();
        outcome.extend(after);
        let flag = |flag: bool| f64::from(u8::from(flag));
        outcome.extend([flag(failed), flag(unequal), flag(beyond), many.to_bytes().len() as f64]);
        outcome
    },
    rows: |cell, outcomes| {
        let (stream, kind) = (Stream::of(cell.inputs[0]), MERGED[cell.inputs[1] as usize]);
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let ppm = |i: usize| laws::mean(&column(i)) / PPM;
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let mut row = Row::new()
            .text("values", stream.name())
            .text("sketch", kind.name())
            .count("merged from", cell.inputs[2] as u64)
            .count("bytes", column(9).iter().fold(0.0f64, |most, &bytes| most.max(bytes)) as u64);
        let names = [
            ("p50 in one pass, ppm", "p50 merged, ppm"),
            ("p99 in one pass, ppm", "p99 merged, ppm"),
            ("p99.9 in one pass, ppm", "p99.9 merged, ppm"),
        ];
        for (i, (once, merged)) in names.into_iter().enumerate() {
            row = row.real(once, ppm(i), 3).real(merged, ppm(COMPARED.len() + i), 3);
        }
        row = row.check("merged", laws::all_hold(sum(6), cell.trials));
        vec![match kind {
            Kind::Kll => row.check("rank bound", laws::rate_at_most(sum(8), cell.trials, DOUBT)),
            Kind::Cubic | Kind::Log => row.check("equal bytes", laws::all_hold(sum(7), cell.trials)),
            _ => COMPARED.iter().enumerate().fold(row, |row, (i, _)| {
                let excess: Vec<f64> = outcomes
                    .iter()
                    .map(|outcome| outcome[COMPARED.len() + i] - FACTOR * outcome[i])
                    .collect();
                row.check(["p50", "p99", "p99.9"][i], laws::mean_at_most(&excess, 0.0))
            }),
        }]
    },
    plot: None,
};

pub(super) const SHARDS: usize = 8;

/// Requests to a shard, and the median of its latencies in milliseconds.
type Shard = (usize, f64);

/// Fleets: one shard of eight is slow; a new shard with few requests is slow; all are alike.
const FLEETS: [(&str, [Shard; SHARDS]); 3] = [
    ("one of eight slow", {
        let mut fleet = [(20_000, 50.0); SHARDS];
        fleet[7] = (20_000, 800.0);
        fleet
    }),
    ("a small one slow", {
        let mut fleet = [(20_000, 50.0); SHARDS];
        fleet[7] = (500, 800.0);
        fleet
    }),
    ("all alike", [(20_000, 50.0); SHARDS]),
];

pub(super) const P99: usize = 9900;

pub(super) const SHARD_P99: Experiment = Experiment {
    id: "quantile-shards",
    table: Some("T12"),
    claim: "Merged sketches give the p99 of a fleet; the mean of its shards' p99s is another number.",
    law: "DDSketch: within alpha of the exact p99, and the bytes of one sketch of everything whichever order the shards are merged \
          in, in every trial. KLL: trials beyond its rank bound by Chernoff's law. t-digest: within 1%, in every trial. Means over the \
          trials; the mean of the shards' exact p99s is not judged.",
    cells: |scale| {
        let trials = scale.pick(2, 3, 20, 200);
        let cell = |i: usize| Cell {
            index: i as u64,
            trials,
            inputs: vec![(i / SHARD_KINDS.len()) as f64, (i % SHARD_KINDS.len()) as f64],
        };
        (0..FLEETS.len() * SHARD_KINDS.len()).map(cell).collect()
    },
    trial: |cell, seed| {
        let (_, fleet) = FLEETS[cell.inputs[0] as usize];
        let kind = SHARD_KINDS[cell.inputs[1] as usize];
        let mut random = SplitMix64::new(seed);
        let mut shards: Vec<Vec<f64>> = fleet
            .iter()
            .map(|&(requests, median)| {
                (0..requests).map(|_| median * libm::exp(0.5 * random.next_normal())).collect()
            })
            .collect();
        let all: Vec<f64> = shards.concat();
        let sketches: Vec<Made> = shards
            .iter()
            .enumerate()
            .map(|(i, values)| kind.sketch(values, seed_for("shards", i as u64, seed)))
            .collect();
        let whole = kind.sketch(&all, seed).to_bytes();
        let bytes: Vec<Vec<u8>> = sketches.iter().map(Made::to_bytes).collect();
        let (mut unequal, mut failed) = (0.0, false);
        let mut merged = kind.sketch(&[], seed);
        let mut order: Vec<usize> = (0..SHARDS).collect();
        for _ in 0..ORDERS {
            merged = kind.sketch(&[], seed);
            failed |= order.iter().any(|&shard| merged.merge_bytes(&bytes[shard]).is_err());
            unequal += f64::from(u8::from(merged.to_bytes() != whole));
            random.shuffle(&mut order);
        }
        let exact = ExactQuantiles::new(all);
        let answers = merged.snapshot();
        let estimate = answers.quantile(0.99).filter(|_| !failed).unwrap_or(f64::NAN);
        let beyond = match answers.contract() {
            Contract::Rank { epsilon, .. } => exact.rank_error(0.99, estimate) > epsilon,
            _ => relative(estimate, exact_quantile(&exact, P99)) > ALPHA,
        };
        let p99s: f64 =
            shards.drain(..).map(|values| exact_quantile(&ExactQuantiles::new(values), P99)).sum();
        vec![
            exact_quantile(&exact, P99),
            estimate,
            p99s / SHARDS as f64,
            f64::from(u8::from(beyond || estimate.is_nan())),
            unequal,
        ]
    },
    rows: |cell, outcomes| {
        let (name, _) = FLEETS[cell.inputs[0] as usize];
        let kind = SHARD_KINDS[cell.inputs[1] as usize];
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let worst =
            |i: usize| outcomes.iter().map(|outcome| relative(outcome[i], outcome[0])).fold(0.0, f64::max);
        let row = Row::new()
            .text("shards", name)
            .text("sketch", kind.name())
            .real("p99, ms", laws::mean(&column(0)), 4)
            .real("of merged sketches, ms", laws::mean(&column(1)), 4)
            .percent("greatest error", worst(1), 2)
            .real("mean of the shards' p99s, ms", laws::mean(&column(2)), 4)
            .percent("its greatest error", worst(2), 2);
        vec![match kind {
            Kind::Kll => row.check("rank bound", laws::rate_at_most(sum(3), cell.trials, DOUBT)),
            Kind::Cubic => row
                .check("alpha", laws::all_hold(sum(3), cell.trials))
                .check("equal bytes", laws::all_hold(sum(4), ORDERS * cell.trials)),
            _ => row.check("within 1%", laws::all_hold(sum(3), cell.trials)),
        }]
    },
    plot: None,
};

const SHARD_KINDS: [Kind; 3] = [Kind::Cubic, Kind::Digest200, Kind::Kll];

/// Orders in which the shards are merged.
pub(super) const ORDERS: u64 = 4;
