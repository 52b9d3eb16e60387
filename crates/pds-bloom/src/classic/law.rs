//! The law of the classic filter: pure functions of a shape, apart from any filter.

use crate::targets::hash_collision_rate;
use libm::{expm1, log, log1p, pow, sqrt};

/// Expected share of set bits after `keys` distinct keys set `k` bits each, with replacement, among `bits`:
/// 1 - (1 - 1/bits)^(k keys). Exact.
pub(crate) fn expected_fill(bits: f64, k: f64, keys: f64) -> f64 {
    -expm1(k * keys * log1p(-1.0 / bits))
}

/// Variance of the share of set bits, for `load` = k keys / bits and the expected fill: to leading order in
/// 1/bits, (1 - fill)(1 - (1 + load)(1 - fill)) / bits.
///
/// Source: the classical occupancy problem, `[KolchinSevastyanovChistyakov78, 1.3]`.
fn fill_variance(bits: f64, fill: f64) -> f64 {
    let empty = 1.0 - fill;
    if empty <= 0.0 {
        return 0.0;
    }
    let load = -log(empty);
    empty * (1.0 - (1.0 + load) * empty) / bits
}

/// Expected rate of false positives after `keys` distinct keys: the mean of fill^k over filters, to second order in the
/// fluctuation of the fill, plus the chance of meeting a key with the same 64-bit hash. Never above 1.
///
/// The first term alone, (1 - e^(-k keys/bits))^k, is an underestimate `[BoseEtAl08]`: by 0.1% at 1000 keys and a
/// rate of 1e-4, by more in smaller filters.
pub(crate) fn false_positive_rate(bits: f64, k: f64, keys: f64) -> f64 {
    let fill = expected_fill(bits, k, keys);
    if fill <= 0.0 {
        return 0.0;
    }
    let spread = 1.0 + 0.5 * k * (k - 1.0) * fill_variance(bits, fill) / (fill * fill);
    (pow(fill, k) * spread + hash_collision_rate(keys)).min(1.0)
}

/// An upper bound of the rate after `keys` distinct keys, whatever the shape: the mean of fill^d over the number d of
/// different bits that `k` probes hit, and the chance of a shared hash. Never above 1.
///
/// Bits being set is negatively associated (a probe that sets one bit sets no other), so that d given bits are all set
/// with a probability of at most fill^d `[JoagDevProschan83, 3.1]`. [`false_positive_rate`] is nearer to the truth in
/// filters of more than k^2 bits, and below it in smaller ones.
pub(crate) fn rate_bound(bits: f64, k: u32, keys: f64) -> f64 {
    let fill = expected_fill(bits, f64::from(k), keys);
    if fill <= 0.0 {
        return 0.0;
    }
    // weight[d]: the chance that the probes so far hit d different bits, times fill^d.
    let mut weights = [0.0; 1 + crate::BloomParams::MAX_K as usize];
    weights[0] = 1.0;
    for probe in 0..k as usize {
        for hit in (0..=probe).rev() {
            let again = (hit as f64 / bits).min(1.0);
            weights[hit + 1] += weights[hit] * (1.0 - again) * fill;
            weights[hit] *= again;
        }
    }
    (weights.iter().sum::<f64>() + hash_collision_rate(keys)).min(1.0)
}

/// Bits at which `keys` keys of `k` bits each give the rate `fpr`, before the corrections:
/// keys k / -ln(1 - fpr^(1/k)).
pub(crate) fn bits_for(k: f64, keys: f64, fpr: f64) -> f64 {
    k * keys / -log1p(-pow(fpr, 1.0 / k))
}

/// Distinct keys that set this share of the bits, at the expectation: infinite if every bit is set.
pub(crate) fn keys_for_fill(bits: f64, k: f64, fill: f64) -> f64 {
    log1p(-fill) / (k * log1p(-1.0 / bits))
}

/// The share of set bits that a filter filled to a rate of `fpr` exceeds with a chance below 1e-9: the fill of
/// that rate and 6 standard deviations.
pub(crate) fn fill_alarm(bits: f64, k: f64, fpr: f64) -> f64 {
    /// One-sided normal quantile of 1e-9.
    const MARGIN: f64 = 6.0;
    let fill = pow(fpr, 1.0 / k);
    fill + MARGIN * sqrt(fill_variance(bits, fill))
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    /// The rate by the distribution of the number of set bits, one probe after the other; no hash collisions.
    fn exact_rate(bits: usize, k: u32, keys: u64) -> f64 {
        let mut occupied = vec![0.0; bits + 1];
        occupied[0] = 1.0;
        let share = |set: usize| set as f64 / bits as f64;
        for _ in 0..u64::from(k) * keys {
            for set in (0..bits).rev() {
                occupied[set + 1] += occupied[set] * (1.0 - share(set));
                occupied[set] *= share(set);
            }
        }
        occupied.iter().enumerate().map(|(set, chance)| chance * pow(share(set), f64::from(k))).sum()
    }

    #[test]
    fn the_bound_is_above_the_exact_rate_of_every_small_filter() {
        for bits in [64, 128, 192, 320, 640] {
            for k in [1, 2, 3, 5, 8, 13, 20, 27, 29, 64] {
                for keys in [1, 2, 3, 9, 15, 27, 52] {
                    let exact = exact_rate(bits, k, keys);
                    let bound = rate_bound(bits as f64, k, keys as f64);
                    assert!(
                        exact <= bound * (1.0 + 1e-9),
                        "{bits} bits, {k} probes, {keys} keys: {exact:e} {bound:e}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_expected_rate_is_near_where_bits_outnumber_probes_squared() {
        for (bits, k, keys) in [(128, 3, 20), (640, 7, 60), (1280, 10, 90), (2048, 13, 110), (2048, 7, 400)] {
            let exact = exact_rate(bits, k, keys);
            let expected = false_positive_rate(bits as f64, f64::from(k), keys as f64);
            assert!((expected / exact - 1.0).abs() < 0.01, "{bits} {k} {keys}: {expected:e} {exact:e}");
        }
    }
}
