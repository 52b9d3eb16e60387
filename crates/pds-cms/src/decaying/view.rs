//! A sketch over borrowed bytes.

use core::fmt;

use pds_core::same_hasher;

use super::sketch::least;
use super::wire::{self, Opened};
use super::{DecayingCountMin, DecayingCountMinParams};
use crate::{Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// A decaying sketch answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it
/// is the payload that was written is what [`DecayingCountMinView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct DecayingCountMinView<'a, H = WyHasher> {
    opened: Opened<'a>,
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, H: Fingerprint> DecayingCountMinView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let opened = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        Ok(Self { opened, bytes, hasher })
    }

    /// As [`DecayingCountMin::estimate_hash`].
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::estimate`].
    pub fn estimate_hash(&self, hash: u64, now: f64) -> Result<f64, Error> {
        self.opened.mass.at(self.opened.params, self.least(hash), now)
    }

    /// As [`DecayingCountMin::bounds_hash`].
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::estimate`].
    pub fn bounds_hash(&self, hash: u64, now: f64) -> Result<(f64, f64), Error> {
        self.opened.mass.bounds(self.opened.params, self.least(hash), now)
    }

    /// As [`DecayingCountMin::total`].
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::estimate`].
    pub fn total(&self, now: f64) -> Result<f64, Error> {
        self.opened.mass.at(self.opened.params, self.opened.mass.total, now)
    }

    /// The shape.
    pub fn params(&self) -> DecayingCountMinParams {
        self.opened.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// As [`DecayingCountMin::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.opened.mass.total == 0.0
    }

    /// As [`DecayingCountMin::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.opened.payload.len()
    }

    /// Checks the payload: its checksum, and that each row has weights that sum up to the total.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written, [`Error::Malformed`] if it is no sketch's.
    pub fn verify(&self) -> Result<(), Error> {
        self.opened.verify()
    }

    /// An owned sketch with the same cells.
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMinView::verify`].
    pub fn to_owned(&self) -> Result<DecayingCountMin<H>, Error> {
        DecayingCountMin::from_bytes_with(self.bytes, self.hasher.clone())
    }

    fn least(&self, hash: u64) -> f64 {
        least(self.opened.params.table(), hash, |position| self.opened.cell(position))
    }
}

impl<H: KeyHasher> DecayingCountMinView<'_, H> {
    /// As [`DecayingCountMin::estimate`].
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::estimate`].
    pub fn estimate<K: Key + ?Sized>(&self, key: &K, now: f64) -> Result<f64, Error> {
        self.estimate_hash(self.hasher.hash_key(key), now)
    }

    /// As [`DecayingCountMin::bounds`].
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::estimate`].
    pub fn bounds<K: Key + ?Sized>(&self, key: &K, now: f64) -> Result<(f64, f64), Error> {
        self.bounds_hash(self.hasher.hash_key(key), now)
    }
}

/// Shows shape, landmark and total, not the cells.
impl<H: fmt::Debug> fmt::Debug for DecayingCountMinView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecayingCountMinView")
            .field("params", &self.opened.params)
            .field("mass", &self.opened.mass)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
