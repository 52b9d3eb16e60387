//! A filter over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};
use pds_hash::reduce;

use super::{counters, wire};
use crate::arch::{self, Simd};
use crate::blocked::Counted;
use crate::blocked::line::LINE_BYTES;
use crate::{CountingBloomFilter, CountingBloomParams, Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// A filter answering from borrowed bytes, memory-mapped ones perhaps, at any address; where the envelope starts
/// at a multiple of 64, a line of the filter is one of the cache, and queries beyond the caches take least time.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it is the
/// payload that was written is what [`CountingBloomView::verify`] checks, in time linear in it. Queries look at the bits
/// alone, which come first: a fifth of the payload.
#[derive(Clone, Copy)]
pub struct CountingBloomView<'a, H = WyHasher> {
    header: Header,
    params: CountingBloomParams,
    lines: &'a [[u8; LINE_BYTES]],
    counters: &'a [[u8; LINE_BYTES]],
    simd: Simd,
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> CountingBloomView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, params, payload) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        // Whole lines, and more than those of bits: the length was checked.
        let (lines, counters) = payload.as_chunks().0.split_at(params.lines() as usize);
        Ok(Self { header, params, lines, counters, simd: Simd::detect(), bytes, hasher })
    }

    /// As [`CountingBloomFilter::contains_hash`].
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let at = reduce(hash, self.lines.len() as u64) as usize;
        arch::line::contains(self.simd, &self.lines[at], hash, self.params.k())
    }

    /// As [`CountingBloomFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        let count = hashes.len().min(found.len());
        let (hashes, found) = (&hashes[..count], &mut found[..count]);
        arch::line::contains_batch(self.simd, self.lines, self.params.k(), hashes, found);
        count
    }

    /// As [`CountingBloomFilter::saturated_cells`].
    pub fn saturated_cells(&self) -> u64 {
        self.counters.iter().map(counters::sticky).sum()
    }

    /// As [`CountingBloomFilter::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.lines.as_flattened().iter().all(|&byte| byte == 0)
    }

    /// As [`CountingBloomFilter::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.lines.as_flattened().len() + self.counters.as_flattened().len()
    }

    /// As [`CountingBloomFilter::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        self.counted().fill
    }

    /// As [`CountingBloomFilter::estimated_len`].
    pub fn estimated_len(&self) -> f64 {
        self.counted().len(self.params.blocked())
    }

    /// As [`CountingBloomFilter::estimated_fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        self.counted().fpr
    }

    /// As [`CountingBloomFilter::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        self.counted().is_saturated(self.params.blocked())
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(&self.bytes[self.bytes.len() - self.params.size_bytes() as usize..])
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The shape.
    pub fn params(&self) -> CountingBloomParams {
        self.params
    }

    /// An owned filter with the same bits and counters.
    ///
    /// # Errors
    ///
    /// As [`CountingBloomView::verify`], and [`Error::Malformed`] if the bits are not those of the counters.
    pub fn to_owned(&self) -> Result<CountingBloomFilter<H>, Error> {
        CountingBloomFilter::from_bytes_with(self.bytes, self.hasher.clone())
    }

    fn counted(&self) -> Counted {
        Counted::of(self.lines, self.params.blocked())
    }
}

impl<H: KeyHasher> CountingBloomView<'_, H> {
    /// As [`CountingBloomFilter::contains`].
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for CountingBloomView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingBloomView")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
