//! A sketch over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use super::wire::{self, Stored};
use crate::{Error, Fingerprint, Sketch, UllParams, UltraLogLog, WyHasher};

/// A sketch answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query, bytes that
/// no sketch writes being left out or counting for less; that it is the payload that was written is what
/// [`UllView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct UllView<'a, H = WyHasher> {
    header: Header,
    stored: Stored<'a>,
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> UllView<'a, H> {
    pub(super) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, stored) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Self { header, stored, bytes, hasher })
    }

    /// As [`UltraLogLog::estimate`]. Takes constant time, except where registers are written as they are: there it
    /// counts them each time.
    pub fn estimate(&self) -> f64 {
        self.stored.estimate()
    }

    /// As [`UltraLogLog::bounds`], in the time of [`UllView::estimate`].
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        self.stored.bounds(kappa)
    }

    /// As [`UltraLogLog::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// As [`UltraLogLog::is_sparse`].
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
    pub fn params(&self) -> UllParams {
        UllParams::of(self.stored.params())
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// An owned sketch of the same keys.
    ///
    /// # Errors
    ///
    /// As [`UllView::verify`], and [`Error::Malformed`] if the payload is one that no sketch writes.
    pub fn to_owned(&self) -> Result<UltraLogLog<H>, Error> {
        UltraLogLog::from_bytes_with(self.bytes, self.hasher.clone())
    }

    pub(super) fn stored(&self) -> &Stored<'a> {
        &self.stored
    }

    pub(super) fn fingerprint(&self) -> u64 {
        self.header.fingerprint
    }
}

/// Shows the precision, not the registers.
impl<H: fmt::Debug> fmt::Debug for UllView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UllView")
            .field("params", &UllParams::of(self.stored.params()))
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
