//! Sketches by time and dimension.

mod error;
mod params;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::mem;
use core::ops::{RangeBounds, RangeInclusive};

pub use error::TimeError;
pub use params::RollupParams;

use crate::{Error, Merge};

/// A sketch for each bucket of time and each value of a dimension: what a dashboard stores instead of numbers, since any
/// selection of buckets and dimensions merges into the sketch of that selection.
///
/// * **No clock inside.** The caller tells the time by [`Rollup::advance`], from a clock, never from the events: an event of
///   an absurd time then expires nothing.
/// * **Late data** goes into its own bucket as long as that is kept. What is older is refused and counted, and so is what is
///   further ahead than [`RollupParams::lead`].
/// * **One prototype.** All sketches begin as clones of one empty sketch; one that does not merge with it is refused.
///   (A `HyperLogLog` or `ThetaSketch` of a lower precision does merge, and its row goes down to it.)
/// * **Error**: that of the merged sketch. Where the merge is exact the buckets add nothing to it, but that ranges are rounded
///   to them.
/// * **Memory**: one sketch for each bucket and dimension that occurred; nothing limits the number of dimensions.
///
/// ```
/// use pds_hll::prelude::*;
/// use pds_merge::{Rollup, RollupParams};
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// // Hours of seconds, kept for a week, by country.
/// let params = RollupParams::new(3_600, 168)?;
/// let empty = HyperLogLog::new(HllParams::with_precision(12)?);
/// let mut visitors = Rollup::<HyperLogLog, String>::new(params, empty, 1_700_000_000);
///
/// visitors.insert(1_700_000_000, "PT", |sketch| sketch.insert("alice"))?;
/// visitors.advance(1_700_005_000);
/// visitors.insert(1_700_005_000, "PT", |sketch| sketch.insert("alice"))?;
/// visitors.insert(1_700_000_100, "CL", |sketch| sketch.insert("bob"))?; // late
///
/// let everywhere = visitors.query(.., |_| true)?.expect("there are rows");
/// assert_eq!(everywhere.estimate().round(), 2.0);
/// let by_country = visitors.group_by(.., |_, country| Some(country.clone()))?;
/// assert_eq!(by_country["PT"].estimate().round(), 1.0);
///
/// assert!(visitors.insert(2, "PT", |sketch| sketch.insert("carol")).is_err());
/// assert_eq!(visitors.refused_late(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Rollup<S, D = ()> {
    params: RollupParams,
    empty: S,
    now: u64,
    /// By the start of the bucket; none is empty.
    buckets: BTreeMap<u64, BTreeMap<D, S>>,
    late: u64,
    ahead: u64,
}

impl<S, D: Ord> Rollup<S, D> {
    /// Nothing yet. All sketches will be clones of `empty`; the current bucket is that of `now`.
    pub fn new(params: RollupParams, empty: S, now: u64) -> Self {
        Self { params, empty, now, buckets: BTreeMap::new(), late: 0, ahead: 0 }
    }

    /// Tells the time, and gives the rows that have expired by it: whole buckets, oldest first, as [`Rollup::rows`].
    ///
    /// Time does not go back: a `now` before the last one changes nothing, so that the readings of several clocks may be
    /// told as they come. Whoever tells an absurd time loses the buckets.
    pub fn advance(&mut self, now: u64) -> Vec<(u64, D, S)> {
        self.now = self.now.max(now);
        let kept = self.buckets.split_off(self.window().start());
        let expired = mem::replace(&mut self.buckets, kept);
        let rows = |(start, row): (u64, BTreeMap<D, S>)| row.into_iter().map(move |(d, s)| (start, d, s));
        expired.into_iter().flat_map(rows).collect()
    }

    /// The latest time that was told.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Widths and limits.
    pub fn params(&self) -> RollupParams {
        self.params
    }

    /// The sketch that all begin as.
    pub fn prototype(&self) -> &S {
        &self.empty
    }

    /// The times that are accepted now, from the first of the oldest bucket to the last of the newest.
    pub fn window(&self) -> RangeInclusive<u64> {
        self.params.window(self.now)
    }

    /// The times that the answer to a query of this range stands for: the range, rounded outwards to whole buckets, less
    /// what has expired and what is not accepted yet. `None` if nothing is left, as of an empty or inverted range.
    pub fn covered(&self, range: impl RangeBounds<u64>) -> Option<RangeInclusive<u64>> {
        self.params.cover(&range, self.now)
    }

    /// All sketches, by time and then by dimension: one row each for a table, with the start of its bucket.
    pub fn rows(&self) -> impl Iterator<Item = (u64, &D, &S)> {
        self.rows_in(0..=u64::MAX)
    }

    /// How many sketches there are.
    pub fn len(&self) -> usize {
        self.buckets.values().map(BTreeMap::len).sum()
    }

    /// True if there is no sketch.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Bytes of all sketches, by what one takes: `rollup.size_bytes(HyperLogLog::size_bytes)`.
    pub fn size_bytes(&self, of: impl Fn(&S) -> usize) -> usize {
        self.rows_in(0..=u64::MAX).map(|(_, _, sketch)| of(sketch)).sum()
    }

    /// How often data was refused since its bucket had expired. Stays at `u64::MAX`.
    pub fn refused_late(&self) -> u64 {
        self.late
    }

    /// How often data was refused since its time was too far ahead. Stays at `u64::MAX`.
    pub fn refused_ahead(&self) -> u64 {
        self.ahead
    }

    fn rows_in(&self, starts: RangeInclusive<u64>) -> impl Iterator<Item = (u64, &D, &S)> {
        let buckets = self.buckets.range(starts);
        buckets
            .flat_map(|(&start, row)| row.iter().map(move |(dimension, sketch)| (start, dimension, sketch)))
    }

    /// The start of the bucket of a time that is accepted; counts those that are not.
    fn bucket_of(&mut self, time: u64) -> Result<u64, TimeError> {
        let result = self.params.check(time, self.now);
        match result {
            Err(TimeError::Late { .. }) => self.late = self.late.saturating_add(1),
            Err(TimeError::Ahead { .. }) => self.ahead = self.ahead.saturating_add(1),
            _ => (),
        }
        result.map(|()| self.params.start_of(time))
    }

    fn row_mut<Q: Ord + ?Sized>(&mut self, start: u64, dimension: &Q) -> Option<&mut S>
    where
        D: Borrow<Q>,
    {
        self.buckets.get_mut(&start).and_then(|row| row.get_mut(dimension))
    }

    fn put(&mut self, start: u64, dimension: D, sketch: S) {
        self.buckets.entry(start).or_default().insert(dimension, sketch);
    }
}

impl<S: Clone, D: Ord> Rollup<S, D> {
    /// Lets `change` put data of this time and dimension into their sketch, and gives what it gives.
    ///
    /// `change` is to insert; a sketch of another shape that it puts in place fails the queries later on.
    ///
    /// # Errors
    ///
    /// [`TimeError::Late`] and [`TimeError::Ahead`]. `change` is not called then.
    pub fn insert<Q, R>(
        &mut self,
        time: u64,
        dimension: &Q,
        change: impl FnOnce(&mut S) -> R,
    ) -> Result<R, TimeError>
    where
        D: Borrow<Q>,
        Q: Ord + ToOwned<Owned = D> + ?Sized,
    {
        let start = self.bucket_of(time)?;
        if let Some(sketch) = self.row_mut(start, dimension) {
            return Ok(change(sketch));
        }
        // Put in its place afterwards: if `change` panics, there is no row without data.
        let mut sketch = self.empty.clone();
        let result = change(&mut sketch);
        self.put(start, dimension.to_owned(), sketch);
        Ok(result)
    }
}

/// For a window without dimensions.
impl<S> Rollup<S> {
    /// The sketch of the current bucket, if it has data.
    pub(crate) fn current(&self) -> Option<&S> {
        self.buckets.get(&self.params.start_of(self.now)).and_then(|row| row.get(&()))
    }

    /// The sketch of the current bucket.
    pub(crate) fn current_mut(&mut self) -> &mut S
    where
        S: Clone,
    {
        let row = self.buckets.entry(self.params.start_of(self.now)).or_default();
        row.entry(()).or_insert_with(|| self.empty.clone())
    }
}

impl<S: Merge + Clone, D: Ord> Rollup<S, D> {
    /// Merges a sketch of data of this time and dimension, such as another machine's, into theirs.
    ///
    /// # Errors
    ///
    /// [`TimeError::Late`] and [`TimeError::Ahead`]; [`TimeError::Sketch`] as [`Merge::merge`]. Nothing has changed then, save
    /// for the counts of refusals.
    pub fn merge<Q>(&mut self, time: u64, dimension: &Q, sketch: &S) -> Result<(), TimeError>
    where
        D: Borrow<Q>,
        Q: Ord + ToOwned<Owned = D> + ?Sized,
    {
        let start = self.bucket_of(time)?;
        if let Some(row) = self.row_mut(start, dimension) {
            return Ok(row.merge(sketch)?);
        }
        let mut row = self.empty.clone();
        row.merge(sketch)?;
        self.put(start, dimension.to_owned(), row);
        Ok(())
    }

    /// Puts back a row as [`Rollup::rows`] gave it, byte for byte; merges it if the row exists already. A row that was put
    /// back twice counts twice, where merging twice does.
    ///
    /// # Errors
    ///
    /// [`TimeError::Misaligned`] if `start` is not the start of a bucket; else as [`Rollup::merge`].
    pub fn insert_bucket(&mut self, start: u64, dimension: D, sketch: S) -> Result<(), TimeError> {
        if self.params.start_of(start) != start {
            return Err(TimeError::Misaligned { time: start, width: self.params.width() });
        }
        self.bucket_of(start)?;
        if let Some(row) = self.row_mut(start, &dimension) {
            return Ok(row.merge(&sketch)?);
        }
        self.empty.clone().merge(&sketch)?;
        self.put(start, dimension, sketch);
        Ok(())
    }

    /// The sketch of all data of the range whose dimension `keep` accepts; `None` if there is none.
    ///
    /// A bucket that the range touches is merged as a whole: [`Rollup::covered`] says which times the answer stands for. In the
    /// order of [`Rollup::rows`]. An empty or inverted range selects nothing.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`]: for sketches from here, if counts overflow together.
    pub fn query(
        &self,
        range: impl RangeBounds<u64>,
        mut keep: impl FnMut(&D) -> bool,
    ) -> Result<Option<S>, Error> {
        let mut groups = self.group_by(range, |_, dimension| keep(dimension).then_some(()))?;
        Ok(groups.remove(&()))
    }

    /// The sketches of all data of the range by groups. `key` gives the group of a row, from the start of its bucket and its
    /// dimension; `None` leaves it out.
    ///
    /// `|_, dimension| Some(dimension.clone())` is a sketch for each dimension, `|start, _| Some(start / day)` one for each
    /// day of all dimensions. The range is rounded as in [`Rollup::query`].
    ///
    /// # Errors
    ///
    /// As [`Rollup::query`].
    pub fn group_by<G: Ord>(
        &self,
        range: impl RangeBounds<u64>,
        mut key: impl FnMut(u64, &D) -> Option<G>,
    ) -> Result<BTreeMap<G, S>, Error> {
        let mut groups: BTreeMap<G, S> = BTreeMap::new();
        let Some(covered) = self.covered(range) else { return Ok(groups) };
        for (start, dimension, sketch) in self.rows_in(covered) {
            let Some(group) = key(start, dimension) else { continue };
            match groups.get_mut(&group) {
                Some(merged) => merged.merge(sketch)?,
                None => {
                    groups.insert(group, sketch.clone());
                }
            }
        }
        Ok(groups)
    }
}
