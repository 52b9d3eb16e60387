//! The digest itself.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use super::compress::{collect, compress};
use super::{Centroid, TDigestParams, TDigestSnapshot};
use crate::sketch::merge_all;
use crate::{Contract, Error, Finite, Merge, QuantileRule, QuantileSketch, Quantiles, RankRule, Sketch};

/// A t-digest: quantiles that are sharpest at the ends, in one or two kilobytes.
///
/// * Error: of the rank, and smallest next to 0 and 1. It has no proved bound; `cargo xtask accuracy` measures it.
/// * For values that are smooth over some decades. The mean of values many decades apart is that of the greatest, and a straight
///   line to it says little of those below: there the middle ranks may be off by tenths, and a
///   [`DDSketch`](crate::DDSketch) or [`KllSketch`](crate::KllSketch) is the right choice. The ends stay sharp.
/// * Exact where it can be: minimum and maximum always; every answer as long as no more values are distinct than the
///   compression; a value that is repeated often enough to be a centroid of its own, for ever.
/// * Quantiles and ranks are inverses and never fall: see [`TDigestSnapshot`].
/// * Merging is not exact: bytes depend on the order of values and merges, the error hardly does.
/// * Values are finite, weights `u64`, the sum of which is exact and may be as great.
///
/// Answers and bytes are those of the digest compressed to [`TDigestParams::compression`]. A question to a digest that has
/// taken something in since compresses a copy; [`TDigest::snapshot`] does it once for many questions.
///
/// # Source
///
/// `[DunningErtl19]`: the merging digest with the scale K2, the working set of two levels. Atoms, and the polyline that they
/// are flat parts of, are this crate's own.
#[derive(Clone)]
pub struct TDigest {
    params: TDigestParams,
    /// By ascending mean, compressed to the working number of centroids.
    centroids: Vec<Centroid>,
    /// Whether the centroids are what answers and bytes are made of: compressed to the number in the parameters.
    settled: bool,
    /// Values of weight 1 that wait to be compressed.
    units: Vec<Finite>,
    /// Centroids that wait to be compressed, in no order.
    pending: Vec<Centroid>,
    count: u64,
    rejected: u64,
    /// Least and greatest value.
    ends: Option<(Finite, Finite)>,
}

impl TDigest {
    /// An empty digest. Allocates nothing before the first value.
    pub fn new(params: TDigestParams) -> Self {
        Self {
            params,
            centroids: Vec::new(),
            settled: true,
            units: Vec::new(),
            pending: Vec::new(),
            count: 0,
            rejected: 0,
            ends: None,
        }
    }

    /// Decodes a digest.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// The compression.
    pub fn params(&self) -> TDigestParams {
        self.params
    }

    /// The answers as they stand, for many questions.
    pub fn snapshot(&self) -> TDigestSnapshot {
        TDigestSnapshot::new(self.compressed().into_owned(), self.rejected)
    }

    /// As [`TDigestSnapshot::is_exact`].
    pub fn is_exact(&self) -> bool {
        self.snapshot().is_exact()
    }

    /// Takes in what each of the others has seen: as [`Merge::merge`] one by one, but all or nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the count would exceed `u64::MAX`. Nothing has changed then.
    pub fn merge_many<'a>(
        &mut self,
        others: impl IntoIterator<Item = &'a Self> + Clone,
    ) -> Result<(), Error> {
        merge_all(self, others, |digest| digest.count)
    }

    /// The centroids that answers and bytes are made of.
    pub(crate) fn compressed(&self) -> Cow<'_, [Centroid]> {
        if self.settled {
            return Cow::Borrowed(&self.centroids);
        }
        let mut all = if self.units.is_empty() && self.pending.is_empty() {
            self.centroids.clone()
        } else {
            let mut units = self.units.clone();
            units.sort_unstable();
            let mut all = collect(&self.centroids, &mut self.pending.clone(), &units);
            // As taking in the next value would, if it were one too many.
            compress(&mut all, self.count, self.params.working());
            all
        };
        compress(&mut all, self.count, self.params.compression() as usize);
        Cow::Owned(all)
    }

    pub(crate) fn rejections(&self) -> u64 {
        self.rejected
    }

    /// A digest of centroids as they are in answers and bytes; `count` is the sum of their weights.
    pub(crate) fn from_parts(
        params: TDigestParams,
        centroids: Vec<Centroid>,
        count: u64,
        rejected: u64,
    ) -> Self {
        let end = |centroid: Option<&Centroid>| centroid.and_then(|centroid| Finite::new(centroid.mean()));
        let ends = end(centroids.first()).zip(end(centroids.last()));
        Self { centroids, count, rejected, ends, ..Self::new(params) }
    }

    /// Compresses what waits.
    #[inline(never)]
    fn flush(&mut self) {
        self.units.sort_unstable();
        let mut all = collect(&self.centroids, &mut self.pending, &self.units);
        compress(&mut all, self.count, self.params.working());
        // A copy: the vector of all has room for many more.
        self.centroids.clear();
        self.centroids.extend_from_slice(&all);
        self.units.clear();
        self.pending.clear();
        // A digest with greater buffers may have been merged in.
        if self.units.capacity() > 2 * self.params.buffer() {
            self.units.shrink_to(self.params.buffer());
        }
        if self.pending.capacity() > 2 * self.params.pending_room() {
            self.pending.shrink_to(self.params.pending_room());
        }
    }

    fn flush_if_full(&mut self) {
        if self.units.len() >= self.params.buffer() || self.pending.len() >= self.params.pending() {
            self.flush();
        }
    }

    #[inline]
    fn widen(&mut self, low: Finite, high: Finite) {
        self.ends = Some(self.ends.map_or((low, high), |(min, max)| (min.min(low), max.max(high))));
    }
}

/// A question takes the time of a [`TDigest::snapshot`]; so do the others but count, minimum and maximum.
impl Quantiles for TDigest {
    fn count(&self) -> u64 {
        self.count
    }

    fn rejected(&self) -> u64 {
        self.rejected
    }

    fn min(&self) -> Option<f64> {
        self.ends.map(|(min, _)| min.get())
    }

    fn max(&self) -> Option<f64> {
        self.ends.map(|(_, max)| max.get())
    }

    fn sum(&self) -> Option<f64> {
        self.snapshot().sum()
    }

    fn quantile_by(&self, q: f64, rule: QuantileRule) -> Option<f64> {
        self.snapshot().quantile_by(q, rule)
    }

    fn rank_by(&self, value: f64, rule: RankRule) -> Option<f64> {
        self.snapshot().rank_by(value, rule)
    }

    fn bounds(&self, q: f64) -> Option<(f64, f64)> {
        self.snapshot().bounds(q)
    }

    fn contract(&self) -> Contract {
        self.snapshot().contract()
    }

    fn quantiles(&self, qs: &[f64]) -> Vec<Option<f64>> {
        self.snapshot().quantiles(qs)
    }
}

impl QuantileSketch for TDigest {
    #[inline]
    fn insert(&mut self, value: f64) -> bool {
        let Some(value) = Finite::new(value) else {
            self.rejected = self.rejected.saturating_add(1);
            return false;
        };
        let Some(count) = self.count.checked_add(1) else { return false };
        self.count = count;
        self.settled = false;
        self.widen(value, value);
        self.units.push(value);
        if self.units.len() >= self.params.buffer() {
            self.flush();
        }
        true
    }

    fn insert_n(&mut self, value: f64, n: u64) -> Result<bool, Error> {
        let value = Finite::try_from(value)?;
        let count = self.count.checked_add(n).ok_or(Error::Overflow)?;
        if n == 0 {
            return Ok(false);
        }
        self.count = count;
        self.settled = false;
        self.widen(value, value);
        if n == 1 {
            self.units.push(value);
        } else {
            self.pending.push(Centroid::atom(value.get(), n));
        }
        self.flush_if_full();
        Ok(true)
    }

    fn clear(&mut self) {
        *self = Self::new(self.params);
    }

    fn size_bytes(&self) -> usize {
        let centroids = self.centroids.capacity() + self.pending.capacity();
        centroids * size_of::<Centroid>() + self.units.capacity() * size_of::<Finite>()
    }
}

/// Digests of any compressions may be merged; the result has that of `self`.
///
/// # Errors
///
/// [`Error::Overflow`] if the count would exceed `u64::MAX`. Nothing has changed then.
impl Merge for TDigest {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let count = self.count.checked_add(other.count).ok_or(Error::Overflow)?;
        self.rejected = self.rejected.saturating_add(other.rejected);
        let Some((low, high)) = other.ends else { return Ok(()) };
        if self.count == 0 && self.params == other.params {
            *self = Self { rejected: self.rejected, ..other.clone() };
            return Ok(());
        }
        self.count = count;
        self.settled = false;
        self.widen(low, high);
        // What waits there waits here: it is sorted and compressed once.
        self.units.extend_from_slice(&other.units);
        self.pending.extend_from_slice(&other.pending);
        self.pending.extend_from_slice(&other.centroids);
        self.flush_if_full();
        Ok(())
    }
}

/// Equal parameters, refusals and answers: the same bytes.
impl PartialEq for TDigest {
    fn eq(&self, other: &Self) -> bool {
        (self.params, self.count, self.rejected) == (other.params, other.count, other.rejected)
            && self.compressed() == other.compressed()
    }
}

/// An empty digest of [`TDigestParams::default`].
impl Default for TDigest {
    fn default() -> Self {
        Self::new(TDigestParams::default())
    }
}

/// As [`QuantileSketch::insert`], one by one.
impl Extend<f64> for TDigest {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        for value in values {
            self.insert(value);
        }
    }
}

/// Shows parameters, count and ends, not the centroids.
impl fmt::Debug for TDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TDigest")
            .field("params", &self.params)
            .field("count", &self.count)
            .field("ends", &self.ends)
            .finish_non_exhaustive()
    }
}
