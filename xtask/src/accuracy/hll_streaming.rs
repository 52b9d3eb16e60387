//! HyperLogLog with a running estimate, beside the registers' own.

use pds_hll::{HllParams, StreamingHyperLogLog};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, laws};

/// Numbers of keys: few of them one by one, then in registers, to many.
const POINTS: [u64; 7] = [500, 2000, 5000, 10_000, 50_000, 200_000, 1_000_000];

/// From so many keys a register on, the error is that of many keys.
const MANY: u64 = 10;

pub(super) const STREAMING: Experiment = Experiment {
    id: "hll-streaming",
    table: None,
    claim: "A running estimate errs by 0.833/sqrt(m), with the same registers, and its bounds hold.",
    law: "bias by the normal law; RMSE by the chi-square law, below 10 m keys at most the error of many keys, with 2%. Shares of \
          streams inside bounds(2) by Chernoff's law, against the nominal coverage less 2.5 points. The estimate of the same \
          registers stands beside it and is not judged.",
    cells: |scale| vec![Cell { index: 0, trials: scale.pick(50, 200, 2000, 10_000), inputs: vec![12.0] }],
    trial: |cell, seed| {
        let params = HllParams::with_precision(cell.inputs[0] as u8).expect("a usual precision");
        let mut sketch = StreamingHyperLogLog::new(params);
        let keys = DistinctKeys::new(seed);
        let mut outcomes = Vec::with_capacity(3 * POINTS.len());
        let mut inserted = 0;
        for point in POINTS {
            sketch.extend(keys.range(inserted..point));
            inserted = point;
            let truth = point as f64;
            let (low, high) = sketch.bounds(2.0);
            outcomes.push(sketch.estimate() / truth - 1.0);
            outcomes.push(sketch.clone().into_hll().estimate() / truth - 1.0);
            outcomes.push(f64::from(u8::from(low.floor() <= truth && truth <= high.ceil())));
        }
        outcomes
    },
    rows: |cell, outcomes| {
        /// Of a normal error within 2 standard deviations, and what the log-normal shape may take from it.
        const NOMINAL: f64 = 0.9545;
        const SHAPE: f64 = 0.025;
        const SLACK: f64 = 0.02;
        let params = HllParams::with_precision(cell.inputs[0] as u8).expect("a usual precision");
        let limit = params.streaming_std_error();
        let row = |(i, &keys): (usize, &u64)| {
            let column = |j: usize| outcomes.iter().map(|outcome| outcome[3 * i + j]).collect::<Vec<_>>();
            let (running, registers) = (column(0), column(1));
            let inside: f64 = column(2).iter().sum();
            let many = keys >= MANY * params.registers() as u64;
            let spread = if many {
                laws::rmse_is_within(&running, limit, SLACK)
            } else {
                laws::rmse_at_most(&running, limit * (1.0 + SLACK))
            };
            Row::new()
                .count("p", u64::from(params.precision()))
                .count("distinct", keys)
                .percent("0.833/sqrt(m)", limit, 3)
                .percent("RMSE", laws::rmse(&running), 3)
                .percent("bias", laws::mean(&running), 2)
                .percent("inside bounds(2)", inside / cell.trials as f64, 3)
                .percent("RMSE of the registers' estimate", laws::rmse(&registers), 3)
                .check("bias", laws::bias_is_zero(laws::mean(&running), limit, cell.trials, 0.0))
                .check("RMSE", spread)
                .check("inside", laws::rate_at_least(inside as u64, cell.trials, NOMINAL - SHAPE))
        };
        POINTS.iter().enumerate().map(row).collect()
    },
    plot: None,
};
