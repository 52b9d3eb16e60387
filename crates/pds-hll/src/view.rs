//! A sketch over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use crate::histogram::Histogram;
use crate::{
    Error, Fingerprint, HllParams, HyperLogLog, Sketch, WyHasher, estimator, information, packed, wire,
};

/// A sketch answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query, values that
/// no sketch writes counting as the greatest that one does; that it is the payload that was written is what
/// [`HllView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct HllView<'a, H = WyHasher> {
    header: Header,
    params: HllParams,
    payload: &'a [u8],
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> HllView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, params, payload) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Self { header, params, payload, bytes, hasher })
    }

    /// As [`HyperLogLog::estimate`], counting the registers each time.
    pub fn estimate(&self) -> f64 {
        estimator::estimate(&self.histogram())
    }

    /// As [`HyperLogLog::bounds`], counting the registers each time.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        information::bounds(&self.histogram(), kappa)
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.payload)
    }

    /// The precision.
    pub fn params(&self) -> HllParams {
        self.params
    }

    /// An owned sketch with the same registers.
    ///
    /// # Errors
    ///
    /// As [`HllView::verify`], and [`Error::Malformed`] if a register has a value that no sketch writes.
    pub fn to_owned(&self) -> Result<HyperLogLog<H>, Error> {
        HyperLogLog::from_bytes_with(self.bytes, self.hasher.clone())
    }

    fn histogram(&self) -> Histogram {
        Histogram::count(packed::unpack(self.payload))
    }
}

/// Shows the precision, not the registers.
impl<H: fmt::Debug> fmt::Debug for HllView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HllView")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
