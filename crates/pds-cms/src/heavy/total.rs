//! The sum of all counts.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::tally::add_saturating;

/// A sum that saturates, and knows it. Written as its two fields; what was read is to be checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Total {
    /// The sum, at most `u64::MAX`.
    pub(super) sum: u64,
    /// The true sum exceeds `u64::MAX`.
    pub(super) saturated: bool,
}

impl Total {
    /// Adds; true if anything changed.
    #[inline]
    pub(super) fn add(&mut self, n: u64) -> bool {
        let before = *self;
        self.saturated |= add_saturating(&mut self.sum, n);
        *self != before
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.add(other.sum);
        self.saturated |= other.saturated;
    }

    /// Checks that such a total exists: a saturated one is the greatest.
    pub(super) fn check(self) -> Result<(), Error> {
        if self.saturated && self.sum < u64::MAX { Err(Error::Malformed { field: "total" }) } else { Ok(()) }
    }
}
