//! Count-min and its kin on one stream, at equal bytes: plain, debiased, conservative, and the count-sketch.

use std::collections::HashMap;

use pds_cms::{ConservativeCountMin, CountMinParams, CountMinSketch, CountSketch, CountSketchParams};
use pds_hash::WyHasher;
use pds_testkit::{Cell, Experiment, ParetoKeys, Row, laws};

const EVENTS: usize = 200_000;
const DELTA: f64 = 0.01;

pub(super) const PARETO: Experiment = Experiment {
    id: "count-min-kin",
    table: Some("T11"),
    claim: "In as many cells a conservative sketch errs to the same side as a plain one and by less, a count-sketch to both \
            sides alike; the hottest keys come out of each.",
    law: "plain and conservative: no key under-counted, no key above an alert threshold missed, and keys over the bound eps N \
          at most delta by Chernoff's law; no conservative estimate above the plain one; no debiased one above it or below 0. \
          Count-sketch: keys off by more than its eps sqrt(F2) at most its delta by Chernoff's law, and a mean error of \
          zero within 6.1 of its own standard errors.",
    cells: |scale| {
        let trials = scale.pick(5, 20, 100, 1000);
        Cell::numbered(trials, [[0.01], [0.002]])
    },
    trial: |cell, seed| {
        let mut kin = Kin::new(pareto_params(cell), seed);
        let mut exact: HashMap<u64, u64> = HashMap::new();
        for key in ParetoKeys::new(0.6, 1.0, seed).take(EVENTS) {
            kin.insert(key);
            *exact.entry(key).or_default() += 1;
        }
        let mut counts: Vec<(u64, u64)> = exact.into_iter().map(|(key, count)| (count, key)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        KINDS.iter().flat_map(|&kind| kin.errors(kind, &counts)).collect()
    },
    rows: |cell, outcomes| {
        let params = pareto_params(cell);
        let row = |(i, &kind): (usize, &Kind)| {
            let errors = Errors::of(outcomes, i);
            let row = Row::new()
                .real("eps", cell.inputs[0], 1)
                .text("sketch", kind.name())
                .text("w x d", kind.shape(params))
                .count("cells", kind.cells(params))
                .text("largest error", errors.range(Measure::Most))
                .real("mean error", errors.mean_error(), 3)
                .real("mean, either sign", errors.per_key(Measure::Absolute), 3)
                .real("hottest key's mean error", laws::mean(&errors.column(Measure::Hottest)), 3)
                .real("mean error, at most 3 times", errors.rare(Measure::RareSum), 3)
                .percent("of the top 10 found", laws::mean(&errors.column(Measure::Found)), 3)
                .percent("keys too low", errors.per_key(Measure::Under), 3);
            errors.judged(kind, params, row)
        };
        KINDS.iter().enumerate().map(row).collect()
    },
    plot: None,
};

fn pareto_params(cell: &Cell) -> CountMinParams {
    CountMinParams::for_error(cell.inputs[0], DELTA).expect("targets of the table")
}

/// How a count is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Plain,
    /// The plain sketch, asked without bias.
    Debiased,
    Conservative,
    Signed,
}

pub(super) const KINDS: [Kind; 4] = [Kind::Plain, Kind::Conservative, Kind::Debiased, Kind::Signed];

/// Rows of the count-sketch.
const SIGNED_ROWS: u32 = 5;

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "count-min",
            Self::Debiased => "count-min, debiased",
            Self::Conservative => "conservative",
            Self::Signed => "count-sketch",
        }
    }

    pub(super) fn shape(self, params: CountMinParams) -> String {
        match self {
            Self::Signed => format!("{} x {SIGNED_ROWS}", signed(params).width()),
            _ => format!("{} x {}", params.width(), params.depth()),
        }
    }

    pub(super) fn cells(self, params: CountMinParams) -> u64 {
        if self == Self::Signed { signed(params).cells() } else { params.cells() }
    }
}

/// The count-sketch of as many cells of 4 bytes, or the fewest less that a whole width leaves.
fn signed(params: CountMinParams) -> CountSketchParams {
    CountSketchParams::with_shape(params.cells() / u64::from(SIGNED_ROWS), SIGNED_ROWS)
        .expect("a usual shape")
}

/// The sketches of one stream.
pub(super) struct Kin {
    plain: CountMinSketch<u32, WyHasher>,
    conservative: ConservativeCountMin<u32, WyHasher>,
    signed: CountSketch<i32, WyHasher>,
}

impl Kin {
    /// With a hash function of its own: the keys may be the same small numbers in every stream.
    pub(super) fn new(params: CountMinParams, seed: u64) -> Self {
        let hasher = WyHasher::with_seed(seed);
        Self {
            plain: CountMinSketch::with_hasher(params, hasher),
            conservative: ConservativeCountMin::with_hasher(params, hasher),
            signed: CountSketch::with_hasher(signed(params), hasher),
        }
    }

    pub(super) fn insert(&mut self, key: u64) {
        self.plain.insert(&key);
        self.conservative.insert(&key);
        self.signed.insert(&key).expect("a weight within the cells");
    }

    fn estimate(&self, kind: Kind, key: u64) -> f64 {
        match kind {
            Kind::Plain => self.plain.estimate(&key) as f64,
            Kind::Debiased => self.plain.estimate_debiased(&key),
            Kind::Conservative => self.conservative.estimate(&key) as f64,
            Kind::Signed => self.signed.estimate(&key) as f64,
        }
    }

    /// Measures of one kind, in the order of [`Measure`], on the counts of all keys, the greatest first.
    pub(super) fn errors(&self, kind: Kind, counts: &[(u64, u64)]) -> Vec<f64> {
        const ALERT: u64 = 100;
        let total: u64 = counts.iter().map(|&(count, _)| count).sum();
        let f2: f64 = counts.iter().map(|&(count, _)| (count * count) as f64).sum();
        let bound = match kind {
            Kind::Signed => self.signed.params().epsilon() * libm::sqrt(f2),
            _ => self.plain.params().error_bound(total) as f64,
        };
        let threshold = (total / ALERT) as f64;
        let mut measures = [0.0; Measure::COUNT];
        let mut add = |measure: Measure, value: f64| measures[measure as usize] += value;
        let (mut most, mut estimates) = (0.0f64, Vec::new());
        for &(count, key) in counts {
            let (estimate, exact) = (self.estimate(kind, key), count as f64);
            let error = estimate - exact;
            most = most.max(error.abs());
            add(Measure::Sum, error);
            add(Measure::Absolute, error.abs());
            add(Measure::Under, indicator(error < 0.0));
            add(Measure::Beyond, indicator(error.abs() > bound));
            add(Measure::Missed, indicator(exact > threshold && estimate <= threshold));
            let ceiling = self.estimate(Kind::Plain, key);
            add(Measure::Outside, indicator(!(0.0..=ceiling).contains(&estimate)));
            if count <= RARE {
                add(Measure::RareKeys, 1.0);
                add(Measure::RareSum, error);
                add(Measure::RareAbsolute, error.abs());
            }
            estimates.push((estimate, count));
        }
        add(Measure::Keys, counts.len() as f64);
        add(Measure::Most, most);
        add(Measure::Hottest, estimates[0].0 - estimates[0].1 as f64);
        let frequent = &estimates[..estimates.len().min(FREQUENT)];
        add(Measure::Frequent, mean_error(frequent));
        // Of equal estimates and counts it does not matter which come first.
        let tenth = counts[TOP.min(counts.len()) - 1].0;
        estimates.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let found = estimates.iter().take(TOP).filter(|&&(_, count)| count >= tenth).count();
        add(Measure::Found, found as f64 / TOP.min(counts.len()) as f64);
        measures.into()
    }
}

/// The greatest of all estimates that are looked at.
const TOP: usize = 10;

/// The most frequent keys, whose error is shown apart.
const FREQUENT: usize = 100;

/// What occurred so often or less is rare.
const RARE: u64 = 3;

fn indicator(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// The mean of |error|.
fn mean_error(estimates: &[(f64, u64)]) -> f64 {
    let sum: f64 = estimates.iter().map(|&(estimate, count)| (estimate - count as f64).abs()).sum();
    sum / estimates.len() as f64
}

/// What a trial measures of a kind.
#[derive(Clone, Copy)]
pub(super) enum Measure {
    Keys,
    Sum,
    Absolute,
    Most,
    Under,
    Beyond,
    Missed,
    Outside,
    RareKeys,
    RareSum,
    RareAbsolute,
    Hottest,
    Frequent,
    Found,
}

impl Measure {
    const COUNT: usize = Self::Found as usize + 1;
}

/// The measures of one kind, trial by trial.
pub(super) struct Errors<'a> {
    outcomes: &'a [Vec<f64>],
    kind: usize,
}

impl<'a> Errors<'a> {
    pub(super) fn of(outcomes: &'a [Vec<f64>], kind: usize) -> Self {
        Self { outcomes, kind }
    }

    pub(super) fn column(&self, measure: Measure) -> Vec<f64> {
        let at = self.kind * Measure::COUNT + measure as usize;
        self.outcomes.iter().map(|outcome| outcome[at]).collect()
    }

    fn sum(&self, measure: Measure) -> f64 {
        self.column(measure).iter().sum()
    }

    /// Over all keys of all trials.
    pub(super) fn per_key(&self, measure: Measure) -> f64 {
        self.sum(measure) / self.sum(Measure::Keys)
    }

    /// Over the rare ones of them.
    pub(super) fn rare(&self, measure: Measure) -> f64 {
        self.sum(measure) / self.sum(Measure::RareKeys)
    }

    pub(super) fn mean_error(&self) -> f64 {
        self.per_key(Measure::Sum)
    }

    pub(super) fn range(&self, measure: Measure) -> String {
        let column = self.column(measure);
        let low = column.iter().copied().fold(f64::INFINITY, f64::min);
        let high = column.iter().copied().fold(0.0, f64::max);
        format!("{low:.0}-{high:.0}")
    }

    /// The row with what the kind promises.
    pub(super) fn judged(&self, kind: Kind, params: CountMinParams, row: Row) -> Row {
        let keys = self.sum(Measure::Keys) as u64;
        let count = |measure| self.sum(measure) as u64;
        let none = |measure| laws::all_hold(count(measure), keys);
        match kind {
            Kind::Plain | Kind::Conservative => row
                .check("never under", none(Measure::Under))
                .check("no alert missed", none(Measure::Missed))
                .check("not above the plain sketch", none(Measure::Outside))
                .check("delta", laws::rate_at_most(count(Measure::Beyond), keys, params.delta())),
            Kind::Debiased => row.check("within 0 and the plain sketch", none(Measure::Outside)),
            Kind::Signed => {
                let per_trial = |(sum, keys): (&f64, &f64)| sum / keys;
                let (sums, counts) = (self.column(Measure::Sum), self.column(Measure::Keys));
                let means: Vec<f64> = sums.iter().zip(&counts).map(per_trial).collect();
                let mean = laws::mean(&means);
                let deviations: Vec<f64> = means.iter().map(|value| value - mean).collect();
                let trials = means.len() as u64;
                row.check("delta", laws::rate_at_most(count(Measure::Beyond), keys, signed(params).delta()))
                    .check("mean", laws::bias_is_zero(mean, laws::rmse(&deviations), trials, 0.0))
            }
        }
    }
}
