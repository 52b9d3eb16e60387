//! From a target, or from k itself, to validated parameters.

use serde::{Deserialize, Serialize};

use super::levels;
use crate::Error;

/// How many items the top level of a sketch holds, which is what its error depends on.
///
/// A value of this type is valid: a sketch of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct KllParams {
    k: u16,
}

impl KllParams {
    /// The least k.
    pub const MIN_K: u16 = 8;

    /// The greatest k.
    pub const MAX_K: u16 = u16::MAX;

    /// The k of [`KllParams::default`]: an error of [`KllParams::rank_error`], somewhat above one per cent.
    pub const DEFAULT_K: u16 = 200;

    /// The chance with which the errors hold.
    pub const CONFIDENCE: f64 = 0.99;

    /// A sketch with the given k.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `k` is below [`KllParams::MIN_K`].
    pub fn with_k(k: u16) -> Result<Self, Error> {
        if k >= Self::MIN_K {
            Ok(Self { k })
        } else {
            Err(Error::Parameter { name: "k", value: f64::from(k), domain: "8 to 65535" })
        }
    }

    /// The least k whose [`KllParams::rank_error`] is at most `eps`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `eps` is below 1, and at least what [`KllParams::MAX_K`] reaches: 4.7633762885654784e-5.
    pub fn for_error(eps: f64) -> Result<Self, Error> {
        if !(error_of(Self::MAX_K, SINGLE)..1.0).contains(&eps) {
            return Err(Error::Parameter { name: "eps", value: eps, domain: EPS_DOMAIN });
        }
        // The error falls with k: halve the interval that the least one lies in. No inverse whose last bit could matter.
        let (mut low, mut high) = (Self::MIN_K, Self::MAX_K);
        while low < high {
            let middle = low.midpoint(high);
            if error_of(middle, SINGLE) <= eps {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(Self { k: low })
    }

    /// How many items the top level holds.
    pub fn k(&self) -> u16 {
        self.k
    }

    /// The greatest error of any rank or quantile of a sketch, in ranks as a share of the count, in either direction, with a
    /// chance of [`KllParams::CONFIDENCE`].
    ///
    /// # Source
    ///
    /// The fit 2.296 / k^0.9723 to measurements of the Apache DataSketches library. It is an upper bound for this sketch, which
    /// the tests hold against it.
    pub fn rank_error(&self) -> f64 {
        error_of(self.k, SINGLE)
    }

    /// As [`KllParams::rank_error`], for the share of the values between two limits: the difference of two
    /// ranks. The fit 2.446 / k^0.9433.
    pub fn interval_error(&self) -> f64 {
        error_of(self.k, INTERVAL)
    }

    /// The most items that a sketch of `count` values holds.
    pub fn items(&self, count: u64) -> usize {
        // An item of level h stands for 2^h values.
        let levels = u64::BITS - count.max(1).leading_zeros();
        levels::capacity(self.k, levels as usize)
    }

    /// The most bytes of the items of a sketch of `count` values of type `T`, without what they own elsewhere.
    pub fn size_bytes<T>(&self, count: u64) -> usize {
        // A vector that grew to its capacity may have room for twice as many.
        2 * self.items(count) * size_of::<T>()
    }
}

/// What [`KllParams::for_error`] accepts.
const EPS_DOMAIN: &str = "4.7633762885654784e-5 (k = 65535) to below 1";

/// Factor and exponent of the error of one rank.
const SINGLE: (f64, f64) = (2.296, 0.9723);

/// Factor and exponent of the error of the difference of two ranks.
const INTERVAL: (f64, f64) = (2.446, 0.9433);

fn error_of(k: u16, (factor, exponent): (f64, f64)) -> f64 {
    factor / libm::pow(f64::from(k), exponent)
}

/// A k of [`KllParams::DEFAULT_K`].
impl Default for KllParams {
    fn default() -> Self {
        Self { k: Self::DEFAULT_K }
    }
}

impl TryFrom<u16> for KllParams {
    type Error = Error;

    fn try_from(k: u16) -> Result<Self, Error> {
        Self::with_k(k)
    }
}

impl From<KllParams> for u16 {
    fn from(params: KllParams) -> Self {
        params.k
    }
}
