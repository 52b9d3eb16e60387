//! The sketch.

use core::fmt;

use alloc::vec::Vec;

use super::limit::Limit;
use super::params::DDSketchParams;
use super::query::{self, Summary};
use super::snapshot::DDSketchSnapshot;
use super::store::Store;
use super::view::DDSketchView;
use crate::{Contract, Error, ExactMerge, Merge, QuantileRule, QuantileSketch, Quantiles, RankRule, Sketch};

/// Quantiles within a relative error of their value: at 1 %, a true p99 of 800 ms is given as 792 to 808 ms.
///
/// * Values are counted in bins of equal relative width; a quantile is given as the middle of its bin. The error is at most
///   alpha times the value, two-sided, for certain, for every value from the least positive normal float
///   (`f64::MIN_POSITIVE`) to the greatest, of either sign. Numbers nearer to zero count as zero.
/// * Minimum and maximum are exact; so are all quantiles while all values are equal.
/// * The error of a *rank* is not bounded: values within a bin are not told apart.
/// * Memory is bounded by [`DDSketchParams::max_size_bytes`]: 2 MiB at the default limit of 65,536 bins
///   ([`DDSketchParams::DEFAULT_MAX_BINS`]). Beyond the limit, bins are joined as [`Collapse`](crate::Collapse) says; [`Quantiles::contract`] then states what is still promised, and
///   [`Quantiles::bounds`] gives an interval that is certain in any case.
/// * Merging is exact: the merged sketch is that of all values, byte for byte, in any order or grouping. The sum is
///   therefore made of the bins and not kept. Refusals of [`QuantileSketch::insert`] are counted per stream, like values, and
///   add up; they are part of the bytes.
///
/// # Source
///
/// `[MassonRimLee19]`; joining pairs, `[EpicocoEtAl20]`.
#[derive(Clone)]
pub struct DDSketch {
    pub(super) summary: Summary,
    pub(super) store: Store,
    limit: Limit,
}

impl DDSketch {
    /// An empty sketch.
    pub fn new(params: DDSketchParams) -> Self {
        let summary =
            Summary { params, shift: 0, count: 0, rejected: 0, min: f64::INFINITY, max: f64::NEG_INFINITY };
        Self { summary, store: Store::default(), limit: Limit::new(params.max_bins(), params.collapse()) }
    }

    /// Decodes a sketch.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a sketch where its bytes lie: see [`DDSketchView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`DDSketchView::verify`] checks.
    pub fn view(bytes: &[u8]) -> Result<DDSketchView<'_>, Error> {
        DDSketchView::open(bytes)
    }

    /// Takes in many sketches, all or none.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`], for the first that does not fit. `self` is then unchanged.
    pub fn merge_many<'a>(&mut self, others: impl IntoIterator<Item = &'a Self>) -> Result<(), Error> {
        let others: Vec<&Self> = others.into_iter().collect();
        let mut count = self.summary.count;
        for other in &others {
            self.summary.params.same(&other.summary.params)?;
            count = count.checked_add(other.summary.count).ok_or(Error::Overflow)?;
        }
        others.into_iter().try_for_each(|other| self.merge(other))
    }

    /// A copy for many questions, each answered in the logarithm of the number of bins.
    pub fn snapshot(&self) -> DDSketchSnapshot {
        DDSketchSnapshot::new(self.summary, self.store.iter())
    }

    /// Accuracy, mapping and limit.
    pub fn params(&self) -> DDSketchParams {
        self.summary.params
    }

    /// The relative error of a quantile at most, as it stands: that of the parameters, unless
    /// [`Collapse::Uniform`](crate::Collapse::Uniform) had to join bins.
    pub fn alpha(&self) -> f64 {
        self.summary.alpha()
    }

    /// How many bins are occupied, those of both signs and zero together. Counts them.
    pub fn occupied_bins(&self) -> usize {
        self.store.occupied()
    }

    /// The occupied bins in the order of their values: for each the number that stands for it, and its count.
    pub fn bins(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.store.iter().map(|(slot, count)| (self.summary.value(slot), count))
    }

    pub(super) fn from_parts(summary: Summary, store: Store) -> Self {
        let mut limit = Limit::new(summary.params.max_bins(), summary.params.collapse());
        limit.recount(&store);
        Self { summary, store, limit }
    }

    /// All insertions but those of positive numbers into occupied bins of a window.
    #[inline(never)]
    fn insert_any(&mut self, value: f64, n: u64) -> Result<bool, Error> {
        if !value.is_finite() {
            return Err(Error::NonFinite);
        }
        if n == 0 {
            return Ok(false);
        }
        let count = self.summary.count.checked_add(n).ok_or(Error::Overflow)?;
        let slot = self.summary.slot(value);
        if !self.store.add_to_occupied(slot, n) {
            self.summary.shift += self.limit.add_new(&mut self.store, slot, n);
        }
        self.summary.count = count;
        // -0.0 becomes 0.0.
        let value = value + 0.0;
        self.summary.min = if value < self.summary.min { value } else { self.summary.min };
        self.summary.max = if value > self.summary.max { value } else { self.summary.max };
        Ok(true)
    }
}

impl Quantiles for DDSketch {
    fn count(&self) -> u64 {
        self.summary.count
    }

    fn rejected(&self) -> u64 {
        self.summary.rejected
    }

    fn min(&self) -> Option<f64> {
        self.summary.min()
    }

    fn max(&self) -> Option<f64> {
        self.summary.max()
    }

    /// Off by at most alpha times the sum of the magnitudes, unless bins have collapsed at one end.
    fn sum(&self) -> Option<f64> {
        self.summary.sum(self.store.iter())
    }

    fn quantile_by(&self, q: f64, rule: QuantileRule) -> Option<f64> {
        self.summary.quantile(q, rule, |index| self.store.find(index))
    }

    fn quantiles(&self, qs: &[f64]) -> Vec<Option<f64>> {
        self.summary.quantiles(qs, self.store.iter())
    }

    /// Values in the bin of `value` count as equal to it.
    fn rank_by(&self, value: f64, rule: RankRule) -> Option<f64> {
        self.summary.rank(value, rule, |slot| query::rank_of(self.store.iter(), slot))
    }

    fn bounds(&self, q: f64) -> Option<(f64, f64)> {
        self.summary.bounds(q, |index| self.store.find(index))
    }

    fn contract(&self) -> Contract {
        let ends = self.store.iter().next().zip(self.store.iter().next_back());
        self.summary.contract(ends)
    }
}

impl QuantileSketch for DDSketch {
    #[inline]
    fn insert(&mut self, value: f64) -> bool {
        let summary = &mut self.summary;
        if (f64::MIN_POSITIVE..=f64::MAX).contains(&value) && summary.count < u64::MAX {
            let key = summary.params.grid.key(value) >> summary.shift;
            if let Some(count) = self.store.positive.hit(key) {
                *count += 1;
                summary.count += 1;
                summary.min = if value < summary.min { value } else { summary.min };
                summary.max = if value > summary.max { value } else { summary.max };
                return true;
            }
        }
        let inserted = self.insert_any(value, 1);
        if inserted == Err(Error::NonFinite) {
            self.summary.rejected = self.summary.rejected.saturating_add(1);
        }
        inserted == Ok(true)
    }

    fn insert_n(&mut self, value: f64, n: u64) -> Result<bool, Error> {
        self.insert_any(value, n)
    }

    fn clear(&mut self) {
        *self = Self::new(self.summary.params);
    }

    fn size_bytes(&self) -> usize {
        self.store.size_bytes()
    }
}

/// [`Error::Incompatible`] names the parameter that differs: `mapping`, `alpha`, `max_bins` or `collapse`;
/// [`Error::Overflow`] if the counts together exceed `u64::MAX`.
impl Merge for DDSketch {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let (mine, theirs) = (&mut self.summary, &other.summary);
        mine.params.same(&theirs.params)?;
        mine.count = mine.count.checked_add(theirs.count).ok_or(Error::Overflow)?;
        mine.rejected = mine.rejected.saturating_add(theirs.rejected);
        mine.min = if theirs.min < mine.min { theirs.min } else { mine.min };
        mine.max = if theirs.max > mine.max { theirs.max } else { mine.max };
        if mine.shift < theirs.shift {
            self.store.join(theirs.shift - mine.shift);
            mine.shift = theirs.shift;
        }
        self.store.merge(&other.store, mine.shift - theirs.shift);
        mine.shift += self.limit.merged(&mut self.store, &other.limit);
        Ok(())
    }
}

impl ExactMerge for DDSketch {}

/// Equal parameters, bins, extremes and refusals: the same bytes.
impl PartialEq for DDSketch {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.summary, &other.summary);
        let summary = |s: &Summary| (s.shift, s.count, s.rejected, s.min.to_bits(), s.max.to_bits());
        a.params == b.params && summary(a) == summary(b) && self.store.iter().eq(other.store.iter())
    }
}

impl Extend<f64> for DDSketch {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        for value in values {
            self.insert(value);
        }
    }
}

impl<'a> Extend<&'a f64> for DDSketch {
    fn extend<I: IntoIterator<Item = &'a f64>>(&mut self, values: I) {
        self.extend(values.into_iter().copied());
    }
}

/// Shows parameters and extremes, not the bins.
impl fmt::Debug for DDSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DDSketch")
            .field("params", &self.summary.params)
            .field("count", &self.summary.count)
            .field("min", &self.min())
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}
