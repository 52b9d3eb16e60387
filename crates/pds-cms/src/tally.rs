//! What a sketch knows besides its cells: how much was counted, and what no longer fitted.

use crate::{Cell, CountMinParams};

/// Total and saturation, each a function of the multiset of keys alone: any order or grouping gives the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The sum of all counts, at most `u64::MAX`.
    pub(crate) total: u64,
    /// The sum of all counts exceeds `u64::MAX`.
    pub(crate) total_saturated: bool,
    /// The sum of the counts that fell into some cell exceeds the greatest count of a cell.
    pub(crate) cells_saturated: bool,
}

impl Tally {
    /// Takes in counts of `total`, some of which made a cell saturate if `cells_saturated`.
    #[inline]
    pub(crate) fn add(&mut self, total: u64, cells_saturated: bool) {
        let (sum, exceeds) = self.total.overflowing_add(total);
        self.total = if exceeds { u64::MAX } else { sum };
        self.total_saturated |= exceeds;
        self.cells_saturated |= cells_saturated;
    }

    /// Takes in another sketch's; `cells_saturated` if a cell saturated in the sum of the two.
    pub(crate) fn merge(&mut self, other: Self, cells_saturated: bool) {
        self.add(other.total, other.cells_saturated || cells_saturated);
        self.total_saturated |= other.total_saturated;
    }

    /// The estimate of a key whose least cell is `least`: never below the truth, up to `u64::MAX`.
    ///
    /// A cell at its greatest count may stand for more, of which the total alone is known to be enough.
    #[inline]
    pub(crate) fn upper<C: Cell>(&self, least: C) -> u64 {
        if self.cells_saturated && least == C::MAX { self.total } else { least.into() }
    }

    /// The lower bound of a key whose least cell is `least`; 0 where the total, and with it the error, is unknown.
    #[inline]
    pub(crate) fn lower<C: Cell>(&self, params: CountMinParams, least: C) -> u64 {
        if self.total_saturated {
            return 0;
        }
        // The cell holds at least what it says, saturated or not. In bytes that were tampered with it may say
        // more than the total.
        least.into().saturating_sub(params.error_bound(self.total)).min(self.upper(least))
    }
}
