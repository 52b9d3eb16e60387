//! UltraLogLog: precision, and error by cardinality beside HyperLogLog's.

use pds_core::Sketch;
use pds_hll::{HllParams, HyperLogLog, UllParams, UltraLogLog};
use pds_testkit::{Cell, DistinctKeys, Experiment, Plot, Row, laws};

use super::hll::{PRECISIONS, SWEEP_POINTS, bias_tolerance};

/// By how much the spread may miss the prediction, which is that of the best estimator, for many registers.
pub(super) const SLACK: f64 = 0.02;

/// What a coded register takes, by its distribution (a test of the crate computes it), and all that stands beside the registers.
const BITS_ON_THE_WIRE: f64 = 3.994;
const BYTES_BESIDE: f64 = 160.0;

/// Keys a register from which on the spread is judged: of fewer, errors are a few whole keys.
pub(super) const NORMAL_LOAD: f64 = 1.0;

fn params(precision: f64) -> UllParams {
    UllParams::with_precision(precision as u8).expect("a precision of the table")
}

pub(super) const PRECISION: Experiment = Experiment {
    id: "ull-precision",
    table: Some("T7"),
    claim: "UltraLogLog's relative error is 0.761/sqrt(m), in half a byte a register on the wire.",
    law: "RMSE over independent streams by the chi-square law against the error that the Fisher information predicts, with 2%; \
          bias by the normal law with the stated tolerance; bytes on the wire at most 3.994 bits a register, which is the entropy \
          of many keys' registers, and 160 bytes.",
    cells: |scale| Cell::numbered(scale.pick(20, 50, 500, 10_000), PRECISIONS),
    trial: |cell, seed| {
        let [precision, keys] = cell.inputs[..] else { return Vec::new() };
        let mut sketch = UltraLogLog::new(params(precision));
        sketch.extend(DistinctKeys::new(seed).range(0..keys as u64));
        vec![sketch.estimate() / keys - 1.0, sketch.to_bytes().len() as f64, sketch.size_bytes() as f64]
    },
    rows: |cell, outcomes| {
        let [precision, keys] = cell.inputs[..] else { return Vec::new() };
        let params = params(precision);
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let (errors, wire) = (column(0), column(1));
        let sigma = params.predicted_error(keys as u64);
        let m = params.registers() as f64;
        let tolerance = bias_tolerance(precision as u8);
        vec![
            Row::new()
                .count("p", precision as u64)
                .count("m", m as u64)
                .percent("0.761/sqrt(m)", 0.761 / libm::sqrt(m), 3)
                .count("distinct", keys as u64)
                .percent("predicted", sigma, 4)
                .percent("predicted, HyperLogLog", HllParams::from(params).predicted_error(keys as u64), 4)
                .percent("RMSE", laws::rmse(&errors), 4)
                .percent("bias", laws::mean(&errors), 2)
                .count("bytes on the wire", libm::round(laws::mean(&wire)) as u64)
                .count("bytes in memory", outcomes[0][2] as u64)
                .count("bytes of the exact set (16-byte ids)", 16 * keys as u64)
                .check("RMSE", laws::rmse_is_within(&errors, sigma, SLACK))
                .check("bias", laws::bias_is_zero(laws::mean(&errors), sigma, cell.trials, tolerance))
                .check("wire bytes", laws::mean_at_most(&wire, m * BITS_ON_THE_WIRE / 8.0 + BYTES_BESIDE)),
        ]
    },
    plot: None,
};

/// The largest count of the sweep: `hll-large` goes on from there.
const LAST_POINT: u64 = 100_000;

fn points() -> impl Iterator<Item = u64> {
    SWEEP_POINTS.into_iter().filter(|&point| point <= LAST_POINT)
}

pub(super) const SWEEP: Experiment = Experiment {
    id: "ull-sweep",
    table: Some("T8"),
    claim: "UltraLogLog has no bias at any count, and errs less than the HyperLogLog of the same keys: p = 12, one stream per trial.",
    law: "at each point, bias by the normal law with a tolerance of 0.05%, and RMSE by the chi-square law with 2% against the \
          error that the Fisher information predicts, from as many keys as registers on. The HyperLogLog of the same sketch \
          stands beside it and is not judged.",
    cells: |scale| vec![Cell { index: 0, trials: scale.pick(50, 400, 4000, 20_000), inputs: vec![12.0] }],
    trial: |cell, seed| {
        let mut sketch = UltraLogLog::new(params(cell.inputs[0]));
        let keys = DistinctKeys::new(seed);
        let mut inserted = 0;
        points()
            .flat_map(|point| {
                sketch.extend(keys.range(inserted..point));
                inserted = point;
                [sketch.estimate(), HyperLogLog::from(&sketch).estimate()]
                    .map(|estimate| estimate / point as f64 - 1.0)
            })
            .collect()
    },
    rows: |cell, outcomes| {
        let params = params(cell.inputs[0]);
        let row = |(i, keys): (usize, u64)| {
            let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
            let (ull, hll) = (column(2 * i), column(2 * i + 1));
            let sigma = params.predicted_error(keys);
            let bias = laws::bias_is_zero(laws::mean(&ull), sigma, cell.trials, bias_tolerance(12));
            let row = Row::new()
                .count("distinct", keys)
                .percent("predicted", sigma, 3)
                .percent("RMSE", laws::rmse(&ull), 3)
                .percent("bias", laws::mean(&ull), 2)
                .percent("RMSE, HyperLogLog", laws::rmse(&hll), 3)
                .percent("bias, HyperLogLog", laws::mean(&hll), 2)
                .check("bias", bias);
            let normal = keys as f64 >= NORMAL_LOAD * params.registers() as f64;
            if normal { row.check("RMSE", laws::rmse_is_within(&ull, sigma, SLACK)) } else { row }
        };
        points().enumerate().map(row).collect()
    },
    plot: Some(Plot {
        x: "distinct",
        y: &["RMSE", "RMSE, HyperLogLog", "predicted"],
        series: None,
        log_x: true,
        log_y: false,
        x_label: "distinct keys",
        y_label: "relative error",
    }),
};
