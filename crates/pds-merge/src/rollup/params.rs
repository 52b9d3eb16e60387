//! The one gate for widths and retentions, and the arithmetic of buckets.

use core::ops::{Bound, RangeBounds, RangeInclusive};

use super::TimeError;
use crate::Error;

/// How time is cut into buckets, and how many of them are kept.
///
/// Times are `u64` in a unit of the caller's: seconds, milliseconds, block numbers. Bucket *i* holds the times from
/// *i* width to (*i* + 1) width - 1, whatever the time of the first event, so that the buckets of all machines agree. The
/// last bucket before `u64::MAX` may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollupParams {
    width: u64,
    retention: u64,
    lead: u64,
}

impl RollupParams {
    /// Buckets of this width, of which the current one and those before it are kept, `retention` in total.
    ///
    /// So data is kept for more than (`retention` - 1) width and at most `retention` width, by its place in its bucket.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the width or the retention is 0.
    pub const fn new(width: u64, retention: u64) -> Result<Self, Error> {
        if width == 0 {
            return Err(Error::Parameter { name: "width", value: 0.0, domain: AT_LEAST_ONE });
        }
        if retention == 0 {
            return Err(Error::Parameter { name: "retention", value: 0.0, domain: AT_LEAST_ONE });
        }
        Ok(Self { width, retention, lead: 0 })
    }

    /// Accepts data for as many buckets ahead of the current one too, for clocks that disagree. 0 unless set.
    pub const fn with_lead(self, lead: u64) -> Self {
        Self { lead, ..self }
    }

    /// The width of a bucket.
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// How many buckets are kept, the current one included.
    pub const fn retention(&self) -> u64 {
        self.retention
    }

    /// How many buckets ahead of the current one are accepted.
    pub const fn lead(&self) -> u64 {
        self.lead
    }

    /// Where the bucket of this time begins.
    pub const fn start_of(&self, time: u64) -> u64 {
        time - time % self.width
    }

    /// The last time of the bucket of this time.
    pub const fn end_of(&self, time: u64) -> u64 {
        self.start_of(time).saturating_add(self.width - 1)
    }

    /// The times of the buckets that are kept, and of those ahead that are accepted, at this time.
    pub const fn window(&self, now: u64) -> RangeInclusive<u64> {
        let start = self.start_of(now);
        let oldest = start.saturating_sub(self.width.saturating_mul(self.retention - 1));
        // A sum that saturates lies in the last bucket there is.
        let newest = self.end_of(start.saturating_add(self.width.saturating_mul(self.lead)));
        oldest..=newest
    }

    /// Refuses what lies outside the window.
    pub(super) fn check(&self, time: u64, now: u64) -> Result<(), TimeError> {
        let window = self.window(now);
        if time < *window.start() {
            Err(TimeError::Late { time, oldest: *window.start() })
        } else if time > *window.end() {
            Err(TimeError::Ahead { time, newest: *window.end() })
        } else {
            Ok(())
        }
    }

    /// The window's part of a range, rounded outwards to whole buckets; `None` if there is none.
    pub(super) fn cover(&self, range: &impl RangeBounds<u64>, now: u64) -> Option<RangeInclusive<u64>> {
        let window = self.window(now);
        let first = match range.start_bound() {
            Bound::Included(&time) => time,
            Bound::Excluded(&time) => time.checked_add(1)?,
            Bound::Unbounded => 0,
        };
        let last = match range.end_bound() {
            Bound::Included(&time) => time,
            Bound::Excluded(&time) => time.checked_sub(1)?,
            Bound::Unbounded => u64::MAX,
        };
        let (first, last) = (first.max(*window.start()), last.min(*window.end()));
        // Before rounding, which would find a bucket for an empty range too.
        (first <= last).then(|| self.start_of(first)..=self.end_of(last))
    }
}

const AT_LEAST_ONE: &str = "at least 1";
