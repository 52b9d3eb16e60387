//! HyperLogLog: precision, error by cardinality, bounds.

use pds_core::Sketch;
use pds_hll::{HllParams, HyperLogLog};
use pds_testkit::{Cell, DistinctKeys, Experiment, Plot, Row, laws};

/// The stated tolerance of the estimator's bias, relative, by precision: what is left of it in small sketches.
pub(super) fn bias_tolerance(precision: u8) -> f64 {
    match precision {
        ..=5 => 0.005,
        6..=7 => 0.003,
        8..=9 => 0.001,
        _ => 0.0005,
    }
}

/// How far the error of a small sketch is from normal, as a share of sigma: stated for p < 8.
fn sigma_slack(precision: u8) -> f64 {
    if precision < 8 { 0.08 } else { 0.0 }
}

/// Below so many expected collisions of keys in a register, errors are too rare and too large for a law of normal
/// errors: only the bias is judged there, as where keys are counted one by one.
const NORMAL_COLLISIONS: f64 = 2.0;

pub(super) fn params(precision: f64) -> HllParams {
    HllParams::with_precision(precision as u8).expect("a precision of the table")
}

fn registers(params: HllParams) -> u64 {
    params.registers() as u64
}

/// What a coded register takes at most, and all that stands beside the registers: the entropy is 2.83 bits.
const BITS_ON_THE_WIRE: f64 = 2.9;
const BYTES_BESIDE: f64 = 64.0;

/// Precisions of T7, each with a number of keys.
pub(super) const PRECISIONS: [[f64; 2]; 5] =
    [[10.0, 50_000.0], [12.0, 100_000.0], [14.0, 400_000.0], [16.0, 1_000_000.0], [14.0, 1_000_000.0]];

pub(super) const PRECISION: Experiment = Experiment {
    id: "hll-precision",
    table: Some("T7"),
    claim: "The relative error is 1.04/sqrt(m), in 3 bits a register on the wire.",
    law: "RMSE over independent streams by the chi-square law against the error that the Fisher information predicts; bias \
          by the normal law with the stated tolerance; bytes exactly.",
    cells: |scale| Cell::numbered(scale.pick(20, 50, 1000, 10_000), PRECISIONS),
    trial: |cell, seed| {
        let [precision, keys] = cell.inputs[..] else { return Vec::new() };
        let mut sketch = HyperLogLog::new(params(precision));
        for key in DistinctKeys::new(seed).range(0..keys as u64) {
            sketch.insert(&key);
        }
        vec![sketch.estimate() / keys - 1.0, sketch.to_bytes().len() as f64, sketch.size_bytes() as f64]
    },
    rows: |cell, outcomes| {
        let [precision, keys] = cell.inputs[..] else { return Vec::new() };
        let params = params(precision);
        let errors: Vec<f64> = outcomes.iter().map(|outcome| outcome[0]).collect();
        let sigma = params.predicted_error(keys as u64);
        let m = registers(params) as f64;
        vec![
            Row::new()
                .count("p", precision as u64)
                .count("m", registers(params))
                .percent("1.04/sqrt(m)", 1.04 / libm::sqrt(m), 3)
                .count("distinct", keys as u64)
                .percent("predicted", sigma, 4)
                .percent("RMSE", laws::rmse(&errors), 4)
                .percent("bias", laws::mean(&errors), 2)
                .count("dense bytes at 6 bits", registers(params) * 6 / 8)
                .count("bytes on the wire", outcomes[0][1] as u64)
                .count("bytes in memory", outcomes[0][2] as u64)
                .count("bytes of the exact set (16-byte ids)", 16 * keys as u64)
                .check("RMSE", laws::rmse_is(&errors, sigma))
                .check(
                    "bias",
                    laws::bias_is_zero(
                        laws::mean(&errors),
                        sigma,
                        cell.trials,
                        bias_tolerance(precision as u8),
                    ),
                )
                .check(
                    "wire bytes",
                    laws::at_most(outcomes[0][1], m * BITS_ON_THE_WIRE / 8.0 + BYTES_BESIDE),
                ),
        ]
    },
    plot: None,
};

/// T8: log-spaced, with extra points around 2.5 m and 5 m of p = 12, where classic estimators switch.
pub(super) const SWEEP_POINTS: [u64; 40] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 9500,
    10_000, 10_240, 10_500, 11_000, 12_000, 13_000, 15_000, 17_000, 19_000, 20_480, 22_000, 25_000, 30_000,
    50_000, 70_000, 100_000, 200_000, 300_000, 500_000, 1_000_000,
];

/// What was published for the classic estimator, five trials each.
const PUBLISHED_RMS: [(u64, f64); 4] =
    [(1000, 0.0116), (10_000, 0.0316), (100_000, 0.0068), (1_000_000, 0.0145)];

pub(super) const SWEEP: Experiment = Experiment {
    id: "hll-sweep",
    table: Some("T8"),
    claim: "The error has no bump where the classic estimator switches: p = 12, one stream per trial.",
    law: "at each point, bias by the normal law with a tolerance of 0.05% and RMSE by the chi-square law against the error \
          that the Fisher information predicts (RMSE where keys are no longer counted one by one). The classic raw and \
          linear-counting estimator stands beside it and is not judged; its published figures are of five trials.",
    cells: |scale| vec![Cell { index: 0, trials: scale.pick(50, 400, 4000, 20_000), inputs: vec![12.0] }],
    trial: |cell, seed| {
        let mut sketch = HyperLogLog::new(params(cell.inputs[0]));
        let mut errors = Vec::with_capacity(2 * SWEEP_POINTS.len());
        let keys = DistinctKeys::new(seed);
        let mut inserted = 0;
        for point in SWEEP_POINTS {
            for key in keys.range(inserted..point) {
                sketch.insert(&key);
            }
            inserted = point;
            errors.push(sketch.estimate() / point as f64 - 1.0);
            errors.push(classic_estimate(&sketch.registers()) / point as f64 - 1.0);
        }
        errors
    },
    rows: |cell, outcomes| {
        let params = params(cell.inputs[0]);
        let row = |(i, &keys): (usize, &u64)| {
            let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
            let (ours, classic) = (column(2 * i), column(2 * i + 1));
            let sigma = params.predicted_error(keys);
            let published = PUBLISHED_RMS.iter().find(|point| point.0 == keys);
            let row = Row::new()
                .count("distinct", keys)
                .percent("predicted", sigma, 3)
                .percent("RMSE", laws::rmse(&ours), 3)
                .percent("bias", laws::mean(&ours), 2)
                .percent("RMSE, classic", laws::rmse(&classic), 3)
                .percent("bias, classic", laws::mean(&classic), 2);
            let row = match published {
                Some(&(_, rms)) => row.percent("RMS published, classic", rms, 3),
                None => row.missing("RMS published, classic"),
            };
            let tolerance = bias_tolerance(12);
            let row = row.check("bias", laws::bias_is_zero(laws::mean(&ours), sigma, cell.trials, tolerance));
            // Counted one by one, nearly all of the few keys are counted exactly: no law of normal errors holds.
            let sparse = keys <= params.sparse_limit() as u64;
            if sparse { row } else { row.check("RMSE", laws::rmse_is(&ours, sigma)) }
        };
        SWEEP_POINTS.iter().enumerate().map(row).collect()
    },
    plot: Some(Plot {
        x: "distinct",
        y: &["RMSE", "RMSE, classic", "predicted"],
        series: None,
        log_x: true,
        log_y: false,
        x_label: "distinct keys",
        y_label: "relative error",
    }),
};

/// The estimator of `[FlajoletEtAl07]`: the harmonic mean, and linear counting up to 2.5 m while a register is empty.
/// Stands here as what others do.
fn classic_estimate(registers: &[u8]) -> f64 {
    let m = registers.len() as f64;
    let alpha = 0.7213 / (1.0 + 1.079 / m);
    // Sixteenths of 2^-47 would still be exact: the sum is one of multiples of 2^-47 below 2^18.
    let sum: f64 = registers.iter().map(|&register| libm::ldexp(1.0, -i32::from(register))).sum();
    let raw = alpha * m * m / sum;
    let empty = registers.iter().filter(|&&register| register == 0).count();
    if raw <= 2.5 * m && empty > 0 { m * libm::log(m / empty as f64) } else { raw }
}

pub(super) const SMALL_PRECISIONS: Experiment = Experiment {
    id: "hll-all-precisions",
    table: Some("T8"),
    claim: "The same at every precision: no bias at any load, from 0.02 m to 20 m.",
    law: "as hll-sweep, with the tolerance of bias 0.05% from p = 10, 0.1% at 8, 0.3% at 6, 0.5% at 4, and 8% on the \
          predicted error below p = 8, where errors are skewed. The worst load of each precision is printed.",
    cells: |scale| {
        let cell = |p: u8| Cell {
            index: u64::from(p),
            trials: match p {
                ..=8 => scale.pick(100, 400, 40_000, 200_000),
                9..=12 => scale.pick(100, 400, 4000, 20_000),
                _ => scale.pick(4, 10, 100, 2000),
            },
            inputs: vec![f64::from(p)],
        };
        let highest = scale.pick(12, 14, 18, 18);
        (4..=highest).map(cell).collect()
    },
    trial: |cell, seed| {
        let params = params(cell.inputs[0]);
        let mut sketch = HyperLogLog::new(params);
        let keys = DistinctKeys::new(seed);
        let mut inserted = 0;
        loads(params)
            .map(|point| {
                for key in keys.range(inserted..point) {
                    sketch.insert(&key);
                }
                inserted = point;
                sketch.estimate() / point as f64 - 1.0
            })
            .collect()
    },
    rows: |cell, outcomes| {
        let precision = cell.inputs[0] as u8;
        let params = params(cell.inputs[0]);
        let mut row = Row::new().count("p", u64::from(precision)).count("trials", cell.trials);
        let mut worst = [(0, 0.0f64), (0, 1.0f64)];
        let mut checks = Vec::new();
        for (i, keys) in loads(params).enumerate() {
            let errors: Vec<f64> = outcomes.iter().map(|outcome| outcome[i]).collect();
            let sigma = params.predicted_error(keys);
            let (bias, ratio) = (laws::mean(&errors), laws::rmse(&errors) / sigma);
            checks.push(("bias", laws::bias_is_zero(bias, sigma, cell.trials, bias_tolerance(precision))));
            if bias.abs() > worst[0].1.abs() {
                worst[0] = (keys, bias);
            }
            let collisions = keys as f64 * keys as f64 / (2.0 * registers(params) as f64);
            if keys > params.sparse_limit() as u64 && collisions >= NORMAL_COLLISIONS {
                checks.push(("RMSE", laws::rmse_is_within(&errors, sigma, sigma_slack(precision))));
                if libm::log(ratio).abs() > libm::log(worst[1].1).abs() {
                    worst[1] = (keys, ratio);
                }
            }
        }
        row = row
            .percent("largest bias", worst[0].1, 2)
            .count("at distinct", worst[0].0)
            .real("RMSE / predicted, farthest", worst[1].1, 4)
            .count("at", worst[1].0);
        vec![checks.into_iter().fold(row, |row, (name, verdict)| row.check(name, verdict))]
    },
    plot: None,
};

/// From 1 key to 20 m, by quarters of m to 6 m, so that no local bump can hide.
fn loads(params: HllParams) -> impl Iterator<Item = u64> {
    /// In hundredths of m.
    const FEW: [u64; 3] = [2, 5, 10];
    const MANY: [u64; 2] = [700, 2000];
    let quarters = (1..=24).map(|quarter| 25 * quarter);
    let mut last = 0;
    let m = registers(params);
    let loads = FEW.into_iter().chain(quarters).chain(MANY);
    std::iter::once(1).chain(loads.map(move |load| m * load / 100)).filter(move |&keys| {
        let new = keys > last;
        last = last.max(keys);
        new
    })
}

pub(super) const COVERAGE: Experiment = Experiment {
    id: "hll-bounds",
    table: None,
    claim: "bounds(kappa) hold the true count as often as the normal distribution says.",
    law: "shares of streams inside the bounds by Chernoff's law, against the nominal coverage within 2.5 points.",
    cells: |scale| {
        let grid = [
            (4.0, 64.0),
            (6.0, 640.0),
            (8.0, 100.0),
            (8.0, 5000.0),
            (12.0, 1000.0),
            (12.0, 100_000.0),
            (14.0, 100_000.0),
        ];
        let cell = |(i, &(p, n)): (usize, &(f64, f64))| Cell {
            index: i as u64,
            // Small streams are cheap, and show a width that is off by a tenth.
            trials: if n < 10_000.0 {
                scale.pick(200, 2000, 40_000, 100_000)
            } else {
                scale.pick(200, 500, 4000, 20_000)
            },
            inputs: vec![p, n],
        };
        grid.iter().enumerate().map(cell).collect()
    },
    trial: |cell, seed| {
        let [precision, keys] = cell.inputs[..] else { return Vec::new() };
        let mut sketch = HyperLogLog::new(params(precision));
        for key in DistinctKeys::new(seed).range(0..keys as u64) {
            sketch.insert(&key);
        }
        KAPPAS
            .map(|(kappa, _)| {
                let (low, high) = sketch.bounds(kappa);
                f64::from(u8::from((low..=high).contains(&keys)))
            })
            .to_vec()
    },
    rows: |cell, outcomes| {
        /// What the log-normal shape of the bounds may be off, as a probability.
        const SHAPE: f64 = 0.025;
        let [precision, keys] = cell.inputs[..] else { return Vec::new() };
        let mut row = Row::new().count("p", precision as u64).count("distinct", keys as u64);
        let names = ["inside at kappa = 1", "inside at kappa = 2", "inside at kappa = 3"];
        for (i, (_, nominal)) in KAPPAS.into_iter().enumerate() {
            let inside: f64 = outcomes.iter().map(|outcome| outcome[i]).sum();
            row = row
                .percent(names[i], inside / cell.trials as f64, 4)
                .check(names[i], laws::rate_at_least(inside as u64, cell.trials, nominal - SHAPE))
                .check(names[i], laws::rate_at_most(inside as u64, cell.trials, nominal + SHAPE));
        }
        vec![row]
    },
    plot: None,
};

/// Standard deviations, and the share of a normal distribution within them.
const KAPPAS: [(f64, f64); 3] = [(1.0, 0.6827), (2.0, 0.9545), (3.0, 0.9973)];
