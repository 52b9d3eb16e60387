//! One count in terms of another.

use libm::{exp, sqrt};

use super::sketch::HyperLogLog;
use crate::Fingerprint;
use crate::joint::Size;

/// A value, and where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

impl<H: Fingerprint> HyperLogLog<H> {
    /// How many times as many distinct keys this sketch has as another: growth from month to month, say.
    ///
    /// Errors add up as squares do: s^2 is the sum of the squares of the two predicted relative errors, so that two
    /// estimates within 1 % give a ratio within 1.4 %. That is right for sets with few keys in common. Keys in common are
    /// misjudged alike on both sides, and the ratio of similar sets is more precise than these bounds say.
    ///
    /// * `kappa`: width in standard deviations, as of [`HyperLogLog::bounds`].
    ///
    /// The bounds are value e^(-kappa s) and value e^(kappa s). Precisions and hashers need not agree. `None` if `other` is
    /// empty or if one of the two is saturated: there is no ratio. 0, exactly, if only `self` is empty.
    pub fn ratio<G: Fingerprint>(&self, other: &HyperLogLog<G>, kappa: f64) -> Option<Estimate> {
        let (mine, theirs) = (self.estimate(), other.estimate());
        if theirs == 0.0 || !(mine.is_finite() && theirs.is_finite()) {
            return None;
        }
        let value = mine / theirs;
        if value == 0.0 {
            return Some(Estimate { value, lower: 0.0, upper: 0.0 });
        }
        let [one, two] = [Size::of(self.state()).error(), Size::of(other.state()).error()];
        let error = sqrt(one * one + two * two);
        // Without error there is no width, whatever kappa.
        let spread = if error == 0.0 { 0.0 } else { kappa.abs() * error };
        if spread.is_nan() {
            return Some(Estimate { value, lower: 0.0, upper: f64::INFINITY });
        }
        Some(Estimate { value, lower: value * exp(-spread), upper: value * exp(spread) })
    }
}
