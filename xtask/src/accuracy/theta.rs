//! Theta sketches: error by the number of keys, bounds, small overlaps, merging.

use pds_core::{Merge, Sketch};
use pds_hash::WyHasher;
use pds_hll::{HllParams, HyperLogLog};
use pds_testkit::{Cell, DistinctKeys, Experiment, Plot, Row, SplitMix64, laws};
use pds_theta::{CompactTheta, ThetaParams, ThetaSketch, difference, intersection, jaccard, union};

/// Standard deviations, and the share of a normal distribution within them.
const KAPPAS: [(f64, f64); 3] = [(1.0, 0.6827), (2.0, 0.9545), (3.0, 0.9973)];

fn params(lg_k: f64) -> ThetaParams {
    ThetaParams::with_lg_k(lg_k as u8).expect("a size of the table")
}

fn of(lg_k: f64, keys: impl Iterator<Item = u64>) -> ThetaSketch {
    let mut sketch = ThetaSketch::new(params(lg_k));
    sketch.extend(keys);
    sketch
}

/// What the law of the spread, which is that of normal errors, grants to those of small sketches and of few rejected
/// keys.
fn sigma_slack(params: ThetaParams, keys: f64) -> f64 {
    if params.lg_k() < 8 || keys < 2.0 * params.k() as f64 { 0.05 } else { 0.01 }
}

/// Sizes, and numbers of keys as multiples of k.
fn grid() -> impl Iterator<Item = [f64; 2]> {
    const LOADS: [f64; 7] = [0.5, 1.0, 1.25, 2.0, 4.0, 16.0, 64.0];
    [5.0, 8.0, 10.0, 12.0]
        .into_iter()
        .flat_map(|lg_k| LOADS.map(|load| [lg_k, load * params(lg_k).k() as f64]))
}

fn cells(trials: u64) -> Vec<Cell> {
    Cell::numbered(trials, grid())
}

pub(super) const ERROR: Experiment = Experiment {
    id: "theta-error",
    table: None,
    claim: "Up to k keys the count is exact; beyond, it is unbiased, with a relative error of sqrt((n - k) / (n (k - 1))), \
            which goes to 1/sqrt(k - 1).",
    law: "bias by the normal law without tolerance; RMSE by the chi-square law, with 1% on the prediction, and 5% for k = 32 \
          or n below 2 k, where errors are skewed; both exactly 0 up to k.",
    cells: |scale| cells(scale.pick(20, 100, 2000, 20_000)),
    trial: |cell, seed| {
        let [lg_k, keys] = cell.inputs[..] else { return Vec::new() };
        let sketch = of(lg_k, DistinctKeys::new(seed).range(0..keys as u64));
        vec![sketch.estimate() / keys - 1.0, sketch.to_bytes().len() as f64, sketch.size_bytes() as f64]
    },
    rows: |cell, outcomes| {
        let [lg_k, keys] = cell.inputs[..] else { return Vec::new() };
        let params = params(lg_k);
        let errors: Vec<f64> = outcomes.iter().map(|outcome| outcome[0]).collect();
        let sigma = params.predicted_error(keys as u64);
        let mean = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>() / cell.trials as f64;
        let kept = keys.min(params.k() as f64);
        vec![
            Row::new()
                .count("k", params.k() as u64)
                .count("distinct", keys as u64)
                .percent("1/sqrt(k - 1)", params.std_error(), 3)
                .percent("predicted", sigma, 3)
                .percent("RMSE", laws::rmse(&errors), 3)
                .percent("bias", laws::mean(&errors), 2)
                .count("bytes on the wire", mean(1) as u64)
                .real("bits a hash", 8.0 * mean(1) / kept, 4)
                .count("bytes in memory", mean(2) as u64)
                .check("bias", laws::bias_is_zero(laws::mean(&errors), sigma, cell.trials, 0.0))
                .check("RMSE", laws::rmse_is_within(&errors, sigma, sigma_slack(params, keys))),
        ]
    },
    plot: Some(Plot {
        x: "distinct",
        y: &["RMSE", "predicted"],
        series: Some("k"),
        log_x: true,
        log_y: false,
        x_label: "distinct keys",
        y_label: "relative error",
    }),
};

pub(super) const BOUNDS: Experiment = Experiment {
    id: "theta-bounds",
    table: None,
    claim: "bounds(kappa) hold the true count at least as often as the normal distribution says.",
    law: "shares of streams inside the bounds by Chernoff's law, not below the nominal coverage.",
    cells: |scale| cells(scale.pick(50, 200, 4000, 20_000)),
    trial: |cell, seed| {
        let [lg_k, keys] = cell.inputs[..] else { return Vec::new() };
        let sketch = of(lg_k, DistinctKeys::new(seed).range(0..keys as u64)).compact();
        let bounds = KAPPAS.map(|(kappa, _)| sketch.bounds(kappa));
        let inside = bounds.map(|(low, high)| f64::from(u8::from(low <= keys && keys <= high)));
        inside.into_iter().chain([bounds[1].0 / keys, bounds[1].1 / keys]).collect()
    },
    rows: |cell, outcomes| {
        let [lg_k, keys] = cell.inputs[..] else { return Vec::new() };
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>();
        let mut row = Row::new().count("k", params(lg_k).k() as u64).count("distinct", keys as u64);
        let names = ["inside at kappa = 1", "inside at kappa = 2", "inside at kappa = 3"];
        for (i, (_, nominal)) in KAPPAS.into_iter().enumerate() {
            row = row
                .percent(names[i], sum(i) / cell.trials as f64, 4)
                .check(names[i], laws::rate_at_least(sum(i) as u64, cell.trials, nominal));
        }
        let mean = |i: usize| sum(i) / cell.trials as f64;
        vec![row.percent("mean lower at 2", mean(3), 4).percent("mean upper at 2", mean(4), 4)]
    },
    plot: None,
};

/// Keys in either of the two sets of the overlap sweep.
const EITHER: f64 = 100_000.0;

/// lg k and precision that are written in about as many bytes.
const EQUAL_BYTES: (f64, u8) = (9.0, 13);

pub(super) const OVERLAP: Experiment = Experiment {
    id: "theta-overlap",
    table: Some("T9"),
    claim: "As two sets of 100,000 keys together have less in common, the error of their intersection grows like the root of \
            what is not in common, and bounds still hold; of two HyperLogLog sketches in as many bytes it grows in \
            proportion by inclusion and exclusion, and more slowly by joint likelihood.",
    law: "theta: bias by the normal law with the spread of the trials; the share of trials inside bounds(2) by Chernoff's law, \
          not below the nominal coverage, for intersection, difference and Jaccard index. HyperLogLog (p = 13) stands beside \
          it and is not judged.",
    cells: |scale| {
        let trials = scale.pick(20, 50, 1000, 10_000);
        let jaccards = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005];
        Cell::numbered(trials, jaccards.map(|j| [j]))
    },
    trial: |cell, seed| {
        let (both, one) = overlap(cell.inputs[0]);
        let keys = DistinctKeys::new(seed);
        let (left, right) = (keys.range(0..one as u64), keys.range((one - both) as u64..EITHER as u64));
        let (lg_k, precision) = EQUAL_BYTES;
        let sketches = [of(lg_k, left.clone()), of(lg_k, right.clone())];
        let bytes = sketches[0].to_bytes().len() as f64;
        let [left_theta, right_theta] = sketches.map(|sketch| sketch.compact());
        let Ok(common) = intersection(&[&left_theta, &right_theta]) else { return Vec::new() };
        let Ok(only) = difference(&left_theta, &[&right_theta]) else { return Vec::new() };
        let Ok(alike) = jaccard(&left_theta, &right_theta) else { return Vec::new() };
        let inside = |(low, high): (f64, f64), truth: f64| f64::from(u8::from(low <= truth && truth <= high));

        let count = |keys: &mut dyn Iterator<Item = u64>| {
            let mut sketch = HyperLogLog::new(HllParams::with_precision(precision).expect("4 to 18"));
            sketch.extend(keys);
            sketch
        };
        let (mut a, b) = (count(&mut { left }), count(&mut { right }));
        let hll_bytes = a.to_bytes().len() as f64;
        let Ok(joint) = a.joint(&b) else { return Vec::new() };
        let sum = a.estimate() + b.estimate();
        let by_exclusion = if a.merge(&b).is_ok() { sum - a.estimate() } else { f64::NAN };
        vec![
            common.estimate() / both - 1.0,
            inside(common.bounds(2.0), both),
            inside(only.bounds(2.0), one - both),
            inside(alike.bounds(2.0), both / EITHER),
            by_exclusion / both - 1.0,
            bytes,
            hll_bytes,
            joint.intersection().estimate() / both - 1.0,
        ]
    },
    rows: |cell, outcomes| {
        let (both, _) = overlap(cell.inputs[0]);
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let (errors, excluded) = (column(0), column(4));
        let inside = |i: usize| column(i).iter().sum::<f64>();
        let negative = excluded.iter().filter(|&&error| error < -1.0).count();
        let mut row = Row::new()
            .real("Jaccard", cell.inputs[0], 3)
            .count("in both", both as u64)
            .count("bytes, theta", laws::mean(&column(5)) as u64)
            .percent("RMSE, theta", laws::rmse(&errors), 3)
            .count("bytes, HyperLogLog", laws::mean(&column(6)) as u64)
            .percent("RMSE, joint likelihood", laws::rmse(&column(7)), 3)
            .percent("RMSE, inclusion-exclusion", laws::rmse(&excluded), 3)
            .percent("negative, inclusion-exclusion", negative as f64 / cell.trials as f64, 3);
        let bias = laws::bias_is_zero(laws::mean(&errors), laws::rmse(&errors), cell.trials, 0.0);
        row = row.check("bias", bias);
        let (kappa_2, operations) =
            (KAPPAS[1].1, ["intersection inside", "difference inside", "Jaccard inside"]);
        for (i, name) in operations.into_iter().enumerate() {
            let hits = inside(i + 1);
            row = row
                .percent(name, hits / cell.trials as f64, 4)
                .check(name, laws::rate_at_least(hits as u64, cell.trials, kappa_2));
        }
        vec![row]
    },
    plot: Some(Plot {
        x: "Jaccard",
        y: &["RMSE, theta", "RMSE, joint likelihood", "RMSE, inclusion-exclusion"],
        series: None,
        log_x: true,
        log_y: true,
        x_label: "share in common, of 100,000 keys",
        y_label: "relative error of the intersection",
    }),
};

/// How many keys are in both, and in each, for this share of [`EITHER`].
fn overlap(jaccard: f64) -> (f64, f64) {
    let both = libm::round(jaccard * EITHER);
    (both, libm::round(f64::midpoint(EITHER, both)))
}

/// Standard deviations, half of one too, and the share of a normal distribution within them.
const SUBSET_KAPPAS: [(f64, f64, &str); 4] = [
    (0.5, 0.3829, "inside at kappa = 0.5"),
    (1.0, 0.6827, "inside at kappa = 1"),
    (2.0, 0.9545, "inside at kappa = 2"),
    (3.0, 0.9973, "inside at kappa = 3"),
];

pub(super) const SUBSETS: Experiment = Experiment {
    id: "theta-subsets",
    table: None,
    claim: "The intersection of a set with one that it is a part of is estimated no higher than the part, and therefore too \
            low on average; its bounds hold the true count at least as often as the normal distribution says.",
    law: "bias by the normal law with the spread of the trials, from above alone; shares of pairs inside the bounds by Chernoff's \
          law, not below the nominal coverage.",
    cells: |scale| {
        let trials = scale.pick(50, 200, 4000, 20_000);
        let grid = [
            [7.0, 1000.0, 7.0, 1000.0],
            [7.0, 1000.0, 7.0, 1250.0],
            [7.0, 1000.0, 7.0, 4000.0],
            [7.0, 500.0, 7.0, 20_000.0],
            [6.0, 300.0, 8.0, 3000.0],
            [9.0, 2000.0, 5.0, 2000.0],
            [10.0, 1000.0, 5.0, 1000.0],
            [5.0, 20.0, 7.0, 20_000.0],
        ];
        Cell::numbered(trials, grid)
    },
    trial: |cell, seed| {
        let [lg_part, part, lg_whole, whole] = cell.inputs[..] else { return Vec::new() };
        let keys = DistinctKeys::new(seed);
        let (a, b) = (of(lg_part, keys.range(0..part as u64)), of(lg_whole, keys.range(0..whole as u64)));
        let Ok(common) = intersection(&[&a, &b]) else { return Vec::new() };
        let inside = SUBSET_KAPPAS.map(|(kappa, ..)| {
            let (low, high) = common.bounds(kappa);
            f64::from(u8::from(low <= part && part <= high))
        });
        [common.estimate() / part - 1.0].into_iter().chain(inside).collect()
    },
    rows: |cell, outcomes| {
        let [lg_part, part, lg_whole, whole] = cell.inputs[..] else { return Vec::new() };
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let errors = column(0);
        let (bias, rmse) = (laws::mean(&errors), laws::rmse(&errors));
        let mut row = Row::new()
            .count("k of the part", params(lg_part).k() as u64)
            .count("keys of the part", part as u64)
            .count("k of the whole", params(lg_whole).k() as u64)
            .count("keys of the whole", whole as u64)
            .percent("bias", bias, 3)
            .percent("RMSE", rmse, 3)
            .check("bias", laws::bias_is_zero(bias.max(0.0), rmse, cell.trials, 0.0));
        for (i, (_, nominal, name)) in SUBSET_KAPPAS.into_iter().enumerate() {
            let hits = column(i + 1).iter().sum::<f64>();
            row = row
                .percent(name, hits / cell.trials as f64, 4)
                .check(name, laws::rate_at_least(hits as u64, cell.trials, nominal));
        }
        vec![row]
    },
    plot: None,
};

pub(super) const MERGE: Experiment = Experiment {
    id: "theta-merge",
    table: None,
    claim: "Shards of one stream, of different sizes and with keys in common, merged in any order, give the bytes of the whole \
            stream's sketch at the least size; so does their union.",
    law: "no exception.",
    cells: |scale| {
        let trials = scale.pick(5, 20, 200, 2000);
        let grid = [[2.0, 1000.0], [4.0, 20_000.0], [16.0, 100_000.0], [64.0, 500_000.0]];
        Cell::numbered(trials, grid)
    },
    trial: |cell, seed| {
        let [shards, keys] = cell.inputs[..] else { return Vec::new() };
        let mut random = SplitMix64::new(seed);
        let hasher = WyHasher::with_seed(seed);
        let sizes: Vec<f64> = (0..shards as u64).map(|_| (8 + random.below(5)) as f64).collect();
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let empty = |lg_k: f64| ThetaSketch::with_hasher(params(lg_k), hasher);
        let mut parts: Vec<ThetaSketch> = sizes.iter().map(|&lg_k| empty(lg_k)).collect();
        let mut whole = empty(least);
        for key in 0..keys as u64 {
            whole.insert(&key);
            // One key in four comes to two shards.
            for _ in 0..=u64::from(random.below(4) == 0) {
                parts[random.below(shards as u64) as usize].insert(&key);
            }
        }
        random.shuffle(&mut parts);
        let compact: Vec<CompactTheta> = parts.iter().map(ThetaSketch::compact).collect();
        let sources: Vec<&dyn pds_theta::ThetaSource<WyHasher>> =
            compact.iter().map(|part| part as _).collect();
        let same_union = union(&sources).is_ok_and(|all| all == whole.compact());
        // Pairs, pairs of pairs, ..
        while parts.len() > 1 {
            let half = parts.split_off(parts.len() / 2);
            for (left, right) in parts.iter_mut().zip(&half) {
                if left.merge(right).is_err() {
                    return vec![1.0, 1.0];
                }
            }
        }
        let same = parts[0].to_bytes() == whole.to_bytes() && parts[0].estimate() == whole.estimate();
        vec![f64::from(u8::from(!same)), f64::from(u8::from(!same_union))]
    },
    rows: |cell, outcomes| {
        let [shards, keys] = cell.inputs[..] else { return Vec::new() };
        let failures = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>() as u64;
        vec![
            Row::new()
                .count("shards", shards as u64)
                .count("distinct", keys as u64)
                .count("trials", cell.trials)
                .count("merged otherwise", failures(0))
                .count("united otherwise", failures(1))
                .check("merge", laws::all_hold(failures(0), cell.trials))
                .check("union", laws::all_hold(failures(1), cell.trials)),
        ]
    },
    plot: None,
};
