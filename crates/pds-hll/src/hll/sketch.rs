//! The sketch.

use alloc::borrow::Cow;
use core::fmt;

use super::state::State;
use crate::{Error, ExactMerge, Fingerprint, HllParams, HllView, Key, KeyHasher, Merge, Sketch, WyHasher};

/// A HyperLogLog sketch: the number of distinct keys, in one byte a register at most.
///
/// * Error: two-sided, [`HllParams::std_error`] of the count for many keys and less for few; the first
///   keys, [`HllParams::sparse_limit`] of them, are counted almost exactly. Unbiased but for a small share of that
///   error, which table `hll-all-precisions` has for each precision.
/// * Merging is exact, between any two precisions: the merged sketch is that of the whole stream at the lower one.
/// * Inserting a key again changes nothing; a key cannot be removed or looked up.
///
/// The low p bits of a hash pick a register, which keeps the greatest number of leading zeros, and one, of the
/// hashes that it has seen. Until registers take less memory, 32 bits of each hash are kept instead, from which registers
/// of any precision are made when the time comes: when that is depends on the set of keys alone, so a sketch has the same
/// bytes whichever way it came by its keys.
///
/// # Source
///
/// `[FlajoletEtAl07]`; 64-bit hashes: `[HeuleEtAl13]`; estimator: `[Ertl17]`.
#[derive(Clone)]
pub struct HyperLogLog<H = WyHasher> {
    state: State,
    hasher: H,
}

impl HyperLogLog {
    /// An empty sketch with the default hasher.
    pub fn new(params: HllParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }

    /// Decodes a sketch made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a sketch made with the default hasher where its bytes lie: see [`HllView`].
    ///
    /// # Errors
    ///
    /// As [`HyperLogLog::view_with`].
    pub fn view(bytes: &[u8]) -> Result<HllView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> HyperLogLog<H> {
    /// Counts a key; true if the sketch changed. A key seen before never changes it; most new keys do not either
    /// once there are more keys than registers, and are counted all the same.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> HyperLogLog<H> {
    /// An empty sketch with a hasher of one's own.
    pub fn with_hasher(params: HllParams, hasher: H) -> Self {
        Self { state: State::empty(params), hasher }
    }

    /// Opens a sketch where its bytes lie, in constant time: see [`HllView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`HllView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<HllView<'_, H>, Error> {
        HllView::open(bytes, hasher)
    }

    /// As [`HyperLogLog::insert`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.state.insert(hash)
    }

    /// Counts many hashes.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        self.state.insert_batch(hashes);
    }

    /// Estimated number of distinct keys: unbiased but for a small share of the standard error (table
    /// `hll-all-precisions`), at least 0. 0 for an empty sketch; infinite if every register is saturated, which takes
    /// more than 2^46 m keys (2^58 at precision 12).
    ///
    /// Up to [`HllParams::sparse_limit`] keys the count of different 32-bit parts of hashes, corrected for the few keys that
    /// share one: it never falls, and is off by two or three keys at precision 18 and hardly ever at all below 16. Beyond, the
    /// estimator of the registers, which has their error from its first key on, and so may fall there.
    ///
    /// Depends on the set of keys alone, not on their order. Takes constant time, except after a merge, a decode or a
    /// long batch: until the next insert that changes a register, each call then counts the registers.
    pub fn estimate(&self) -> f64 {
        self.state.estimate()
    }

    /// Where the number of distinct keys lies: n e^(-kappa s) and n e^(kappa s) for the estimate n and its predicted
    /// relative error s, the lower bound not below the number of registers in use, or the estimate where that is less.
    ///
    /// * `kappa`: width in standard deviations. From as many keys as registers on, 1 covers the true count in 68 %, 2
    ///   in 95 %, 3 in 99.7 % of sketches, and slightly fewer at the lowest precisions (table `hll-bounds`). The errors of
    ///   fewer keys are a few whole keys: there the bounds cover as often once they are widened to whole numbers. A
    ///   negative `kappa` counts as its magnitude, NaN as infinity.
    ///
    /// Up to [`HllParams::sparse_limit`] keys: the estimate less and more `kappa` standard deviations of the number of keys
    /// that share their 32 bits with another, the lower bound not below the count of different ones, which is certain.
    ///
    /// (0, 0) for an empty sketch. The upper bound is infinite if every register is saturated.
    ///
    /// # Source
    ///
    /// Likelihood: `[Ertl17]`.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        self.state.bounds(kappa)
    }

    /// Folds to a lower precision: the sketch becomes the one that the same keys make there, to the
    /// byte.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `precision` is below 4 or above the sketch's own, which nothing can bring back.
    /// `self` is then unchanged.
    pub fn fold_to(&mut self, precision: u8) -> Result<(), Error> {
        self.state.fold_to(precision)
    }

    /// The precision.
    pub fn params(&self) -> HllParams {
        self.state.params()
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// True while the keys are counted one by one, almost exactly: up to [`HllParams::sparse_limit`] of them.
    pub fn is_sparse(&self) -> bool {
        self.state.is_sparse()
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.state = State::empty(self.params());
    }

    /// Bytes that the sketch has allocated now: from none when empty up to [`HllParams::size_bytes`], and more only while it
    /// counts few hashes that somebody chose to meet in its table, of which it keeps some in a tree.
    pub fn size_bytes(&self) -> usize {
        self.state.size_bytes()
    }

    /// The registers: for each index the greatest value seen, 0 to 47. For other estimators, and for other formats.
    ///
    /// Made anew while there are few keys and the sketch does not keep them.
    pub fn registers(&self) -> Cow<'_, [u8]> {
        self.state.values()
    }

    pub(crate) fn from_state(state: State, hasher: H) -> Self {
        Self { state, hasher }
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// Any two precisions merge, to the lower one; the hashers must agree.
impl<H: Fingerprint> Merge for HyperLogLog<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.state.merge(&other.state);
        Ok(())
    }
}

/// With sketches of several precisions the law holds for the sketch of the whole stream at the lowest of them.
impl<H: Fingerprint> ExactMerge for HyperLogLog<H> {}

/// Equal precision, hasher and state: the same bytes.
impl<H: Fingerprint> PartialEq for HyperLogLog<H> {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state && self.hasher.fingerprint() == other.hasher.fingerprint()
    }
}

impl<H: KeyHasher, K: Key> Extend<K> for HyperLogLog<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the precision, not the registers.
impl<H: fmt::Debug> fmt::Debug for HyperLogLog<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperLogLog")
            .field("params", &self.state.params())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
