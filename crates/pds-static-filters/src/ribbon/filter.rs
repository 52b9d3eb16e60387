//! The filter.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::build;
use super::geometry::{Geometry, Shape};
use super::lookup::{self, Words};
use super::rate;
use crate::{Error, Fingerprint, Key, KeyHasher, RibbonParams, RibbonView, Sketch, WyHasher, limits};

/// A set of keys, fixed when it is built, that answers "certainly not" or "probably", in next to the fewest bits that any
/// filter can.
///
/// * Error: one-sided. A key of the set is always found; a stranger is found with probability
///   [`RibbonFilter::estimated_fpr`].
/// * Size: a bit a key for each column, and little more in large filters: table `static-ribbon`; [`RibbonParams::size_bytes`]
///   has it for any number of keys. Whole columns are log2(1/fpr). A share *s* of the rows with one more takes *s* bits and saves -log2(1 - s/2): up to 0.09 of a bit less.
/// * Keys cannot be added, removed or listed; two filters cannot be merged: build one from the keys of both.
/// * Repeated keys are legal, and so is no key at all: such a filter says no to everything.
/// * Building takes a sorted copy of the hashes, 8 bytes a key, and the rows of a segment beside the hashes and the filter,
///   whether keys repeat or not; the bench tables have the peak. The bytes depend on the set of keys alone, on no order, thread
///   or feature.
/// * Keys that were chosen to fall on the same rows cost a second build, under a seed that is a digest of the whole set: who
///   does not know all of it cannot aim at that. What is left to such keys is to have a layer bump up to twice the keys that
///   it should.
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
    pub(super) shape: Shape,
    pub(super) geometry: Geometry,
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
    /// [`Error::Parameter`] if there are more than 2^38, or if [`RibbonParams::for_bytes`] gave a budget for fewer keys, in
    /// which not even a part of a column fits for these; [`Error::Construction`] if the last layer, of a few hundred keys,
    /// fails under 64 seeds that are known beforehand, and then under 64 that depend on all keys.
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
    /// [`RibbonFilter::estimated_fpr`].
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
            params: RibbonParams::of(&built.shape)?,
            shape: built.shape,
            geometry: built.geometry,
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
        lookup::contains(&self.geometry, Words::new(&self.bytes), hash)
    }

    /// Answers [`RibbonFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later ones ahead;
    /// returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        lookup::contains_batch(&self.geometry, &self.bytes, hashes, found)
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
        self.shape.keys
    }

    /// True if it was built from no key.
    pub fn is_empty(&self) -> bool {
        self.shape.keys == 0
    }

    /// Bytes of rows and thresholds.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bits for each key; 0 without keys.
    pub fn bits_per_key(&self) -> f64 {
        limits::per_key(self.bytes.len() as f64 * 8.0, self.shape.keys)
    }

    /// The rate of false positives of this very filter among near-uniform strangers, a probability: from the columns of the
    /// rows that take keys in, layer by layer, and the chance to share a hash with a key. [`RibbonParams::fpr`] expects it.
    /// Takes a look at each 128 rows.
    pub fn estimated_fpr(&self) -> f64 {
        rate::estimated(&self.geometry, Words::new(&self.bytes), self.len())
    }
}

/// Equal in shape, words and hasher.
impl<H: Fingerprint> PartialEq for RibbonFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape
            && self.hasher.fingerprint() == other.hasher.fingerprint()
            && self.bytes == other.bytes
    }
}

/// Shows the shape, not the words.
impl<H: fmt::Debug> fmt::Debug for RibbonFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RibbonFilter")
            .field("params", &self.params)
            .field("keys", &self.shape.keys)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
