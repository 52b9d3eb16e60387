//! From a target, or from a raw precision, to validated parameters.

use serde::{Deserialize, Serialize};

use crate::{Error, information, packed, stored};

/// The precision of a HyperLogLog sketch: 2^p registers.
///
/// A value of this type is valid: a sketch of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct HllParams {
    p: u8,
}

/// Relative standard error times the root of the number of registers: sqrt(3 ln 2 - 1) = 1.03896, rounded up, so
/// that a target that is met is met with the next digit too `[Ertl17]`.
const ERROR_SCALE: f64 = 1.0390;

impl HllParams {
    /// Least precision: below 16 registers the estimator's corrections no longer hold.
    pub const MIN_PRECISION: u8 = 4;

    /// Greatest precision: the 46 bits above the index then count leading zeros, which lasts for 2^46 keys a
    /// register.
    pub const MAX_PRECISION: u8 = 18;

    /// The least precision whose standard error [`HllParams::std_error`] is at most `relative_error`.
    ///
    /// * `relative_error`: standard deviation of the estimate as a share of the true count, from
    ///   1.0390 / 2^9 (0.00203, at precision 18) to below 1; 0.01 is one in a hundred. A target of 0.26 or more
    ///   gives precision 4.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `relative_error` is NaN or outside this range.
    pub fn for_error(relative_error: f64) -> Result<Self, Error> {
        (Self::MIN_PRECISION..=Self::MAX_PRECISION)
            .map(|p| Self { p })
            .find(|params| params.std_error() <= relative_error)
            .filter(|_| relative_error < 1.0)
            .ok_or(Error::Parameter {
                name: "relative_error",
                value: relative_error,
                domain: "0.00203 <= relative_error < 1 (1.0390 / 512: precision 18)",
            })
    }

    /// 2^`precision` registers.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `precision` is outside 4..=18.
    pub fn with_precision(precision: u8) -> Result<Self, Error> {
        if (Self::MIN_PRECISION..=Self::MAX_PRECISION).contains(&precision) {
            Ok(Self { p: precision })
        } else {
            Err(Error::Parameter { name: "precision", value: f64::from(precision), domain: "4 to 18" })
        }
    }

    /// The precision p.
    pub const fn precision(&self) -> u8 {
        self.p
    }

    /// The number m = 2^p of registers.
    pub const fn registers(&self) -> usize {
        1 << self.p
    }

    /// Most bytes that a sketch allocates: its registers, one byte each. Beside them a sketch of any precision holds the
    /// counts of its register values, 196 bytes.
    pub const fn size_bytes(&self) -> usize {
        self.registers()
    }

    /// Up to so many different keys (of some n of them n^2 / (6 * 2^26) are counted as others) a sketch keeps 32 bits of
    /// each hash, in a table that takes no more memory than registers, and counts almost exactly: 3 m / 16.
    ///
    /// A table of m/4 slots of four bytes takes the m bytes of the registers, and three slots in four are used at most.
    pub const fn sparse_limit(&self) -> usize {
        self.registers() / 16 * 3
    }

    /// Most bytes of the byte form, whatever the hashes.
    ///
    /// Of hashed keys few or many it takes less: see the tables.
    pub fn max_wire_bytes(&self) -> usize {
        stored::most_bytes(*self, self.packed_bytes())
    }

    /// Standard error of the estimate of many keys (20 m and more), as a share of the true count:
    /// 1.0390 / sqrt(m). For fewer keys it is smaller: see [`HllParams::predicted_error`]. The formula is that of many
    /// registers: at the lowest precisions measured errors are some per cent above it (table `hll-all-precisions`).
    ///
    /// # Source
    ///
    /// `[Ertl17]`; `[FlajoletEtAl07]` has 1.04.
    pub fn std_error(&self) -> f64 {
        ERROR_SCALE / libm::sqrt(self.registers() as f64)
    }

    /// Standard error of the running estimate of a [`StreamingHyperLogLog`](crate::StreamingHyperLogLog) of many keys, as a
    /// share of the true count: sqrt(ln 2) / sqrt(m) = 0.833 / sqrt(m) (table `hll-streaming`).
    ///
    /// # Source
    ///
    /// `[Ting14]`, `[Cohen15]`.
    pub fn streaming_std_error(&self) -> f64 {
        libm::sqrt(core::f64::consts::LN_2 / self.registers() as f64)
    }

    /// Standard error of the estimate at `keys` distinct keys, as a share of them: next to nothing up to
    /// [`HllParams::sparse_limit`], then from 0.71 / sqrt(m) to nearly 1.04 / sqrt(m) for many; 0 for no keys. From the
    /// Fisher information of the registers.
    ///
    /// This is the error of the best estimator for many registers; measured errors are above it by some per cent at
    /// the lowest precisions (table `hll-all-precisions`). Near 2^46 m keys registers reach their limit and the error grows
    /// without bound.
    ///
    /// # Source
    ///
    /// Likelihood: `[Ertl17]`.
    pub fn predicted_error(&self, keys: u64) -> f64 {
        information::predicted_error(*self, keys, information::deviation)
    }

    /// Bytes of registers of six bits in the byte form.
    pub(crate) const fn packed_bytes(self) -> usize {
        self.registers() / packed::GROUP * packed::PACKED_LEN
    }
}

/// The parameters as they are written.
#[derive(Serialize, Deserialize)]
struct Shape {
    p: u8,
}

impl TryFrom<Shape> for HllParams {
    type Error = Error;

    fn try_from(shape: Shape) -> Result<Self, Error> {
        Self::with_precision(shape.p)
    }
}

impl From<HllParams> for Shape {
    fn from(params: HllParams) -> Self {
        Self { p: params.p }
    }
}
