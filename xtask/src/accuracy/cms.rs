//! Count-min: sizing, a skewed stream, independence of the rows.

use std::collections::HashMap;

use pds_cms::{CountMinParams, CountMinSketch, CountSketchParams};
use pds_hash::{KeyHasher, WyHasher, column, mix, reduce};
use pds_testkit::{Cell, DistinctKeys, Experiment, ParetoKeys, Row, laws};

pub(super) const SIZING: Experiment = Experiment {
    id: "count-min-sizing",
    table: Some("T10"),
    claim: "Shapes solved for whole rows keep the targets in fewer rows or cells than the textbook's e/eps by ln(1/delta).",
    law: "computed: every shape keeps (1/(w eps))^d <= delta and its bound eps N; ours has at most 3% more cells than the \
          textbook's, the price of a row less; published shapes exactly. A conservative sketch has the shape of a plain one. A \
          count-sketch keeps twice the binomial tail of more than half of its rows, each failing on one side with 1/(2 w eps^2), \
          <= delta: its error is a share of sqrt(F2), the root of the sum of squared counts, which is at most N.",
    cells: |_| {
        let targets =
            [[0.001, 0.01], [0.01, 0.01], [0.002, 0.01], [0.0001, 0.01], [0.001, 0.001], [0.001, 1e-6]];
        Cell::numbered(1, targets)
    },
    trial: |_, _| Vec::new(),
    rows: |cell, _| {
        let [eps, delta] = cell.inputs[..] else { return Vec::new() };
        let ours = CountMinParams::for_error(eps, delta).expect("targets of the table");
        let textbook = CountMinParams::textbook(eps, delta).expect("targets of the table");
        let signed = CountSketchParams::for_error(eps, delta).expect("targets of the table");
        let failing = |params: CountMinParams| {
            libm::pow(1.0 / (params.width() as f64 * eps), f64::from(params.depth()))
        };
        let shape = |params: CountMinParams| format!("{} x {}", params.width(), params.depth());
        let row = Row::new()
            .real("eps", eps, 2)
            .real("delta", delta, 2)
            .text("textbook", shape(textbook))
            .count("counters, textbook", textbook.cells())
            .text("ours", shape(ours))
            .count("counters, ours", ours.cells())
            .real("kB at 4 bytes", ours.cells() as f64 * 4.0 / 1e3, 3)
            .count("bound at N = 1e9", ours.error_bound(1_000_000_000))
            .text("count-sketch, for eps sqrt(F2)", format!("{} x {}", signed.width(), signed.depth()))
            .count("cells, count-sketch", signed.cells())
            .check("delta, count-sketch", laws::at_most(signed_failing(signed, eps), delta))
            .check("delta", laws::at_most(failing(ours), delta))
            .check("delta, textbook", laws::at_most(failing(textbook), delta))
            .check("cells", laws::at_most(ours.cells() as f64, 1.03 * textbook.cells() as f64))
            .check("rows", laws::at_most(f64::from(ours.depth()), f64::from(textbook.depth())))
            .check("bound", laws::at_most(ours.error_bound(1_000_000_000) as f64, eps * 1e9))
            .check("epsilon", own_epsilon(ours))
            .check("epsilon, textbook", own_epsilon(textbook));
        vec![if (eps, delta) == (0.001, 0.01) {
            row.check("published width", laws::equals(textbook.width() as f64, 2719.0))
                .check("published depth", laws::equals(f64::from(textbook.depth()), 5.0))
                .check("minimal cells", laws::equals(ours.cells() as f64, 12_652.0))
        } else {
            row
        }]
    },
    plot: None,
};

/// Chance that the median of a count-sketch's rows is off by more than eps sqrt(F2), by Chebyshev's inequality.
fn signed_failing(params: CountSketchParams, eps: f64) -> f64 {
    let one_side = 1.0 / (2.0 * params.width() as f64 * eps * eps);
    2.0 * binomial_tail(params.depth() as usize, one_side, params.depth() as usize / 2 + 1)
}

/// The error of a shape, and its bound in counts, against (delta^(-1/d) / w) computed here by logarithms.
fn own_epsilon(params: CountMinParams) -> laws::Verdict {
    /// Of two ways to a power.
    const ROUNDING: f64 = 1e-9;
    let root = libm::exp(-libm::log(params.delta()) / f64::from(params.depth()));
    let epsilon = root / params.width() as f64;
    let bound = params.error_bound(1 << 50) as f64 / (1u64 << 50) as f64;
    laws::at_most((params.epsilon() / epsilon - 1.0).abs().max((bound / epsilon - 1.0).abs()), ROUNDING)
}

const EVENTS: usize = 200_000;
const DELTA: f64 = 0.01;

pub(super) const PARETO: Experiment = Experiment {
    id: "count-min-pareto",
    table: Some("T11"),
    claim: "On a skewed stream no key is under-counted, and the share over-counted by more than eps N is below delta.",
    law: "no estimate is below the truth and no key above an alert threshold is missed, in any trial; keys over the bound at \
          most delta by Chernoff's law, and so keys whose lower bound is above the truth; the lower bound is the estimate less \
          the bound. Published figures are of one seed; ours are means and ranges over the trials.",
    cells: |scale| {
        let trials = scale.pick(5, 20, 200, 2000);
        Cell::numbered(trials, [[0.01, 1.0], [0.002, 1.0], [0.01, 0.0], [0.002, 0.0]])
    },
    trial: |cell, seed| {
        let params = pareto_params(cell);
        let mut sketch = CountMinSketch::<u32>::new(params);
        let mut exact: HashMap<u64, u64> = HashMap::new();
        // The keys are the same small numbers in every stream; a seed of its own keeps the tables independent.
        let mut sketch_hashes = CountMinSketch::<u32, _>::with_hasher(params, WyHasher::with_seed(seed));
        for key in ParetoKeys::new(0.6, 1.0, seed).take(EVENTS) {
            sketch.insert(&key);
            sketch_hashes.insert(&key);
            *exact.entry(key).or_default() += 1;
        }
        let mut counts: Vec<(u64, u64, u64)> =
            exact.iter().map(|(&key, &count)| (count, sketch_hashes.estimate(&key), key)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let bound = params.error_bound(EVENTS as u64);
        let threshold = EVENTS as u64 / 100;
        let over = |&(count, estimate, _): &(u64, u64, u64)| estimate.saturating_sub(count);
        let mut overs: Vec<u64> = counts.iter().map(over).collect();
        let under = counts.iter().filter(|&&(count, estimate, _)| estimate < count).count()
            + exact.iter().filter(|&(key, &count)| sketch.estimate(key) < count).count();
        let missed =
            counts.iter().filter(|&&(count, estimate, _)| count > threshold && estimate <= threshold).count();
        let beyond = overs.iter().filter(|&&over| over > bound).count();
        let total: u64 = overs.iter().sum();
        let bounds = |key: u64| sketch_hashes.bounds(&key);
        let above = counts.iter().filter(|&&(count, _, key)| bounds(key).0 > count).count();
        let other = counts
            .iter()
            .filter(|&&(_, estimate, key)| bounds(key) != (estimate.saturating_sub(bound), estimate))
            .count();
        overs.sort_unstable();
        let keys = overs.len();
        vec![
            keys as f64,
            overs[keys - 1] as f64,
            total as f64 / keys as f64,
            counts[0].0 as f64,
            counts[0].1 as f64,
            under as f64,
            missed as f64,
            beyond as f64,
            overs[keys / 2] as f64,
            counts[keys / 2].0 as f64,
            above as f64,
            other as f64,
        ]
    },
    rows: |cell, outcomes| {
        let params = pareto_params(cell);
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let range = |i: usize| {
            let (low, high) =
                column(i).iter().fold((f64::INFINITY, 0.0f64), |(low, high), &v| (low.min(v), high.max(v)));
            format!("{low:.0}-{high:.0}")
        };
        let keys = sum(0);
        let published = match cell.index {
            0 => "167, 22.7",
            1 => "25, 1.3",
            _ => "",
        };
        vec![
            Row::new()
                .real("eps", cell.inputs[0], 1)
                .text("w x d", format!("{} x {}", params.width(), params.depth()))
                .count("counters", params.cells())
                .count("bound eps N", params.error_bound(EVENTS as u64))
                .text("max over-count", range(1))
                .real("mean over-count", laws::mean(&column(2)), 3)
                .text("max, mean published", published)
                .text("hottest, true", range(3))
                .real("hottest, mean over-count", laws::mean(&column(4)) - laws::mean(&column(3)), 3)
                .real("median key's count", laws::mean(&column(9)), 2)
                .real("median over-count", laws::mean(&column(8)), 2)
                .count("keys beyond the bound", sum(7))
                .check("never under", laws::all_hold(sum(5), keys))
                .check("no alert missed", laws::all_hold(sum(6), keys))
                .check("delta", laws::rate_at_most(sum(7), keys, DELTA))
                .check("lower bounds", laws::rate_at_most(sum(10), keys, DELTA))
                .check("bounds are estimate and bound", laws::all_hold(sum(11), keys)),
        ]
    },
    plot: None,
};

fn pareto_params(cell: &Cell) -> CountMinParams {
    let make = if cell.inputs[1] == 1.0 { CountMinParams::textbook } else { CountMinParams::for_error };
    make(cell.inputs[0], DELTA).expect("targets of the table")
}

/// Keys beside the hot one.
const STRANGERS: u64 = 1_000_000;
const WIDTH: u64 = 2719;
const DEPTH: usize = 5;

pub(super) const ROWS: Experiment = Experiment {
    id: "count-min-rows",
    table: Some("T11"),
    claim: "Keys meet a hot key in two rows and more as often as independent rows would have it, never in all at once.",
    law: "keys that meet the hot key (half of 10 million events) in at least r rows against the binomial tail, by Chernoff's \
          law. Columns in arithmetic progression, which others use, stand beside it and are not judged.",
    cells: |scale| {
        let trials = scale.pick(4, 10, 100, 1000);
        (0..2).map(|i| Cell { index: i, trials, inputs: vec![i as f64] }).collect()
    },
    trial: |cell, seed| {
        let keys = DistinctKeys::new(seed);
        let hash = |i| WyHasher::default().hash_key(&keys.key(i));
        let columns = |hash: u64| -> [u64; DEPTH] {
            if cell.index == 0 {
                std::array::from_fn(|row| column(hash, row, WIDTH))
            } else {
                let (start, step) = (reduce(hash, WIDTH), reduce(mix(hash), WIDTH));
                std::array::from_fn(|row| (start + step * row as u64) % WIDTH)
            }
        };
        let hot = columns(hash(0));
        let mut meets = vec![0.0; DEPTH + 1];
        for i in 1..=STRANGERS {
            let met = columns(hash(i)).iter().zip(&hot).filter(|(mine, hot)| mine == hot).count();
            meets[met] += 1.0;
        }
        meets
    },
    rows: |cell, outcomes| {
        let at_least = |rows: usize| -> f64 { outcomes.iter().flat_map(|outcome| &outcome[rows..]).sum() };
        let pairs = STRANGERS * cell.trials;
        let names = ["1 row", "2 rows", "3 rows", "4 rows", "5 rows"];
        let mut row = Row::new()
            .text("columns", ["a multiplier a row", "arithmetic progression"][cell.index as usize])
            .text("w x d", format!("{WIDTH} x {DEPTH}"))
            .count("keys tried", pairs);
        for (i, name) in names.into_iter().enumerate() {
            let met = at_least(i + 1) as u64;
            row = row.count(name, met);
            if cell.index == 0 {
                row = row.check(name, laws::rate_is(met, pairs, meeting_rate(i + 1)));
            }
        }
        vec![row.real("2 rows, expected", meeting_rate(2) * pairs as f64, 3)]
    },
    plot: None,
};

/// Chance of meeting a given key in at least so many of `DEPTH` independent rows.
fn meeting_rate(rows: usize) -> f64 {
    binomial_tail(DEPTH, 1.0 / WIDTH as f64, rows)
}

/// Chance of at least so many of `trials` that succeed with `one` each.
fn binomial_tail(trials: usize, one: f64, least: usize) -> f64 {
    let mut choose = 1.0;
    let mut sum = 0.0;
    for met in 0..=trials {
        if met > 0 {
            choose *= (trials + 1 - met) as f64 / met as f64;
        }
        if met >= least {
            sum += choose * libm::pow(one, met as f64) * libm::pow(1.0 - one, (trials - met) as f64);
        }
    }
    sum
}

/// Narrow, so that even three rows are met often enough to be judged.
const NARROW: u64 = 64;

pub(super) const DEPTHS: Experiment = Experiment {
    id: "count-min-depths",
    table: Some("T11"),
    claim: "A sketch of d rows reports a hot key's count for a stranger with the chance 1/w^d: every row counts, on its own.",
    law: "strangers that are reported as often as the one key that was counted, against w^-d, by Chernoff's law.",
    cells: |scale| {
        let trials = scale.pick(4, 10, 100, 1000);
        Cell::numbered(trials, [[1.0], [2.0], [3.0]])
    },
    trial: |cell, seed| {
        const HOT: u64 = 5_000_000;
        let params = CountMinParams::with_shape(NARROW, cell.inputs[0] as u32).expect("a valid shape");
        let keys = DistinctKeys::new(seed);
        let mut sketch = CountMinSketch::<u32>::new(params);
        sketch.insert_n(&keys.key(0), HOT);
        vec![keys.range(1..STRANGERS + 1).filter(|key| sketch.estimate(key) == HOT).count() as f64]
    },
    rows: |cell, outcomes| {
        let depth = cell.inputs[0];
        let met = outcomes.iter().map(|outcome| outcome[0]).sum::<f64>() as u64;
        let asked = STRANGERS * cell.trials;
        let predicted = libm::pow(NARROW as f64, -depth);
        vec![
            Row::new()
                .text("w x d", format!("{NARROW} x {depth}"))
                .count("strangers asked", asked)
                .count("reported hot", met)
                .real("expected", predicted * asked as f64, 4)
                .check("share", laws::rate_is(met, asked, predicted)),
        ]
    },
    plot: None,
};
