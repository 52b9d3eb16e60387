//! Quantiles of every kind of stream: errors of values and ranks, bytes, and the promises at every share.

use pds_quantiles::{Contract, Quantiles};
use pds_testkit::{Cell, ExactQuantiles, Experiment, Row, Scale, Value, laws};

use super::quantile_sketches::{ALPHA, Kind, Made, SHARES, Stream, exact_quantile, relative};

/// The shares of the columns: p50, p90, p99, p99.9, p99.99.
const COLUMNS: [usize; 5] = [5000, 9000, 9900, 9990, 9999];

/// The mean error of the rank of p99.9 that a t-digest of compression 200 is made for, over streams of `TARGET_VALUES`.
const TARGET: f64 = 14e-6;
const TARGET_VALUES: f64 = 100_000.0;
/// The bytes that it may take for that.
const TARGET_BYTES: f64 = 1500.0;

/// A part in a million.
const PPM: f64 = 1e-6;

pub(super) const VALUES: Experiment = Experiment {
    id: "quantile-values",
    table: Some("T12"),
    claim: "DDSketch at 1% gives every quantile of any stream within 1% of its value; the others promise nothing of values.",
    law: "of 10,001 quantiles in each trial: none of a DDSketch beyond alpha, none below that of a lesser share, none outside \
          minimum and maximum; of at most four distinct values a t-digest gives every quantile exactly. Columns are the greatest \
          errors over the trials; \"not 0\" is another estimate of a quantile that is 0.",
    cells: |scale| cells(scale, scale.pick(2, 3, 50, 500)),
    trial,
    rows: |cell, outcomes| {
        let row = |(i, kind): (usize, Kind)| {
            let (own, asked) = (Own::of(i, outcomes), (SHARES as u64 + 1) * cell.trials);
            let stream = Stream::of(cell.inputs[0]);
            let errors = |column: usize| own.column(COLUMNS.len() + column);
            let greatest = |column: usize| match errors(column).fold(0.0, f64::max) {
                value if value.is_finite() => Value::Percent { value, digits: 3 },
                _ => Value::Text("not 0".to_owned()),
            };
            let row = Row::new()
                .text("values", stream.name())
                .text("sketch", kind.name())
                .with("p50", greatest(0))
                .with("p90", greatest(1))
                .with("p99", greatest(2))
                .with("p99.9", greatest(3))
                .with("p99.99", greatest(4))
                .check("ascending, in range", laws::all_hold(own.sum(Own::DISORDER), asked));
            if kind.is_ddsketch() {
                row.check("alpha", laws::all_hold(own.sum(Own::BEYOND), asked))
            } else if kind.is_digest() && stream.is_discrete() {
                row.check("exact", laws::all_hold(own.sum(Own::INEXACT), asked))
            } else {
                row
            }
        };
        Kind::ALL.into_iter().enumerate().map(row).collect()
    },
    plot: None,
};

pub(super) const RANKS: Experiment = Experiment {
    id: "quantile-ranks",
    table: Some("T12"),
    claim: "A t-digest's ranks are sharpest in the tails; those of KLL are off by at most its bound, on any stream.",
    law: "t-digest of compression 200, streams with a density, 100,000 values: the mean rank error of p99.9 at most 14 ppm, but for \
          what its spread explains, in at most 1.5 kB. KLL: trials in which any of 10,001 ranks is off by more than the bound at most \
          as many as its confidence leaves, by Chernoff's law. Columns are means over the trials.",
    cells: |scale| cells(scale, scale.pick(2, 4, 100, 1000)),
    trial,
    rows: |cell, outcomes| {
        let row = |(i, kind): (usize, Kind)| {
            let own = Own::of(i, outcomes);
            let stream = Stream::of(cell.inputs[0]);
            let ppm = |column: usize| laws::mean(&own.column(column).collect::<Vec<_>>()) / PPM;
            let bytes = own.column(Own::BYTES).fold(0.0, f64::max);
            let row = Row::new()
                .text("values", stream.name())
                .text("sketch", kind.name())
                .count("bytes", bytes as u64)
                .real("p50, ppm", ppm(0), 3)
                .real("p90, ppm", ppm(1), 3)
                .real("p99, ppm", ppm(2), 3)
                .real("p99.9, ppm", ppm(3), 3)
                .real("p99.99, ppm", ppm(4), 3);
            match kind {
                Kind::Digest200 if stream.is_smooth() && cell.inputs[1] == TARGET_VALUES => {
                    let errors: Vec<f64> = own.column(3).collect();
                    row.check("p99.9", laws::mean_at_most(&errors, TARGET))
                        .check("bytes", laws::at_most(bytes, TARGET_BYTES))
                }
                Kind::Kll => {
                    let (beyond, doubt) = (own.sum(Own::BEYOND), 1.0 - pds_quantiles::KllParams::CONFIDENCE);
                    row.check("rank bound", laws::rate_at_most(beyond, cell.trials, doubt))
                }
                _ => row,
            }
        };
        Kind::ALL.into_iter().enumerate().map(row).collect()
    },
    plot: None,
};

/// A cell for each stream.
fn cells(scale: Scale, trials: u64) -> Vec<Cell> {
    let n = scale.pick(5_000.0, TARGET_VALUES, TARGET_VALUES, TARGET_VALUES);
    let cell = |i: usize| Cell { index: i as u64, trials, inputs: vec![i as f64, n] };
    (0..Stream::ALL.len()).map(cell).collect()
}

/// The outcomes of one sketch.
struct Own<'a> {
    first: usize,
    outcomes: &'a [Vec<f64>],
}

impl<'a> Own<'a> {
    /// Behind the errors of ranks and values.
    const BYTES: usize = 2 * COLUMNS.len();
    const DISORDER: usize = Self::BYTES + 1;
    const BEYOND: usize = Self::BYTES + 2;
    const INEXACT: usize = Self::BYTES + 3;
    const LEN: usize = Self::BYTES + 4;

    fn of(sketch: usize, outcomes: &'a [Vec<f64>]) -> Self {
        Self { first: sketch * Self::LEN, outcomes }
    }

    fn column(&self, i: usize) -> impl Iterator<Item = f64> + use<'a> {
        let column = self.first + i;
        self.outcomes.iter().map(move |outcome| outcome[column])
    }

    fn sum(&self, i: usize) -> u64 {
        self.column(i).sum::<f64>() as u64
    }
}

/// All sketches of one stream, each with the outcomes of [`Own`].
fn trial(cell: &Cell, seed: u64) -> Vec<f64> {
    let values = Stream::of(cell.inputs[0]).values(seed, cell.inputs[1] as usize);
    let sketches = Kind::ALL.map(|kind| (kind, kind.sketch(&values, seed)));
    let exact = ExactQuantiles::new(values);
    let judge = |(kind, sketch): &(Kind, Made)| {
        judged(*kind, sketch.snapshot().as_ref(), sketch.to_bytes().len(), &exact)
    };
    sketches.iter().flat_map(judge).collect()
}

fn judged(kind: Kind, answers: &dyn Quantiles, bytes: usize, exact: &ExactQuantiles) -> Vec<f64> {
    let at = |share: usize| answers.quantile(share as f64 / SHARES as f64).unwrap_or(f64::NAN);
    let mut own: Vec<f64> = COLUMNS
        .into_iter()
        .map(|share| exact.rank_error(share as f64 / SHARES as f64, at(share)))
        .chain(COLUMNS.into_iter().map(|share| relative(at(share), exact_quantile(exact, share))))
        .collect();

    let range = (exact_quantile(exact, 0), exact_quantile(exact, SHARES));
    let epsilon = match answers.contract() {
        Contract::Rank { epsilon, .. } => epsilon,
        _ => 0.0,
    };
    // Nothing has collapsed: the promise is for all quantiles.
    let promised = Contract::RelativeValue { alpha: ALPHA, valid_from_q: 0.0, valid_to_q: 1.0 };
    let broken = kind.is_ddsketch() && answers.contract() != promised;
    let (mut disorder, mut beyond, mut inexact) = (0, u64::from(broken), 0);
    let mut last = f64::NEG_INFINITY;
    for share in 0..=SHARES {
        let (estimate, value) = (at(share), exact_quantile(exact, share));
        let in_order = last <= estimate && range.0 <= estimate && estimate <= range.1;
        disorder += u64::from(!in_order);
        inexact += u64::from(estimate != value);
        let off = if kind.is_ddsketch() {
            (estimate - value).abs() > ALPHA * value.abs()
        } else {
            epsilon > 0.0 && exact.rank_error(share as f64 / SHARES as f64, estimate) > epsilon
        };
        beyond += u64::from(off);
        last = estimate;
    }
    // KLL promises all ranks of a sketch at once.
    let beyond = if kind == Kind::Kll { beyond.min(1) } else { beyond };
    own.extend([bytes as f64, disorder as f64, beyond as f64, inexact as f64]);
    own
}
