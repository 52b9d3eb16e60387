//! What a sketch knows besides its cells: how much was counted, and what no longer fitted.

use crate::{Cell, CountMinParams, Error};

/// How the sums of the rows relate to the total. Later ones say less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rows {
    /// Each row sums up to the total, unless it lost counts to a saturated cell.
    #[default]
    Exact,
    /// To the total at most: counts were halved, with every cell rounded down, or updated conservatively.
    AtMost,
    /// A cell holds the total at most: a saturated one was halved, which may have held less than it now stands for.
    Loose,
}

/// Total and saturation. Of counts that were only ever added, each is a function of the multiset of keys alone: any order
/// or grouping gives the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The sum of all counts, at most `u64::MAX`.
    pub(crate) total: u64,
    /// The sum of all counts exceeds `u64::MAX`.
    pub(crate) total_saturated: bool,
    /// The sum of the counts that fell into some cell exceeds the greatest count of a cell.
    pub(crate) cells_saturated: bool,
    pub(crate) rows: Rows,
}

impl Tally {
    /// Of nothing yet.
    pub(crate) const fn new(rows: Rows) -> Self {
        Self { total: 0, total_saturated: false, cells_saturated: false, rows }
    }

    /// Takes in counts of `total`, some of which made a cell saturate if `cells_saturated`; true if that changed anything.
    #[inline]
    pub(crate) fn add(&mut self, total: u64, cells_saturated: bool) -> bool {
        let before = *self;
        self.total_saturated |= add_saturating(&mut self.total, total);
        self.cells_saturated |= cells_saturated;
        *self != before
    }

    /// Takes in another sketch's; `cells_saturated` if a cell saturated in the sum of the two.
    pub(crate) fn merge(&mut self, other: Self, cells_saturated: bool) {
        self.add(other.total, other.cells_saturated || cells_saturated);
        self.total_saturated |= other.total_saturated;
        self.rows = self.rows.max(other.rows);
    }

    /// Whether a cell, or the total, was asked to hold more than it can.
    #[inline]
    pub(crate) fn is_saturated(&self) -> bool {
        self.cells_saturated || self.total_saturated
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
        if self.total_saturated || self.rows == Rows::Loose {
            return 0;
        }
        // The cell holds at least what it says, saturated or not. In bytes that were tampered with it may say
        // more than the total.
        least.into().saturating_sub(params.error_bound(self.total)).min(self.upper(least))
    }

    /// Checks that rows, each given by the sum of its cells and the greatest of them, are those of a sketch with this
    /// total and these flags.
    pub(crate) fn check<C: Cell>(&self, rows: impl Iterator<Item = (u128, C)>) -> Result<(), Error> {
        let mut saturates = false;
        for (sum, greatest) in rows {
            saturates |= self.check_row(sum, greatest)?;
        }
        if saturates == self.cells_saturated { Ok(()) } else { Err(Error::Malformed { field: "flags" }) }
    }

    /// Whether a row shows that a cell saturated; an error if it is not one of the total's.
    fn check_row<C: Cell>(&self, sum: u128, greatest: C) -> Result<bool, Error> {
        let total = u128::from(self.total);
        let full = self.cells_saturated && greatest == C::MAX;
        let (valid, saturates) = match self.rows {
            Rows::Exact => {
                let (exact, short) =
                    if self.total_saturated { (sum > total, true) } else { (sum == total, sum < total) };
                (exact || full && short, full && short)
            }
            Rows::AtMost => (self.total_saturated || sum <= total, full),
            Rows::Loose => (greatest.into() <= self.total, full),
        };
        if valid { Ok(saturates) } else { Err(Error::Malformed { field: "row sums" }) }
    }
}

/// Adds to a total, which stays at the greatest number; true if it exceeds that.
#[inline]
pub(crate) fn add_saturating(total: &mut u64, n: u64) -> bool {
    let (sum, exceeds) = total.overflowing_add(n);
    *total = if exceeds { u64::MAX } else { sum };
    exceeds
}

/// The sum of a row's cells, and the greatest of them.
pub(crate) fn sum_of<C: Cell>(row: impl Iterator<Item = C>) -> (u128, C) {
    row.fold((0, C::default()), |(sum, greatest), cell| (sum + u128::from(cell.into()), greatest.max(cell)))
}
