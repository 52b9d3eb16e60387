//! A sketch over borrowed bytes.

use core::fmt;
use core::marker::PhantomData;

use pds_core::same_hasher;

use super::cell::estimate;
use super::measures::{around, error_bound, f2_of};
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

    /// As [`CountSketch::estimate_batch`], without fetching ahead.
    pub fn estimate_batch(&self, hashes: &[u64], estimates: &mut [i64]) -> usize {
        let asked = hashes.iter().zip(estimates);
        asked.map(|(&hash, estimate)| *estimate = self.estimate_hash(hash)).count()
    }

    /// As [`CountSketch::bounds_hash`].
    pub fn bounds_hash(&self, hash: u64) -> (i64, i64) {
        around(self.estimate_hash(hash), self.error_bound())
    }

    /// As [`CountSketch::f2`].
    pub fn f2(&self) -> u128 {
        let row_bytes = self.opened.params.width() as usize * usize::from(C::BYTES);
        f2_of(self.opened.payload.chunks_exact(row_bytes).map(wire::cells::<C>))
    }

    /// As [`CountSketch::error_bound`].
    pub fn error_bound(&self) -> u64 {
        error_bound(self.opened.params, self.f2())
    }

    /// As [`CountSketch::weight`].
    pub fn weight(&self) -> u64 {
        self.opened.weight
    }

    /// The shape.
    pub fn params(&self) -> CountSketchParams {
        self.opened.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// As [`CountSketch::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.opened.weight == 0
    }

    /// As [`CountSketch::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.opened.payload.len()
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

    /// As [`CountSketch::estimate_nonneg`].
    #[inline]
    pub fn estimate_nonneg<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.estimate(key).max(0).cast_unsigned()
    }

    /// As [`CountSketch::bounds`].
    pub fn bounds<K: Key + ?Sized>(&self, key: &K) -> (i64, i64) {
        self.bounds_hash(self.hasher.hash_key(key))
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
