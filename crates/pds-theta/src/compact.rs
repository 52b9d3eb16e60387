//! The result of a set operation, and the sorted form of a sketch.

use alloc::vec::Vec;
use core::fmt;

use crate::reading::Reading;
use crate::{Error, Fingerprint, Sketch, ThetaParams, ThetaView, WyHasher};

/// Sorted hashes and the threshold below which they were kept: what set operations give, and are quickest on.
///
/// It counts as a sketch does, and takes part in further operations; keys cannot be inserted. Three states are told apart:
///
/// | state | threshold | retained | estimate | `bounds(2.0)` |
/// |---|---|---|---|---|
/// | known to be empty | 1 | none | 0 | 0 to 0 |
/// | nothing retained | below 1 | none | 0 | 0 to 3.8 / threshold, or what a source allows |
/// | otherwise | | some | retained / threshold | around it |
///
/// Equality is that of size, hasher, threshold, hashes and what the sources of intersections and differences allowed.
#[derive(Clone)]
pub struct CompactTheta<H = WyHasher> {
    params: ThetaParams,
    theta: u64,
    hashes: Vec<u64>,
    ceiling: Option<Reading>,
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

    /// Estimated number of distinct keys: the retained hashes divided by the threshold, but no more than the estimate of a
    /// source that an intersection or difference cannot exceed. Constant time.
    pub fn estimate(&self) -> f64 {
        estimate(self.reading(), self.ceiling)
    }

    /// Where the number of distinct keys lies: as [`ThetaSketch::bounds`](crate::ThetaSketch::bounds), but no higher than
    /// the upper bound of a source that an intersection or difference cannot exceed.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        bounds(self.reading(), self.ceiling, kappa)
    }

    /// The threshold, as a share of all hashes: 1 if nothing was rejected.
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
        ceiling: Option<Reading>,
        hasher: H,
    ) -> Self {
        debug_assert!(hashes.len() <= params.k(), "no operation keeps more than k");
        let reading = Reading { retained: hashes.len() as u64, theta };
        // What does not bind is not kept: one state, one form.
        let ceiling = ceiling.filter(|ceiling| !reading.is_exact() && *ceiling != reading);
        Self { params, theta, hashes, ceiling, hasher }
    }

    pub(crate) fn reading(&self) -> Reading {
        Reading { retained: self.hashes.len() as u64, theta: self.theta }
    }

    pub(crate) fn ceiling(&self) -> Option<Reading> {
        self.ceiling
    }
}

pub(crate) fn estimate(reading: Reading, ceiling: Option<Reading>) -> f64 {
    ceiling.map_or(reading.estimate(), |ceiling| reading.estimate().min(ceiling.estimate()))
}

pub(crate) fn bounds(reading: Reading, ceiling: Option<Reading>, kappa: f64) -> (f64, f64) {
    let (low, high) = reading.bounds(kappa);
    let Some(source) = ceiling else {
        return (low, high);
    };
    // Never below what is there for certain, whatever bytes claim of a source.
    let high = high.min(source.bounds(kappa).1).max(reading.retained as f64);
    (low.min(high).min(estimate(reading, ceiling)), high)
}

impl<H: Fingerprint> PartialEq for CompactTheta<H> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && self.theta == other.theta
            && self.hashes == other.hashes
            && self.ceiling == other.ceiling
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
