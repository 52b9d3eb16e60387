//! A sketch over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use super::wire::{self, Stored};
use crate::{Error, Fingerprint, HllParams, HyperLogLog, Sketch, WyHasher};

/// A sketch answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query, values that
/// no sketch writes counting as the greatest that one does; that it is the payload that was written is what
/// [`HllView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct HllView<'a, H = WyHasher> {
    header: Header,
    stored: Stored<'a>,
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> HllView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, stored) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Self { header, stored, bytes, hasher })
    }

    /// As [`HyperLogLog::estimate`]. Takes constant time, except where registers are written in six bits each: there it
    /// counts them each time.
    pub fn estimate(&self) -> f64 {
        self.stored.estimate()
    }

    /// As [`HyperLogLog::bounds`], in the time of [`HllView::estimate`].
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        self.stored.bounds(kappa)
    }

    /// As [`HyperLogLog::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// As [`HyperLogLog::is_sparse`].
    pub fn is_sparse(&self) -> bool {
        self.stored.is_sparse()
    }

    /// Bytes of the keys or registers as they are written, which is less than an owned sketch takes.
    pub fn size_bytes(&self) -> usize {
        self.stored.payload().len()
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.stored.payload())
    }

    /// The precision.
    pub fn params(&self) -> HllParams {
        self.stored.params()
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// An owned sketch of the same keys.
    ///
    /// # Errors
    ///
    /// As [`HllView::verify`], and [`Error::Malformed`] if the payload is one that no sketch writes.
    pub fn to_owned(&self) -> Result<HyperLogLog<H>, Error> {
        HyperLogLog::from_bytes_with(self.bytes, self.hasher.clone())
    }

    pub(crate) fn stored(&self) -> &Stored<'a> {
        &self.stored
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.header.fingerprint
    }
}

/// Shows the precision, not the registers.
impl<H: fmt::Debug> fmt::Debug for HllView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HllView")
            .field("params", &self.stored.params())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
