//! HyperLogLog on several sets: union and intersection.

use pds_core::{Merge, Sketch};
use pds_hash::WyHasher;
use pds_hll::HyperLogLog;
use pds_testkit::{Cell, DistinctKeys, Experiment, Plot, Row, laws};

use super::hll::{bias_tolerance, params};

pub(super) const UNION: Experiment = Experiment {
    id: "hll-union",
    table: Some("T9"),
    claim: "Merging ids 0..60,000 with 40,000..100,000 gives the sketch of the union, register for register.",
    law: "merged bytes equal the union stream's bytes in every trial; RMSE of the union by the chi-square law; the error of \
          the ratio of two independent estimates is sqrt(2) times that of one, by the same law with 2%.",
    cells: |scale| {
        let trials = scale.pick(20, 50, 1000, 10_000);
        Cell::numbered(trials, [[12.0], [14.0]])
    },
    trial: |cell, seed| {
        let hasher = WyHasher::with_seed(seed);
        let sketch = |ids: std::ops::Range<u64>| {
            let mut sketch = HyperLogLog::with_hasher(params(cell.inputs[0]), hasher);
            for id in ids {
                sketch.insert(&id);
            }
            sketch
        };
        let (mut left, right, union) = (sketch(0..60_000), sketch(40_000..100_000), sketch(0..100_000));
        let disjoint = sketch(200_000..260_000);
        let ratio = left.estimate() / disjoint.estimate() - 1.0;
        let sum = left.estimate() + right.estimate();
        let merged = left.merge(&right).is_ok();
        let equal = merged && left.to_bytes() == union.to_bytes() && left.registers() == union.registers();
        vec![union.estimate() / 100_000.0 - 1.0, ratio, f64::from(u8::from(!equal)), sum - left.estimate()]
    },
    rows: |cell, outcomes| {
        /// A ratio is skewed to second order in the error.
        const RATIO_SLACK: f64 = 0.02;
        let params = params(cell.inputs[0]);
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let (union, ratio) = (column(0), column(1));
        let unequal: f64 = column(2).iter().sum();
        let sigma = params.predicted_error(100_000);
        let part = params.predicted_error(60_000);
        let ratio_sigma = std::f64::consts::SQRT_2 * part;
        vec![
            Row::new()
                .count("p", cell.inputs[0] as u64)
                .count("union", 100_000)
                .text("published estimate (p = 12)", "99,318")
                .count("unequal merges", unequal as u64)
                .percent("RMSE of the union", laws::rmse(&union), 3)
                .percent("predicted", sigma, 3)
                .percent("RMSE of a ratio of two", laws::rmse(&ratio), 3)
                .percent("predicted for the ratio", ratio_sigma, 3)
                .check("register for register", laws::all_hold(unequal as u64, cell.trials))
                .check("union", laws::rmse_is(&union, sigma))
                .check("ratio", laws::rmse_is_within(&ratio, ratio_sigma, RATIO_SLACK)),
        ]
    },
    plot: None,
};

/// Of sets of 60,000: a half of the union, a third, a fifth, a tenth, and so on to a two hundredth.
const OVERLAPS: [f64; 8] = [40_000.0, 30_000.0, 20_000.0, 10_909.0, 5714.0, 2352.0, 1188.0, 597.0];

/// The joint estimate's share of the error at most, for overlaps of more than such a share of the union.
const SHARES: [(f64, f64); 4] = [(1.0 / 3.0, 1.0), (0.1, 0.9), (0.02, 0.65), (0.0, 0.5)];

pub(super) const INTERSECTION: Experiment = Experiment {
    id: "hll-intersection",
    table: Some("T9"),
    claim: "Comparing registers one by one estimates an overlap with less error than inclusion-exclusion, whose error is that of \
            the union, and which can go negative; its bounds hold.",
    law: "inclusion-exclusion is unbiased: the mean by the normal law, with the spread of the trials themselves. The error of \
          the joint estimate is at most 0.9 of its error from J = 1/3 down, 0.65 from 0.1, 0.5 from 0.02, and never above it, \
          J being the share of the union that is common. Shares of streams inside bounds(2) by Chernoff's law, against the \
          nominal coverage less 5 points.",
    cells: |scale| {
        let trials = scale.pick(20, 50, 1000, 10_000);
        Cell::numbered(trials, OVERLAPS.map(|overlap| [12.0, overlap]))
    },
    trial: |cell, seed| {
        let [precision, overlap] = cell.inputs[..] else { return Vec::new() };
        let keys = DistinctKeys::new(seed);
        let sketch = |indices| {
            let mut sketch = HyperLogLog::new(params(precision));
            for key in keys.range(indices) {
                sketch.insert(&key);
            }
            sketch
        };
        let (mut left, right) =
            (sketch(0..60_000), sketch(60_000 - overlap as u64..120_000 - overlap as u64));
        let sum = left.estimate() + right.estimate();
        let Ok(joint) = left.joint(&right) else { return Vec::new() };
        let (low, high) = joint.intersection().bounds(2.0);
        let inside = f64::from(u8::from((low..=high).contains(&overlap)));
        let merged = left.merge(&right).is_ok();
        vec![if merged { sum - left.estimate() } else { f64::NAN }, joint.intersection().estimate(), inside]
    },
    rows: |cell, outcomes| {
        /// Of a normal error within 2 standard deviations, and what small overlaps may take from it.
        const NOMINAL: f64 = 0.9545;
        const SHAPE: f64 = 0.05;
        let [_, overlap] = cell.inputs[..] else { return Vec::new() };
        let jaccard = overlap / (120_000.0 - overlap);
        let share = SHARES.into_iter().find(|&(least, _)| jaccard > least).map_or(1.0, |(_, share)| share);
        let joint: Vec<f64> = outcomes.iter().map(|outcome| outcome[1] / overlap - 1.0).collect();
        let inside: f64 = outcomes.iter().map(|outcome| outcome[2]).sum();
        let errors: Vec<f64> = outcomes.iter().map(|outcome| outcome[0] / overlap - 1.0).collect();
        let negative = outcomes.iter().filter(|outcome| outcome[0] < 0.0).count();
        let mean = laws::mean(&errors);
        let spread =
            libm::sqrt(laws::mean(&errors.iter().map(|e| (e - mean) * (e - mean)).collect::<Vec<_>>()));
        // Two estimates' tolerances of bias, and the union's, of 60,000 and 120,000 keys.
        let tolerance = bias_tolerance(12) * 240_000.0 / overlap;
        vec![
            Row::new()
                .count("p", cell.inputs[0] as u64)
                .text("sets", "60,000 and 60,000")
                .count("overlap", overlap as u64)
                .real("J", jaccard, 3)
                .real("mean estimate", overlap * (1.0 + mean), 4)
                .percent("RMSE", laws::rmse(&errors), 3)
                .percent("RMSE, joint", laws::rmse(&joint), 3)
                .real("joint / inclusion-exclusion", laws::rmse(&joint) / laws::rmse(&errors), 3)
                .percent("inside bounds(2)", inside / cell.trials as f64, 3)
                .percent("negative estimates", negative as f64 / cell.trials as f64, 3)
                .check("unbiased", laws::bias_is_zero(mean, spread, cell.trials, tolerance))
                .check("joint", laws::at_most(laws::rmse(&joint), share * laws::rmse(&errors)))
                .check("inside", laws::rate_at_least(inside as u64, cell.trials, NOMINAL - SHAPE)),
        ]
    },
    plot: Some(Plot {
        x: "overlap",
        y: &["RMSE", "RMSE, joint"],
        series: None,
        log_x: true,
        log_y: true,
        x_label: "keys in common, of 60,000 and 60,000 (p = 12)",
        y_label: "relative error of the overlap",
    }),
};
