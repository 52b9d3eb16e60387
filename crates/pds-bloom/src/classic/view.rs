//! A filter over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use super::bits::{self, Bits};
use super::{batch, metrics, wire};
use crate::{BloomFilter, BloomParams, Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// A filter answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it
/// is the payload that was written is what [`BloomView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct BloomView<'a, H = WyHasher> {
    header: Header,
    params: BloomParams,
    payload: &'a [u8],
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> BloomView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, params, payload) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Self { header, params, payload, bytes, hasher })
    }

    /// As [`BloomFilter::contains_hash`].
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        bits::contains(self.payload, self.params.k(), hash)
    }

    /// As [`BloomFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        batch::contains(self.payload, self.params.k(), hashes, found)
    }

    /// As [`BloomFilter::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        self.payload.ones() as f64 / self.params.bits() as f64
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
        self.header.verify(self.payload)
    }

    /// The hasher.
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
    #[inline]
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
