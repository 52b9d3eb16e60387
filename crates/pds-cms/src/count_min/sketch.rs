//! Counting and asking.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use crate::tally::{Rows, Tally};
use crate::{
    Cell, CountMinParams, CountMinView, Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher, batch, table,
};

/// Hashes that a batch takes through one row before the next: 8 KiB, which stay in the first cache meanwhile.
const GROUP: usize = 1024;

/// A count-min sketch: how often each key occurred, never too low.
///
/// * Error: one-sided. [`CountMinSketch::estimate`] is never below the truth, and exceeds it by more than
///   [`CountMinParams::epsilon`] times the total with a chance of at most [`CountMinParams::delta`] per key.
/// * Merging is exact: the cells of the merged sketch are those of the whole stream's.
/// * Cells and total saturate and never wrap. The answers stay true where they do, and
///   [`CountMinSketch::is_saturated`] says so. Whoever would rather have an error counts by
///   [`CountMinSketch::try_insert_n`].
/// * What was counted can be taken back: [`CountMinSketch::try_remove`]. Keys cannot be listed.
///
/// `C` is the cell: `u32`, `u64` for counts beyond four thousand million, `u16` or `u8` for small ones.
/// [`CountMinSketch::new`] makes the first, `CountMinSketch::<u64>::with_hasher` the second; with a hasher of one's own,
/// `CountMinSketch::<u32, _>` says which.
///
/// # Source
///
/// `[CormodeMuthukrishnan05]`.
#[derive(Clone)]
pub struct CountMinSketch<C = u32, H = WyHasher> {
    pub(crate) params: CountMinParams,
    /// Row after row. None exceeds the total.
    pub(crate) cells: Box<[C]>,
    pub(crate) tally: Tally,
    pub(crate) hasher: H,
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
        Self { params, cells, tally: Tally::new(Rows::Exact), hasher }
    }

    /// Opens a sketch where its bytes lie, in constant time: see [`CountMinView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`CountMinView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<CountMinView<'_, C, H>, Error> {
        CountMinView::open(Self::KIND, bytes, hasher)
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

    /// Counts many hashes once each, in less time than one by one: row by row, with the memory of later ones fetched
    /// ahead.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        for group in hashes.chunks(GROUP) {
            let n = group.len() as u64;
            if n <= self.room() {
                let width = self.params.width();
                batch::by_rows(&mut self.cells, width, group, |_, cell, _| cell.add_within(1));
                self.tally.total += n;
            } else {
                self.place().visit(group, |_, hash| _ = self.insert_hash(hash));
            }
        }
    }

    /// As [`CountMinSketch::estimate`], for a hash by this sketch's hasher.
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.tally.upper(self.least(hash))
    }

    /// Answers [`CountMinSketch::estimate_hash`] for the first min(lengths) hashes; returns how many were answered.
    /// The rest of `estimates` is left as it was. The memory of later hashes is fetched ahead.
    pub fn estimate_batch(&self, hashes: &[u64], estimates: &mut [u64]) -> usize {
        let count = hashes.len().min(estimates.len());
        let (hashes, estimates) = (&hashes[..count], &mut estimates[..count]);
        self.place().visit(hashes, |i, hash| estimates[i] = self.estimate_hash(hash));
        count
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
        self.tally = Tally::new(Rows::Exact);
    }

    /// Bytes of the table.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.cells)
    }

    /// Whether a cell, or the total, has been asked to hold more than it can. Bounds still hold; those of the keys
    /// in a saturated cell are wide. [`CountMinSketch::halve`] may end it; lower bounds are 0 from then on all the same.
    pub fn is_saturated(&self) -> bool {
        self.tally.is_saturated()
    }

    /// Where the cells lie, for batches.
    pub(crate) fn place(&self) -> batch::Place<C> {
        batch::Place::of(&self.cells, self.params.width(), self.params.depth())
    }

    /// How much can be added before any cell may saturate: no cell exceeds the total, so that no sum need be checked
    /// before the total has left the range of a cell.
    #[inline]
    pub(crate) fn room(&self) -> u64 {
        C::MAX.into().saturating_sub(self.tally.total)
    }

    /// Counts with saturation; true if the state changed.
    #[inline(never)]
    fn insert_checked(&mut self, hash: u64, n: u64) -> bool {
        let (count, mut saturated) = C::clip(n);
        let mut changed = false;
        for position in table::positions(self.params, hash) {
            let cell = &mut self.cells[position];
            let before = *cell;
            saturated |= cell.add(count);
            changed |= before != *cell;
        }
        self.tally.add(n, saturated) || changed
    }

    #[inline]
    pub(crate) fn least(&self, hash: u64) -> C {
        table::least(self.params, hash, |position| self.cells[position])
    }
}

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
