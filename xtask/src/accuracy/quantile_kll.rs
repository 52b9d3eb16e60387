//! KLL: how often the greatest error of all ranks is beyond the bound.

use pds_quantiles::{KllParams, KllSketch, Merge, Quantiles, RankRule};
use pds_testkit::{Cell, ExactQuantiles, Experiment, Row, laws};

use super::quantile_sketches::Stream;

/// Values of a stream.
const N: usize = 20_000;

/// Ranks that are compared, from the least value to the greatest.
const STEPS: usize = 500;

/// What the greatest rank error of a sketch of k = 200 is to stay below 99 times of a hundred.
const TARGET: f64 = 0.0133;

/// Stream, k, and the number of parts that are merged.
const GRID: [(Stream, u16, usize); 6] = [
    (Stream::LogNormal, 200, 1),
    (Stream::Ascending, 200, 1),
    (Stream::Descending, 200, 1),
    (Stream::LogNormal, 200, 100),
    (Stream::Ascending, 200, 100),
    (Stream::LogNormal, 50, 1),
];

pub(super) const CONFIDENCE: Experiment = Experiment {
    id: "quantile-kll",
    table: Some("T12"),
    claim: "The greatest rank error of a KLL sketch is beyond its bound in at most one sketch of a hundred, merged or not.",
    law: "sketches whose greatest error over 501 ranks is beyond the bound: at most as many as the confidence of 99% leaves, by \
          Chernoff's law; ranks at the median without bias (no tolerance); no value lost, in any trial.",
    cells: |scale| {
        let trials = scale.pick(10, 50, 600, 6000);
        (0..GRID.len()).map(|i| Cell { index: i as u64, trials, inputs: Vec::new() }).collect()
    },
    trial: |cell, seed| {
        let (stream, k, parts) = GRID[cell.index as usize];
        let params = KllParams::with_k(k).expect("a usual k");
        let values = stream.values(seed, N);
        let mut sketch: KllSketch = KllSketch::with_seed(params, seed);
        let mut failed = false;
        if parts == 1 {
            sketch.extend(values.iter().copied());
        } else {
            for (part, chunk) in values.chunks(N.div_ceil(parts)).enumerate() {
                let mut shard: KllSketch =
                    KllSketch::with_seed(params, pds_testkit::seed_for("shards", part as u64, seed));
                shard.extend(chunk.iter().copied());
                failed |= sketch.merge(&shard).is_err();
            }
        }
        failed |= Quantiles::count(&sketch) != N as u64;
        let exact = ExactQuantiles::new(values);
        let snapshot = sketch.snapshot();
        let error = |step: usize| {
            let value = exact.sorted()[step * (N - 1) / STEPS];
            let rank = Quantiles::rank_by(&snapshot, value, RankRule::Inclusive).unwrap_or(f64::NAN);
            rank - exact.rank(value) as f64 / N as f64
        };
        let greatest = (0..=STEPS).map(|step| error(step).abs()).fold(0.0, f64::max);
        vec![greatest, error(STEPS / 2), f64::from(u8::from(failed)), sketch.items() as f64]
    },
    rows: |cell, outcomes| {
        let (stream, k, parts) = GRID[cell.index as usize];
        let params = KllParams::with_k(k).expect("a usual k");
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let (bound, medians) = (params.rank_error(), column(1));
        let mut greatest = column(0);
        let beyond = greatest.iter().filter(|&&error| error > bound).count() as u64;
        let over_target = greatest.iter().filter(|&&error| error > TARGET).count() as u64;
        greatest.sort_unstable_by(f64::total_cmp);
        let doubt = 1.0 - KllParams::CONFIDENCE;
        let row = Row::new()
            .text("values", stream.name())
            .count("k", u64::from(k))
            .count("merged from", parts as u64)
            .count("items at most", column(3).iter().fold(0.0f64, |most, &items| most.max(items)) as u64)
            .percent("bound, 99%", bound, 3)
            .percent("mean greatest error", laws::mean(&greatest), 3)
            .percent("p99 of it", greatest[(greatest.len() * 99).div_ceil(100) - 1], 3)
            .count("beyond the bound", beyond)
            .count("sketches", cell.trials)
            .check("bound", laws::rate_at_most(beyond, cell.trials, doubt))
            .check("bias", laws::bias_is_zero(laws::mean(&medians), laws::rmse(&medians), cell.trials, 0.0))
            .check("count", laws::all_hold(column(2).iter().sum::<f64>() as u64, cell.trials));
        vec![if k == 200 {
            row.check("target", laws::rate_at_most(over_target, cell.trials, doubt))
        } else {
            row
        }]
    },
    plot: None,
};
