//! A filter over borrowed bytes.

use core::fmt;

use pds_core::wire::Header;

use super::wire;
use crate::stored::Borrowed;
use crate::{
    Error, Fingerprint, GrowableCuckooFilter, GrowableCuckooParams, Key, KeyHasher, Sketch, WyHasher,
};

/// A filter answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it
/// is the payload that was written is what [`GrowableCuckooView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct GrowableCuckooView<'a, H = WyHasher> {
    header: Header,
    stored: Borrowed<'a, GrowableCuckooParams, H>,
    bytes: &'a [u8],
}

impl<'a, H: Fingerprint> GrowableCuckooView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, stored) = wire::open(bytes)?;
        Ok(Self { stored: stored.with_hasher(&header, hasher)?, header, bytes })
    }

    /// As [`GrowableCuckooFilter::contains_hash`].
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.stored.contains(hash)
    }

    /// As [`GrowableCuckooFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        self.stored.contains_batch(hashes, found)
    }

    /// As [`GrowableCuckooFilter::len`], as the header says; [`GrowableCuckooView::to_owned`] counts.
    pub fn len(&self) -> u64 {
        self.stored.len()
    }

    /// As [`GrowableCuckooFilter::is_empty`], as the header says.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As [`GrowableCuckooFilter::doublings`].
    pub fn doublings(&self) -> u32 {
        self.stored.table().geometry().growth().done()
    }

    /// As [`GrowableCuckooFilter::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.stored.table().bytes().len()
    }

    /// As [`GrowableCuckooFilter::load`], as the header says.
    pub fn load(&self) -> f64 {
        self.stored.table().load()
    }

    /// As [`GrowableCuckooFilter::estimated_fpr`], as the header says.
    pub fn estimated_fpr(&self) -> f64 {
        self.stored.estimated_fpr()
    }

    /// As [`GrowableCuckooFilter::is_saturated`], as the header says.
    pub fn is_saturated(&self) -> bool {
        self.stored.is_saturated()
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.stored.table().bytes())
    }

    /// The plan.
    pub fn params(&self) -> GrowableCuckooParams {
        self.stored.params()
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        self.stored.hasher()
    }

    /// An owned filter with the same entries.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn to_owned(&self) -> Result<GrowableCuckooFilter<H>, Error> {
        GrowableCuckooFilter::from_bytes_with(self.bytes, self.stored.hasher().clone())
    }
}

impl<H: KeyHasher> GrowableCuckooView<'_, H> {
    /// As [`GrowableCuckooFilter::contains`].
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.stored.hasher().hash_key(key))
    }
}

/// Shows shape and number of entries, not the entries.
impl<H: fmt::Debug> fmt::Debug for GrowableCuckooView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stored.debug("GrowableCuckooView", f)
    }
}
