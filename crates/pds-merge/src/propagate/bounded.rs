//! An estimate with its bounds.

use crate::Error;

/// An estimate and an interval that the truth lies in: for certain, or with the confidence of whoever made it.
///
/// Always finite, and `low <= estimate <= high`.
///
/// ```
/// use pds_hll::prelude::*;
/// use pds_merge::Bounded;
///
/// # fn main() -> Result<(), Error> {
/// let mut visitors = HyperLogLog::new(HllParams::with_precision(12)?);
/// visitors.extend(0..10_000u32);
/// // Three standard deviations: right 997 times in a thousand.
/// let (low, high) = visitors.bounds(3.0);
/// let visitors = Bounded::new(visitors.estimate(), low, high)?;
/// assert!(visitors.contains(10_000.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    estimate: f64,
    low: f64,
    high: f64,
}

impl Bounded {
    /// An estimate and its bounds.
    ///
    /// # Errors
    ///
    /// [`Error::NonFinite`] if one of them is NaN or infinite, as the upper bound of a saturated sketch;
    /// [`Error::Parameter`] unless `low <= estimate <= high`.
    pub fn new(estimate: f64, low: f64, high: f64) -> Result<Self, Error> {
        if ![estimate, low, high].into_iter().all(f64::is_finite) {
            return Err(Error::NonFinite);
        }
        if low > estimate {
            return Err(Error::Parameter { name: "low", value: low, domain: "at most the estimate" });
        }
        if high < estimate {
            return Err(Error::Parameter { name: "high", value: high, domain: "at least the estimate" });
        }
        Ok(Self { estimate, low, high })
    }

    /// A number that is known.
    ///
    /// # Errors
    ///
    /// [`Error::NonFinite`] if it is NaN or infinite.
    pub fn exact(value: f64) -> Result<Self, Error> {
        Self::new(value, value, value)
    }

    /// The estimate.
    pub const fn estimate(&self) -> f64 {
        self.estimate
    }

    /// The lower bound.
    pub const fn low(&self) -> f64 {
        self.low
    }

    /// The upper bound.
    pub const fn high(&self) -> f64 {
        self.high
    }

    /// How far the truth may be below the estimate, and how far above it.
    pub fn half_widths(&self) -> (f64, f64) {
        (self.estimate - self.low, self.high - self.estimate)
    }

    /// Whether the interval, ends included, holds this number.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}
