//! HyperLogLog and UltraLogLog by registers drawn from their distribution: every load at every precision, and counts that
//! nobody can insert.

use pds_hll::{HllParams, HyperLogLog, UllParams};
use pds_testkit::{Cell, Experiment, Row, Scale, laws};

use super::hll::bias_tolerance;
use super::registers::{Drawn, error};
use super::ull::{NORMAL_LOAD, SLACK};

const SKETCHES: [&str; 2] = ["HyperLogLog", "UltraLogLog"];

fn params(precision: f64) -> UllParams {
    UllParams::with_precision(precision as u8).expect("a precision of the table")
}

/// The errors that are predicted for both sketches.
fn predicted(params: UllParams, keys: f64) -> [f64; 2] {
    let predictions =
        [HllParams::from(params).predicted_error(keys as u64), params.predicted_error(keys as u64)];
    predictions.map(|prediction| error(prediction, keys))
}

/// Relative errors of both sketches of the same registers. NaN, which no law accepts, if keys would be counted one by one.
fn errors(params: UllParams, keys: f64, seed: u64) -> [f64; 2] {
    let ull = Drawn::new(params, keys).ull(seed);
    if ull.is_sparse() {
        return [f64::NAN; 2];
    }
    [HyperLogLog::from(&ull).estimate(), ull.estimate()].map(|estimate| estimate / keys - 1.0)
}

/// The bias of a sketch, and its spread if errors are near normal.
fn checks(row: Row, sketch: usize, errors: &[f64], sigma: f64, (precision, load): (f64, f64)) -> Row {
    let tolerance = bias_tolerance(precision as u8);
    let bias = laws::bias_is_zero(laws::mean(errors), sigma, errors.len() as u64, tolerance);
    let row = row.check("bias", bias);
    if load < NORMAL_LOADS[sketch] {
        return row;
    }
    row.check("RMSE", laws::rmse_is_within(errors, sigma, SLACKS[sketch]))
}

/// By sketch: from how many keys a register on errors are near normal, and by how much the spread may miss the prediction.
const NORMAL_LOADS: [f64; 2] = [0.25, NORMAL_LOAD];
const SLACKS: [f64; 2] = [0.0, SLACK];

/// As many trials as draw so many registers in all.
fn trials(scale: Scale, registers: [u32; 4], precision: f64) -> u64 {
    let log2 = scale.pick(registers[0], registers[1], registers[2], registers[3]);
    1 << log2.saturating_sub(precision as u32)
}

/// Fewest trials of the plain table of large counts.
const LEAST_TRIALS: u64 = 4096;

pub(super) const LARGE: Experiment = Experiment {
    id: "hll-large",
    table: Some("T8"),
    claim: "The error and the absence of bias stay up to counts of 2^50.",
    law: "registers drawn independently, each the maximum (and whether the two values below it were seen) over a Poisson number of \
          hashes, by inversion of its distribution; both sketches of the same registers. Bias by the normal law with a \
          tolerance of 0.05%, RMSE by the chi-square law against the error that the Fisher information predicts, with 2% for \
          UltraLogLog.",
    cells: |scale| {
        let counts = [libm::ldexp(1.0, 20), libm::ldexp(3.0, 28), libm::ldexp(1.0, 40), libm::ldexp(1.0, 50)];
        let cells = [10.0, 12.0, 14.0].into_iter().flat_map(|p| counts.map(|n| (p, n)));
        let cell = |(i, (p, n)): (usize, (f64, f64))| Cell {
            index: i as u64,
            trials: trials(scale, [18, 20, 24, 28], p).max(scale.pick(
                16,
                64,
                LEAST_TRIALS,
                2 * LEAST_TRIALS,
            )),
            inputs: vec![p, n],
        };
        cells.enumerate().map(cell).collect()
    },
    trial: |cell, seed| errors(params(cell.inputs[0]), cell.inputs[1], seed).to_vec(),
    rows: |cell, outcomes| {
        let [precision, keys] = cell.inputs[..] else { return Vec::new() };
        let sigmas = predicted(params(precision), keys);
        let row = |sketch: usize| {
            let errors: Vec<f64> = outcomes.iter().map(|outcome| outcome[sketch]).collect();
            let row = Row::new()
                .text("sketch", SKETCHES[sketch])
                .count("p", precision as u64)
                .count("distinct", keys as u64)
                .real("log2 of it", libm::log2(keys), 3)
                .count("trials", cell.trials)
                .percent("predicted", sigmas[sketch], 4)
                .percent("RMSE", laws::rmse(&errors), 4)
                .percent("bias", laws::mean(&errors), 2);
            checks(row, sketch, &errors, sigmas[sketch], (precision, f64::INFINITY))
        };
        (0..SKETCHES.len()).map(row).collect()
    },
    plot: None,
};

/// Every quarter of m to 6 m, in keys a register.
fn loads() -> impl Iterator<Item = f64> {
    (1..=24).map(|quarter| 0.25 * f64::from(quarter))
}

pub(super) const LOADS: Experiment = Experiment {
    id: "hll-loads",
    table: Some("T8"),
    claim: "No bias at any load of precisions 13 to 18, from 0.25 m to 6 m by quarters, of HyperLogLog and of UltraLogLog.",
    law: "registers drawn as for hll-large; bias at each load by the normal law with a tolerance of 0.05%, RMSE by the chi-square \
          law, with 2% for UltraLogLog from 1 m on. The worst load of each precision is printed.",
    cells: |scale| {
        let cell = |p: u8| {
            let p = f64::from(p);
            Cell { index: p as u64, trials: trials(scale, [16, 18, 23, 27], p), inputs: vec![p] }
        };
        (13..=scale.pick(13, 15, 18, 18)).map(cell).collect()
    },
    trial: |cell, seed| {
        let params = params(cell.inputs[0]);
        let m = params.registers() as f64;
        let at = |(i, load): (usize, f64)| errors(params, load * m, seed.wrapping_add(i as u64));
        loads().enumerate().flat_map(at).collect()
    },
    rows: |cell, outcomes| {
        let params = params(cell.inputs[0]);
        let m = params.registers() as f64;
        let row = |sketch: usize| {
            let mut row = Row::new()
                .text("sketch", SKETCHES[sketch])
                .count("p", u64::from(params.precision()))
                .count("trials", cell.trials);
            let (mut bias, mut ratio) = ((0.0, 0.0f64), (0.0, 1.0f64));
            let mut judged = Row::new();
            for (i, load) in loads().enumerate() {
                let errors: Vec<f64> = outcomes.iter().map(|outcome| outcome[2 * i + sketch]).collect();
                let sigma = predicted(params, load * m)[sketch];
                judged = checks(judged, sketch, &errors, sigma, (cell.inputs[0], load));
                let (mean, spread) = (laws::mean(&errors), laws::rmse(&errors) / sigma);
                if mean.abs() > bias.1.abs() {
                    bias = (load, mean);
                }
                if libm::log(spread).abs() > libm::log(ratio.1).abs() {
                    ratio = (load, spread);
                }
            }
            row.checks = judged.checks;
            row.percent("largest bias", bias.1, 2)
                .real("at n/m", bias.0, 3)
                .real("RMSE / predicted, farthest", ratio.1, 4)
                .real("at", ratio.0, 3)
        };
        (0..SKETCHES.len()).map(row).collect()
    },
    plot: None,
};
