//! A ribbon filter over borrowed bytes.

use core::fmt;

use pds_core::same_hasher;
use pds_core::wire::Header;

use super::geometry::{Geometry, Shape};
use super::lookup::{self, Words};
use super::rate;
use super::wire::{self, Opened};
use crate::{Error, Fingerprint, Key, KeyHasher, RibbonFilter, RibbonParams, Sketch, WyHasher, limits};

/// A filter answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum, the shape and the lengths, in constant time. Any payload is safe to query; that
/// it is the payload that was written is what [`RibbonView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct RibbonView<'a, H = WyHasher> {
    header: Header,
    params: RibbonParams,
    shape: Shape,
    geometry: Geometry,
    payload: &'a [u8],
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> RibbonView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let Opened { header, params, shape, geometry, payload } = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Self { header, params, shape, geometry, payload, bytes, hasher })
    }

    /// As [`RibbonFilter::contains_hash`].
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        lookup::contains(&self.geometry, Words::new(self.payload), hash)
    }

    /// As [`RibbonFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        lookup::contains_batch(&self.geometry, self.payload, hashes, found)
    }

    /// As [`RibbonFilter::contains_all`].
    pub fn contains_all(&self, hashes: &[u64]) -> bool {
        hashes.iter().all(|&hash| self.contains_hash(hash))
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.payload)
    }

    /// As [`RibbonFilter::params`].
    pub fn params(&self) -> RibbonParams {
        self.params
    }

    /// As [`RibbonFilter::len`].
    pub fn len(&self) -> u64 {
        self.shape.keys
    }

    /// As [`RibbonFilter::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.shape.keys == 0
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// As [`RibbonFilter::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.payload.len()
    }

    /// As [`RibbonFilter::bits_per_key`].
    pub fn bits_per_key(&self) -> f64 {
        limits::per_key(self.payload.len() as f64 * 8.0, self.shape.keys)
    }

    /// As [`RibbonFilter::estimated_fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        rate::estimated(&self.geometry, Words::new(self.payload), self.shape.keys)
    }

    /// An owned filter with the same words.
    ///
    /// # Errors
    ///
    /// As [`RibbonView::verify`].
    pub fn to_owned(&self) -> Result<RibbonFilter<H>, Error> {
        RibbonFilter::from_bytes_with(self.bytes, self.hasher.clone())
    }
}

impl<H: KeyHasher> RibbonView<'_, H> {
    /// As [`RibbonFilter::contains`].
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

/// Shows the shape, not the words.
impl<H: fmt::Debug> fmt::Debug for RibbonView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RibbonView")
            .field("params", &self.params)
            .field("keys", &self.shape.keys)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
