//! From a target, or from a raw precision, to validated parameters.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::information;
use crate::information::predicted_error;
use crate::{Error, HllParams, stored};

/// The precision of an UltraLogLog sketch: 2^p registers.
///
/// A value of this type is valid: a sketch of it can be made without further checks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UllParams(
    /// As many registers, in the same range of precisions.
    HllParams,
);

/// Relative standard error times the root of the number of registers: sqrt(ln 2 / zeta(2, 5/4)) = 0.76086, rounded up, so
/// that a target that is met is met with the next digit too `[Ertl23]`.
const ERROR_SCALE: f64 = 0.7609;

impl UllParams {
    /// Least precision: 16 registers.
    pub const MIN_PRECISION: u8 = HllParams::MIN_PRECISION;

    /// Greatest precision: the 46 bits above the index then count leading zeros, which lasts for 2^46 keys a
    /// register.
    pub const MAX_PRECISION: u8 = HllParams::MAX_PRECISION;

    /// The least precision whose standard error [`UllParams::std_error`] is at most `relative_error`.
    ///
    /// * `relative_error`: standard deviation of the estimate as a share of the true count, from
    ///   0.7609 / 2^9 (0.00149, at precision 18) to below 1; 0.01 is one in a hundred. A target of 0.191 or more
    ///   gives precision 4.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `relative_error` is NaN or outside this range.
    pub fn for_error(relative_error: f64) -> Result<Self, Error> {
        (Self::MIN_PRECISION..=Self::MAX_PRECISION)
            .filter_map(|p| Self::with_precision(p).ok())
            .find(|params| params.std_error() <= relative_error)
            .filter(|_| relative_error < 1.0)
            .ok_or(Error::Parameter {
                name: "relative_error",
                value: relative_error,
                domain: "0.00149 <= relative_error < 1 (0.7609 / 512: precision 18)",
            })
    }

    /// 2^`precision` registers.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `precision` is outside 4..=18.
    pub fn with_precision(precision: u8) -> Result<Self, Error> {
        HllParams::with_precision(precision).map(Self::of)
    }

    /// As many registers as those of a HyperLogLog.
    pub(super) const fn of(params: HllParams) -> Self {
        Self(params)
    }

    /// The precision p.
    pub const fn precision(&self) -> u8 {
        self.0.precision()
    }

    /// The number m = 2^p of registers.
    pub const fn registers(&self) -> usize {
        self.0.registers()
    }

    /// Most bytes that a sketch allocates: its registers, one byte each.
    pub const fn size_bytes(&self) -> usize {
        self.registers()
    }

    /// Up to so many different keys (of some n of them n^2 / (6 * 2^26) are counted as others) a sketch keeps 32 bits of
    /// each hash, in a table that takes no more memory than registers, and counts almost exactly: 3 m / 16, as
    /// [`HllParams::sparse_limit`].
    pub const fn sparse_limit(&self) -> usize {
        self.0.sparse_limit()
    }

    /// Most bytes of the byte form, whatever the hashes.
    ///
    /// Of hashed keys few or many it takes less: near half a byte a register.
    pub fn max_wire_bytes(&self) -> usize {
        stored::most_bytes(self.0, self.registers())
    }

    /// Standard error of the estimate of many keys (20 m and more), as a share of the true count:
    /// 0.7609 / sqrt(m). For fewer keys it is smaller: see [`UllParams::predicted_error`]. The formula is that of many
    /// registers: at the lowest precisions errors are somewhat above it.
    ///
    /// # Source
    ///
    /// `[Ertl23]`, section 3.3.
    pub fn std_error(&self) -> f64 {
        ERROR_SCALE / libm::sqrt(self.registers() as f64)
    }

    /// Standard error of the estimate at `keys` distinct keys, as a share of them: next to nothing up to
    /// [`UllParams::sparse_limit`], then that of the registers, nearly 0.761 / sqrt(m) for many; 0 for no keys. From the
    /// Fisher information of the registers.
    ///
    /// This is the error of the best estimator for many registers; at the lowest precisions errors are somewhat above
    /// it. Near 2^46 m keys registers reach their limit and the error grows without bound.
    ///
    /// # Source
    ///
    /// Likelihood: `[Ertl23]`.
    pub fn predicted_error(&self, keys: u64) -> f64 {
        predicted_error(self.0, keys, information::deviation)
    }
}

/// The HyperLogLog of equal precision, which has as many registers.
impl From<UllParams> for HllParams {
    fn from(params: UllParams) -> Self {
        params.0
    }
}

impl fmt::Debug for UllParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UllParams").field("p", &self.precision()).finish()
    }
}
