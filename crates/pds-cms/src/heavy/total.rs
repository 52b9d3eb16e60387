//! The sum of all counts.

/// A sum that saturates, and knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
        let (sum, exceeds) = self.sum.overflowing_add(n);
        self.sum = if exceeds { u64::MAX } else { sum };
        self.saturated |= exceeds;
        *self != before
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.add(other.sum);
        self.saturated |= other.saturated;
    }

    /// Whether such a total exists: a saturated one is the greatest.
    pub(super) fn is_valid(self) -> bool {
        !self.saturated || self.sum == u64::MAX
    }
}
