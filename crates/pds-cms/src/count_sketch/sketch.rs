//! Counting and asking.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use super::cell::{estimate, signed, signs};
use super::measures::around;
use super::{CountSketchParams, CountSketchView, SignedCell};
use crate::table::positions_in;
use crate::{Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Sketch, WyHasher, batch};

/// Hashes that a batch takes through one row before the next: with their signs they stay in the first cache meanwhile.
const GROUP: usize = 1024;

/// A count-sketch: signed counts of keys, right on average, with an error that depends on the Euclidean norm of the counts
/// instead of their sum.
///
/// * Error: two-sided, and zero in expectation. [`CountSketch::estimate`] is off by more than
///   [`CountSketchParams::epsilon`] times sqrt(F2) with a chance of at most [`CountSketchParams::delta`] per key, where F2 is
///   the sum over all keys of the square of their counts. Frequent keys apart, that is less than a count-min sketch of the
///   same size errs; but an estimate may be too low, or negative where no count is.
/// * Counts may be negative, be taken back, and differ: [`CountSketch::subtract`] gives the sketch of the difference of two
///   streams, whose large entries are the keys that changed most.
/// * Merging is exact. No cell saturates: the total weight, the sum of all |counts|, may not exceed
///   [`SignedCell::MAX_WEIGHT`], and what would take it beyond is refused.
///
/// `C` is the cell: `i32` for a total weight within two thousand million, or `i64`.
///
/// # Source
///
/// `[CharikarChenFarachColton02]`.
#[derive(Clone)]
pub struct CountSketch<C = i32, H = WyHasher> {
    pub(crate) params: CountSketchParams,
    /// Row after row.
    pub(crate) cells: Box<[C]>,
    /// The sum of all |counts|.
    pub(crate) weight: u64,
    pub(crate) hasher: H,
}

impl CountSketch {
    /// An empty sketch of 4-byte cells with the default hasher.
    pub fn new(params: CountSketchParams) -> Self {
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

    /// Opens a sketch of 4-byte cells made with the default hasher where its bytes lie: see [`CountSketchView`].
    ///
    /// # Errors
    ///
    /// As [`CountSketch::view_with`].
    pub fn view(bytes: &[u8]) -> Result<CountSketchView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<C: SignedCell, H: KeyHasher> CountSketch<C, H> {
    /// Counts a key once; true, since the state changed.
    ///
    /// # Errors
    ///
    /// As [`CountSketch::insert_n`].
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        self.insert_hash_n(self.hasher.hash_key(key), 1)
    }

    /// Counts a key `n` times, or takes it back -`n` times, in the time of one; 0 changes nothing. True if the state
    /// changed.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the total weight would exceed [`SignedCell::MAX_WEIGHT`]; nothing is changed.
    #[inline]
    pub fn insert_n<K: Key + ?Sized>(&mut self, key: &K, n: i64) -> Result<bool, Error> {
        self.insert_hash_n(self.hasher.hash_key(key), n)
    }

    /// The count of a key: right on average. It may be negative for keys that are rare, or absent, though no count is.
    #[inline]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> i64 {
        self.estimate_hash(self.hasher.hash_key(key))
    }

    /// [`CountSketch::estimate`], or 0 where that is negative: closer to the truth where no count is negative, and no longer
    /// right on average.
    #[inline]
    pub fn estimate_nonneg<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.estimate(key).max(0).cast_unsigned()
    }

    /// Lower and upper bound of a key's count: the estimate less and plus [`CountSketch::error_bound`], whose caveats hold.
    ///
    /// Time in the size of the table; ask for the error bound once where there are many keys.
    pub fn bounds<K: Key + ?Sized>(&self, key: &K) -> (i64, i64) {
        self.bounds_hash(self.hasher.hash_key(key))
    }
}

impl<C: SignedCell, H: Fingerprint> CountSketch<C, H> {
    /// An empty sketch with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`CountSketchParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: CountSketchParams, hasher: H) -> Self {
        // In range: the parameters keep to the address space.
        let cells = vec![C::default(); params.cells() as usize].into_boxed_slice();
        Self { params, cells, weight: 0, hasher }
    }

    /// Opens a sketch where its bytes lie, in constant time: see [`CountSketchView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`CountSketchView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<CountSketchView<'_, C, H>, Error> {
        CountSketchView::open(bytes, hasher)
    }

    /// As [`CountSketch::insert`], for a hash by this sketch's hasher.
    ///
    /// # Errors
    ///
    /// As [`CountSketch::insert_n`].
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        self.insert_hash_n(hash, 1)
    }

    /// As [`CountSketch::insert_n`], for a hash by this sketch's hasher.
    ///
    /// # Errors
    ///
    /// As [`CountSketch::insert_n`].
    #[inline]
    pub fn insert_hash_n(&mut self, hash: u64, n: i64) -> Result<bool, Error> {
        self.weight = self.heavier_by(n.unsigned_abs())?;
        let signs = signs(hash);
        let positions = positions_in(self.params.width(), self.params.depth(), hash);
        for (row, position) in positions.enumerate() {
            self.cells[position].add_within(signed(signs, row, n));
        }
        Ok(n != 0)
    }

    /// Counts many hashes once each, in less time than one by one: row by row, with the memory of later ones fetched
    /// ahead.
    ///
    /// # Errors
    ///
    /// As [`CountSketch::insert_n`], for all of them: none is counted.
    pub fn insert_batch(&mut self, hashes: &[u64]) -> Result<(), Error> {
        self.weight = self.heavier_by(hashes.len() as u64)?;
        for group in hashes.chunks(GROUP) {
            // No more rows than bits.
            let mut all_signs = [0u16; GROUP];
            all_signs.iter_mut().zip(group).for_each(|(all, &hash)| *all = signs(hash) as u16);
            batch::by_rows(&mut self.cells, self.params.width(), group, |row, cell, i| {
                cell.add_within(signed(all_signs[i].into(), row, 1));
            });
        }
        Ok(())
    }

    /// As [`CountSketch::estimate`], for a hash by this sketch's hasher.
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> i64 {
        estimate(self.params, hash, |position| self.cells[position].into())
    }

    /// Answers [`CountSketch::estimate_hash`] for the first min(lengths) hashes; returns how many were answered. The rest of
    /// `estimates` is left as it was. The memory of later hashes is fetched ahead.
    pub fn estimate_batch(&self, hashes: &[u64], estimates: &mut [i64]) -> usize {
        let count = hashes.len().min(estimates.len());
        let (hashes, estimates) = (&hashes[..count], &mut estimates[..count]);
        let place = batch::Place::of(&self.cells, self.params.width(), self.params.depth());
        place.visit(hashes, |i, hash| estimates[i] = self.estimate_hash(hash));
        count
    }

    /// As [`CountSketch::bounds`], for a hash by this sketch's hasher.
    pub fn bounds_hash(&self, hash: u64) -> (i64, i64) {
        around(self.estimate_hash(hash), self.error_bound())
    }

    /// Takes away what `other` counted: `self` then answers for the difference of the counts. The weights add up.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`].
    pub fn subtract(&mut self, other: &Self) -> Result<(), Error> {
        self.combine(other, |theirs| -theirs)
    }

    /// The sum of all |counts|, exact: what was taken back counts as well.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The shape.
    pub fn params(&self) -> CountSketchParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.weight == 0
    }

    /// Forgets every count.
    pub fn clear(&mut self) {
        self.cells.fill(C::default());
        self.weight = 0;
    }

    /// Bytes of the table.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.cells)
    }

    pub(crate) fn compatible(&self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.same_as(other.params)
    }

    /// The weight with so much more.
    #[inline]
    fn heavier_by(&self, weight: u64) -> Result<u64, Error> {
        let weight = self.weight.checked_add(weight).filter(|&weight| weight <= C::MAX_WEIGHT);
        weight.ok_or(Error::Overflow)
    }

    fn combine(&mut self, other: &Self, part: impl Fn(i64) -> i64) -> Result<(), Error> {
        self.compatible(other)?;
        self.weight = self.heavier_by(other.weight)?;
        for (mine, &theirs) in self.cells.iter_mut().zip(&other.cells) {
            mine.add_within(part(theirs.into()));
        }
        Ok(())
    }
}

/// The cells add up; [`Error::Overflow`] if the total weight would exceed [`SignedCell::MAX_WEIGHT`].
impl<C: SignedCell, H: Fingerprint> Merge for CountSketch<C, H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.combine(other, |theirs| theirs)
    }
}

impl<C: SignedCell, H: Fingerprint> ExactMerge for CountSketch<C, H> {}

/// Equal shape, hasher, cells and weight: the same bytes.
impl<C: SignedCell, H: Fingerprint> PartialEq for CountSketch<C, H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.weight == other.weight && self.cells == other.cells
    }
}

/// Shows shape and weight, not the cells.
impl<C, H: fmt::Debug> fmt::Debug for CountSketch<C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountSketch")
            .field("params", &self.params)
            .field("weight", &self.weight)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
