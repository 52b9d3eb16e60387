//! Conservative update: no cell is raised higher than the key needs.

use core::fmt;

use alloc::vec::Vec;

use pds_core::wire::{self, Kind};
use pds_hash::MAX_ROWS;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::tally::{Rows, Tally};
use crate::{
    Cell, CountMinParams, CountMinSketch, CountMinView, Error, Fingerprint, Key, KeyHasher, Merge, Sketch,
    WyHasher, table,
};

/// A count-min sketch that raises the cells of a key no higher than the key needs: estimates are as certain as those of
/// [`CountMinSketch`], never above them, and closer to the truth, frequent keys' above all.
///
/// * Error: one-sided, within the plain sketch's bound. Counting `n` raises each cell of the key to the least of them plus
///   `n`, where the plain sketch adds `n` to each.
/// * Merging adds up the cells. What it gives never under-counts and keeps the plain bound, but the sketch of the whole
///   stream would mostly have smaller cells, and the order of a stream matters to them: [`Merge`], not
///   [`ExactMerge`](crate::ExactMerge). Code that asks for the latter does not compile:
///
/// ```compile_fail,E0277
/// fn shard<S: pds_cms::ExactMerge>(_: S) {}
///
/// let params = pds_cms::CountMinParams::with_shape(64, 4).unwrap();
/// shard(pds_cms::ConservativeCountMin::new(params));
/// ```
///
/// ```
/// fn shard<S: pds_cms::ExactMerge>(_: S) {}
///
/// let params = pds_cms::CountMinParams::with_shape(64, 4).unwrap();
/// shard(pds_cms::CountMinSketch::new(params));
/// ```
///
/// * Counts cannot be taken back: a cell that was not raised holds nothing of the key. There is no such call:
///
/// ```compile_fail,E0599
/// let params = pds_cms::CountMinParams::with_shape(64, 4).unwrap();
/// let _ = pds_cms::ConservativeCountMin::new(params).try_remove("key", 1);
/// ```
///
/// * There is no inner product for the same reason, and no form that threads share, since the cells of a key depend on each
///   other.
/// * Cells and total saturate and never wrap, as those of the plain sketch.
///
/// # Source
///
/// `[EstanVarghese02]`.
#[derive(Clone)]
pub struct ConservativeCountMin<C = u32, H = WyHasher>(pub(crate) CountMinSketch<C, H>);

impl ConservativeCountMin {
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

    /// Opens a sketch of 4-byte cells made with the default hasher where its bytes lie: see [`ConservativeCountMinView`].
    ///
    /// # Errors
    ///
    /// As [`ConservativeCountMin::view_with`].
    pub fn view(bytes: &[u8]) -> Result<ConservativeCountMinView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<C: Cell, H: KeyHasher> ConservativeCountMin<C, H> {
    /// Counts a key once; true if the state changed, as [`CountMinSketch::insert`].
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.0.hasher.hash_key(key))
    }

    /// Counts a key `n` times, in the time of one; 0 changes nothing. True if the state changed.
    #[inline]
    pub fn insert_n<K: Key + ?Sized>(&mut self, key: &K, n: u64) -> bool {
        self.insert_hash_n(self.0.hasher.hash_key(key), n)
    }

    /// As [`ConservativeCountMin::insert_n`], with an error where that would saturate.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the total or a cell of the key would exceed what it can hold; nothing is changed.
    pub fn try_insert_n<K: Key + ?Sized>(&mut self, key: &K, n: u64) -> Result<bool, Error> {
        self.try_insert_hash_n(self.0.hasher.hash_key(key), n)
    }

    /// How often the key occurred: never below the truth, as [`CountMinSketch::estimate`].
    #[inline]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.0.estimate(key)
    }

    /// Lower and upper bound of how often the key occurred, as [`CountMinSketch::bounds`].
    #[inline]
    pub fn bounds<K: Key + ?Sized>(&self, key: &K) -> (u64, u64) {
        self.0.bounds(key)
    }
}

impl<C: Cell, H: Fingerprint> ConservativeCountMin<C, H> {
    /// An empty sketch with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`CountMinParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: CountMinParams, hasher: H) -> Self {
        let mut sketch = CountMinSketch::with_hasher(params, hasher);
        sketch.tally = Tally::new(Rows::AtMost);
        Self(sketch)
    }

    /// Opens a sketch where its bytes lie, in constant time: see [`ConservativeCountMinView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`ConservativeCountMinView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<ConservativeCountMinView<'_, C, H>, Error> {
        CountMinView::open(Self::KIND, bytes, hasher).map(ConservativeCountMinView)
    }

    /// As [`ConservativeCountMin::insert`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.insert_hash_n(hash, 1)
    }

    /// As [`ConservativeCountMin::insert_n`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash_n(&mut self, hash: u64, n: u64) -> bool {
        let CountMinSketch { params, cells, tally, .. } = &mut self.0;
        let mut held = [0; MAX_ROWS];
        let (mut depth, mut least) = (0, C::MAX);
        for (held, position) in held.iter_mut().zip(table::positions(*params, hash)) {
            *held = position;
            least = least.min(cells[position]);
            depth += 1;
        }
        let (count, cut) = C::clip(n);
        let mut raised = least;
        let saturated = raised.add(count) || cut;
        for &position in &held[..depth] {
            // Stored in any case: whether a cell lies above is no branch that could be foreseen.
            cells[position] = cells[position].max(raised);
        }
        tally.add(n, saturated) || raised != least
    }

    /// As [`ConservativeCountMin::try_insert_n`], for a hash by this sketch's hasher.
    ///
    /// # Errors
    ///
    /// As [`ConservativeCountMin::try_insert_n`].
    pub fn try_insert_hash_n(&mut self, hash: u64, n: u64) -> Result<bool, Error> {
        let CountMinSketch { tally, .. } = &self.0;
        let full = tally.total_saturated || tally.total.checked_add(n).is_none();
        if n > 0 && (full || n > C::MAX.into() - self.0.least(hash).into()) {
            return Err(Error::Overflow);
        }
        Ok(self.insert_hash_n(hash, n))
    }

    /// Counts many hashes once each, fetching the memory of later ones ahead.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        self.0.place().visit(hashes, |_, hash| _ = self.insert_hash(hash));
    }

    /// As [`ConservativeCountMin::estimate`], for a hash by this sketch's hasher.
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.0.estimate_hash(hash)
    }

    /// As [`CountMinSketch::estimate_batch`].
    pub fn estimate_batch(&self, hashes: &[u64], estimates: &mut [u64]) -> usize {
        self.0.estimate_batch(hashes, estimates)
    }

    /// As [`ConservativeCountMin::bounds`], for a hash by this sketch's hasher.
    #[inline]
    pub fn bounds_hash(&self, hash: u64) -> (u64, u64) {
        self.0.bounds_hash(hash)
    }

    /// Halves every count, as [`CountMinSketch::halve`].
    pub fn halve(&mut self) {
        self.0.halve();
        self.0.tally.rows = self.0.tally.rows.max(Rows::AtMost);
    }

    /// The sum of all counts, exact up to `u64::MAX`, where it stays.
    pub fn total(&self) -> u64 {
        self.0.total()
    }

    /// The shape.
    pub fn params(&self) -> CountMinParams {
        self.0.params()
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        self.0.hasher()
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets every count.
    pub fn clear(&mut self) {
        self.0.clear();
        self.0.tally = Tally::new(Rows::AtMost);
    }

    /// Bytes of the table.
    pub fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }

    /// Whether a cell, or the total, has been asked to hold more than it can, as [`CountMinSketch::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        self.0.is_saturated()
    }

    /// As [`CountMinSketch::saturated_cells`].
    pub fn saturated_cells(&self) -> u64 {
        self.0.saturated_cells()
    }

    /// As [`CountMinSketch::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        self.0.fill_ratio()
    }

    /// As [`CountMinSketch::row_fill_ratios`].
    pub fn row_fill_ratios(&self) -> Vec<f64> {
        self.0.row_fill_ratios()
    }
}

/// The cells add up: see [`ConservativeCountMin`].
impl<C: Cell, H: Fingerprint> Merge for ConservativeCountMin<C, H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.0.merge(&other.0)
    }
}

/// Equal shape, hasher, cells and total: the same bytes.
impl<C: Cell, H: Fingerprint> PartialEq for ConservativeCountMin<C, H> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<C: Cell, H: KeyHasher, K: Key> Extend<K> for ConservativeCountMin<C, H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows shape and total, not the cells.
impl<C, H: fmt::Debug> fmt::Debug for ConservativeCountMin<C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConservativeCountMin")
            .field("params", &self.0.params)
            .field("total", &self.0.tally.total)
            .field("hasher", &self.0.hasher)
            .finish_non_exhaustive()
    }
}

/// Bytes of a sketch with other cells are refused as [`Error::Incompatible`] in `cell_bytes`; bytes with a row that sums
/// up to more than the total as [`Error::Malformed`].
impl<C: Cell, H: Fingerprint> Sketch for ConservativeCountMin<C, H> {
    const KIND: Kind = Kind::CONSERVATIVE_COUNT_MIN;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        self.0.seal(Self::KIND)
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        CountMinSketch::unseal(Self::KIND, bytes, hasher).map(Self)
    }
}

/// The envelope, as bytes.
impl<C: Cell, H: Fingerprint> Serialize for ConservativeCountMin<C, H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, C: Cell, H: KeyHasher + Default> Deserialize<'de> for ConservativeCountMin<C, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}

/// A conservative sketch answering from borrowed bytes, as [`CountMinView`].
#[derive(Clone, Copy, Debug)]
pub struct ConservativeCountMinView<'a, C = u32, H = WyHasher>(CountMinView<'a, C, H>);

impl<C: Cell, H: KeyHasher> ConservativeCountMinView<'_, C, H> {
    /// As [`ConservativeCountMin::estimate`].
    #[inline]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.0.estimate(key)
    }

    /// As [`ConservativeCountMin::bounds`].
    #[inline]
    pub fn bounds<K: Key + ?Sized>(&self, key: &K) -> (u64, u64) {
        self.0.bounds(key)
    }
}

impl<C: Cell, H: Fingerprint> ConservativeCountMinView<'_, C, H> {
    /// As [`ConservativeCountMin::estimate_hash`].
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.0.estimate_hash(hash)
    }

    /// As [`ConservativeCountMin::bounds_hash`].
    #[inline]
    pub fn bounds_hash(&self, hash: u64) -> (u64, u64) {
        self.0.bounds_hash(hash)
    }

    /// As [`CountMinView::estimate_batch`].
    pub fn estimate_batch(&self, hashes: &[u64], estimates: &mut [u64]) -> usize {
        self.0.estimate_batch(hashes, estimates)
    }

    /// As [`ConservativeCountMin::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        self.0.fill_ratio()
    }

    /// As [`ConservativeCountMin::row_fill_ratios`].
    pub fn row_fill_ratios(&self) -> Vec<f64> {
        self.0.row_fill_ratios()
    }

    /// As [`ConservativeCountMin::saturated_cells`].
    pub fn saturated_cells(&self) -> u64 {
        self.0.saturated_cells()
    }

    /// As [`ConservativeCountMin::total`].
    pub fn total(&self) -> u64 {
        self.0.total()
    }

    /// As [`ConservativeCountMin::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        self.0.is_saturated()
    }

    /// The shape.
    pub fn params(&self) -> CountMinParams {
        self.0.params()
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        self.0.hasher()
    }

    /// As [`ConservativeCountMin::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As [`ConservativeCountMin::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }

    /// Checks the payload: its checksum, and that no row sums up to more than the total.
    ///
    /// # Errors
    ///
    /// As [`CountMinView::verify`].
    pub fn verify(&self) -> Result<(), Error> {
        self.0.verify()
    }

    /// An owned sketch with the same cells.
    ///
    /// # Errors
    ///
    /// As [`ConservativeCountMinView::verify`].
    pub fn to_owned(&self) -> Result<ConservativeCountMin<C, H>, Error> {
        self.0.owned_as(Kind::CONSERVATIVE_COUNT_MIN).map(ConservativeCountMin)
    }
}
