//! From the counts of register values to the number of distinct keys: pure arithmetic (+ * / and square roots), the
//! same on every platform.

use core::f64::consts::LN_2;

use crate::histogram::Histogram;

/// 1 / (2 ln 2): the harmonic mean of many registers times this is the number of keys per register.
const ALPHA: f64 = 0.5 / LN_2;

/// The corrected raw estimator: unbiased over the whole range without tables or thresholds, but for a small share of the
/// standard error (table `hll-all-precisions`). 0 if every register is
/// empty, infinite if every register is saturated.
///
/// With C_k registers of value k and q = 46,
///
/// ```text
///                              alpha m^2 / (1 + c/m)
/// n = -------------------------------------------------------------------------,   alpha = 1 / (2 ln 2)
///     m sigma(C_0/m) + sum_(k=1..q) C_k 2^-k + m 2^-q tau(1 - C_(q+1)/m)
/// ```
///
/// where sigma corrects for registers that are still empty, tau for saturated ones, and the last factor for the
/// number of registers being finite: c is 3 ln 2 - 1 when all registers are in use, and falls to the 1/2 of linear
/// counting when few are; in between it follows the square of the share in use (fitted for this crate, table
/// `hll-all-precisions`).
///
/// # Source
///
/// `[Ertl17]`, the improved raw estimator.
pub(crate) fn estimate(histogram: &Histogram) -> f64 {
    let m = histogram.registers();
    let in_use = 1.0 - histogram.zeros() / m;
    if in_use == 0.0 {
        return 0.0;
    }
    let saturated = m * tau(1.0 - histogram.saturated() / m);
    let rising = histogram.between().rev().fold(saturated, |sum, count| 0.5 * (sum + count));
    let indicator = m * sigma(histogram.zeros() / m) + rising;
    ALPHA * m * m / indicator / (1.0 + finite_registers(in_use) / m)
}

/// The constant c of the correction for finitely many registers, by the share of them in use.
fn finite_registers(in_use: f64) -> f64 {
    /// The limit of linear counting, n much below m.
    const FEW: f64 = 0.5;
    /// The limit of n much above m: 1.0794.
    const MANY: f64 = 3.0 * LN_2 - 1.0;
    FEW + (MANY - FEW) * in_use * in_use
}

/// x + sum_(k >= 1) x^(2^k) 2^(k-1), for x in 0..1.
fn sigma(mut x: f64) -> f64 {
    let mut sum = x;
    let mut weight = 1.0;
    loop {
        x *= x;
        let next = sum + x * weight;
        if next > sum {
            sum = next;
            weight += weight;
        } else {
            // The terms have fallen below the last bit.
            return sum;
        }
    }
}

/// (1 - x - sum_(k >= 1) (1 - x^(2^-k))^2 2^-k) / 3, for x in 0..=1.
fn tau(mut x: f64) -> f64 {
    // 0 and 1 are roots.
    if !(x > 0.0 && x < 1.0) {
        return 0.0;
    }
    let mut sum = 1.0 - x;
    let mut weight = 1.0;
    loop {
        x = libm::sqrt(x);
        weight *= 0.5;
        let next = sum - (1.0 - x) * (1.0 - x) * weight;
        if next < sum {
            sum = next;
        } else {
            return sum / 3.0;
        }
    }
}
