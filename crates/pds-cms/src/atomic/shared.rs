//! The cells that threads share, and how they become an owned sketch's.

use alloc::boxed::Box;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::cell::sealed::{Counter, Shared};
use crate::tally::{Rows, Tally, sum_of};
use crate::{Cell, CountMinParams, table};

/// A flag that threads share, and only ever raise. The models of the tests have one of their own.
pub(super) trait Flag {
    fn new(raised: bool) -> Self;
    fn load(&self) -> bool;
    fn raise(&self);
}

/// Relaxed, as the cells are: what has to be seen is published by the user's own means.
impl Flag for AtomicBool {
    fn new(raised: bool) -> Self {
        Self::new(raised)
    }

    #[inline]
    fn load(&self) -> bool {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn raise(&self) {
        self.store(true, Ordering::Relaxed);
    }
}

/// A table of cells, and what it takes to know the total.
pub(super) struct SharedTable<C: Cell, A = <C as Counter>::Atomic, S = AtomicU64, F = AtomicBool> {
    params: CountMinParams,
    cells: Box<[A]>,
    /// What the first row could not hold, up to `u64::MAX`.
    spilt: S,
    cells_saturated: F,
    /// Of the owned sketch that this was made from.
    rows: Rows,
    /// By how much that one's total exceeded the sum of its first row.
    excess: i128,
    cell: core::marker::PhantomData<C>,
}

impl<C: Cell, A: Shared<C>, S: Shared<u64>, F: Flag> SharedTable<C, A, S, F> {
    /// The same counts, to be shared.
    pub(super) fn new(params: CountMinParams, cells: &[C], tally: Tally) -> Self {
        let (first, _) = sum_of(cells.iter().take(params.width() as usize).copied());
        // Only after halving with saturated cells does the row sum up to more than the total; a saturated total is one
        // whatever the row.
        let excess = if tally.total_saturated {
            i128::from(u64::MAX)
        } else {
            -first.saturating_sub(tally.total.into()).cast_signed()
        };
        Self {
            params,
            cells: cells.iter().map(|&cell| A::new(cell)).collect(),
            spilt: S::new(spilt_by(tally, first)),
            cells_saturated: F::new(tally.cells_saturated),
            rows: tally.rows,
            excess,
            cell: core::marker::PhantomData,
        }
    }

    pub(super) fn params(&self) -> CountMinParams {
        self.params
    }

    pub(super) fn size_bytes(&self) -> usize {
        size_of_val(&*self.cells)
    }

    /// Counts a hash `n` times; true if that changed the state.
    #[inline]
    pub(super) fn insert(&self, hash: u64, n: u64) -> bool {
        let mut changed = false;
        for (row, position) in table::positions(self.params, hash).enumerate() {
            changed |= self.add(row, position, n);
        }
        changed
    }

    /// The estimate of a hash, for what happened before.
    #[inline]
    pub(super) fn estimate(&self, hash: u64) -> u64 {
        let least: C = table::least(self.params, hash, |position| self.cells[position].load());
        // The flag is raised after the cell is full: until it is, the insertion that it is raised by has not happened before.
        if least == C::MAX && self.cells_saturated.load() { self.total() } else { least.into() }
    }

    /// Counts what a sketch of the same shape and with exact rows counted.
    pub(super) fn absorb(&self, cells: &[C], tally: Tally) {
        let width = self.params.width() as usize;
        for (position, &cell) in cells.iter().enumerate() {
            self.add(position / width, position, cell.into());
        }
        let (first, _) = sum_of(cells.iter().take(width).copied());
        self.spill(spilt_by(tally, first));
        if tally.cells_saturated {
            self.cells_saturated.raise();
        }
    }

    /// The sum of all counts that happened before, up to `u64::MAX`.
    pub(super) fn total(&self) -> u64 {
        let (first, _) = sum_of(self.first_row());
        u64::try_from(self.total_with(first)).unwrap_or(u64::MAX)
    }

    /// Whether a cell, or the total, has been asked to hold more than it can.
    pub(super) fn is_saturated(&self) -> bool {
        let (first, _) = sum_of(self.first_row());
        self.cells_saturated.load() || self.total_with(first) > u128::from(u64::MAX)
    }

    /// The cells, each read once, and a tally that they are the cells of.
    pub(super) fn owned(&self) -> (Box<[C]>, Tally) {
        let cells: Box<[C]> = self.cells.iter().map(A::load).collect();
        let width = self.params.width() as usize;
        let sums = || cells.chunks_exact(width).map(|row| sum_of(row.iter().copied()));
        let first = sums().next().map_or(0, |(sum, _)| sum);
        let total = self.total_with(first);
        let cells_saturated = self.cells_saturated.load();
        let tally = |total: u128, cells_saturated, rows| Tally {
            total: u64::try_from(total).unwrap_or(u64::MAX),
            total_saturated: total > u128::from(u64::MAX),
            cells_saturated,
            rows,
        };
        let exact = tally(total, cells_saturated, self.rows);
        let tally = if exact.check(sums()).is_ok() {
            exact
        } else {
            // Insertions were under way: count them all, as the row does that saw the most of them.
            let most = sums().map(|(sum, _)| sum).fold(total, u128::max);
            let full = sums().any(|(_, greatest)| greatest == C::MAX);
            tally(most, cells_saturated && full, self.rows.max(Rows::AtMost))
        };
        (cells, tally)
    }

    /// Adds to the cell at a position of a row; true if it, or what the first row could not hold, has changed.
    #[inline]
    fn add(&self, row: usize, position: usize, n: u64) -> bool {
        let (before, after) = self.cells[position].add(n);
        let added = after.into() - before.into();
        if added == n {
            return n > 0;
        }
        self.cells_saturated.raise();
        let spilt = row == 0 && self.spill(n - added);
        added > 0 || spilt
    }

    /// Adds to what the first row could not hold; true if that has changed.
    #[cold]
    fn spill(&self, n: u64) -> bool {
        let (before, after) = self.spilt.add(n);
        before != after
    }

    fn first_row(&self) -> impl Iterator<Item = C> + '_ {
        self.cells.iter().take(self.params.width() as usize).map(A::load)
    }

    /// The total, where the first row sums up to this.
    fn total_with(&self, first: u128) -> u128 {
        // As many cells as there can be, full, and `u64::MAX` besides: far within the range.
        let sum = first.saturating_add(u128::from(self.spilt.load()));
        sum.checked_add_signed(self.excess).unwrap_or(0)
    }
}

/// What the first row, which sums up to `first`, could not hold; `u64::MAX` where that is unknown.
fn spilt_by(tally: Tally, first: u128) -> u64 {
    if tally.total_saturated {
        return u64::MAX;
    }
    u64::try_from(u128::from(tally.total).saturating_sub(first)).unwrap_or(u64::MAX)
}
