//! Two sketches compared: what their sets have in common, and what each has alone.

mod answer;
mod likelihood;
mod solve;

pub use answer::{Joint, Part};

use alloc::boxed::Box;

use libm::sqrt;
use pds_core::same_hasher;

use crate::hll::state::{Mode, State};
use crate::hll::union::values_at;
use crate::sparse::{TokenSet, count};
use crate::{Error, Estimate, Fingerprint, HyperLogLog};
use likelihood::Likelihood;

impl<H: Fingerprint> HyperLogLog<H> {
    /// The sizes of the intersection, of both differences and of the union with another sketch, and the similarity of the
    /// two sets: the most likely ones for both sketches together, registers being compared one by one.
    ///
    /// That is more precise than [`HyperLogLog::inclusion_exclusion`], the more so the smaller the intersection is (table
    /// `hll-intersection`), and never negative. Sketches of different precision are compared at the lower one. While both count
    /// their keys one by one ([`HyperLogLog::is_sparse`]) so does the comparison, almost exactly.
    ///
    /// Where the sketches do not tell, which [`Joint::is_determined`] says, no method can: few keys against so many that
    /// each register of theirs is higher, say. The bounds then are as wide as what is possible.
    ///
    /// Takes a dozen looks at the likelihood, of 48 register values each, beyond one pass through the registers.
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
        let sizes = [left, right].map(State::estimate);
        if !sizes.iter().all(|size| size.is_finite()) {
            return Ok(Joint::unknown(sizes));
        }
        // An empty set has no keys in common with any other, for certain.
        if left.is_empty() || right.is_empty() {
            return Ok(Joint::apart(sizes, [left, right].map(State::relative_error)));
        }
        let params = left.params().min(right.params());
        let likelihood = Box::new(Likelihood::of(&values_at(left, params), &values_at(right, params)));
        Ok(Joint::most_likely(sizes, [left, right].map(State::relative_error), likelihood))
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
        let union = Self::union_estimate(&[self, other])?;
        let (left, right) = (self.estimate(), other.estimate());
        let most = self.bounds(kappa).1.min(other.bounds(kappa).1);
        if !union.is_finite() {
            // Whatever is common is common to the finite one, if there is one.
            return Ok(Estimate { value: 0.0, lower: 0.0, upper: most });
        }
        let value = left + right - union;
        let relative = |state: &State| state.relative_error() * state.estimate();
        let [one, two] = [self.state(), other.state()].map(relative);
        let params = self.params().min(other.params());
        let three = params.predicted_error(union as u64) * union;
        let spread = kappa.abs() * sqrt(one * one + two * two + three * three);
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
    let sizes = [left, right].map(|tokens| count::estimate(tokens.len()));
    let union = count::estimate(left.len() + right.len() - common);
    // Without a token in common there is no key in common.
    let both = if common == 0 { 0.0 } else { sizes[0] + sizes[1] - union };
    Joint::counted(sizes, both, if common == 0 { 0.0 } else { count::deviation(union) })
}
