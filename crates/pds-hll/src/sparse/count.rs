//! From the number of tokens to the number of keys.

use libm::sqrt;

/// Pairs of keys share a token with the probability 2^-26 / 3: the index of 26 bits, and the leading zeros, z of which
/// have the probability 2^-(z+1), hence two keys the same number with sum 4^-(z+1) = 1/3. So of n keys some
/// n (n - 1) / `PAIRS` are hidden behind others.
const PAIRS: f64 = 6.0 * (1u64 << 26) as f64;

/// The number of keys that leaves so many tokens on average: the smaller root of n = tokens + n (n - 1) / `PAIRS`, and
/// never less than the tokens, each of which is a key's own.
pub(crate) fn estimate(tokens: usize) -> f64 {
    let tokens = tokens as f64;
    let linear = 1.0 + 1.0 / PAIRS;
    let discriminant = linear * linear - 4.0 * tokens / PAIRS;
    (2.0 * tokens / (linear + sqrt(discriminant.max(0.0)))).max(tokens)
}

/// Standard deviation of the estimate at so many keys: the number of the hidden ones is Poisson distributed nearly.
pub(crate) fn deviation(keys: f64) -> f64 {
    sqrt((keys * (keys - 1.0) / PAIRS).max(0.0))
}

/// The estimate less and more `kappa` deviations, not below the number of tokens. The upper bound is infinite if `kappa`
/// is, or is no number.
pub(crate) fn bounds(tokens: usize, kappa: f64) -> (f64, f64) {
    let least = tokens as f64;
    let estimate = estimate(tokens);
    let deviation = deviation(estimate);
    // One key alone hides no other: nor does it with an infinite kappa.
    let spread = if deviation == 0.0 { 0.0 } else { kappa.abs() * deviation };
    if spread.is_nan() {
        return (least, f64::INFINITY);
    }
    ((estimate - spread).max(least), estimate + spread)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use pds_testkit::{SplitMix64, laws, seed_for};

    use super::super::{Token, TokenSet};
    use super::*;

    #[test]
    fn the_first_keys_are_counted_exactly() {
        assert_eq!(estimate(0).to_bits(), 0);
        assert_eq!(estimate(1).to_bits(), 1.0f64.to_bits());
        assert_eq!(bounds(1, f64::INFINITY), (1.0, 1.0));
        assert_eq!(bounds(0, 2.0), (0.0, 0.0));
    }

    #[test]
    fn more_tokens_are_more_keys() {
        let mut last = -1.0;
        for tokens in 0..100_000 {
            let estimate = estimate(tokens);
            assert!(estimate > last && estimate >= tokens as f64);
            last = estimate;
        }
    }

    #[test]
    fn the_hidden_keys_are_as_many_as_predicted() {
        const KEYS: usize = 200_000;
        const TRIALS: u64 = 40;
        let mut errors = Vec::new();
        for trial in 0..TRIALS {
            let mut random = SplitMix64::new(seed_for("hidden", 0, trial));
            let mut set = TokenSet::new();
            for _ in 0..KEYS {
                set.insert(Token::of(random.next_u64()), usize::MAX);
            }
            errors.push(estimate(set.len()) - KEYS as f64);
        }
        let deviation = deviation(KEYS as f64);
        laws::bias_is_zero(laws::mean(&errors), deviation, TRIALS, 0.0).assert("bias");
        laws::rmse_is(&errors, deviation).assert("spread");
    }
}
