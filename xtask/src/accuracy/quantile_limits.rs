//! DDSketch at its word: the published p99, and a limit of bins.

use pds_quantiles::{Collapse, Contract, DDSketch, DDSketchParams, ExactMerge, Quantiles, Sketch};
use pds_testkit::{Cell, ExactQuantiles, Experiment, Row, SplitMix64, laws};

use super::quantile_merge::{ORDERS, P99, SHARDS};
use super::quantile_sketches::{ALPHA, Kind, SHARES, Stream, exact_quantile, relative};

const TRUE_P99: f64 = 800.0;
const REQUESTS: usize = 100_000;

pub(super) const P99_OF_800: Experiment = Experiment {
    id: "quantile-p99",
    table: Some("T12"),
    claim: "A true p99 of 800 ms is given as 792 to 808 ms by a DDSketch at 1%.",
    law: "DDSketch: no estimate outside 792 to 808, in any trial. The others promise no value: their range is shown.",
    cells: |scale| {
        let trials = scale.pick(3, 5, 50, 500);
        (0..Kind::ALL.len()).map(|i| Cell { index: i as u64, trials, inputs: Vec::new() }).collect()
    },
    trial: |cell, seed| {
        let kind = Kind::ALL[cell.index as usize];
        let mut values = Stream::LogNormal.values(seed, REQUESTS);
        let p99 = exact_quantile(&ExactQuantiles::new(values.clone()), P99);
        // The value itself becomes 800 exactly.
        for value in &mut values {
            *value = *value / p99 * TRUE_P99;
        }
        let sketch = kind.sketch(&values, seed);
        vec![
            exact_quantile(&ExactQuantiles::new(values), P99),
            sketch.snapshot().quantile(0.99).unwrap_or(f64::NAN),
            sketch.to_bytes().len() as f64,
        ]
    },
    rows: |cell, outcomes| {
        let kind = Kind::ALL[cell.index as usize];
        let range = |i: usize| {
            let of =
                |(low, high): (f64, f64), outcome: &Vec<f64>| (low.min(outcome[i]), high.max(outcome[i]));
            outcomes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), of)
        };
        let outside = outcomes.iter().filter(|outcome| !(792.0..=808.0).contains(&outcome[1])).count() as u64;
        let published = match kind {
            Kind::Cubic | Kind::Log => "792-808",
            Kind::Digest100 | Kind::Digest200 => "sub-percent",
            Kind::Kll => "",
        };
        let row = Row::new()
            .text("sketch", kind.name())
            .real("true p99, ms", range(0).1, 4)
            .real("least estimate, ms", range(1).0, 4)
            .real("greatest estimate, ms", range(1).1, 4)
            .text("published", published)
            .count("bytes", range(2).1 as u64)
            .check("true p99", laws::equals(range(0).0, range(0).1.max(TRUE_P99)));
        vec![if kind.is_ddsketch() {
            row.check("792 to 808", laws::all_hold(outside, cell.trials))
        } else {
            row
        }]
    },
    plot: None,
};

/// The limit of bins of the experiment below, and how it is kept to.
const FEW_BINS: u32 = 128;
const COLLAPSES: [(&str, Collapse); 3] =
    [("lowest", Collapse::Lowest), ("highest", Collapse::Highest), ("uniform", Collapse::Uniform)];

pub(super) const COLLAPSED: Experiment = Experiment {
    id: "quantile-collapse",
    table: Some("T12"),
    claim: "Beyond its limit of bins a DDSketch says for which quantiles its accuracy holds, and merges exactly all the same.",
    law: "of 10,001 quantiles in each trial: none in the stated range beyond the stated alpha, none outside its certain bounds; \
          merged from eight shards in four orders, the bytes of one pass, in every trial.",
    cells: |scale| {
        let trials = scale.pick(2, 3, 20, 200);
        (0..COLLAPSES.len()).map(|i| Cell { index: i as u64, trials, inputs: Vec::new() }).collect()
    },
    trial: |cell, seed| {
        let params = DDSketchParams::for_accuracy(ALPHA).and_then(|params| params.with_max_bins(FEW_BINS));
        let params = params.expect("usual parameters").with_collapse(COLLAPSES[cell.index as usize].1);
        let mut random = SplitMix64::new(seed);
        let values: Vec<f64> = (0..40_000).map(|_| libm::exp(2.0 * random.next_normal())).collect();
        let mut sketch = DDSketch::new(params);
        sketch.extend(&values);
        let shards: Vec<DDSketch> = values
            .chunks(values.len() / SHARDS)
            .map(|part| {
                let mut shard = DDSketch::new(params);
                shard.extend(part);
                shard
            })
            .collect();
        let unequal = unequal_merges(&sketch, &shards, || DDSketch::new(params), &mut random);
        let exact = ExactQuantiles::new(values);
        let snapshot = sketch.snapshot();
        let Contract::RelativeValue { alpha, valid_from_q, valid_to_q } = snapshot.contract() else {
            return vec![f64::NAN; 7];
        };
        let (mut beyond, mut out_of_bounds, mut worst) = (0.0, 0.0, 0.0f64);
        for share in 0..=SHARES {
            let (q, value) = (share as f64 / SHARES as f64, exact_quantile(&exact, share));
            let estimate = snapshot.quantile(q).unwrap_or(f64::NAN);
            let (low, high) = snapshot.bounds(q).unwrap_or((f64::NAN, f64::NAN));
            out_of_bounds += f64::from(u8::from(!(low <= value && value <= high)));
            if (valid_from_q..=valid_to_q).contains(&q) {
                beyond += f64::from(u8::from((estimate - value).abs() > alpha * value));
            } else {
                worst = worst.max(relative(estimate, value));
            }
        }
        vec![alpha, valid_from_q, valid_to_q, beyond, out_of_bounds, worst, unequal]
    },
    rows: |cell, outcomes| {
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>();
        let greatest = |i: usize| column(i).iter().fold(f64::NEG_INFINITY, |most, &value| most.max(value));
        let least = |i: usize| column(i).iter().fold(f64::INFINITY, |least, &value| least.min(value));
        let asked = (SHARES as u64 + 1) * cell.trials;
        vec![
            Row::new()
                .text("collapse", COLLAPSES[cell.index as usize].0)
                .count("bins at most", u64::from(FEW_BINS))
                .percent("alpha", greatest(0), 3)
                .real("from q", greatest(1), 3)
                .real("to q", least(2), 3)
                .percent("greatest error elsewhere", greatest(5), 3)
                .check("alpha", laws::equals(sum(3), 0.0))
                .check("bounds", laws::all_hold(sum(4) as u64, asked))
                .check("equal bytes", laws::equals(sum(6), 0.0)),
        ]
    },
    plot: None,
};

/// How many of some orders of merging miss the bytes of one pass.
fn unequal_merges<S: Sketch + ExactMerge>(
    whole: &S,
    shards: &[S],
    empty: impl Fn() -> S,
    random: &mut SplitMix64,
) -> f64 {
    let mut order: Vec<usize> = (0..shards.len()).collect();
    let mut unequal = 0.0;
    for _ in 0..ORDERS {
        random.shuffle(&mut order);
        let mut merged = empty();
        let done = order.iter().all(|&shard| merged.merge(&shards[shard]).is_ok());
        unequal += f64::from(u8::from(!done || merged.to_bytes() != whole.to_bytes()));
    }
    unequal
}
