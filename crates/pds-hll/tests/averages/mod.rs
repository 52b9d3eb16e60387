//! What many sketches of either kind are held to on average.

use pds_testkit::{DistinctKeys, laws, seed_for};

/// A precision, independent trials, and what is granted: a bias that is left, and a share by which the spread may
/// miss the prediction (which is that of the best estimator, for large m).
pub(crate) struct Case {
    pub(crate) precision: u8,
    pub(crate) trials: u64,
    pub(crate) bias: f64,
    pub(crate) slack: f64,
}

/// Of a normal error within 1, 2 and 3 standard deviations.
pub(crate) const NOMINAL: [f64; 3] = [0.6827, 0.9545, 0.9973];

/// What a trial saw at a count: the estimate, and the bounds for 1, 2 and 3, where they are looked at.
pub(crate) type Snapshot = (f64, Option<[(f64, f64); 3]>);

/// The snapshots at increasing counts of each trial.
pub(crate) fn trials<S: Extend<u64>>(
    id: &str,
    case: &Case,
    counts: &[u64],
    empty: impl Fn() -> S,
    look: impl Fn(&S, u64) -> Snapshot,
) -> Vec<Vec<Snapshot>> {
    let trial = |t| {
        let mut sketch = empty();
        let keys = DistinctKeys::new(seed_for(id, case.precision.into(), t));
        let mut done = 0;
        let snapshot = |&count: &u64| {
            sketch.extend(keys.range(done..count));
            done = count;
            look(&sketch, count)
        };
        counts.iter().map(snapshot).collect()
    };
    (0..case.trials).map(trial).collect()
}

/// Asserts that the estimates of the `i`th count, `n`, have no bias beyond what is granted, and from `spread_from` keys on
/// the spread `sigma`.
pub(crate) fn estimates_are_as_predicted(
    case: &Case,
    all: &[Vec<Snapshot>],
    (i, n): (usize, u64),
    sigma: f64,
    spread_from: u64,
) {
    let name = format!("p = {}, n = {n}", case.precision);
    let errors: Vec<f64> = all.iter().map(|snapshots| snapshots[i].0 / n as f64 - 1.0).collect();
    laws::bias_is_zero(laws::mean(&errors), sigma, case.trials, case.bias).assert(&format!("{name}: bias"));
    if n >= spread_from {
        laws::rmse_is_within(&errors, sigma, case.slack).assert(&format!("{name}: spread"));
    }
}

/// Asserts that `estimate` of so many keys, drawn by a seed, has no bias and the spread that is predicted, to the end of
/// the range.
pub(crate) fn large_counts_keep_their_precision(
    id: &str,
    (precision, trials): (u8, u64),
    predicted_error: impl Fn(u64) -> f64,
    estimate: impl Fn(f64, u64) -> f64,
) {
    /// Granted to both, as at many keys in reach: a bias, and a share of the spread.
    const BIAS: f64 = 0.0005;
    const SLACK: f64 = 0.04;
    for log2 in [30, 40, 50, 43 + u64::from(precision), 45 + u64::from(precision)] {
        let keys = (1u64 << log2) as f64;
        let errors: Vec<f64> =
            (0..trials).map(|t| estimate(keys, seed_for(id, log2, t)) / keys - 1.0).collect();
        let case = format!("p = {precision}, n = 2^{log2}");
        let sigma = predicted_error(1 << log2);
        laws::bias_is_zero(laws::mean(&errors), sigma, trials, BIAS).assert(&case);
        laws::rmse_is_within(&errors, sigma, SLACK).assert(&case);
    }
}
