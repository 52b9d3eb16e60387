//! Two sketches compared: what their sets have in common, and what each has alone.

mod answer;
mod likelihood;
mod likely;
mod size;
mod solve;

pub use answer::{Joint, Part};
pub(crate) use size::Size;

use alloc::boxed::Box;
use core::cmp::Ordering;

use libm::{log, sqrt};
use pds_core::same_hasher;

use crate::histogram::Histogram;
use crate::hll::union::values_at;
use crate::sparse::TokenSet;
use crate::state::Mode;
use crate::{Error, Estimate, Fingerprint, HyperLogLog, packed};
use likelihood::{Known, Likelihood};

impl<H: Fingerprint> HyperLogLog<H> {
    /// The sizes of the intersection, of both differences and of the union with another sketch, and the similarity of the
    /// two sets: the most likely ones for both sketches together, registers being compared one by one.
    ///
    /// That is more precise than [`HyperLogLog::inclusion_exclusion`], the more so the smaller the intersection is (table
    /// `hll-intersection`), and never negative. Sketches of different precision are compared at the lower one, and each keeps
    /// what it knows of its size. While both count their keys one by one ([`HyperLogLog::is_sparse`]) so does the comparison,
    /// almost exactly; keys are told apart by 32 bits of their hashes.
    ///
    /// Where the sketches do not tell, which [`Joint::is_determined`] says, no method can: few keys against so many that
    /// each register of theirs is higher, say. The bounds then are as wide as what is possible.
    ///
    /// Takes some dozen looks at the likelihood, a hundred at most, of 48 register values each, beyond two passes through
    /// the registers. [`Part::bounds`] may take two dozen more to each side.
    ///
    /// # Errors
    ///
    /// [`Error::Hasher`] if the hashers differ.
    ///
    /// # Source
    ///
    /// Joint likelihood: `[Ertl17]`.
    pub fn joint(&self, other: &Self) -> Result<Joint, Error> {
        same_hasher(self.hasher().fingerprint(), other.hasher().fingerprint())?;
        let (left, right) = (self.state(), other.state());
        if let (Mode::Sparse(mine), Mode::Sparse(theirs)) = (left.mode(), right.mode()) {
            return Ok(of_tokens(mine, theirs));
        }
        let sizes = [left, right].map(Size::of);
        // An empty set has no keys in common with any other, for certain.
        if left.is_empty() || right.is_empty() {
            return Ok(Joint::apart(sizes));
        }
        if !sizes.iter().all(|size| size.estimate.is_finite()) {
            return Ok(Joint::unknown(sizes));
        }
        let params = left.params().min(right.params());
        let sides = [left, right].map(|state| values_at(state, params));
        // Rounding follows the order of the sides: in one order for both ways to ask, the answers are the same to the bit.
        let key = |side: usize| (sizes[side].estimate.to_bits(), [left, right][side].params(), &sides[side]);
        let order = key(0).cmp(&key(1));
        let [first, second] = if order == Ordering::Greater { [1, 0] } else { [0, 1] };
        let known = [first, second].map(|side| known_beyond(&sizes[side], &sides[side]));
        let likelihood = Box::new(Likelihood::of(&sides[first], &sides[second], known));
        Ok(Joint::most_likely([sizes[first], sizes[second]], order, likelihood))
    }

    /// The size of the intersection as the sum of two estimates less that of the union: the plain method, without bias,
    /// for comparison and for formulas that need it. [`HyperLogLog::joint`] is more precise.
    ///
    /// `value` may be negative. Its error is some share of the union, however small the intersection: the bounds allow for
    /// the errors of all three estimates as if they were independent, which is cautious, and keep to what is possible.
    ///
    /// * `kappa`: width in standard deviations, as of [`HyperLogLog::bounds`].
    ///
    /// # Errors
    ///
    /// [`Error::Hasher`] if the hashers differ.
    pub fn inclusion_exclusion(&self, other: &Self, kappa: f64) -> Result<Estimate, Error> {
        let union = Self::union_size(&[self, other])?;
        let [left, right] = [self, other].map(|sketch| Size::of(sketch.state()));
        let kappa = magnitude(kappa);
        let most = left.upper(kappa).min(right.upper(kappa));
        if !union.estimate.is_finite() {
            // Whatever is common is common to the finite one, if there is one.
            return Ok(Estimate { value: 0.0, lower: 0.0, upper: most });
        }
        let value = left.estimate + right.estimate - union.estimate;
        let variance = [left, right, union].iter().map(|size| size.deviation * size.deviation).sum::<f64>();
        let spread = size::widened(kappa, sqrt(variance));
        if spread.is_nan() {
            return Ok(Estimate { value, lower: 0.0, upper: most });
        }
        Ok(Estimate {
            value,
            lower: (value - spread).clamp(0.0, most),
            upper: (value + spread).clamp(0.0, most),
        })
    }
}

/// Both sets key by key: three counts, each almost exact.
fn of_tokens(left: &TokenSet, right: &TokenSet) -> Joint {
    let (few, many) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let common = few.iter().filter(|&token| many.contains(token)).count();
    Joint::counted([left.len(), right.len()], common)
}

/// What a sketch knows of its size beyond its registers at the precision of the comparison.
fn known_beyond(size: &Size, values: &[u8]) -> Option<Known> {
    /// Most information beyond, in terms of that of the registers. A size known four times as well as by them is as good as
    /// known, and a ridge that steep can still be followed.
    const MOST: f64 = 16.0;
    /// Least: the rest is rounding.
    const LEAST: f64 = 0.01;
    let registers = Size::of_registers(&Histogram::count(packed::groups(values)));
    let (all, own) = (size.information(), registers.information());
    let beyond = (all - own).min(MOST * own);
    if !(registers.estimate.is_finite() && beyond > LEAST * own) {
        return None;
    }
    // So that both together have their middle at the size.
    let shift = (log(size.estimate) - log(registers.estimate)) * own / beyond;
    Some(Known { log: log(size.estimate) + shift, information: beyond })
}

/// A width in standard deviations: NaN counts as infinity.
fn magnitude(kappa: f64) -> f64 {
    if kappa.is_nan() { f64::INFINITY } else { kappa.abs() }
}
