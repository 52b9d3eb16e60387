//! Laws of rates: hits out of independent trials.

use super::{Verdict, edge, log_odds};

/// Passes if `hits` out of `trials` agree with the probability `predicted`.
///
/// Accepts iff `trials KL(hits/trials ‖ predicted) <= ln(1/ALPHA)`. For independent trials each tail has
/// probability at most [`ALPHA`](super::ALPHA), whatever their number; 0 and 1 are legal predictions and allow no exception.
///
/// To tell a rate `p` from `p (1 + d)` takes about `8 ln(1/ALPHA) / (p d^2)` trials: 1.7 million for `p` = 0.01
/// and a tenth.
///
/// # Source
///
/// Chernoff's bound in the form of \[Hoeffding63, Theorem 1\].
pub fn rate_is(hits: u64, trials: u64, predicted: f64) -> Verdict {
    judge(hits, trials, predicted, true, true)
}

/// Passes unless `hits` out of `trials` is more than a probability of at most `promised` explains.
///
/// The upper tail of [`rate_is`]. A promise above 1 is kept by anything.
pub fn rate_at_most(hits: u64, trials: u64, promised: f64) -> Verdict {
    let predicted = if promised > 1.0 { 1.0 } else { promised };
    judge(hits, trials, predicted, false, true)
}

/// Passes unless `hits` out of `trials` is fewer than a probability of at least `promised` explains.
///
/// The lower tail of [`rate_is`]. A promise below 0 is kept by anything.
pub fn rate_at_least(hits: u64, trials: u64, promised: f64) -> Verdict {
    let predicted = if promised < 0.0 { 0.0 } else { promised };
    judge(hits, trials, predicted, true, false)
}

fn judge(hits: u64, trials: u64, rate: f64, lower_tail: bool, upper_tail: bool) -> Verdict {
    let observed = hits as f64 / trials as f64;
    // A rate that is NaN is in no range.
    if trials == 0 || hits > trials || !(0.0..=1.0).contains(&rate) {
        return Verdict::undecidable(observed);
    }
    let accepted = |x| trials as f64 * divergence(x, rate) <= log_odds();
    let low = if lower_tail { edge(rate, 0.0, accepted) } else { 0.0 };
    let high = if upper_tail { edge(rate, 1.0, accepted) } else { 1.0 };
    Verdict::within(observed, low, high)
}

/// The Kullback-Leibler divergence of two Bernoulli distributions, in nats.
fn divergence(observed: f64, predicted: f64) -> f64 {
    // 0 ln 0 = 0, and observing the impossible diverges.
    let heads = if observed <= 0.0 { 0.0 } else { observed * libm::log(observed / predicted) };
    let tails = if observed >= 1.0 {
        0.0
    } else {
        (1.0 - observed) * (libm::log1p(-observed) - libm::log1p(-predicted))
    };
    heads + tails
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    /// Independent trials of a probability.
    fn hits(trials: u64, probability: f64, seed: u64) -> u64 {
        let mut random = SplitMix64::new(seed);
        (0..trials).map(|_| u64::from(random.next_f64() < probability)).sum()
    }

    #[test]
    fn the_true_rate_is_accepted_over_many_seeds() {
        for (trials, rate) in [(1, 0.3), (100, 0.01), (10_000, 0.5), (100_000, 0.001), (1_000_000, 0.01)] {
            for seed in 0..100 {
                let hits = hits(trials, rate, seed);
                rate_is(hits, trials, rate).assert("rate");
                rate_at_most(hits, trials, rate).assert("at most");
                rate_at_least(hits, trials, rate).assert("at least");
            }
        }
    }

    #[test]
    fn a_rate_off_by_a_tenth_is_rejected_at_the_documented_number_of_trials() {
        let trials = 1_700_000;
        for seed in 0..10 {
            let above = hits(trials, 0.011, seed);
            assert!(!rate_is(above, trials, 0.01).pass && !rate_at_most(above, trials, 0.01).pass);
            assert!(rate_at_least(above, trials, 0.01).pass);
            let below = hits(trials, 0.009, seed);
            assert!(!rate_is(below, trials, 0.01).pass && !rate_at_least(below, trials, 0.01).pass);
            assert!(rate_at_most(below, trials, 0.01).pass);
        }
    }

    #[test]
    fn a_rate_off_by_a_fifth_is_rejected_at_half_a_million_trials() {
        for seed in 0..10 {
            assert!(!rate_is(hits(500_000, 0.012, seed), 500_000, 0.01).pass);
            assert!(!rate_is(hits(500_000, 0.008, seed), 500_000, 0.01).pass);
        }
    }

    #[test]
    fn certain_and_impossible_predictions_allow_no_exception() {
        assert!(rate_is(0, 1000, 0.0).pass && !rate_is(1, 1000, 0.0).pass);
        assert!(rate_is(1000, 1000, 1.0).pass && !rate_is(999, 1000, 1.0).pass);
        assert!(rate_at_most(0, 10, 0.0).pass && !rate_at_most(1, 10, 0.0).pass);
        assert!(rate_at_most(10, 10, 1.0).pass && rate_at_most(10, 10, 1.5).pass);
        assert!(rate_at_least(0, 10, 0.0).pass && rate_at_least(0, 10, -0.5).pass);
        assert!(rate_at_least(10, 10, 1.0).pass && !rate_at_least(9, 10, 1.0).pass);
    }

    #[test]
    fn nothing_passes_without_trials_or_with_nonsense() {
        for law in [rate_is, rate_at_most, rate_at_least] {
            assert!(!law(0, 0, 0.5).pass);
            assert!(!law(1, 0, 0.5).pass);
            assert!(!law(0, 10, f64::NAN).pass);
            assert!(!law(10, 10, f64::NAN).pass);
            assert!(!law(11, 10, 1.0).pass);
        }
        assert!(!rate_is(0, 10, -0.1).pass && !rate_is(10, 10, 1.1).pass);
        assert!(!rate_at_most(0, 10, -0.1).pass && !rate_at_least(10, 10, 1.1).pass);
    }

    #[test]
    fn the_interval_ends_where_the_divergence_reaches_its_limit() {
        let verdict = rate_is(5000, 1_000_000, 0.005);
        for end in [verdict.low, verdict.high] {
            let exponent = 1e6 * divergence(end, 0.005) / log_odds();
            assert!((exponent - 1.0).abs() < 1e-6, "{verdict}");
        }
        // A rate near 0 keeps its relative precision.
        let rare = rate_is(1, 10_000_000_000, 1e-10);
        assert!(rare.pass && rare.high > 1e-9 && rare.high < 1e-8, "{rare}");
    }
}
