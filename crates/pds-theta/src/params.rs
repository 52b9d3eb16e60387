//! From a target, or from a raw size, to validated parameters.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::Table;

/// The size of a theta sketch: it keeps the k = 2^lg_k smallest hashes.
///
/// A value of this type is valid: a sketch of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct ThetaParams {
    lg_k: u8,
}

impl ThetaParams {
    /// Least size: 32 hashes, a standard error of 18 in a hundred.
    pub const MIN_LG_K: u8 = 5;

    /// Greatest size: 2^26 hashes, a standard error of 12 in a hundred thousand, a gigabyte of table.
    pub const MAX_LG_K: u8 = 26;

    /// The least size whose standard error [`ThetaParams::std_error`] is at most `relative_error`.
    ///
    /// * `relative_error`: standard deviation of the estimate as a share of the true count, from
    ///   1 / sqrt(2^26 - 1) (0.00012208, at 2^26 hashes) to below 1; 0.01 is one in a hundred. A target of 0.18 or
    ///   more gives 32 hashes.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `relative_error` is NaN or outside this range.
    pub fn for_error(relative_error: f64) -> Result<Self, Error> {
        (Self::MIN_LG_K..=Self::MAX_LG_K)
            .map(|lg_k| Self { lg_k })
            .find(|params| params.std_error() <= relative_error)
            .filter(|_| relative_error < 1.0)
            .ok_or(Error::Parameter {
                name: "relative_error",
                value: relative_error,
                domain: "0.00012208 <= relative_error < 1 (1 / sqrt(2^26 - 1): lg_k 26)",
            })
    }

    /// k = 2^`lg_k` hashes.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `lg_k` is outside 5..=26.
    pub fn with_lg_k(lg_k: u8) -> Result<Self, Error> {
        if (Self::MIN_LG_K..=Self::MAX_LG_K).contains(&lg_k) {
            Ok(Self { lg_k })
        } else {
            Err(Error::Parameter { name: "lg_k", value: f64::from(lg_k), domain: "5 to 26" })
        }
    }

    /// The logarithm of k.
    pub const fn lg_k(&self) -> u8 {
        self.lg_k
    }

    /// The most hashes k that a sketch keeps; up to as many keys it counts exactly.
    pub const fn k(&self) -> usize {
        1 << self.lg_k
    }

    /// Bytes of the table of a sketch that is no longer exact: two slots of eight bytes for each of the k hashes. With
    /// few keys a sketch takes less: see [`ThetaSketch::size_bytes`](crate::ThetaSketch::size_bytes).
    pub const fn size_bytes(&self) -> usize {
        Table::max_slots(self.k()) * size_of::<u64>()
    }

    /// Standard error of the estimate of many keys, as a share of the true count: 1 / sqrt(k - 1). For fewer keys it is
    /// smaller, and 0 up to k: see [`ThetaParams::predicted_error`].
    ///
    /// # Source
    ///
    /// `[BeyerEtAl07]`; `[DasguptaEtAl16]`.
    pub fn std_error(&self) -> f64 {
        1.0 / libm::sqrt((self.k() - 1) as f64)
    }

    /// Standard error of the estimate at `keys` distinct keys n, as a share of them: sqrt((n - k) / (n (k - 1))), and 0
    /// up to k. Exact: the threshold is an order statistic of n uniform numbers, a beta variable.
    ///
    /// # Source
    ///
    /// `[BeyerEtAl07]`.
    pub fn predicted_error(&self, keys: u64) -> f64 {
        let k = self.k() as u64;
        let rejected = keys.saturating_sub(k) as f64;
        if rejected > 0.0 { libm::sqrt(rejected / keys as f64 / (k - 1) as f64) } else { 0.0 }
    }
}

/// The parameters as they are written.
#[derive(Serialize, Deserialize)]
struct Shape {
    lg_k: u8,
}

impl TryFrom<Shape> for ThetaParams {
    type Error = Error;

    fn try_from(shape: Shape) -> Result<Self, Error> {
        Self::with_lg_k(shape.lg_k)
    }
}

impl From<ThetaParams> for Shape {
    fn from(params: ThetaParams) -> Self {
        Self { lg_k: params.lg_k }
    }
}
