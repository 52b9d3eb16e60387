//! The classic filter.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use pds_hash::Probes;

use super::bits::{self, Bits};
use super::{batch, metrics};
use crate::arch::Words;
use crate::{
    BloomParams, BloomView, Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Sketch, WyHasher,
};

/// A classic Bloom filter: a set that answers "certainly not" or "probably".
///
/// * Error: one-sided. A key that was inserted is always found; a stranger is found with the probability
///   [`BloomParams::fpr`].
/// * Merging is exact: the bits of the merged filter are those of the whole stream's filter.
/// * Keys cannot be removed, listed or counted exactly.
///
/// # Source
///
/// `[Bloom70]`.
#[derive(Clone)]
pub struct BloomFilter<H = WyHasher> {
    params: BloomParams,
    words: Words,
    hasher: H,
}

impl BloomFilter {
    /// An empty filter with the default hasher.
    pub fn new(params: BloomParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }

    /// Decodes a filter made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a filter made with the default hasher where its bytes lie: see [`BloomView`].
    ///
    /// # Errors
    ///
    /// As [`BloomFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<BloomView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> BloomFilter<H> {
    /// Adds a key; true if a bit changed, false if the filter would have said yes before.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// False is certain: the key was not inserted. True is a hint: a stranger gets it with the filter's rate of
    /// false positives.
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `bits::contains`
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> BloomFilter<H> {
    /// An empty filter with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`BloomParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: BloomParams, hasher: H) -> Self {
        // In range: the parameters keep to the address space.
        Self::from_parts(params, vec![0; params.words() as usize].into_boxed_slice(), hasher)
    }

    /// Opens a filter where its bytes lie, in constant time: see [`BloomView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`BloomView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<BloomView<'_, H>, Error> {
        BloomView::open(bytes, hasher)
    }

    /// As [`BloomFilter::insert`], for a hash by this filter's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        set_bits(&mut self.words, self.params.k(), hash)
    }

    /// As [`BloomFilter::insert_hash`]; how many bits changed.
    pub(crate) fn insert_counted(&mut self, hash: u64) -> u32 {
        let mut probes = Probes::new(hash);
        (0..self.params.k()).map(|_| !self.words.set(&mut probes) as u32 & 1).sum()
    }

    /// How many bits are set.
    pub(crate) fn ones(&self) -> u64 {
        self.words.ones()
    }

    /// As [`BloomFilter::contains`], for a hash by this filter's hasher.
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `bits::contains`
    pub fn contains_hash(&self, hash: u64) -> bool {
        bits::contains(&self.words, self.params.k(), hash)
    }

    /// Adds many hashes, fetching the memory of later ones ahead.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        let k = self.params.k();
        batch::insert(&mut self.words, k, hashes, |words, hash| {
            set_bits(words, k, hash);
        });
    }

    /// Answers [`BloomFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later ones
    /// ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        batch::contains(&self.words, self.params.k(), hashes, found)
    }

    /// Keeps the bits that `other` has too: the filter then says yes to every key of both, and to strangers more
    /// often than a filter of the intersection would.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`]; `self` is then unchanged.
    pub fn intersect(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        for (mine, theirs) in self.words.as_mut_slice().iter_mut().zip(&*other.words) {
            *mine &= theirs;
        }
        Ok(())
    }

    /// The shape.
    pub fn params(&self) -> BloomParams {
        self.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.words.as_mut_slice().fill(0);
    }

    /// Bytes of the bit array.
    pub fn size_bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Share of the bits that are set, within 0..=1. Counts them: time in the size of the filter.
    pub fn fill_ratio(&self) -> f64 {
        self.words.ones() as f64 / self.params.bits() as f64
    }

    /// Estimated number of distinct keys, from the fill: unbiased to first order, infinite when every bit is set.
    /// After [`BloomFilter::intersect`] it means nothing.
    ///
    /// # Source
    ///
    /// `[SwamidassBaldi07]`, with (1 - 1/m)^k for e^(-k/m).
    pub fn estimated_len(&self) -> f64 {
        metrics::estimated_len(self.params, self.fill_ratio())
    }

    /// The rate of false positives of this very filter: fill^k, a probability.
    pub fn estimated_fpr(&self) -> f64 {
        metrics::estimated_fpr(self.params, self.fill_ratio())
    }

    /// Whether the filter holds more than it was designed for: its estimated rate is above the design rate by more
    /// than chance explains (a filter at its design load raises the alarm with a chance below 1e-9), or every bit is
    /// set. A raw shape has no design rate: more than half of its bits are set.
    pub fn is_saturated(&self) -> bool {
        metrics::is_saturated(self.params, self.fill_ratio())
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn from_parts(params: BloomParams, words: Box<[u64]>, hasher: H) -> Self {
        Self { params, words: Words::new(words), hasher }
    }

    fn compatible(&self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.compatible(other.params)
    }
}

impl<H: Fingerprint> Merge for BloomFilter<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        for (mine, theirs) in self.words.as_mut_slice().iter_mut().zip(&*other.words) {
            *mine |= theirs;
        }
        Ok(())
    }
}

impl<H: Fingerprint> ExactMerge for BloomFilter<H> {}

/// Equal shape, hasher and bits: the same bytes.
impl<H: Fingerprint> PartialEq for BloomFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.words == other.words
    }
}

impl<H: KeyHasher, K: Key> Extend<K> for BloomFilter<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for BloomFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BloomFilter")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

/// Sets the `k` bits of a hash; true if one of them was not set before.
#[inline]
fn set_bits(words: &mut Words, k: u32, hash: u64) -> bool {
    let mut probes = Probes::new(hash);
    let known = (0..k).fold(1, |all, _| all & words.set(&mut probes));
    known & 1 == 0
}
