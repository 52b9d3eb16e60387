//! How precise a running estimate is.

use core::f64::consts::LN_2;

use libm::{exp, expm1, log, sqrt};

/// Standard deviation of a running estimate that was exact at `start` keys and is at `keys` now, of m registers.
///
/// A key changes a register with some probability q and then counts 1/q; the variance of that is 1/q - 1, and those of all
/// keys add up. q falls with the number of keys, as 1/(2 ln 2) m / keys for many: so the sum tends to ln 2 keys^2 / m.
///
/// Source: `[Ting14]`, `[Cohen15]`.
pub(super) fn deviation(m: f64, start: f64, keys: f64) -> f64 {
    /// Keys a register from which q is as good as its limit.
    const MANY: f64 = 16.0;
    let many = MANY * m;
    let mut variance = 0.0;
    if keys > start {
        variance += early(m, start, keys.min(many));
    }
    if keys > many {
        variance += LN_2 * (keys * keys - many * many) / m - (keys - many);
    }
    sqrt(variance.max(0.0))
}

/// The sum of the variances of the keys from `start` to `end`, some keys a register: by Simpson's rule over the logarithm of
/// their number, in steps that leave an error far below a thousandth.
fn early(m: f64, start: f64, end: f64) -> f64 {
    const STEPS: usize = 16;
    let (from, to) = (log(start), log(end));
    let width = (to - from) / STEPS as f64;
    let at = |i: usize| {
        let keys = exp(from + width * i as f64);
        keys * (1.0 / change_rate(keys / m) - 1.0)
    };
    let inner: f64 = (1..STEPS).map(|i| if i % 2 == 1 { 4.0 * at(i) } else { 2.0 * at(i) }).sum();
    (at(0) + inner + at(STEPS)) * width / 3.0
}

/// The probability that a new key changes a register, after so many keys a register, a few.
fn change_rate(per_register: f64) -> f64 {
    /// Values beyond have a share below 2^-40.
    const VALUES: usize = 24;
    let mut rate = exp(-per_register);
    let mut s = 1.0;
    for _ in 1..=VALUES {
        s *= 0.5;
        let u = per_register * s;
        rate -= s * exp(-u) * expm1(-u);
    }
    rate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_goes_from_nothing_to_the_limit_without_a_step() {
        let m = 4096.0;
        assert_eq!(deviation(m, 769.0, 769.0).to_bits(), 0);
        let limit = sqrt(LN_2 / m);
        let relative = |keys: f64| deviation(m, 769.0, keys) / keys;
        assert!((relative(1e9) / limit - 1.0).abs() < 1e-3);
        let mut last = 0.0;
        let mut keys = 769.0;
        while keys < 1e7 {
            let next = relative(keys);
            assert!(next >= 0.999 * last && next < 1.001 * limit, "{keys}: {next} after {last}");
            assert!(next - last < 0.2 * limit);
            last = next;
            keys *= 1.03;
        }
    }
}
