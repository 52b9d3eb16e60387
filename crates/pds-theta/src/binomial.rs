//! Tails of the binomial distribution, and what they say about its parameters.
//!
//! A hash is kept with probability p; x of n were. Of n nothing is known but that, and the bounds are those n at which so
//! few, or so many, would be kept with no more than the probability of a tail (Clopper and Pearson's construction). Tails are
//! sums of at most some hundreds of terms, all positive; beyond, an expansion about the normal serves.

use core::ops::RangeInclusive;

/// Up to so many kept, or expected to be rejected, tails are summed term by term.
const SUMMED: f64 = 120.0;

/// Bounds of n are searched to this share of them; they are whole numbers and lie to the outside.
const PRECISION: f64 = 1e-9;

/// Width in standard deviations from which on a tail is below the least normal number: nothing is excluded.
const MAX_KAPPA: f64 = 37.0;

/// A probability and its complement, each to full precision.
#[derive(Clone, Copy)]
pub(crate) struct Chance {
    pub(crate) p: f64,
    pub(crate) q: f64,
}

impl Chance {
    /// `threshold` / 2^64.
    pub(crate) fn below(threshold: u64) -> Self {
        const TWO_TO_MINUS_64: f64 = 1.0 / 18_446_744_073_709_551_616.0;
        // The greatest threshold stands for 2^64.
        let above = if threshold == u64::MAX { 0 } else { threshold.wrapping_neg() };
        Self { p: threshold as f64 * TWO_TO_MINUS_64, q: above as f64 * TWO_TO_MINUS_64 }
    }

    fn complement(self) -> Self {
        Self { p: self.q, q: self.p }
    }

    /// ln q.
    fn log_q(self) -> f64 {
        if self.p < 0.5 { libm::log1p(-self.p) } else { libm::log(self.q) }
    }
}

/// The magnitude of a width; NaN is infinite.
fn width(kappa: f64) -> f64 {
    if kappa.is_nan() { f64::INFINITY } else { kappa.abs() }
}

/// The normal probability beyond so many standard deviations, on one side.
fn tail(kappa: f64) -> f64 {
    0.5 * libm::erfc(kappa * core::f64::consts::FRAC_1_SQRT_2)
}

/// Between which numbers n lies, if `kept` of n were kept.
pub(crate) fn bounds_of_trials(kept: u64, chance: Chance, kappa: f64) -> (f64, f64) {
    let x = kept as f64;
    let kappa = width(kappa);
    if chance.q <= 0.0 {
        return (x, x);
    }
    if kappa > MAX_KAPPA {
        return (x, f64::INFINITY);
    }
    let expected = x / chance.p;
    if x > SUMMED && x * chance.q / chance.p > SUMMED {
        let low = expand(x - 0.5, chance, -kappa) / chance.p;
        let high = expand(x + 0.5, chance, kappa) / chance.p;
        return (low.min(expected).max(x), high.max(expected));
    }
    let tail = tail(kappa);
    let enough = |n: f64| {
        if x <= SUMMED { at_least(n, chance, x) } else { at_most(n, chance.complement(), n - x) }
    };
    let few = |n: f64| {
        if x <= SUMMED { at_most(n, chance, x) } else { at_least(n, chance.complement(), n - x) }
    };
    let low = if x > 0.0 {
        let (excluded, _) = search(x - 1.0, libm::ceil(expected), |n| enough(n) > tail);
        excluded + 1.0
    } else {
        0.0
    };
    let inside = libm::floor(expected);
    // Always a positive step: with nothing kept, the first is the mean distance between two that are.
    let mut step = (libm::ceil((1.0 + kappa * libm::sqrt(x + 1.0)) / chance.p)).max(1.0);
    while few(inside + step) > tail {
        step *= 2.0;
    }
    let (_, excluded) = search(inside, inside + step, |n| few(n) <= tail);
    (low.min(expected), (excluded - 1.0).max(expected))
}

/// Between which shares lies that of which `hits` of `trials` were drawn.
pub(crate) fn bounds_of_share(hits: u64, trials: u64, kappa: f64) -> (f64, f64) {
    let (x, n) = (hits as f64, trials as f64);
    let kappa = width(kappa);
    if trials == 0 || kappa > MAX_KAPPA {
        return (0.0, 1.0);
    }
    let share = x / n;
    if x > SUMMED && n - x > SUMMED {
        // Wilson's interval with continuity correction.
        let end = |x: f64, kappa: f64| {
            let square = kappa * kappa;
            let spread = kappa * libm::sqrt(x * (n - x) / n + square / 4.0);
            (x + square / 2.0 + spread) / (n + square)
        };
        return (end(x - 0.5, -kappa).clamp(0.0, share), end(x + 0.5, kappa).clamp(share, 1.0));
    }
    let tail = tail(kappa);
    let chance = |p: f64| Chance { p, q: 1.0 - p };
    let enough = |p: f64| {
        if x <= SUMMED { at_least(n, chance(p), x) } else { at_most(n, chance(p).complement(), n - x) }
    };
    let few = |p: f64| {
        if x <= SUMMED { at_most(n, chance(p), x) } else { at_least(n, chance(p).complement(), n - x) }
    };
    let low = if hits == 0 { 0.0 } else { halve(0.0..=share, |p| enough(p) > tail) };
    let high = if hits == trials { 1.0 } else { 1.0 - halve(0.0..=1.0 - share, |q| few(1.0 - q) > tail) };
    (low.min(share), high.max(share))
}

/// The mean n p at which a count of `x` lies `kappa` standard deviations off, with the term of the skewness.
///
/// The normal score, m = x + kappa^2 q / 2 + kappa sqrt(q (x + kappa^2 q / 4)), less (1 - 2 p) (kappa^2 - 1) / 6: Cornish
/// and Fisher's first correction.
fn expand(x: f64, chance: Chance, kappa: f64) -> f64 {
    let square = kappa * kappa * chance.q;
    let score = x + square / 2.0 + kappa * libm::sqrt(chance.q * (x + square / 4.0));
    score - (chance.q - chance.p) * (kappa * kappa - 1.0) / 6.0
}

/// P(X = x) of n trials: the factors of the coefficient and of the powers taken in turns, so that none overflows.
fn point(n: f64, chance: Chance, x: f64) -> f64 {
    if x <= 0.0 {
        return libm::exp(chance.log_q() * n);
    }
    let missed = libm::exp(chance.log_q() * (n - x) / x);
    let mut product = 1.0;
    let mut i = 0.0;
    // The factors fall: once it is 0, it stays so.
    while i < x && product > 0.0 {
        product *= (n - i) / (i + 1.0) * chance.p * missed;
        i += 1.0;
    }
    product
}

/// P(X <= x) of n trials, for x up to some hundreds and not far above the mean.
fn at_most(n: f64, chance: Chance, x: f64) -> f64 {
    if x >= n {
        return 1.0;
    }
    let mut term = point(n, chance, x);
    let mut sum = term;
    let mut i = x;
    while i > 0.0 {
        term *= i / (n - i + 1.0) * chance.q / chance.p;
        sum += term;
        i -= 1.0;
    }
    sum.min(1.0)
}

/// P(X >= x) of n trials, for x up to some hundreds and not far below the mean.
fn at_least(n: f64, chance: Chance, x: f64) -> f64 {
    /// Terms below this share of the sum no longer change it.
    const NEGLIGIBLE: f64 = 1e-17;
    if x <= 0.0 || x > n {
        return if x <= 0.0 { 1.0 } else { 0.0 };
    }
    let mut term = point(n, chance, x);
    let mut sum = term;
    let mut i = x;
    while i < n && term > sum * NEGLIGIBLE {
        term *= (n - i) / (i + 1.0) * chance.p / chance.q;
        sum += term;
        i += 1.0;
    }
    sum.min(1.0)
}

/// Neighbouring whole numbers, or numbers as close as [`PRECISION`] asks for: `pred` is false at the first, if it is at
/// `low`, and true at the second, if it is at `high`.
fn search(mut low: f64, mut high: f64, pred: impl Fn(f64) -> bool) -> (f64, f64) {
    while high - low > (high * PRECISION).max(1.0) {
        let middle = libm::floor(low + (high - low) / 2.0);
        if pred(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    (low, high)
}

/// The greatest number found at which `pred` does not hold yet; it does at the end of the range.
fn halve(range: RangeInclusive<f64>, pred: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = range.into_inner();
    while high - low > high * PRECISION {
        let middle = low + (high - low) / 2.0;
        if pred(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coverage of the bounds of n, summed over all that may be kept of it.
    fn coverage(n: u64, p: f64, kappa: f64) -> f64 {
        let chance = Chance { p, q: 1.0 - p };
        let (n, mut covered) = (n as f64, 0.0);
        let spread = 9.0 * libm::sqrt(n * p * chance.q) + 10.0;
        let mut x = libm::floor(n * p - spread).max(0.0);
        while x <= (n * p + spread).min(n) {
            let (low, high) = bounds_of_trials(x as u64, chance, kappa);
            assert!(low >= x && low <= x / p && x / p <= high, "{low} to {high} for {x} of {n} with {p}");
            if low <= n && n <= high {
                covered +=
                    if x <= n / 2.0 { point(n, chance, x) } else { point(n, chance.complement(), n - x) };
            }
            x += 1.0;
        }
        covered
    }

    #[test]
    fn bounds_cover_the_truth_as_often_as_a_normal_variable_keeps_within_them() {
        /// What the expansion may lack.
        const EXPANSION: f64 = 2e-4;
        for p in [0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.99] {
            for n in [1, 2, 5, 10, 31, 33, 100, 119, 121, 150, 239, 300, 500, 1000, 2000] {
                for kappa in [0.5, 1.0, 2.0, 3.0] {
                    let nominal = 1.0 - 2.0 * tail(kappa);
                    let covered = coverage(n, p, kappa);
                    assert!(covered >= nominal - EXPANSION, "{covered} of {n} with {p}, kappa {kappa}");
                }
            }
        }
    }

    #[test]
    fn sum_and_expansion_meet() {
        /// Of the count: less than a tenth of its deviation.
        const APART: f64 = 0.008;
        for p in [1e-12, 0.001, 0.1, 0.5] {
            let chance = Chance { p, q: 1.0 - p };
            for kappa in [1.0, 2.0, 3.0] {
                let (low, high) = bounds_of_trials(SUMMED as u64, chance, kappa);
                let (next_low, next_high) = bounds_of_trials(SUMMED as u64 + 1, chance, kappa);
                for (one, next) in [(low, next_low), (high, next_high)] {
                    let apart = (next - one) / (SUMMED / p);
                    assert!((apart - 1.0 / SUMMED).abs() < APART, "{one} {next} with {p}, kappa {kappa}");
                }
            }
        }
    }

    #[test]
    fn shares_are_covered_as_often_as_promised() {
        /// What the score interval may lack.
        const EXPANSION: f64 = 0.006;
        for n in [1u64, 2, 10, 32, 100, 250, 500] {
            for share in [0.0, 0.01, 0.1, 0.33, 0.5, 0.9, 1.0] {
                for kappa in [1.0, 2.0, 3.0] {
                    let nominal = 1.0 - 2.0 * tail(kappa);
                    let chance = Chance { p: share, q: 1.0 - share };
                    let mut covered = 0.0;
                    for x in 0..=n {
                        let (low, high) = bounds_of_share(x, n, kappa);
                        assert!((0.0..=1.0).contains(&low) && low <= high && high <= 1.0);
                        if low <= share && share <= high {
                            covered += match (x, share) {
                                (0, s) if s <= 0.0 => 1.0,
                                (x, s) if s >= 1.0 => f64::from(u8::from(x == n)),
                                (_, s) if s <= 0.0 => 0.0,
                                _ => point(n as f64, chance, x as f64),
                            };
                        }
                    }
                    assert!(covered >= nominal - EXPANSION, "{covered} of {n} at {share}, kappa {kappa}");
                }
            }
        }
    }

    /// A product of hundreds of thousands of factors was taken to its end when it had long been 0.
    #[test]
    fn a_product_that_is_0_is_not_taken_further() {
        let (trials, chance) = (1e15, Chance { p: 1e-13, q: 1.0 - 1e-13 });
        // To its end, it would take days.
        assert_eq!(point(trials, chance, 0.9 * trials).to_bits(), 0);
    }

    #[test]
    fn any_count_threshold_and_width_has_bounds() {
        for kept in [0, 1, 2, 119, 120, 121, 4096, 1 << 26] {
            for threshold in [1, 2, 1 << 20, 1 << 40, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX] {
                let chance = Chance::below(threshold);
                let mut last = (f64::INFINITY, 0.0);
                for kappa in [0.0, 0.1, 1.0, 2.0, 5.0, 20.0, 37.0, 40.0, 1e300, f64::INFINITY] {
                    let (low, high) = bounds_of_trials(kept, chance, kappa);
                    let x = kept as f64;
                    assert!(
                        low >= x && low <= x / chance.p && x / chance.p <= high,
                        "{low} {high} {kept} {threshold}"
                    );
                    assert!(
                        low <= last.0 && high >= last.1 * (1.0 - 3.0 * PRECISION),
                        "{low} {high} {last:?} {kappa} {kept} {threshold}"
                    );
                    last = (low, high);
                    assert_eq!(bounds_of_trials(kept, chance, -kappa), (low, high));
                }
                assert_eq!(bounds_of_trials(kept, chance, f64::NAN), last);
                assert!(last.1.is_infinite() || threshold == u64::MAX);
            }
        }
    }
}
