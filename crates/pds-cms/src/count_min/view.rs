//! A sketch over borrowed bytes.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use pds_core::same_hasher;
use pds_core::wire::Kind;

use super::measures::{debiased, fill_ratio};
use super::wire::{self, Opened};
use crate::{Cell, CountMinParams, CountMinSketch, Error, Fingerprint, Key, KeyHasher, WyHasher, table};

/// A sketch answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it
/// is the payload that was written is what [`CountMinView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct CountMinView<'a, C = u32, H = WyHasher> {
    opened: Opened<'a>,
    bytes: &'a [u8],
    hasher: H,
    cell: PhantomData<C>,
}

impl<'a, C: Cell, H: Fingerprint> CountMinView<'a, C, H> {
    pub(crate) fn open(kind: Kind, bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let opened = wire::open::<C>(kind, bytes)?;
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        Ok(Self { opened, bytes, hasher, cell: PhantomData })
    }

    /// As [`CountMinSketch::estimate_hash`].
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.opened.tally.upper(self.least(hash))
    }

    /// As [`CountMinSketch::bounds_hash`].
    #[inline]
    pub fn bounds_hash(&self, hash: u64) -> (u64, u64) {
        let least = self.least(hash);
        (self.opened.tally.lower(self.opened.params, least), self.opened.tally.upper(least))
    }

    /// As [`CountMinSketch::estimate_debiased_hash`].
    pub fn estimate_debiased_hash(&self, hash: u64) -> f64 {
        let Opened { params, tally, payload, .. } = self.opened;
        debiased(params, tally.total, self.estimate_hash(hash), hash, |position| {
            C::read(payload, position).into()
        })
    }

    /// As [`CountMinSketch::estimate_batch`], without fetching ahead.
    pub fn estimate_batch(&self, hashes: &[u64], estimates: &mut [u64]) -> usize {
        let asked = hashes.iter().zip(estimates);
        asked.map(|(&hash, estimate)| *estimate = self.estimate_hash(hash)).count()
    }

    /// As [`CountMinSketch::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        fill_ratio(wire::cells::<C>(self.opened.payload))
    }

    /// As [`CountMinSketch::row_fill_ratios`].
    pub fn row_fill_ratios(&self) -> Vec<f64> {
        let row_bytes = self.opened.params.width() as usize * usize::from(C::BYTES);
        let rows = self.opened.payload.chunks_exact(row_bytes);
        rows.map(|row| fill_ratio(wire::cells::<C>(row))).collect()
    }

    /// As [`CountMinSketch::saturated_cells`].
    pub fn saturated_cells(&self) -> u64 {
        if !self.opened.tally.cells_saturated {
            return 0;
        }
        let cells = self.opened.params.cells() as usize;
        (0..cells).filter(|&position| C::read(self.opened.payload, position) == C::MAX).count() as u64
    }

    /// As [`CountMinSketch::total`].
    pub fn total(&self) -> u64 {
        self.opened.tally.total
    }

    /// As [`CountMinSketch::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        self.opened.tally.is_saturated()
    }

    /// The shape.
    pub fn params(&self) -> CountMinParams {
        self.opened.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// As [`CountMinSketch::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.opened.tally.total == 0
    }

    /// As [`CountMinSketch::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.opened.payload.len()
    }

    /// Checks the payload: its checksum, and that each row sums up to the total.
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
    /// As [`CountMinView::verify`].
    pub fn to_owned(&self) -> Result<CountMinSketch<C, H>, Error> {
        self.owned_as(Kind::COUNT_MIN)
    }

    pub(crate) fn owned_as(&self, kind: Kind) -> Result<CountMinSketch<C, H>, Error> {
        CountMinSketch::unseal(kind, self.bytes, self.hasher.clone())
    }

    #[inline]
    fn least(&self, hash: u64) -> C {
        table::least(self.opened.params, hash, |position| C::read(self.opened.payload, position))
    }
}

impl<C: Cell, H: KeyHasher> CountMinView<'_, C, H> {
    /// As [`CountMinSketch::estimate`].
    #[inline]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.estimate_hash(self.hasher.hash_key(key))
    }

    /// As [`CountMinSketch::estimate_debiased`].
    #[inline]
    pub fn estimate_debiased<K: Key + ?Sized>(&self, key: &K) -> f64 {
        self.estimate_debiased_hash(self.hasher.hash_key(key))
    }

    /// As [`CountMinSketch::bounds`].
    #[inline]
    pub fn bounds<K: Key + ?Sized>(&self, key: &K) -> (u64, u64) {
        self.bounds_hash(self.hasher.hash_key(key))
    }
}

/// Shows shape and total, not the cells.
impl<C, H: fmt::Debug> fmt::Debug for CountMinView<'_, C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountMinView")
            .field("params", &self.opened.params)
            .field("total", &self.opened.tally.total)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
