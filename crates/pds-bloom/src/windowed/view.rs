//! A filter over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use super::window::{self, Window};
use super::wire;
use crate::arch::Simd;
use crate::blocked::line::LINE_BYTES;
use crate::{Error, Fingerprint, Key, KeyHasher, Sketch, WindowedBloomFilter, WindowedBloomParams, WyHasher};

/// A filter answering from borrowed bytes, memory-mapped ones perhaps, at any address; where the envelope starts
/// at a multiple of 64, a line of the filter is one of the cache, and queries beyond the caches take least time.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it is the
/// payload that was written is what [`WindowedBloomView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct WindowedBloomView<'a, H = WyHasher> {
    header: Header,
    window: Window<'a, [u8; LINE_BYTES]>,
    generation: u64,
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> WindowedBloomView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, params, generation, payload) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        // Whole lines: the length was checked.
        let (lines, _) = payload.as_chunks();
        let current = window::position(&params, generation);
        let window = Window { params, lines, current, simd: Simd::detect() };
        Ok(Self { header, window, generation, bytes, hasher })
    }

    /// As [`WindowedBloomFilter::contains_hash`].
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.window.contains(hash)
    }

    /// As [`WindowedBloomFilter::age_hash`].
    #[inline]
    pub fn age_hash(&self, hash: u64) -> Option<u32> {
        self.window.age(hash)
    }

    /// As [`WindowedBloomFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        let count = hashes.len().min(found.len());
        self.window.contains_batch(&hashes[..count], &mut found[..count]);
        count
    }

    /// As [`WindowedBloomFilter::generation`].
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// As [`WindowedBloomFilter::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.window.lines.as_flattened().iter().all(|&byte| byte == 0)
    }

    /// As [`WindowedBloomFilter::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.window.lines.as_flattened().len()
    }

    /// As [`WindowedBloomFilter::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        self.window.fill_ratio()
    }

    /// As [`WindowedBloomFilter::estimated_len_of`].
    pub fn estimated_len_of(&self, age: u32) -> Option<f64> {
        self.window.counted(age).map(|counted| counted.len(self.window.params.each()))
    }

    /// As [`WindowedBloomFilter::estimated_fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        self.window.estimated_fpr()
    }

    /// As [`WindowedBloomFilter::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        self.window.is_saturated()
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.window.lines.as_flattened())
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The shape.
    pub fn params(&self) -> WindowedBloomParams {
        self.window.params
    }

    /// An owned filter with the same bits and generation.
    ///
    /// # Errors
    ///
    /// As [`WindowedBloomView::verify`].
    pub fn to_owned(&self) -> Result<WindowedBloomFilter<H>, Error> {
        WindowedBloomFilter::from_bytes_with(self.bytes, self.hasher.clone())
    }
}

impl<H: KeyHasher> WindowedBloomView<'_, H> {
    /// As [`WindowedBloomFilter::contains`].
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// As [`WindowedBloomFilter::age`].
    #[inline]
    pub fn age<K: Key + ?Sized>(&self, key: &K) -> Option<u32> {
        self.age_hash(self.hasher.hash_key(key))
    }
}

/// Shows shape and generation, not the bits.
impl<H: fmt::Debug> fmt::Debug for WindowedBloomView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowedBloomView")
            .field("params", &self.window.params)
            .field("generation", &self.generation)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
