//! Statistical laws: what is accepted as "the promise holds", without hand-picked tolerances.
//!
//! Every law rejects a true claim with probability at most [`ALPHA`] per tail, and gives the interval that it
//! accepts. A law that has nothing to judge (no trials, a NaN, a parameter outside its domain) fails.
//!
//! | law | statistic | tail bound |
//! |---|---|---|
//! | [`rate_is`], [`rate_at_most`], [`rate_at_least`] | hits out of trials | Chernoff: `trials KL(observed ‖ predicted) <= ln(1/ALPHA)` |
//! | [`rmse_is`], [`rmse_is_within`], [`rmse_at_most`] | `T RMSE^2 / sigma^2`, chi-square of `T` | Chernoff: `T/2 (r - 1 - ln r) <= ln(1/ALPHA)` |
//! | [`chi_square_uniform`] | bucket chi-square of `k - 1` | the same |
//! | [`bias_is_zero`], [`mean_at_most`] | a mean | normal: `Z sigma / sqrt(T)` |
//! | [`all_hold`], [`equals`], [`at_most`], [`at_least`] | no chance involved | none |
//!
//! The chi-square bound is the one that Laurent and Massart relax to `1 - 2 sqrt(x/T) .. 1 + 2 sqrt(x/T) + 2x/T`
//! \[Laurent00\]; unrelaxed, it keeps a lower tail where `T` is below `4x`, 83 trials.

mod moments;
mod rates;

use std::fmt;

pub use moments::{
    bias_is_zero, chi_square_uniform, mean, mean_at_most, rmse, rmse_at_most, rmse_is, rmse_is_within,
};
pub use rates::{rate_at_least, rate_at_most, rate_is};

use crate::significant;

/// The probability, per tail, that a law rejects a claim that is true: one in a thousand million.
pub const ALPHA: f64 = 1e-9;

/// The normal quantile of [`ALPHA`], two-sided: `erfc(Z / sqrt(2)) = ALPHA`.
pub const Z: f64 = 6.109_410_204_869;

/// What a law found, and what it would have accepted.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the claim holds by the law.
    pub pass: bool,
    /// The statistic: a rate, an RMSE, a mean, a chi-square per degree of freedom.
    pub observed: f64,
    /// The least value that is accepted, in the unit of `observed`; NaN if nothing could be judged.
    pub low: f64,
    /// The greatest value that is accepted; NaN if nothing could be judged.
    pub high: f64,
}

impl Verdict {
    /// Fails a test, with the numbers.
    ///
    /// # Panics
    ///
    /// If the law did not pass.
    #[track_caller]
    pub fn assert(self, claim: &str) {
        assert!(self.pass, "{claim}: {self}");
    }

    /// The verdict where there is nothing to judge: a failure.
    fn undecidable(observed: f64) -> Self {
        Self { pass: false, observed, low: f64::NAN, high: f64::NAN }
    }

    /// Accepts a closed interval. A NaN anywhere fails.
    fn within(observed: f64, low: f64, high: f64) -> Self {
        Self { pass: low <= observed && observed <= high, observed, low, high }
    }
}

/// The statistic and the accepted interval, to five digits: `0.010123 within [0.0098, 0.0102]`.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: usize = 5;
        let relation = if self.pass { "within" } else { "outside" };
        let [observed, low, high] = [self.observed, self.low, self.high].map(|x| significant(x, DIGITS));
        write!(f, "{observed} {relation} [{low}, {high}]")
    }
}

/// Passes if none of `trials` cases failed. For claims without a chance of failure, such as "no false negative".
pub fn all_hold(failures: u64, trials: u64) -> Verdict {
    if trials == 0 {
        return Verdict::undecidable(f64::NAN);
    }
    Verdict::within(failures as f64, 0.0, 0.0)
}

/// Passes if two numbers are equal; NaN equals nothing.
pub fn equals(observed: f64, expected: f64) -> Verdict {
    Verdict::within(observed, expected, expected)
}

/// Passes if a number that no chance is involved in, such as a size, is at most `bound`.
pub fn at_most(observed: f64, bound: f64) -> Verdict {
    Verdict::within(observed, f64::NEG_INFINITY, bound)
}

/// Passes if a number that no chance is involved in is at least `bound`.
pub fn at_least(observed: f64, bound: f64) -> Verdict {
    Verdict::within(observed, bound, f64::INFINITY)
}

/// The least number that a Poisson variable of this mean exceeds with probability at most [`ALPHA`]: for rare events
/// that a normal law does not fit. Infinite mean, infinite limit.
pub fn poisson_limit(mean: f64) -> f64 {
    if !(mean >= 0.0 && mean.is_finite()) {
        return f64::INFINITY;
    }
    // Chernoff's bound: P(X >= x) <= exp(-(x ln(x / mean) - x + mean)).
    let excess = |x: f64| if mean == 0.0 { f64::INFINITY } else { x * libm::log(x / mean) - x + mean };
    let mut limit = libm::floor(mean);
    while excess(limit + 1.0) < log_odds() {
        limit += 1.0;
    }
    limit
}

/// `ln(1/ALPHA)`.
fn log_odds() -> f64 {
    -libm::log(ALPHA)
}

/// The point farthest from `inside` towards `outside` that is accepted, where acceptance is lost once on the way.
fn edge(inside: f64, outside: f64, accepted: impl Fn(f64) -> bool) -> f64 {
    if accepted(outside) {
        return outside;
    }
    let (mut good, mut bad) = (inside, outside);
    loop {
        let middle = f64::midpoint(good, bad);
        // Neighbours: no number lies between.
        if middle <= good.min(bad) || middle >= good.max(bad) {
            return good;
        }
        if accepted(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poisson_variable_stays_below_its_limit() {
        for (mean, atoms) in [(0.0f64, 1), (0.001, 10), (0.1, 40), (1.0, 100), (20.0, 200)] {
            let limit = poisson_limit(mean);
            let mut term = libm::exp(-mean);
            let mut tail = 0.0;
            for x in 0..atoms {
                if f64::from(x) > limit {
                    tail += term;
                }
                term *= mean / f64::from(x + 1);
            }
            assert!(tail <= ALPHA, "mean {mean}: {tail:e} beyond {limit}");
        }
        assert!(poisson_limit(0.001) <= 3.0 && poisson_limit(1.0) <= 14.0);
        assert!(poisson_limit(f64::NAN).is_infinite());
    }

    #[test]
    fn z_is_the_quantile_of_alpha() {
        let tails = libm::erfc(Z / std::f64::consts::SQRT_2);
        assert!((tails / ALPHA - 1.0).abs() < 1e-10, "{tails:e}");
    }

    #[test]
    fn laws_without_chance_compare_and_fail_on_nan_and_on_no_trials() {
        assert!(all_hold(0, 5).pass && !all_hold(1, 5).pass && !all_hold(0, 0).pass);
        assert!(equals(2.0, 2.0).pass && !equals(2.0, 2.5).pass && !equals(f64::NAN, f64::NAN).pass);
        assert!(at_most(2.0, 2.0).pass && !at_most(2.1, 2.0).pass);
        assert!(!at_most(f64::NAN, 2.0).pass && !at_most(2.0, f64::NAN).pass);
        assert!(at_least(2.0, 2.0).pass && !at_least(1.9, 2.0).pass && !at_least(f64::NAN, 0.0).pass);
    }

    #[test]
    fn a_verdict_reads_as_a_sentence() {
        assert_eq!(equals(3.0, 2.0).to_string(), "3.0000 outside [2.0000, 2.0000]");
        assert_eq!(at_most(1.0, 2.0).to_string(), "1.0000 within [-inf, 2.0000]");
    }

    #[test]
    #[should_panic(expected = "sizes: 3.0000 outside")]
    fn asserting_a_failure_names_the_claim() {
        at_most(3.0, 2.0).assert("sizes");
    }

    #[test]
    fn the_edge_is_the_last_accepted_number() {
        assert_eq!(edge(0.0, 10.0, |x| x <= 3.0).to_bits(), 3.0f64.to_bits());
        assert_eq!(edge(0.0, -10.0, |x| x >= -0.1).to_bits(), (-0.1f64).to_bits());
        assert_eq!(edge(0.0, 10.0, |_| true).to_bits(), 10.0f64.to_bits());
    }
}
