//! How precise an estimate can be: the Fisher information of the registers.

use libm::{exp, expm1, sqrt};

use crate::HllParams;
use crate::histogram::MAX_ZEROS;
use crate::sparse::count;

/// Standard deviation of the estimate of `keys` distinct keys (more than 0) by `m` registers: sqrt(m / I(keys/m) - keys),
/// I being the information of one register about the rate of a Poisson number of keys. The subtraction takes out the
/// variance of that number: here the number of keys is what it is.
///
/// Infinite where every register is saturated.
pub(crate) fn deviation(m: f64, keys: f64) -> f64 {
    deviation_by(information, m, keys)
}

/// As [`deviation`], of registers of any kind, by the information of one of them about the rate of keys at it.
pub(crate) fn deviation_by(information: fn(f64) -> f64, m: f64, keys: f64) -> f64 {
    let variance = m / information(keys / m) - keys;
    // Rounding may leave a hair below 0 for the first keys. A NaN is infinity less infinity.
    if variance.is_nan() { f64::INFINITY } else { sqrt(variance.max(0.0)) }
}

/// The predicted relative error at so many keys: that of tokens up to the limit, then of registers with this deviation.
pub(crate) fn predicted_error(params: HllParams, keys: u64, of_registers: fn(f64, f64) -> f64) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let few = keys <= params.sparse_limit() as u64;
    let keys = keys as f64;
    let deviation = if few { count::deviation(keys) } else { of_registers(params.registers() as f64, keys) };
    deviation / keys
}

/// Fisher information of one register about the rate x at which keys arrive at it.
///
/// Value k has probability e^(-xs) (1 - e^(-xs)) with s = 2^-k, value 0 has e^(-x), the last value 1 - e^(-xs) with the
/// s of the value before it. With E = e^(xs) - 1 the squared scores, weighted, become the terms below.
///
/// Source: likelihood of `[Ertl17]`.
fn information(x: f64) -> f64 {
    let mut sum = exp(-x);
    let mut s = 1.0;
    for _ in 1..=MAX_ZEROS {
        s *= 0.5;
        let e = expm1(x * s);
        // An infinite E belongs to a value so low that no register has it any more.
        if e.is_finite() {
            let score = s * (1.0 - e) / (1.0 + e);
            sum += score * score / e;
        }
    }
    let e = expm1(x * s);
    if e.is_finite() {
        sum += s * s / (e * (1.0 + e));
    }
    sum
}

/// The bounds of an estimate with a standard deviation, of registers of which so many are in use: n e^(-+ kappa sigma/n) for
/// the estimate n, not below the number of registers in use, for each has seen a key of its own, or n where that is less: an
/// estimate that was raised to it would be biased.
pub(crate) fn bounds(in_use: f64, estimate: f64, deviation: f64, kappa: f64) -> (f64, f64) {
    if in_use == 0.0 {
        return (0.0, 0.0);
    }
    let spread = kappa.abs() * deviation / estimate;
    // Not a number: kappa, or infinity over infinity, for a saturated sketch knows no upper bound.
    if spread.is_nan() {
        return (in_use.min(estimate), f64::INFINITY);
    }
    let (low, high) = (estimate * exp(-spread), estimate * exp(spread));
    (low.max(in_use).min(estimate), high.max(in_use))
}
