//! A sketch over borrowed bytes.

use core::fmt;
use core::marker::PhantomData;

use pds_core::same_hasher;

use super::cell::estimate;
use super::wire::{self, Opened};
use super::{CountSketch, CountSketchParams, SignedCell};
use crate::{Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// A count-sketch answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it
/// is the payload that was written is what [`CountSketchView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct CountSketchView<'a, C = i32, H = WyHasher> {
    opened: Opened<'a>,
    bytes: &'a [u8],
    hasher: H,
    cell: PhantomData<C>,
}

impl<'a, C: SignedCell, H: Fingerprint> CountSketchView<'a, C, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let opened = wire::open::<C>(bytes)?;
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        Ok(Self { opened, bytes, hasher, cell: PhantomData })
    }

    /// As [`CountSketch::estimate_hash`].
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> i64 {
        let payload = self.opened.payload;
        // Bytes that were tampered with may hold the one number whose negative is none.
        estimate(self.opened.params, hash, |position| C::read(payload, position).into().max(-i64::MAX))
    }

    /// As [`CountSketch::weight`].
    pub fn weight(&self) -> u64 {
        self.opened.weight
    }

    /// The shape.
    pub fn params(&self) -> CountSketchParams {
        self.opened.params
    }

    /// Checks the payload: its checksum, and that the rows are those of a stream of this weight.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written, [`Error::Malformed`] if it is no sketch's.
    pub fn verify(&self) -> Result<(), Error> {
        self.opened.verify::<C>()
    }

    /// An owned sketch with the same cells.
    ///
    /// # Errors
    ///
    /// As [`CountSketchView::verify`].
    pub fn to_owned(&self) -> Result<CountSketch<C, H>, Error> {
        CountSketch::from_bytes_with(self.bytes, self.hasher.clone())
    }
}

impl<C: SignedCell, H: KeyHasher> CountSketchView<'_, C, H> {
    /// As [`CountSketch::estimate`].
    #[inline]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> i64 {
        self.estimate_hash(self.hasher.hash_key(key))
    }
}

/// Shows shape and weight, not the cells.
impl<C, H: fmt::Debug> fmt::Debug for CountSketchView<'_, C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountSketchView")
            .field("params", &self.opened.params)
            .field("weight", &self.opened.weight)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
