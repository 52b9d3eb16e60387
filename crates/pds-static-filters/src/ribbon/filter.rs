//! The filter.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::build;
use super::geometry::Geometry;
use super::lookup::{self, Words};
use crate::{Error, Fingerprint, Key, KeyHasher, RibbonParams, RibbonView, Sketch, WyHasher, limits};

/// A set of keys, fixed when it is built, that answers "certainly not" or "probably", in next to the fewest bits that any
/// filter can.
///
/// * Error: one-sided. A key of the set is always found; a stranger is found with probability [`RibbonParams::fpr`].
/// * Size: some 1.01 times log2(1/fpr) bits a key from 100,000 keys on; some hundred bytes more in small filters.
/// * Keys cannot be added, removed or listed; two filters cannot be merged: build one from the keys of both.
/// * Repeated keys are legal, and so is no key at all: such a filter says no to everything.
/// * Building takes some 8 bytes a key beside the hashes and the filter. The bytes depend on the set of keys alone, on no
///   order, thread or feature.
///
/// A key's hash names 64 rows in a line, of which it sums up some; the filter has a bit for each row and column, such that the
/// sums are the bits of the key's fingerprint. There are fewer rows than keys: those that do not fit are bumped to a layer of
/// their own, and so on, until a few hundred are left.
///
/// # Source
///
/// `[DillingerEtAl22]`; columns that are stored by words as in `[DillingerWalzer21]`.
#[derive(Clone)]
pub struct RibbonFilter<H = WyHasher> {
    pub(super) params: RibbonParams,
    pub(super) keys: u64,
    pub(super) geometry: Geometry,
    pub(super) attempt: u32,
    pub(super) bytes: Box<[u8]>,
    pub(super) hasher: H,
}

impl RibbonFilter {
    /// A filter of these keys, with the default hasher. Keys may repeat.
    ///
    /// # Errors
    ///
    /// As [`RibbonFilter::from_hashes`].
    pub fn from_keys<K: Key>(params: RibbonParams, keys: impl IntoIterator<Item = K>) -> Result<Self, Error> {
        Self::from_keys_with(params, keys, WyHasher::default())
    }

    /// A filter of the keys with these hashes, by the default hasher. Hashes may repeat.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are more than 2^38, or if [`RibbonParams::for_bytes`] gave a budget in which not even a
    /// part of a column fits for these keys; [`Error::Construction`] if the last layer, of a few hundred keys, fails under 64
    /// seeds, which near-uniform hashes do not come to see: one in some fails, and later ones are given more rows.
    pub fn from_hashes(params: RibbonParams, hashes: &[u64]) -> Result<Self, Error> {
        Self::from_hashes_with(params, hashes, WyHasher::default())
    }

    /// Decodes a filter made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a filter made with the default hasher where its bytes lie: see [`RibbonView`].
    ///
    /// # Errors
    ///
    /// As [`RibbonFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<RibbonView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> RibbonFilter<H> {
    /// A filter of these keys with a hasher of one's own. Keys may repeat.
    ///
    /// # Errors
    ///
    /// As [`RibbonFilter::from_hashes`].
    pub fn from_keys_with<K: Key>(
        params: RibbonParams,
        keys: impl IntoIterator<Item = K>,
        hasher: H,
    ) -> Result<Self, Error> {
        let hashes: Vec<u64> = keys.into_iter().map(|key| hasher.hash_key(&key)).collect();
        Self::from_hashes_with(params, &hashes, hasher)
    }

    /// False is certain: the key is not in the set. True is a hint: a stranger gets it with probability
    /// [`RibbonParams::fpr`].
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> RibbonFilter<H> {
    /// A filter of the keys with these hashes, by a hasher of one's own. Hashes may repeat.
    ///
    /// # Errors
    ///
    /// As [`RibbonFilter::from_hashes`].
    pub fn from_hashes_with(params: RibbonParams, hashes: &[u64], hasher: H) -> Result<Self, Error> {
        let built = build::build(hashes, params)?;
        Ok(Self {
            params: RibbonParams::new(built.columns, built.extra)?,
            keys: built.keys,
            geometry: Geometry::new(&built.blocks, built.columns, built.extra, built.complete),
            attempt: built.attempt,
            bytes: built.bytes.into_boxed_slice(),
            hasher,
        })
    }

    /// Opens a filter where its bytes lie, in constant time: see [`RibbonView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`RibbonView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<RibbonView<'_, H>, Error> {
        RibbonView::open(bytes, hasher)
    }

    /// As [`RibbonFilter::contains`], for a hash by this filter's hasher.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        lookup::contains(&self.geometry, Words::new(&self.bytes), self.attempt, hash)
    }

    /// Answers [`RibbonFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later ones ahead;
    /// returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        lookup::contains_batch(&self.geometry, &self.bytes, self.attempt, hashes, found)
    }

    /// Whether every one of these hashes is found: a check of a build, for who has the hashes still and wants no damaged
    /// memory between him and his data.
    pub fn contains_all(&self, hashes: &[u64]) -> bool {
        hashes.iter().all(|&hash| self.contains_hash(hash))
    }

    /// The columns that it has; where it was built within a budget, those that were found to fit.
    pub fn params(&self) -> RibbonParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Number of distinct hashes that it was built from: exact.
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// True if it was built from no key.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// Bytes of rows and thresholds.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bits for each key; 0 without keys.
    pub fn bits_per_key(&self) -> f64 {
        limits::per_key(self.bytes.len() as f64 * 8.0, self.keys)
    }

    /// The expected rate of false positives, a probability: [`RibbonParams::fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        self.params.fpr(self.keys)
    }
}

/// Equal in shape, words and hasher.
impl<H: Fingerprint> PartialEq for RibbonFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && self.keys == other.keys
            && self.geometry == other.geometry
            && self.attempt == other.attempt
            && self.hasher.fingerprint() == other.hasher.fingerprint()
            && self.bytes == other.bytes
    }
}

/// Shows the shape, not the words.
impl<H: fmt::Debug> fmt::Debug for RibbonFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RibbonFilter")
            .field("params", &self.params)
            .field("keys", &self.keys)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
