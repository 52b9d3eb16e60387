//! The split-block filter.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use super::batch;
use super::block::Block;
use super::metrics::Census;
use crate::arch::{Simd, block as arch};
use crate::{
    Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Sketch, SplitBlockBloomView, SplitBlockParams,
    WyHasher,
};

/// A split-block Bloom filter: a key's eight bits lie in one block of 256, one in each of its eight words, so that a
/// query is one read of memory and a few instructions.
///
/// * Format: bit for bit the filter of Parquet files. With the feature `parquet` and its `ParquetHasher` the bits are
///   those that other programs write for a column; see also [`SplitBlockBloomFilter::to_bitset`].
/// * Error: one-sided. A key that was inserted is always found; a stranger is found with the probability
///   [`SplitBlockParams::fpr`].
/// * Merging is exact: the bits of the merged filter are those of the whole stream's filter. So is folding into fewer
///   blocks.
/// * Keys cannot be removed, listed or counted exactly.
///
/// A hash is used as it comes: its upper 32 bits pick the block, its lower 32 the bits, and both halves have to be near
/// uniform.
///
/// # Source
///
/// Blocks: `[PutzeSandersSingler07]`. Format: `[ParquetBloom]`.
#[derive(Clone)]
pub struct SplitBlockBloomFilter<H = WyHasher> {
    pub(super) params: SplitBlockParams,
    /// As many as the parameters have: at least one.
    pub(super) blocks: Box<[Block]>,
    hasher: H,
    simd: Simd,
}

impl SplitBlockBloomFilter {
    /// An empty filter with the default hasher.
    pub fn new(params: SplitBlockParams) -> Self {
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

    /// Opens a filter made with the default hasher where its bytes lie: see [`SplitBlockBloomView`].
    ///
    /// # Errors
    ///
    /// As [`SplitBlockBloomFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<SplitBlockBloomView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> SplitBlockBloomFilter<H> {
    /// Adds a key; true if a bit changed, false if the filter would have said yes before.
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `arch::block`
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// False is certain: the key was not inserted. True is a hint: a stranger gets it with the filter's rate of
    /// false positives.
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `arch::block`
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> SplitBlockBloomFilter<H> {
    /// An empty filter with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`SplitBlockParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: SplitBlockParams, hasher: H) -> Self {
        // In range: the parameters keep to the address space.
        Self::from_parts(params, vec![Block::EMPTY; params.blocks() as usize].into_boxed_slice(), hasher)
    }

    /// Opens a filter where its bytes lie, in constant time: see [`SplitBlockBloomView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`SplitBlockBloomView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<SplitBlockBloomView<'_, H>, Error> {
        SplitBlockBloomView::open(bytes, hasher)
    }

    /// As [`SplitBlockBloomFilter::insert`], for a hash by this filter's hasher.
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `arch::block`
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        arch::insert(self.simd, &mut self.blocks, hash)
    }

    /// As [`SplitBlockBloomFilter::contains`], for a hash by this filter's hasher.
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `arch::block`
    pub fn contains_hash(&self, hash: u64) -> bool {
        arch::contains(self.simd, &self.blocks, hash)
    }

    /// Adds many hashes, fetching the memory of later ones ahead.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        batch::insert(self.simd, &mut self.blocks, hashes);
    }

    /// Answers [`SplitBlockBloomFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later
    /// ones ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        batch::contains(self.simd, &self.blocks, hashes, found)
    }

    /// Keeps the bits that `other` has too: the filter then says yes to every key of both, and to strangers more
    /// often than a filter of the intersection would.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`]; `self` is then unchanged.
    pub fn intersect(&mut self, other: &Self) -> Result<(), Error> {
        self.combine(other, |mine, theirs| mine & theirs)
    }

    /// The shape.
    pub fn params(&self) -> SplitBlockParams {
        self.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| *block == Block::EMPTY)
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.blocks.fill(Block::EMPTY);
    }

    /// Bytes of the bit array.
    pub fn size_bytes(&self) -> usize {
        size_of_val::<[Block]>(&self.blocks)
    }

    /// Share of the bits that are set, within 0..=1. Counts them: time in the size of the filter.
    pub fn fill_ratio(&self) -> f64 {
        self.census().fill()
    }

    /// Estimated number of distinct keys, from the fill: unbiased to first order, infinite when every bit is set.
    /// After [`SplitBlockBloomFilter::intersect`] it means nothing.
    pub fn estimated_len(&self) -> f64 {
        self.census().len()
    }

    /// The rate of false positives of this very filter, a probability: for each block the product over its words of the
    /// share of set bits, averaged over blocks (fill^8 would be too little), and
    /// the chance of a shared hash at [`SplitBlockBloomFilter::estimated_len`] keys.
    pub fn estimated_fpr(&self) -> f64 {
        self.census().fpr()
    }

    /// Whether the filter holds more than it was designed for: more of its bits are set than chance explains at the
    /// number of keys at which its shape has the rate that it was designed for (6 standard deviations: a filter at that
    /// number raises the alarm with a chance below 1e-9), or every bit is set. A raw shape has no such rate: more than
    /// half of its bits are set.
    pub fn is_saturated(&self) -> bool {
        self.census().is_saturated(self.params)
    }

    pub(crate) fn from_parts(params: SplitBlockParams, blocks: Box<[Block]>, hasher: H) -> Self {
        Self { params, blocks, hasher, simd: Simd::detect() }
    }

    fn census(&self) -> Census {
        Census::of(self.params.blocks(), self.blocks.iter().map(|block| block.0))
    }

    fn combine(&mut self, other: &Self, words: impl Fn(u64, u64) -> u64) -> Result<(), Error> {
        self.compatible(other)?;
        for (Block(mine), Block(theirs)) in self.blocks.iter_mut().zip(&other.blocks) {
            // Words: a block's bytes, which are no more than a register or two, are taken one by one otherwise.
            for (mine, theirs) in mine.as_chunks_mut().0.iter_mut().zip(theirs.as_chunks().0) {
                *mine = words(u64::from_ne_bytes(*mine), u64::from_ne_bytes(*theirs)).to_ne_bytes();
            }
        }
        Ok(())
    }

    fn compatible(&self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        let differs = |field| Err(Error::Incompatible { field });
        if self.params.blocks() != other.params.blocks() {
            differs("blocks")
        } else if self.params.design_fpr() != other.params.design_fpr() {
            differs("design_fpr")
        } else {
            Ok(())
        }
    }
}

impl<H: Fingerprint> Merge for SplitBlockBloomFilter<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.combine(other, |mine, theirs| mine | theirs)
    }
}

impl<H: Fingerprint> ExactMerge for SplitBlockBloomFilter<H> {}

/// Equal shape, hasher and bits: the same bytes.
impl<H: Fingerprint> PartialEq for SplitBlockBloomFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.blocks == other.blocks
    }
}

impl<H: KeyHasher, K: Key> Extend<K> for SplitBlockBloomFilter<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for SplitBlockBloomFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitBlockBloomFilter")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
