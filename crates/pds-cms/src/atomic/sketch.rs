//! The plain sketch, shared by threads.

use core::fmt;

use super::shared::SharedTable;
use crate::tally::Rows;
use crate::{Cell, CountMinParams, CountMinSketch, Error, Fingerprint, Key, KeyHasher, WyHasher};

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
    table: SharedTable<C>,
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
        self.table.insert(hash, n)
    }

    /// As [`AtomicCountMinSketch::estimate`], for a hash by this sketch's hasher.
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.table.estimate(hash)
    }

    /// Counts what an owned sketch counted, one that a thread filled for itself for example.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`](crate::Merge::merge) of the owned sketches; [`Error::Incompatible`] in `rows` if `other` was
    /// halved. `self` is then unchanged.
    pub fn absorb(&self, other: &CountMinSketch<C, H>) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params().same_as(other.params)?;
        if other.tally.rows != Rows::Exact {
            return Err(Error::Incompatible { field: "rows" });
        }
        self.table.absorb(&other.cells, other.tally);
        Ok(())
    }

    /// The sum of all counts that happened before, up to `u64::MAX`. Time in the width of the table.
    pub fn total(&self) -> u64 {
        self.table.total()
    }

    /// A copy as an owned sketch, each cell read once.
    ///
    /// It holds every count whose insertion happened before the call. Of one that is under way it may have none, some or all
    /// of the cells: its bounds are then those of a sketch in which it was counted.
    pub fn snapshot(&self) -> CountMinSketch<C, H> {
        let (cells, tally) = self.table.owned();
        CountMinSketch { params: self.params(), cells, tally, hasher: self.hasher.clone() }
    }

    /// The owned sketch with the same counts.
    pub fn into_inner(self) -> CountMinSketch<C, H> {
        let (cells, tally) = self.table.owned();
        CountMinSketch { params: self.params(), cells, tally, hasher: self.hasher }
    }

    /// The shape.
    pub fn params(&self) -> CountMinParams {
        self.table.params()
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Forgets every count.
    pub fn clear(&mut self) {
        *self = Self::with_hasher(self.params(), self.hasher.clone());
    }

    /// Bytes of the table.
    pub fn size_bytes(&self) -> usize {
        self.table.size_bytes()
    }

    /// Whether a cell, or the total, has been asked to hold more than it can. Time in the width of the table.
    pub fn is_saturated(&self) -> bool {
        self.table.is_saturated()
    }
}

/// The same counts, to be shared.
impl<C: Cell, H: Fingerprint> From<CountMinSketch<C, H>> for AtomicCountMinSketch<C, H> {
    fn from(sketch: CountMinSketch<C, H>) -> Self {
        let CountMinSketch { params, cells, tally, hasher } = sketch;
        Self { table: SharedTable::new(params, &cells, tally), hasher }
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
            .field("params", &self.table.params())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
