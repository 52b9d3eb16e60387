//! The plain sketch, shared by threads.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::cell::sealed::Shared;
use crate::tally::{Rows, Tally, sum_of};
use crate::{Cell, CountMinParams, CountMinSketch, Error, Fingerprint, Key, KeyHasher, WyHasher, table};

/// A [`CountMinSketch`] that threads fill and ask together, by shared reference and without a lock.
///
/// It has the cells of the owned sketch, and becomes one by [`AtomicCountMinSketch::into_inner`] or
/// [`AtomicCountMinSketch::snapshot`], for its bytes, its bounds and for merging: the bytes of a sketch that was filled by
/// many threads are those of a sketch that was filled by one, in any order of the keys.
///
/// * Error: as of the owned sketch, for counts whose insertion *happened before* the query: made earlier by the same thread,
///   or by a thread that was joined since or published it. Counts that are under way may be seen or not, in some of their
///   cells or in all: none of them makes an estimate lower than what happened before.
/// * No counter is shared by all keys. The total is not kept: it is what the cells of the first row sum up to, and what they
///   could not hold, so that no insertion can be missing from one and not from the other. That makes
///   [`AtomicCountMinSketch::total`] a walk along a row.
/// * An insertion is a compare-and-swap per row, and repeats one only if another thread changed that cell meanwhile.
///
/// ```
/// use pds_cms::prelude::*;
///
/// # fn main() -> Result<(), Error> {
/// let hits = AtomicCountMinSketch::new(CountMinParams::for_error(0.001, 0.01)?);
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| hits.insert_n("/index.html", 5));
///     }
/// });
/// // Both threads were joined.
/// assert_eq!((hits.estimate("/index.html"), hits.into_inner().total()), (10, 10));
/// # Ok(())
/// # }
/// ```
pub struct AtomicCountMinSketch<C: Cell = u32, H = WyHasher> {
    params: CountMinParams,
    cells: Box<[C::Atomic]>,
    /// What the first row could not hold, up to `u64::MAX`.
    spilt: AtomicU64,
    cells_saturated: AtomicBool,
    /// Of the owned sketch that this was made from.
    rows: Rows,
    /// By how much that one's total exceeded the sum of its first row.
    excess: i128,
    hasher: H,
}

impl AtomicCountMinSketch {
    /// An empty sketch of 4-byte cells with the default hasher.
    pub fn new(params: CountMinParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }
}

impl<C: Cell, H: KeyHasher> AtomicCountMinSketch<C, H> {
    /// Counts a key once; true if this call changed the state, as [`AtomicCountMinSketch::insert_n`].
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash_n(self.hasher.hash_key(key), 1)
    }

    /// Counts a key `n` times, in the time of one; 0 changes nothing. True if this call changed the state, which it does
    /// until all cells of the key are saturated, and the total is.
    #[inline]
    pub fn insert_n<K: Key + ?Sized>(&self, key: &K, n: u64) -> bool {
        self.insert_hash_n(self.hasher.hash_key(key), n)
    }

    /// As [`CountMinSketch::estimate`], for what happened before. Where the least cell of the key is saturated, the answer is
    /// the total, which takes time in the width of the table.
    #[inline]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.estimate_hash(self.hasher.hash_key(key))
    }
}

impl<C: Cell, H: Fingerprint> AtomicCountMinSketch<C, H> {
    /// An empty sketch with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`CountMinParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: CountMinParams, hasher: H) -> Self {
        CountMinSketch::with_hasher(params, hasher).into()
    }

    /// As [`AtomicCountMinSketch::insert`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        self.insert_hash_n(hash, 1)
    }

    /// As [`AtomicCountMinSketch::insert_n`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash_n(&self, hash: u64, n: u64) -> bool {
        let mut changed = false;
        for (row, position) in table::positions(self.params, hash).enumerate() {
            changed |= self.add(row, position, n);
        }
        changed
    }

    /// As [`AtomicCountMinSketch::estimate`], for a hash by this sketch's hasher.
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        let least: C = table::least(self.params, hash, |position| self.cells[position].load());
        // The flag is set after the cell is full: until it is, the insertion that it is set by has not happened before.
        if least == C::MAX && self.cells_saturated.load(Ordering::Relaxed) {
            self.total()
        } else {
            least.into()
        }
    }

    /// Counts what an owned sketch counted, one that a thread filled for itself for example.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`](crate::Merge::merge) of the owned sketches; [`Error::Incompatible`] in `rows` if `other` was
    /// halved. `self` is then unchanged.
    pub fn absorb(&self, other: &CountMinSketch<C, H>) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.same_as(other.params)?;
        if other.tally.rows != Rows::Exact {
            return Err(Error::Incompatible { field: "rows" });
        }
        let width = self.params.width() as usize;
        for (position, &cell) in other.cells.iter().enumerate() {
            self.add(position / width, position, cell.into());
        }
        let (first, _) = sum_of(other.cells.iter().take(width).copied());
        self.spill(spilt_by(other.tally, first));
        if other.tally.cells_saturated {
            self.cells_saturated.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The sum of all counts that happened before, up to `u64::MAX`. Time in the width of the table.
    pub fn total(&self) -> u64 {
        let (first, _) = sum_of(self.row(0));
        u64::try_from(self.total_with(first)).unwrap_or(u64::MAX)
    }

    /// A copy as an owned sketch, each cell read once.
    ///
    /// It holds every count whose insertion happened before the call. Of one that is under way it may have none, some or all
    /// of the cells: its bounds are then those of a sketch in which it was counted.
    pub fn snapshot(&self) -> CountMinSketch<C, H> {
        let cells: Box<[C]> = self.cells.iter().map(Shared::load).collect();
        self.owned(cells, self.hasher.clone())
    }

    /// The owned sketch with the same counts.
    pub fn into_inner(self) -> CountMinSketch<C, H> {
        let cells = self.cells.iter().map(Shared::load).collect();
        self.owned(cells, self.hasher.clone())
    }

    /// The shape.
    pub fn params(&self) -> CountMinParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Forgets every count.
    pub fn clear(&mut self) {
        *self = Self::with_hasher(self.params, self.hasher.clone());
    }

    /// Bytes of the table.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.cells)
    }

    /// Whether a cell, or the total, has been asked to hold more than it can. Time in the width of the table.
    pub fn is_saturated(&self) -> bool {
        let (first, _) = sum_of(self.row(0));
        self.cells_saturated.load(Ordering::Relaxed) || self.total_with(first) > u128::from(u64::MAX)
    }

    /// Adds to the cell at a position of a row; true if it, or what the first row could not hold, has changed.
    #[inline]
    fn add(&self, row: usize, position: usize, n: u64) -> bool {
        let (before, after) = self.cells[position].add(n);
        let added = after.into() - before.into();
        if added == n {
            return n > 0;
        }
        self.cells_saturated.store(true, Ordering::Relaxed);
        let spilt = row == 0 && self.spill(n - added);
        added > 0 || spilt
    }

    /// Adds to what the first row could not hold; true if that has changed.
    #[cold]
    fn spill(&self, n: u64) -> bool {
        let (before, after) = Shared::<u64>::add(&self.spilt, n);
        before != after
    }

    fn row(&self, row: usize) -> impl Iterator<Item = C> + '_ {
        let width = self.params.width() as usize;
        self.cells[row * width..][..width].iter().map(Shared::load)
    }

    /// The total, where the first row sums up to this.
    fn total_with(&self, first: u128) -> u128 {
        // As many cells as there can be, full, and `u64::MAX` besides: far within the range.
        let sum = first.saturating_add(u128::from(self.spilt.load(Ordering::Relaxed)));
        sum.checked_add_signed(self.excess).unwrap_or(0)
    }

    fn owned(&self, cells: Box<[C]>, hasher: H) -> CountMinSketch<C, H> {
        let width = self.params.width() as usize;
        let rows: Vec<_> = cells.chunks_exact(width).map(|row| sum_of(row.iter().copied())).collect();
        let total = self.total_with(rows[0].0);
        let cells_saturated = self.cells_saturated.load(Ordering::Relaxed);
        let tally = |total: u128, cells_saturated, rows| Tally {
            total: u64::try_from(total).unwrap_or(u64::MAX),
            total_saturated: total > u128::from(u64::MAX),
            cells_saturated,
            rows,
        };
        let exact = tally(total, cells_saturated, self.rows);
        let tally = if exact.check(rows.iter().copied()).is_ok() {
            exact
        } else {
            // Insertions were under way: count them all, as the row does that saw the most of them.
            let most = rows.iter().map(|&(sum, _)| sum).fold(total, u128::max);
            let full = rows.iter().any(|&(_, greatest)| greatest == C::MAX);
            tally(most, cells_saturated && full, self.rows.max(Rows::AtMost))
        };
        CountMinSketch { params: self.params, cells, tally, hasher }
    }
}

/// What the first row, which sums up to `first`, could not hold; `u64::MAX` where that is unknown.
fn spilt_by(tally: Tally, first: u128) -> u64 {
    if tally.total_saturated {
        return u64::MAX;
    }
    u64::try_from(u128::from(tally.total).saturating_sub(first)).unwrap_or(u64::MAX)
}

/// The same counts, to be shared.
impl<C: Cell, H: Fingerprint> From<CountMinSketch<C, H>> for AtomicCountMinSketch<C, H> {
    fn from(sketch: CountMinSketch<C, H>) -> Self {
        let CountMinSketch { params, cells, tally, hasher } = sketch;
        let (first, _) = sum_of(cells.iter().take(params.width() as usize).copied());
        let spilt = spilt_by(tally, first);
        // Only after halving with saturated cells does the row sum up to more than the total; a saturated total is one
        // whatever the row.
        let excess = if tally.total_saturated {
            i128::from(u64::MAX)
        } else {
            -first.saturating_sub(tally.total.into()).cast_signed()
        };
        Self {
            params,
            cells: cells.iter().map(|&cell| Shared::new(cell)).collect(),
            spilt: AtomicU64::new(spilt),
            cells_saturated: AtomicBool::new(tally.cells_saturated),
            rows: tally.rows,
            excess,
            hasher,
        }
    }
}

/// By shared reference, as the insertions are.
impl<C: Cell, H: KeyHasher, K: Key> Extend<K> for &AtomicCountMinSketch<C, H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the shape, not the cells.
impl<C: Cell, H: fmt::Debug> fmt::Debug for AtomicCountMinSketch<C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicCountMinSketch")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
