//! How precise an estimate can be: the Fisher information of the registers.

use libm::{exp, expm1};

use super::counts::{share, share_above};
use crate::histogram::MAX_VALUE;
use crate::information::deviation_by;

/// Standard deviation of the estimate of `keys` distinct keys (more than 0) by `m` registers, as of
/// [`deviation_by`].
pub(super) fn deviation(m: f64, keys: f64) -> f64 {
    deviation_by(information, m, keys)
}

/// Fisher information of one register about the rate x at which keys arrive at it.
///
/// Of the value with the share s of hashes a register says that it was seen if it was, which has the probability
/// 1 - e^(-xs), and if none was more than two values above it, which has e^(-xt) with the share t of those. Minus the
/// second derivative of ln(1 - e^(-xs)) is s^2 e^(xs) / (e^(xs) - 1)^2; the other terms of the likelihood are linear. So
///
/// ```text
/// I(x) = sum_s s^2 e^(-xt) / (e^(xs) - 1)
/// ```
///
/// Source: likelihood of `[Ertl23]`.
fn information(x: f64) -> f64 {
    (1..=MAX_VALUE)
        .map(|value| {
            let (s, t) = (share(value), share_above((value + 2).min(MAX_VALUE)));
            // An infinite denominator belongs to a value so frequent that nothing is known of it alone any more.
            s * s * exp(-x * t) / expm1(x * s)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use libm::{log, log2, sqrt};
    use pds_testkit::laws;

    use super::super::register::{Parts, REGISTERS, is_reachable};
    use super::*;
    use crate::histogram::MAX_ZEROS;

    /// The probability of a register at the rate x.
    fn probability(register: u8, x: f64) -> f64 {
        let Parts { greatest, below, second_below } = Parts::of(register);
        let none = |share: f64| exp(-x * share);
        let some = |value: u8| -expm1(-x * share(value));
        let flag = |flag: Option<bool>, value: u8| match flag {
            None => 1.0,
            Some(true) => some(value),
            Some(false) => none(share(value)),
        };
        let top = if greatest == 0 { 1.0 } else { some(greatest) };
        none(share_above(greatest))
            * top
            * flag(below, greatest.wrapping_sub(1))
            * flag(second_below, greatest.wrapping_sub(2))
    }

    fn distribution(x: f64) -> impl Iterator<Item = f64> {
        (0..REGISTERS as u8).filter(|&register| is_reachable(register)).map(move |r| probability(r, x))
    }

    /// Bits that a register holds at the rate x.
    fn entropy(x: f64) -> f64 {
        distribution(x).filter(|&p| p > 0.0).map(|p| -p * log2(p)).sum()
    }

    #[test]
    fn the_registers_share_all_probability() {
        for x in [1e-3, 0.2, 1.0, 5.0, 244.0, 1e6, 1e12] {
            let sum: f64 = distribution(x).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{x}: {sum}");
        }
    }

    /// The definition: the mean square of the derivative of the logarithm of the probability.
    #[test]
    fn the_information_is_that_of_the_distribution() {
        for x in [0.1, 0.7, 3.0, 20.0, 244.0, 1e5] {
            let d = x * 1e-5;
            let mean: f64 = (0..REGISTERS as u8)
                .filter(|&register| is_reachable(register) && probability(register, x) > 1e-12)
                .map(|register| {
                    let slope =
                        (log(probability(register, x + d)) - log(probability(register, x - d))) / (2.0 * d);
                    probability(register, x) * slope * slope
                })
                .sum();
            assert!((mean / information(x) - 1.0).abs() < 1e-5, "{x}: {mean} and {}", information(x));
        }
    }

    /// ln 2 / zeta(2, 5/4) for many keys, but for a ripple of the period 2: the zeta function as a sum.
    #[test]
    fn the_error_goes_to_its_limit() {
        let zeta: f64 =
            (0..1_000_000).map(|n| 1.0 / ((f64::from(n) + 1.25) * (f64::from(n) + 1.25))).sum::<f64>() + 1e-6;
        let limit = sqrt(core::f64::consts::LN_2 / zeta);
        assert!((limit - 0.76086).abs() < 1e-5, "{limit}");
        for x in [1e3, 1.2e3, 1.4e3, 1.7e3, 1e6, 1e9] {
            let error = deviation(1.0, x) / x;
            assert!((error / limit - 1.0).abs() < 0.002, "{x}: {error}");
        }
        assert!(deviation(1.0, (1u64 << MAX_ZEROS) as f64 * 64.0) > 1e20);
    }

    /// 3.994 bits a register of many keys, whatever their number: no byte form can take less on average.
    #[test]
    fn a_register_holds_3_994_bits() {
        for step in 0..64 {
            let bits = entropy(244.0 * libm::exp2(f64::from(step) / 32.0));
            laws::at_least(bits, 3.9939).assert("bits");
            laws::at_most(bits, 3.9941).assert("bits");
        }
    }
}
