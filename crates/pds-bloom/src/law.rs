//! The law of the classic filter: pure functions of a shape, apart from any filter.

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

/// Rate of false positives after `keys` distinct keys: the mean of fill^k over filters, to second order in the
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

/// Chance that an absent key has the 64-bit hash of one of `keys` keys: no filter over 64-bit hashes gets below.
pub(crate) fn hash_collision_rate(keys: f64) -> f64 {
    /// 2^64 hashes.
    const HASHES: f64 = 18_446_744_073_709_551_616.0;
    -expm1(-keys / HASHES)
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
