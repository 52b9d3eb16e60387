//! The plain count-min sketch.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use crate::tally::Tally;
use crate::{
    Cell, CountMinParams, CountMinView, Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Sketch,
    WyHasher, table,
};

/// Hashes that a batch takes through one row before the next: 8 KiB, which stay in the first cache meanwhile.
const GROUP: usize = 1024;

/// A count-min sketch: how often each key occurred, never too low.
///
/// * Error: one-sided. [`CountMinSketch::estimate`] is never below the truth, and exceeds it by more than
///   [`CountMinParams::epsilon`] times the total with a chance of at most [`CountMinParams::delta`] per key.
/// * Merging is exact: the cells of the merged sketch are those of the whole stream's.
/// * Cells and total saturate and never wrap. The answers stay true where they do, and
///   [`CountMinSketch::is_saturated`] says so.
/// * Keys cannot be listed, and counts not taken back.
///
/// `C` is the cell: `u32`, or `u64` for counts beyond four thousand million. [`CountMinSketch::new`] makes the first,
/// `CountMinSketch::<u64>::with_hasher` the second; with a hasher of one's own, `CountMinSketch::<u32, _>` says which.
///
/// # Source
///
/// `[CormodeMuthukrishnan05]`.
#[derive(Clone)]
pub struct CountMinSketch<C = u32, H = WyHasher> {
    params: CountMinParams,
    /// Row after row.
    cells: Box<[C]>,
    tally: Tally,
    hasher: H,
}

impl CountMinSketch {
    /// An empty sketch of 4-byte cells with the default hasher.
    pub fn new(params: CountMinParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }

    /// Decodes a sketch of 4-byte cells made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a sketch of 4-byte cells made with the default hasher where its bytes lie: see [`CountMinView`].
    ///
    /// # Errors
    ///
    /// As [`CountMinSketch::view_with`].
    pub fn view(bytes: &[u8]) -> Result<CountMinView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<C: Cell, H: KeyHasher> CountMinSketch<C, H> {
    /// Counts a key once; true if the state changed, which it does until the total and the cells of the key are
    /// saturated.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Counts a key `n` times, in the time of one; 0 changes nothing. True if the state changed.
    #[inline]
    pub fn insert_n<K: Key + ?Sized>(&mut self, key: &K, n: u64) -> bool {
        self.insert_hash_n(self.hasher.hash_key(key), n)
    }

    /// How often the key occurred: never below the truth, and above it by more than epsilon times the total with a
    /// chance of at most delta.
    ///
    /// Where the least cell of the key is saturated, the answer is the total. Where that is saturated too,
    /// `u64::MAX` stands for "that or more".
    #[inline]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.estimate_hash(self.hasher.hash_key(key))
    }

    /// Lower and upper bound of how often the key occurred.
    ///
    /// The upper bound is the estimate, and certain. The lower one, the least cell of the key less
    /// [`CountMinParams::error_bound`] and at least 0, holds with a chance of at least 1 - delta; it is 0 once the
    /// total is saturated, since the error is then unknown.
    #[inline]
    pub fn bounds<K: Key + ?Sized>(&self, key: &K) -> (u64, u64) {
        self.bounds_hash(self.hasher.hash_key(key))
    }
}

impl<C: Cell, H: Fingerprint> CountMinSketch<C, H> {
    /// An empty sketch with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`CountMinParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: CountMinParams, hasher: H) -> Self {
        // In range: the parameters keep to the address space.
        let cells = vec![C::default(); params.cells() as usize].into_boxed_slice();
        Self { params, cells, tally: Tally::default(), hasher }
    }

    /// Opens a sketch where its bytes lie, in constant time: see [`CountMinView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`CountMinView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<CountMinView<'_, C, H>, Error> {
        CountMinView::open(bytes, hasher)
    }

    /// As [`CountMinSketch::insert`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.insert_hash_n(hash, 1)
    }

    /// As [`CountMinSketch::insert_n`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash_n(&mut self, hash: u64, n: u64) -> bool {
        if n > self.room() {
            return self.insert_checked(hash, n);
        }
        for position in table::positions(self.params, hash) {
            self.cells[position].add_within(n);
        }
        self.tally.total += n;
        n > 0
    }

    /// Counts many hashes once each, row by row, which takes less time than one by one.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        for group in hashes.chunks(GROUP) {
            let n = group.len() as u64;
            if n <= self.room() {
                table::insert_by_rows(self.params, &mut self.cells, group);
                self.tally.total += n;
            } else {
                for &hash in group {
                    self.insert_hash(hash);
                }
            }
        }
    }

    /// As [`CountMinSketch::estimate`], for a hash by this sketch's hasher.
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.tally.upper(self.least(hash))
    }

    /// Answers [`CountMinSketch::estimate_hash`] for the first min(lengths) hashes; returns how many were answered.
    /// The rest of `estimates` is left as it was.
    pub fn estimate_batch(&self, hashes: &[u64], estimates: &mut [u64]) -> usize {
        for (estimate, &hash) in estimates.iter_mut().zip(hashes) {
            *estimate = self.estimate_hash(hash);
        }
        hashes.len().min(estimates.len())
    }

    /// As [`CountMinSketch::bounds`], for a hash by this sketch's hasher.
    #[inline]
    pub fn bounds_hash(&self, hash: u64) -> (u64, u64) {
        let least = self.least(hash);
        (self.tally.lower(self.params, least), self.tally.upper(least))
    }

    /// The sum of all counts, exact up to `u64::MAX`, where it stays.
    pub fn total(&self) -> u64 {
        self.tally.total
    }

    /// The shape.
    pub fn params(&self) -> CountMinParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.tally.total == 0
    }

    /// Forgets every count.
    pub fn clear(&mut self) {
        self.cells.fill(C::default());
        self.tally = Tally::default();
    }

    /// Bytes of the table.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.cells)
    }

    /// Whether a cell, or the total, has been asked to hold more than it can. Bounds still hold; those of the keys
    /// in a saturated cell are wide.
    pub fn is_saturated(&self) -> bool {
        self.tally.cells_saturated || self.tally.total_saturated
    }

    /// How many cells are at their greatest count, once one of them has been asked to hold more; 0 before. Counts
    /// them: time in the size of the table.
    pub fn saturated_cells(&self) -> u64 {
        if !self.tally.cells_saturated {
            return 0;
        }
        self.cells.iter().filter(|&&cell| cell == C::MAX).count() as u64
    }

    pub(crate) fn cells(&self) -> &[C] {
        &self.cells
    }

    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    pub(crate) fn from_parts(params: CountMinParams, cells: Box<[C]>, tally: Tally, hasher: H) -> Self {
        Self { params, cells, tally, hasher }
    }

    /// How much can be added before any cell may saturate: no cell exceeds the total, so that no sum need be checked
    /// before the total has left the range of a cell.
    #[inline]
    fn room(&self) -> u64 {
        C::MAX.into().saturating_sub(self.tally.total)
    }

    /// Counts with saturation; true if the state changed.
    #[inline(never)]
    fn insert_checked(&mut self, hash: u64, n: u64) -> bool {
        let (count, mut saturated) = C::clip(n);
        let (tally, mut changed) = (self.tally, false);
        for position in table::positions(self.params, hash) {
            let cell = &mut self.cells[position];
            let before = *cell;
            saturated |= cell.add(count);
            changed |= before != *cell;
        }
        self.tally.add(n, saturated);
        changed || self.tally != tally
    }

    #[inline]
    fn least(&self, hash: u64) -> C {
        table::least(self.params, hash, |position| self.cells[position])
    }

    fn compatible(&self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        let (mine, theirs) = (self.params, other.params);
        let differs = |field| Err(Error::Incompatible { field });
        if mine.width() != theirs.width() {
            differs("width")
        } else if mine.depth() != theirs.depth() {
            differs("depth")
        } else if mine.delta().to_bits() != theirs.delta().to_bits() {
            differs("delta")
        } else {
            Ok(())
        }
    }
}

impl<C: Cell, H: Fingerprint> Merge for CountMinSketch<C, H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        let mut saturated = false;
        let cells = self.cells.iter_mut().zip(&other.cells);
        // No cell exceeds the total: while the sum of the totals fits a cell, so does every sum of cells.
        if self.tally.total.checked_add(other.tally.total).is_some_and(|total| total <= C::MAX.into()) {
            cells.for_each(|(mine, &theirs)| mine.add_within(theirs.into()));
        } else {
            cells.for_each(|(mine, &theirs)| saturated |= mine.add(theirs));
        }
        self.tally.merge(other.tally, saturated);
        Ok(())
    }
}

impl<C: Cell, H: Fingerprint> ExactMerge for CountMinSketch<C, H> {}

/// Equal shape, hasher, cells and total: the same bytes.
impl<C: Cell, H: Fingerprint> PartialEq for CountMinSketch<C, H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.tally == other.tally && self.cells == other.cells
    }
}

impl<C: Cell, H: KeyHasher, K: Key> Extend<K> for CountMinSketch<C, H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows shape and total, not the cells.
impl<C, H: fmt::Debug> fmt::Debug for CountMinSketch<C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountMinSketch")
            .field("params", &self.params)
            .field("total", &self.tally.total)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
