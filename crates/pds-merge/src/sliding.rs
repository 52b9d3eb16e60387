//! The last buckets of time, merged.

use core::ops::RangeInclusive;

use crate::{Error, Merge, Rollup, RollupParams, TimeError};

/// A sketch of the recent past: B buckets of one width, of which the oldest is dropped when a new one begins.
///
/// **The law of age.** What is younger than (B - 1) width is in the answer, and what is B width old or older is not: the
/// window is between (B - 1)/B and the whole of W = B width, as the current bucket fills. More buckets forget more
/// punctually and take more memory.
///
/// * The answer is the merge of the buckets: for an [`ExactMerge`](crate::ExactMerge) sketch, the bytes of the sketch of the
///   window's data. The merge of the closed buckets is kept, so that a query costs one copy and one merge until a bucket begins
///   or late data comes.
/// * Filters may be asked one by one instead ([`SlidingWindow::buckets`]), with any yes as a yes. Their rates of false
///   positives add up, and each is sized for a bucket; a merged filter has to be sized for the keys of the window.
/// * Time is told by the caller and does not go back, as of a [`Rollup`]. A jump of any length drops at most B buckets.
///
/// ```
/// use pds_hll::prelude::*;
/// use pds_merge::{RollupParams, SlidingWindow};
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// // An hour to an hour less five minutes, in seconds.
/// let empty = HyperLogLog::new(HllParams::with_precision(12)?);
/// let mut visitors = SlidingWindow::new(RollupParams::new(300, 12)?, empty, 0);
/// for second in 0..7_200u64 {
///     visitors.advance(second);
///     visitors.current_mut().insert(&second);
/// }
/// assert_eq!(visitors.covered(), 3_600..=7_199);
/// let (low, high) = visitors.merged()?.bounds(3.0);
/// assert!(low < 3_600.0 && 3_600.0 < high);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SlidingWindow<S> {
    rows: Rollup<S>,
    /// The merge of all buckets but the current one; `None` if it is stale, or if there are none.
    closed: Option<S>,
}

impl<S> SlidingWindow<S> {
    /// An empty window: [`RollupParams::retention`] buckets, the current one that of `now`. All begin as clones of `empty`.
    /// [`RollupParams::lead`] is taken as 0: what is ahead of the current bucket is refused.
    pub fn new(params: RollupParams, empty: S, now: u64) -> Self {
        Self { rows: Rollup::new(params.with_lead(0), empty, now), closed: None }
    }

    /// Tells the time, which drops the buckets that have grown too old. A `now` before the last one changes nothing.
    pub fn advance(&mut self, now: u64) {
        let before = self.current();
        drop(self.rows.advance(now));
        if self.current() != before {
            self.closed = None;
        }
    }

    /// The latest time that was told.
    pub fn now(&self) -> u64 {
        self.rows.now()
    }

    /// Width and number of the buckets.
    pub fn params(&self) -> RollupParams {
        self.rows.params()
    }

    /// The times whose data is in the answer, to the end of the current bucket.
    pub fn covered(&self) -> RangeInclusive<u64> {
        self.rows.window()
    }

    /// The sketches of the buckets that have data, oldest first, each with the start of its bucket.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, &S)> {
        self.rows.rows().map(|(start, (), sketch)| (start, sketch))
    }

    /// Bytes of all sketches, by what one takes, with the merge that is kept.
    pub fn size_bytes(&self, of: impl Fn(&S) -> usize) -> usize {
        self.closed.as_ref().map_or(0, &of) + self.rows.size_bytes(of)
    }

    /// How often data was refused since its bucket had been dropped.
    pub fn refused_late(&self) -> u64 {
        self.rows.refused_late()
    }

    /// How often data was refused since its bucket had not begun.
    pub fn refused_ahead(&self) -> u64 {
        self.rows.refused_ahead()
    }

    fn current(&self) -> u64 {
        self.params().start_of(self.now())
    }

    /// Late data that is accepted makes the merge stale.
    fn touch(&mut self, time: u64) {
        if self.covered().contains(&time) && time < self.current() {
            self.closed = None;
        }
    }
}

impl<S: Clone> SlidingWindow<S> {
    /// The sketch of the current bucket, to insert into.
    pub fn current_mut(&mut self) -> &mut S {
        self.rows.current_mut()
    }

    /// Lets `change` put data of this time into the sketch of its bucket, and gives what it gives.
    ///
    /// # Errors
    ///
    /// [`TimeError::Late`] if the bucket has been dropped, [`TimeError::Ahead`] if it has not begun. `change` is not called
    /// then.
    pub fn insert_at<R>(&mut self, time: u64, change: impl FnOnce(&mut S) -> R) -> Result<R, TimeError> {
        self.touch(time);
        self.rows.insert(time, &(), change)
    }
}

impl<S: Merge + Clone> SlidingWindow<S> {
    /// Merges a sketch of data of this time, such as another machine's, into that of its bucket.
    ///
    /// # Errors
    ///
    /// As [`SlidingWindow::insert_at`], and [`TimeError::Sketch`] as [`Merge::merge`]. No bucket has changed then.
    pub fn merge_at(&mut self, time: u64, sketch: &S) -> Result<(), TimeError> {
        self.touch(time);
        self.rows.merge(time, &(), sketch)
    }

    /// Puts back a bucket as [`SlidingWindow::buckets`] gave it, byte for byte; merges it if the bucket has data already.
    ///
    /// # Errors
    ///
    /// [`TimeError::Misaligned`] if `start` is not the start of a bucket; else as [`SlidingWindow::merge_at`].
    pub fn insert_bucket(&mut self, start: u64, sketch: S) -> Result<(), TimeError> {
        self.touch(start);
        self.rows.insert_bucket(start, (), sketch)
    }

    /// The sketch of the window: all buckets, merged from the oldest to the newest; an empty one if there is no data.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`]: for sketches from here, if counts overflow together.
    pub fn merged(&mut self) -> Result<S, Error> {
        let current = self.current();
        if self.closed.is_none() {
            self.closed = self.rows.query(..current, |()| true)?;
        }
        let newest = self.rows.current();
        let Some(closed) = &self.closed else {
            return Ok(newest.unwrap_or(self.rows.prototype()).clone());
        };
        let mut merged = closed.clone();
        newest.map_or(Ok(()), |newest| merged.merge(newest))?;
        Ok(merged)
    }
}
