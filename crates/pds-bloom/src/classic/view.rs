//! A filter over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use super::bits::{self, Bits};
use super::{batch, metrics, wire};
use crate::arch::BorrowedWords;
use crate::{BloomFilter, BloomParams, Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// A filter answering from borrowed bytes, memory-mapped ones perhaps, at any address; where the envelope starts
/// at a multiple of 64, a line of the filter is one of the cache, and queries beyond the caches take least time.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it
/// is the payload that was written is what [`BloomView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct BloomView<'a, H = WyHasher> {
    header: Header,
    params: BloomParams,
    words: BorrowedWords<'a>,
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> BloomView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, params, payload) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        // At least one word: the length was checked.
        Ok(Self { header, params, words: BorrowedWords::new(payload), bytes, hasher })
    }

    /// As [`BloomFilter::contains_hash`].
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `bits::contains`
    pub fn contains_hash(&self, hash: u64) -> bool {
        bits::contains(&self.words, self.params.k(), hash)
    }

    /// As [`BloomFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        batch::contains(&self.words, self.params.k(), hashes, found)
    }

    /// As [`BloomFilter::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.words.as_flattened().iter().all(|&byte| byte == 0)
    }

    /// As [`BloomFilter::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.words.as_flattened().len()
    }

    /// As [`BloomFilter::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        self.words.ones() as f64 / self.params.bits() as f64
    }

    /// As [`BloomFilter::estimated_len`].
    pub fn estimated_len(&self) -> f64 {
        metrics::estimated_len(self.params, self.fill_ratio())
    }

    /// As [`BloomFilter::estimated_fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        metrics::estimated_fpr(self.params, self.fill_ratio())
    }

    /// As [`BloomFilter::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        metrics::is_saturated(self.params, self.fill_ratio())
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.words.as_flattened())
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The shape.
    pub fn params(&self) -> BloomParams {
        self.params
    }

    /// An owned filter with the same bits.
    ///
    /// # Errors
    ///
    /// As [`BloomView::verify`].
    pub fn to_owned(&self) -> Result<BloomFilter<H>, Error> {
        BloomFilter::from_bytes_with(self.bytes, self.hasher.clone())
    }
}

impl<H: KeyHasher> BloomView<'_, H> {
    /// As [`BloomFilter::contains`].
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `bits::contains`
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for BloomView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BloomView")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
