//! A sketch over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use crate::reading::{Limits, Reading};
use crate::rice::Decoder;
use crate::wire::{self, Body};
use crate::{CompactTheta, Error, Fingerprint, ThetaParams, WyHasher};

/// A sketch, or the result of a set operation, answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// It estimates in constant time, and takes part in set operations, which decode its hashes one by one. Opening checks the
/// header, its checksum and the lengths, in constant time. Any payload is safe to query: what is decoded ascends and lies
/// below the threshold, and ends where the bytes make no sense. That it is the payload that was written is what
/// [`ThetaView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct ThetaView<'a, H = WyHasher> {
    header: Header,
    body: Body,
    payload: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> ThetaView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, body, payload) = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Self { header, body, payload, hasher })
    }

    pub(crate) fn open_compact(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let (header, body, payload) = wire::open_compact(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Self { header, body, payload, hasher })
    }

    /// As [`CompactTheta::estimate`].
    pub fn estimate(&self) -> f64 {
        self.body.limits.limited_estimate(self.body.reading)
    }

    /// As [`CompactTheta::bounds`].
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        self.body.limits.limited_bounds(self.body.reading, kappa)
    }

    /// As [`CompactTheta::theta`].
    pub fn theta(&self) -> f64 {
        self.body.reading.share()
    }

    /// As [`CompactTheta::retained`].
    pub fn retained(&self) -> usize {
        self.body.reading.retained as usize
    }

    /// As [`CompactTheta::is_exact`].
    pub fn is_exact(&self) -> bool {
        self.body.reading.is_exact()
    }

    /// As [`CompactTheta::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.body.reading.is_empty()
    }

    /// Bytes of the hashes as they are written, which is less than an owned sketch takes.
    pub fn size_bytes(&self) -> usize {
        self.payload.len()
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.payload)
    }

    /// The size.
    pub fn params(&self) -> ThetaParams {
        self.body.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The hashes, decoded.
    ///
    /// # Errors
    ///
    /// As [`ThetaView::verify`], and [`Error::Malformed`] if the payload is none that is ever written.
    pub fn to_compact(&self) -> Result<CompactTheta<H>, Error> {
        self.verify()?;
        wire::compact(self.body, self.payload, self.hasher.clone())
    }

    pub(crate) fn reading(&self) -> Reading {
        self.body.reading
    }

    pub(crate) fn limits(&self) -> Limits {
        self.body.limits
    }

    pub(crate) fn decoder(&self) -> Decoder<'a> {
        Decoder::new(self.body.reading.theta, self.body.reading.retained, self.payload)
    }
}

/// Shows the size and the state, not the hashes.
impl<H: fmt::Debug + Fingerprint> fmt::Debug for ThetaView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThetaView")
            .field("params", &self.body.params)
            .field("theta", &self.theta())
            .field("retained", &self.retained())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
