//! Laws of means, deviations and bucket counts.

use super::{Verdict, Z, edge, log_odds};

/// Fewest expected hits per bucket at which a bucket chi-square is near its limit distribution \[Cochran54\].
const MIN_EXPECTED: f64 = 5.0;

/// The arithmetic mean, summed in order; NaN of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The root of the mean square, summed in order; NaN of nothing.
pub fn rmse(errors: &[f64]) -> f64 {
    let sum: f64 = errors.iter().map(|error| error * error).sum();
    libm::sqrt(sum / errors.len() as f64)
}

/// Passes if the root mean square of independent errors agrees with a predicted standard error `sigma`.
///
/// `T RMSE^2 / sigma^2` is chi-square of `T` degrees if the errors are normal with mean 0. With `r` the ratio
/// of RMSE^2 to sigma^2, accepts iff `T/2 (r - 1 - ln r) <= ln(1/ALPHA)`. Too small an RMSE is rejected
/// too: it means that the trials are not independent, or that the prediction is idle. A `sigma` of 0 claims
/// that there is no error at all.
///
/// To tell `sigma` from `sigma (1 + d)` takes about `4 ln(1/ALPHA) / d^2` trials: 8,300 for a tenth.
pub fn rmse_is(errors: &[f64], sigma: f64) -> Verdict {
    rmse_is_within(errors, sigma, 0.0)
}

/// As [`rmse_is`] for a prediction that is itself only good to a share `slack` of it: 0.05 for five per cent.
///
/// The accepted interval reaches from that of `sigma (1 - slack)` to that of `sigma (1 + slack)`.
pub fn rmse_is_within(errors: &[f64], sigma: f64, slack: f64) -> Verdict {
    judge_rmse(errors, sigma, 1.0 - slack, 1.0 + slack)
}

/// Passes unless the root mean square of independent errors is more than a standard error of at most `sigma`
/// explains: the upper tail of [`rmse_is`].
pub fn rmse_at_most(errors: &[f64], sigma: f64) -> Verdict {
    judge_rmse(errors, sigma, 0.0, 1.0)
}

/// Passes if the mean of `trials` independent errors of standard error `sigma` is 0, but for a stated tolerance.
///
/// Accepts iff `|mean| <= Z sigma / sqrt(trials) + tolerance`; both are in the unit of the errors. The mean must
/// be near normal, as it is by the central limit theorem.
pub fn bias_is_zero(mean: f64, sigma: f64, trials: u64, tolerance: f64) -> Verdict {
    let allowed = Z * sigma / libm::sqrt(trials as f64) + tolerance;
    // Without trials the quotient is infinite and would allow anything; negative inputs are mistakes.
    if trials == 0 || !(sigma >= 0.0 && tolerance >= 0.0 && allowed.is_finite()) {
        return Verdict::undecidable(mean);
    }
    Verdict::within(mean, -allowed, allowed)
}

/// Passes unless the mean of independent values exceeds `bound` by more than its own spread explains.
///
/// Accepts iff `mean <= bound + Z s / sqrt(T)` with `s` the standard deviation of the sample; one value alone
/// must keep the bound. Meant for a hundred trials or more: with few, `s` is itself uncertain.
pub fn mean_at_most(values: &[f64], bound: f64) -> Verdict {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let degrees = values.len().saturating_sub(1).max(1);
    let spread = Z * libm::sqrt(squares / degrees as f64 / values.len() as f64);
    Verdict::within(mean, f64::NEG_INFINITY, bound + spread)
}

/// Where the chance of perfectly even counts is far below any level.
const BUCKETS_FOR_LOWER_TAIL: usize = 32;

/// Passes if counts of independent hits are uniform over their buckets.
///
/// The statistic is the chi-square divided by its degrees of freedom, one less than buckets; with it as `r` the
/// law is that of [`rmse_is`]. From 32 buckets on counts that are too even are rejected too; with fewer, whole
/// numbers meet their expectation exactly too often. Needs at least 2 buckets and 5 expected hits in each, and fails
/// below that.
pub fn chi_square_uniform(counts: &[u64]) -> Verdict {
    let total: u128 = counts.iter().map(|&count| u128::from(count)).sum();
    let expected = total as f64 / counts.len() as f64;
    let chi_square: f64 =
        counts.iter().map(|&count| (count as f64 - expected) * (count as f64 - expected)).sum();
    let degrees = counts.len().saturating_sub(1) as f64;
    let observed = chi_square / expected / degrees;
    if counts.len() < 2 || expected < MIN_EXPECTED {
        return Verdict::undecidable(observed);
    }
    let (low, high) = ratios(degrees);
    Verdict::within(observed, if counts.len() < BUCKETS_FOR_LOWER_TAIL { 0.0 } else { low }, high)
}

/// `shrink` and `stretch` move the ends of the interval, as shares of `sigma`.
fn judge_rmse(errors: &[f64], sigma: f64, shrink: f64, stretch: f64) -> Verdict {
    let observed = rmse(errors);
    if errors.is_empty() || !(sigma >= 0.0 && sigma.is_finite() && shrink >= 0.0 && stretch >= 1.0) {
        return Verdict::undecidable(observed);
    }
    let (low, high) = ratios(errors.len() as f64);
    Verdict::within(observed, sigma * shrink * libm::sqrt(low), sigma * stretch * libm::sqrt(high))
}

/// Between which values a chi-square divided by its degrees of freedom lies, but for [`ALPHA`](super::ALPHA) per tail.
fn ratios(degrees: f64) -> (f64, f64) {
    let accepted = |r: f64| degrees / 2.0 * (r - 1.0 - libm::log(r)) <= log_odds();
    let x = log_odds() / degrees;
    // Laurent and Massart's upper end lies beyond the exact one.
    let beyond = 1.0 + 2.0 * libm::sqrt(x) + 2.0 * x;
    (edge(1.0, 0.0, accepted), edge(1.0, beyond, accepted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    fn normals(trials: usize, mean: f64, sigma: f64, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        (0..trials).map(|_| mean + sigma * random.next_normal()).collect()
    }

    /// Hits on 64 buckets of weight 8, but for the first.
    fn buckets(hits: u64, weight_of_the_first: u64, seed: u64) -> [u64; 64] {
        let mut random = SplitMix64::new(seed);
        let mut counts = [0; 64];
        for _ in 0..hits {
            let ball = random.below(63 * 8 + weight_of_the_first);
            counts[ball.checked_sub(weight_of_the_first).map_or(0, |rest| 1 + rest as usize / 8)] += 1;
        }
        counts
    }

    #[test]
    fn the_true_sigma_is_accepted_over_many_seeds() {
        for trials in [1, 2, 10, 100, 1000] {
            for seed in 0..200 {
                let errors = normals(trials, 0.0, 0.03, seed);
                rmse_is(&errors, 0.03).assert("rmse");
                rmse_is_within(&errors, 0.03, 0.05).assert("rmse with slack");
                rmse_at_most(&errors, 0.03).assert("rmse at most");
                bias_is_zero(mean(&errors), 0.03, trials as u64, 0.0).assert("bias");
            }
        }
    }

    #[test]
    fn a_sigma_off_by_a_tenth_is_rejected_at_the_documented_number_of_trials() {
        for seed in 0..10 {
            let errors = normals(8_300, 0.0, 0.03, seed);
            assert!(!rmse_is(&errors, 0.03 / 1.1).pass && !rmse_at_most(&errors, 0.03 / 1.1).pass);
            assert!(!rmse_is(&errors, 0.03 * 1.1).pass && rmse_at_most(&errors, 0.03 * 1.1).pass);
            assert!(!rmse_is_within(&errors, 0.03 / 1.15, 0.05).pass);
            assert!(rmse_is_within(&errors, 0.03 / 1.05, 0.05).pass);
            assert!(rmse_is_within(&errors, 0.03 * 1.05, 0.05).pass);
        }
    }

    #[test]
    fn sigma_0_claims_exactness() {
        assert!(rmse_is(&[0.0, 0.0], 0.0).pass && rmse_at_most(&[0.0], 0.0).pass);
        assert!(!rmse_is(&[0.0, 1e-12], 0.0).pass && !rmse_at_most(&[1e-12], 0.0).pass);
    }

    #[test]
    fn a_bias_of_a_tenth_of_sigma_is_rejected_at_twenty_thousand_trials() {
        for seed in 0..10 {
            let mean = mean(&normals(20_000, 0.003, 0.03, seed));
            assert!(!bias_is_zero(mean, 0.03, 20_000, 0.0).pass);
            assert!(bias_is_zero(mean, 0.03, 20_000, 0.003).pass);
            assert!(!bias_is_zero(-mean, 0.03, 20_000, 0.0).pass);
        }
    }

    #[test]
    fn a_mean_above_its_bound_is_rejected_and_one_below_is_not() {
        for seed in 0..50 {
            let values = normals(10_000, 10.0, 3.0, seed);
            assert!(mean_at_most(&values, 10.0).pass && mean_at_most(&values, 11.0).pass);
            assert!(!mean_at_most(&values, 9.5).pass);
        }
        assert!(mean_at_most(&[2.0], 2.0).pass && !mean_at_most(&[2.1], 2.0).pass);
    }

    #[test]
    fn uniform_counts_are_accepted_and_skewed_or_too_even_ones_are_not() {
        for seed in 0..100 {
            chi_square_uniform(&buckets(64 * 8, 8, seed)).assert("few hits");
            chi_square_uniform(&buckets(100_000, 8, seed)).assert("many hits");
            // One bucket in 64 at half and at one and a half times its share.
            assert!(!chi_square_uniform(&buckets(100_000, 4, seed)).pass);
            assert!(!chi_square_uniform(&buckets(100_000, 12, seed)).pass);
        }
        assert!(!chi_square_uniform(&[1000; 64]).pass);
    }

    #[test]
    fn few_buckets_may_be_perfectly_even() {
        for buckets in 2..32 {
            chi_square_uniform(&vec![10; buckets]).assert("even counts");
        }
        let mut random = SplitMix64::new(1);
        for _ in 0..20_000 {
            let mut counts = [0; 2];
            (0..20).for_each(|_| counts[random.below(2) as usize] += 1);
            chi_square_uniform(&counts).assert("20 balls in 2 buckets");
        }
    }

    #[test]
    fn nothing_passes_without_trials_or_with_nonsense() {
        for law in [rmse_is, rmse_at_most] {
            assert!(!law(&[], 1.0).pass && !law(&[f64::NAN], 1.0).pass && !law(&[1.0], f64::NAN).pass);
            assert!(!law(&[1.0], -1.0).pass && !law(&[1.0], f64::INFINITY).pass);
        }
        assert!(!rmse_is_within(&[1.0], 1.0, f64::NAN).pass && !rmse_is_within(&[1.0], 1.0, -0.1).pass);
        assert!(!bias_is_zero(0.0, 1.0, 0, 0.0).pass && !bias_is_zero(f64::NAN, 1.0, 10, 0.0).pass);
        assert!(!bias_is_zero(0.0, f64::NAN, 10, 0.0).pass && !bias_is_zero(0.0, 1.0, 10, f64::NAN).pass);
        assert!(!bias_is_zero(0.0, -1.0, 10, 9.0).pass && !bias_is_zero(0.0, 1.0, 10, -0.1).pass);
        assert!(!mean_at_most(&[], 1.0).pass && !mean_at_most(&[f64::NAN], 1.0).pass);
        assert!(!mean_at_most(&[0.0], f64::NAN).pass);
        assert!(!chi_square_uniform(&[]).pass && !chi_square_uniform(&[10]).pass);
        assert!(!chi_square_uniform(&[0, 0]).pass && !chi_square_uniform(&[4, 5]).pass);
    }

    #[test]
    fn the_interval_lies_within_that_of_laurent_and_massart() {
        for degrees in [1.0, 10.0, 100.0, 1e4, 1e6] {
            let (low, high) = ratios(degrees);
            let x = log_odds() / degrees;
            assert!(low > 0.0 && low >= 1.0 - 2.0 * libm::sqrt(x));
            assert!(high > 1.0 && high <= 1.0 + 2.0 * libm::sqrt(x) + 2.0 * x);
        }
    }
}
