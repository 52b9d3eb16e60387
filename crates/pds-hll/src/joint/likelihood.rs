//! How likely the registers of two sketches are, given the sizes of the parts of their sets.
//!
//! Keys come to the m registers of both sketches as a Poisson number: a of the left set alone, b of the right one alone, x
//! of both. Value k of a register reached at rate r per m registers has, with s = 2^-k / m, the probability
//!
//! ```text
//! P_r(0) = e^(-r/m)      P_r(k) = e^(-rs) (1 - e^(-rs))      P_r(47) = 1 - e^(-r 2^-46 / m)
//! ```
//!
//! If the left register is lower than the right one, none of the keys of both made the right one what it is: the
//! probability is P_(a+x)(left) P_b(right), and likewise the other way round. If both are k, it is
//!
//! ```text
//! E_k = e^(-(a+b+x)s) [ (1 - e^(-xs)) + e^(-xs) (1 - e^(-as)) (1 - e^(-bs)) ]
//! ```
//!
//! without the first factor for the last value: a key of both, or one of each side and none of both. Every term of the
//! bracket is positive, so that nothing cancels.
//!
//! A sketch of higher precision, or one that counts its keys one by one, knows its size better than its m registers do. What
//! it knows beyond them multiplies the likelihood by that of a normal error of the logarithm of the size.
//!
//! Source: `[Ertl17]`.

use core::cmp::Ordering;

use libm::{expm1, log};

use crate::histogram::{MAX_ZEROS, VALUES};

/// Indices of the three rates: left alone, right alone, both.
pub(super) const LEFT: usize = 0;
pub(super) const RIGHT: usize = 1;
pub(super) const BOTH: usize = 2;

/// A logarithm of a likelihood with its first and second derivatives by the three rates.
#[derive(Clone, Copy, Default)]
pub(super) struct Expansion {
    pub(super) value: f64,
    pub(super) gradient: [f64; 3],
    pub(super) hessian: [[f64; 3]; 3],
}

/// Register values of the two sketches, as far as the likelihood needs them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Likelihood {
    m: f64,
    /// The lower ones on the left, and the higher ones right of them.
    left_lower: [u32; VALUES],
    right_higher: [u32; VALUES],
    left_higher: [u32; VALUES],
    right_lower: [u32; VALUES],
    equal: [u32; VALUES],
    /// What the two sketches know of their sizes beyond these registers.
    known: [Option<Known>; 2],
}

/// Knowledge of the size of one set, independent of the registers compared: the logarithm of the size, and the information
/// on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) log: f64,
    pub(super) information: f64,
}

impl Likelihood {
    /// Of as many registers on the left as on the right, none of them above the greatest value.
    pub(super) fn of(left: &[u8], right: &[u8], known: [Option<Known>; 2]) -> Self {
        // One counter a register instead of a branch that cannot be predicted.
        let mut pairs = [[0u32; VALUES]; VALUES];
        for (&left, &right) in left.iter().zip(right) {
            pairs[usize::from(left)][usize::from(right)] += 1;
        }
        let mut likelihood = Self {
            m: left.len() as f64,
            left_lower: [0; VALUES],
            right_higher: [0; VALUES],
            left_higher: [0; VALUES],
            right_lower: [0; VALUES],
            equal: [0; VALUES],
            known,
        };
        for (left, row) in pairs.iter().enumerate() {
            for (right, &count) in row.iter().enumerate() {
                match left.cmp(&right) {
                    Ordering::Less => {
                        likelihood.left_lower[left] += count;
                        likelihood.right_higher[right] += count;
                    }
                    Ordering::Greater => {
                        likelihood.left_higher[left] += count;
                        likelihood.right_lower[right] += count;
                    }
                    Ordering::Equal => likelihood.equal[left] += count,
                }
            }
        }
        likelihood
    }

    /// The number of registers.
    pub(super) fn registers(&self) -> f64 {
        self.m
    }

    /// Whether a size is known better than by these registers.
    pub(super) fn knows_a_size(&self) -> bool {
        self.known.iter().any(Option::is_some)
    }

    /// The logarithm of the likelihood of three rates, but for a constant; minus infinity where a rate is 0 that cannot be.
    pub(super) fn at(&self, rates: [f64; 3]) -> Expansion {
        let [a, b, x] = rates;
        let mut sum = Expansion::default();
        let mut s = 1.0 / self.m;
        for k in 0..VALUES {
            let place = match k {
                0 => Place::Empty,
                1..=MAX_ZEROS => Place::Between,
                _ => Place::Saturated,
            };
            // The last value has the s of the one before it.
            if place == Place::Between {
                s *= 0.5;
            }
            sum.add_single(self.left_lower[k], a + x, [true, false, true], s, place);
            sum.add_single(self.right_higher[k], b, [false, true, false], s, place);
            sum.add_single(self.left_higher[k], a, [true, false, false], s, place);
            sum.add_single(self.right_lower[k], b + x, [false, true, true], s, place);
            sum.add_equal(self.equal[k], rates, s, place);
        }
        for (side, known) in self.known.iter().enumerate() {
            if let Some(known) = known {
                sum.add_known(*known, side, rates[side] + x);
            }
        }
        sum
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Empty,
    Between,
    Saturated,
}

impl Expansion {
    /// `count` registers of one sketch, reached at the sum of those rates that `parts` names.
    fn add_single(&mut self, count: u32, rate: f64, parts: [bool; 3], s: f64, place: Place) {
        if count == 0 {
            return;
        }
        let count = f64::from(count);
        let u = rate * s;
        let (mut value, mut first, mut second) = (0.0, 0.0, 0.0);
        if place != Place::Saturated {
            value -= u;
            first -= 1.0;
        }
        if place != Place::Empty {
            let odds = 1.0 / expm1(u);
            value += log(-expm1(-u));
            first += odds;
            second -= odds * (1.0 + odds);
        }
        self.value += count * value;
        for (i, _) in parts.iter().enumerate().filter(|(_, part)| **part) {
            self.gradient[i] += count * first * s;
            for (j, _) in parts.iter().enumerate().filter(|(_, part)| **part) {
                self.hessian[i][j] += count * second * s * s;
            }
        }
    }

    /// A size whose logarithm is known with a normal error.
    fn add_known(&mut self, known: Known, side: usize, size: f64) {
        let off = log(size) - known.log;
        self.value -= 0.5 * known.information * off * off;
        for i in [side, BOTH] {
            self.gradient[i] -= known.information * off / size;
            for j in [side, BOTH] {
                self.hessian[i][j] -= known.information * (1.0 - off) / (size * size);
            }
        }
    }

    /// `count` registers that are equal in both.
    fn add_equal(&mut self, count: u32, rates: [f64; 3], s: f64, place: Place) {
        if count == 0 {
            return;
        }
        let count = f64::from(count);
        if place != Place::Saturated {
            self.value -= count * (rates[LEFT] + rates[RIGHT] + rates[BOTH]) * s;
            self.gradient.iter_mut().for_each(|slope| *slope -= count * s);
        }
        if place == Place::Empty {
            return;
        }
        let [a, b, x] = rates.map(|rate| -expm1(-rate * s));
        let bracket = x + (1.0 - x) * a * b;
        let by = [(1.0 - x) * b * (1.0 - a), (1.0 - x) * a * (1.0 - b), (1.0 - x) * (1.0 - a * b)];
        let by_two = [
            [-by[LEFT], (1.0 - x) * (1.0 - a) * (1.0 - b), -by[LEFT]],
            [(1.0 - x) * (1.0 - a) * (1.0 - b), -by[RIGHT], -by[RIGHT]],
            [-by[LEFT], -by[RIGHT], -by[BOTH]],
        ];
        self.value += count * log(bracket);
        for i in 0..3 {
            let slope = by[i] / bracket;
            self.gradient[i] += count * slope * s;
            for j in 0..3 {
                self.hessian[i][j] += count * (by_two[i][j] / bracket - slope * (by[j] / bracket)) * s * s;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn derivatives_are_those_of_the_value(
            left in vec(0..48u8, 64), right in vec(0..48u8, 64), logs in [0.0..9.0f64, 0.0..9.0f64, 0.0..9.0f64],
            known in 0.0..9.0f64,
        ) {
            const STEP: f64 = 1e-5;
            let known = [Some(Known { log: known, information: 30.0 }), None];
            let likelihood = Likelihood::of(&left, &right, known);
            let rates = logs.map(libm::exp);
            let here = likelihood.at(rates);
            prop_assert!(here.value.is_finite());
            for i in 0..3 {
                let moved = |sign: f64| {
                    let mut rates = rates;
                    rates[i] *= 1.0 + sign * STEP;
                    likelihood.at(rates)
                };
                let (up, down) = (moved(1.0), moved(-1.0));
                let width = 2.0 * STEP * rates[i];
                let slope = (up.value - down.value) / width;
                let tolerance = 1e-4 * (slope.abs() + here.value.abs() / rates[i]);
                prop_assert!((slope - here.gradient[i]).abs() <= tolerance, "{} {}", slope, here.gradient[i]);
                for j in 0..3 {
                    let curve = (up.gradient[j] - down.gradient[j]) / width;
                    let tolerance = 1e-4 * (curve.abs() + here.gradient[j].abs() / rates[i] + 1e-9);
                    prop_assert!((curve - here.hessian[i][j]).abs() <= tolerance, "{} {}", curve, here.hessian[i][j]);
                }
            }
        }
    }
}
