//! A filter over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use pds_hash::reduce;

use super::filter::Counted;
use super::line::LINE_BYTES;
use super::wire;
use crate::arch::{self, Simd};
use crate::{BlockedBloomFilter, BlockedBloomParams, Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// A filter answering from borrowed bytes, memory-mapped ones perhaps, at any address; where the envelope starts
/// at a multiple of 64, a line of the filter is one of the cache, and queries beyond the caches take least time.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it
/// is the payload that was written is what [`BlockedBloomView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct BlockedBloomView<'a, H = WyHasher> {
    header: Header,
    params: BlockedBloomParams,
    lines: &'a [[u8; LINE_BYTES]],
    simd: Simd,
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> BlockedBloomView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, params, payload) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        // Whole lines: the length was checked.
        let (lines, _) = payload.as_chunks();
        Ok(Self { header, params, lines, simd: Simd::detect(), bytes, hasher })
    }

    /// As [`BlockedBloomFilter::contains_hash`].
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let at = reduce(hash, self.lines.len() as u64) as usize;
        arch::line::contains(self.simd, &self.lines[at], hash, self.params.k())
    }

    /// As [`BlockedBloomFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        let count = hashes.len().min(found.len());
        let (hashes, found) = (&hashes[..count], &mut found[..count]);
        arch::line::contains_batch(self.simd, self.lines, self.params.k(), hashes, found);
        count
    }

    /// As [`BlockedBloomFilter::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.lines.as_flattened().iter().all(|&byte| byte == 0)
    }

    /// As [`BlockedBloomFilter::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.lines.as_flattened().len()
    }

    /// As [`BlockedBloomFilter::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        Counted::of(self.lines, self.params).fill
    }

    /// As [`BlockedBloomFilter::estimated_len`].
    pub fn estimated_len(&self) -> f64 {
        Counted::of(self.lines, self.params).len(self.params)
    }

    /// As [`BlockedBloomFilter::estimated_fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        Counted::of(self.lines, self.params).fpr
    }

    /// As [`BlockedBloomFilter::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        Counted::of(self.lines, self.params).is_saturated(self.params)
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.lines.as_flattened())
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The shape.
    pub fn params(&self) -> BlockedBloomParams {
        self.params
    }

    /// An owned filter with the same bits.
    ///
    /// # Errors
    ///
    /// As [`BlockedBloomView::verify`].
    pub fn to_owned(&self) -> Result<BlockedBloomFilter<H>, Error> {
        BlockedBloomFilter::from_bytes_with(self.bytes, self.hasher.clone())
    }
}

impl<H: KeyHasher> BlockedBloomView<'_, H> {
    /// As [`BlockedBloomFilter::contains`].
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for BlockedBloomView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockedBloomView")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
