//! The result of a set operation, and the sorted form of a sketch.

use alloc::vec::Vec;
use core::fmt;

use crate::reading::{Limits, Reading};
use crate::{Error, Fingerprint, Sketch, ThetaParams, ThetaView, WyHasher};

/// Sorted hashes and the threshold below which they were kept: what set operations give, and are quickest on.
///
/// It counts as a sketch does, and takes part in further operations; keys cannot be inserted. Three states are told apart:
///
/// | state | threshold | retained | estimate | `bounds(2.0)` |
/// |---|---|---|---|---|
/// | known to be empty | 1 | none | 0 | 0 to 0 |
/// | nothing retained | at most 1 | none | 0 | 0 to 3.8 / threshold, or the count of an exact source |
/// | otherwise | at most 1 | some | retained / threshold, or what a source allows | around it |
///
/// Equality is that of size, hasher, threshold, hashes and what the sources of intersections and differences allowed.
#[derive(Clone)]
pub struct CompactTheta<H = WyHasher> {
    params: ThetaParams,
    theta: u64,
    hashes: Vec<u64>,
    limits: Limits,
    hasher: H,
}

impl CompactTheta {
    /// Decodes a result made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a result made with the default hasher where its bytes lie: see [`ThetaView`].
    ///
    /// # Errors
    ///
    /// As [`CompactTheta::view_with`].
    pub fn view(bytes: &[u8]) -> Result<ThetaView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: Fingerprint> CompactTheta<H> {
    /// Opens a result where its bytes lie, in constant time: see [`ThetaView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload, which [`ThetaView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<ThetaView<'_, H>, Error> {
        ThetaView::open_compact(bytes, hasher)
    }

    /// Estimated number of distinct keys: the retained hashes divided by the threshold, but no more than the estimate of any
    /// source that an intersection or difference is a part of. Unbiased where that does not limit it; too low on average
    /// where it does. Constant time.
    pub fn estimate(&self) -> f64 {
        self.limits.limited_estimate(self.reading())
    }

    /// Where the number of distinct keys lies: as [`ThetaSketch::bounds`](crate::ThetaSketch::bounds), but no higher than
    /// the count of any exact source that an intersection or difference is a part of, and the lower bound no higher than
    /// the estimate. They hold the truth as often as those of a sketch: what an estimate of a source allows, which may
    /// be wrong, does not narrow them.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        self.limits.limited_bounds(self.reading(), kappa)
    }

    /// The threshold, as a share of all hashes: 1 if nothing was rejected, else at most 1, as rounded.
    pub fn theta(&self) -> f64 {
        self.reading().share()
    }

    /// The number of hashes that the estimate rests on.
    pub fn retained(&self) -> usize {
        self.hashes.len()
    }

    /// Whether every key is retained, so that the estimate is the count.
    pub fn is_exact(&self) -> bool {
        self.reading().is_exact()
    }

    /// True if there is certainly no key. False if none was retained below a threshold: see [`CompactTheta::bounds`].
    pub fn is_empty(&self) -> bool {
        self.reading().is_empty()
    }

    /// The retained hashes, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The size: retained hashes are at most its k.
    pub fn params(&self) -> ThetaParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Bytes of the hashes.
    pub fn size_bytes(&self) -> usize {
        self.hashes.len() * size_of::<u64>()
    }

    /// `hashes` ascend, are above 0 and below `theta`, and at most k.
    pub(crate) fn from_parts(
        params: ThetaParams,
        theta: u64,
        hashes: Vec<u64>,
        limits: Limits,
        hasher: H,
    ) -> Self {
        debug_assert!(hashes.len() <= params.k(), "no operation keeps more than k");
        let reading = Reading { retained: hashes.len() as u64, theta };
        Self { params, theta, hashes, limits: limits.binding(reading), hasher }
    }

    pub(crate) fn reading(&self) -> Reading {
        Reading { retained: self.hashes.len() as u64, theta: self.theta }
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }
}

impl<H: Fingerprint> PartialEq for CompactTheta<H> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && self.theta == other.theta
            && self.hashes == other.hashes
            && self.limits == other.limits
            && self.hasher.fingerprint() == other.hasher.fingerprint()
    }
}

/// Shows the size and the state, not the hashes.
impl<H: fmt::Debug + Fingerprint> fmt::Debug for CompactTheta<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompactTheta")
            .field("params", &self.params)
            .field("theta", &self.theta())
            .field("retained", &self.retained())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
