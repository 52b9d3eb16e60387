//! A filter over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use super::block::{BLOCK_BYTES, Block};
use super::metrics::Census;
use super::{batch, wire};
use crate::arch::{Simd, block as arch};
use crate::{Error, Fingerprint, Key, KeyHasher, SplitBlockBloomFilter, SplitBlockParams, WyHasher};

/// A filter answering from borrowed bytes, memory-mapped ones perhaps, at any address; where the envelope starts
/// at a multiple of 64, a line of the filter is one of the cache, and queries beyond the caches take least time.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it
/// is the payload that was written is what [`SplitBlockBloomView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct SplitBlockBloomView<'a, H = WyHasher> {
    /// None for a bitset, which comes without.
    header: Option<Header>,
    params: SplitBlockParams,
    /// As many as the parameters have: at least one.
    blocks: &'a [[u8; BLOCK_BYTES]],
    hasher: H,
    simd: Simd,
}

impl<'a, H: Fingerprint> SplitBlockBloomView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, params, blocks) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Self { header: Some(header), params, blocks, hasher, simd: Simd::detect() })
    }

    /// Answers from a bitset of the format, such as the one in a Parquet file, in constant time.
    ///
    /// A bitset says nothing of its hashes: that they were made by `hasher` (for Parquet its `ParquetHasher`), and that
    /// the bits are those that were written, is up to the caller.
    ///
    /// # Errors
    ///
    /// As [`SplitBlockBloomFilter::from_bitset`].
    pub fn of_bitset(bitset: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (params, blocks) = wire::bitset(bitset)?;
        Ok(Self { header: None, params, blocks, hasher, simd: Simd::detect() })
    }

    /// As [`SplitBlockBloomFilter::contains_hash`].
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `arch::block`
    pub fn contains_hash(&self, hash: u64) -> bool {
        arch::contains(self.simd, self.blocks, hash)
    }

    /// As [`SplitBlockBloomFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        batch::contains(self.simd, self.blocks, hashes, found)
    }

    /// As [`SplitBlockBloomFilter::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.blocks.as_flattened().iter().all(|&byte| byte == 0)
    }

    /// As [`SplitBlockBloomFilter::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.blocks.as_flattened().len()
    }

    /// As [`SplitBlockBloomFilter::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        self.census().fill()
    }

    /// As [`SplitBlockBloomFilter::estimated_len`].
    pub fn estimated_len(&self) -> f64 {
        self.census().len()
    }

    /// As [`SplitBlockBloomFilter::estimated_fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        self.census().fpr()
    }

    /// As [`SplitBlockBloomFilter::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        self.census().is_saturated(self.params)
    }

    /// Checks the payload's checksum; a bitset has none, and passes.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.map_or(Ok(()), |header| header.verify(self.blocks.as_flattened()))
    }

    /// The shape.
    pub fn params(&self) -> SplitBlockParams {
        self.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// An owned filter with the same bits.
    ///
    /// # Errors
    ///
    /// As [`SplitBlockBloomView::verify`].
    pub fn to_owned(&self) -> Result<SplitBlockBloomFilter<H>, Error> {
        self.verify()?;
        let blocks = self.blocks.iter().copied().map(Block).collect();
        Ok(SplitBlockBloomFilter::from_parts(self.params, blocks, self.hasher.clone()))
    }

    fn census(&self) -> Census {
        Census::of(self.params.blocks(), self.blocks.iter().copied())
    }
}

impl<H: KeyHasher> SplitBlockBloomView<'_, H> {
    /// As [`SplitBlockBloomFilter::contains`].
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `arch::block`
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for SplitBlockBloomView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitBlockBloomView")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
