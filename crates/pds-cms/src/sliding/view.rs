//! A window over borrowed bytes.

use core::fmt;
use core::marker::PhantomData;

use pds_core::same_hasher;

use super::pane::sealed::Inner;
use super::wire::{self, Opened};
use super::{Pane, SlidingCountMin, SlidingCountMinParams};
use crate::cell::sealed::Counter;
use crate::count_min::wire::same_cells;
use crate::tally::Tally;
use crate::{CountMinSketch, Error, Fingerprint, Key, KeyHasher, Sketch, table};

/// A window answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in time of the number of panes. Any payload is safe to query;
/// that it is the payload that was written is what [`SlidingCountMinView::verify`] checks, in time linear in it.
pub struct SlidingCountMinView<'a, S: Pane = CountMinSketch> {
    opened: Opened<'a>,
    bytes: &'a [u8],
    hasher: S::Hasher,
    pane: PhantomData<fn() -> S>,
}

impl<'a, S: Pane> SlidingCountMinView<'a, S> {
    pub(crate) fn open(bytes: &'a [u8], hasher: S::Hasher) -> Result<Self, Error> {
        let opened = wire::open(bytes)?;
        same_cells::<<S as Inner>::Cell>(opened.cell_bytes)?;
        if opened.kind != S::KIND {
            return Err(Error::Incompatible { field: "pane" });
        }
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        Ok(Self { opened, bytes, hasher, pane: PhantomData })
    }

    pub(crate) fn into_opened(self) -> Opened<'a> {
        self.opened
    }

    /// As [`SlidingCountMin::estimate_hash`].
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.sum(hash, Tally::upper)
    }

    /// As [`SlidingCountMin::estimate_hash_within`].
    pub fn estimate_hash_within(&self, hash: u64, newest: u32) -> u64 {
        self.sum_where(hash, |age| age < u64::from(newest), Tally::upper)
    }

    /// As [`SlidingCountMin::bounds_hash`].
    pub fn bounds_hash(&self, hash: u64) -> (u64, u64) {
        let upper = self.estimate_hash(hash);
        let least = self.sum(hash, |_, least| least.into());
        (self.opened.params.lower(self.opened.tallies.iter(), least).min(upper), upper)
    }

    /// As [`SlidingCountMin::total`].
    pub fn total(&self) -> u64 {
        self.opened.tallies.iter().fold(0, |total, tally| total.saturating_add(tally.total))
    }

    /// As [`SlidingCountMin::generation`].
    pub fn generation(&self) -> u64 {
        self.opened.generation
    }

    /// As [`SlidingCountMin::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        self.opened.tallies.iter().any(Tally::is_saturated)
    }

    /// The shape.
    pub fn params(&self) -> SlidingCountMinParams {
        self.opened.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` take, by `hash_key`.
    pub fn hasher(&self) -> &S::Hasher {
        &self.hasher
    }

    /// As [`SlidingCountMin::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// As [`SlidingCountMin::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.opened.payload.len()
    }

    /// Checks the payload: its checksum, and that the rows of each pane are those of its total.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written, [`Error::Malformed`] if it is no window's.
    pub fn verify(&self) -> Result<(), Error> {
        self.opened.verify::<<S as Inner>::Cell>()
    }

    /// An owned window with the same cells.
    ///
    /// # Errors
    ///
    /// As [`SlidingCountMinView::verify`].
    pub fn to_owned(&self) -> Result<SlidingCountMin<S>, Error> {
        SlidingCountMin::from_bytes_with(self.bytes, self.hasher.clone())
    }

    /// The sum over all panes of what is made of each one's least cell.
    fn sum(&self, hash: u64, part: impl Fn(&Tally, <S as Inner>::Cell) -> u64) -> u64 {
        self.sum_where(hash, |_| true, part)
    }

    /// The same over the panes of some ages, the current one being of age 0.
    fn sum_where(
        &self,
        hash: u64,
        counts: impl Fn(u64) -> bool,
        part: impl Fn(&Tally, <S as Inner>::Cell) -> u64,
    ) -> u64 {
        let params = self.opened.params.pane();
        let panes = u64::from(self.opened.params.panes());
        let current = self.opened.generation % panes;
        let placed = (0..).zip(self.opened.tables().zip(&self.opened.tallies));
        let counted = placed.filter(|&(place, _)| counts((current + panes - place) % panes));
        let parts = counted.map(|(_, (cells, tally))| {
            part(tally, table::least(params, hash, |position| <S as Inner>::Cell::read(cells, position)))
        });
        parts.fold(0, u64::saturating_add)
    }
}

impl<S: Pane<Hasher: KeyHasher>> SlidingCountMinView<'_, S> {
    /// As [`SlidingCountMin::estimate`].
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.estimate_hash(self.hasher.hash_key(key))
    }

    /// As [`SlidingCountMin::estimate_within`].
    pub fn estimate_within<K: Key + ?Sized>(&self, key: &K, newest: u32) -> u64 {
        self.estimate_hash_within(self.hasher.hash_key(key), newest)
    }

    /// As [`SlidingCountMin::bounds`].
    pub fn bounds<K: Key + ?Sized>(&self, key: &K) -> (u64, u64) {
        self.bounds_hash(self.hasher.hash_key(key))
    }
}

/// Shows shape, generation and total, not the cells.
impl<S: Pane> fmt::Debug for SlidingCountMinView<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlidingCountMinView")
            .field("params", &self.opened.params)
            .field("generation", &self.opened.generation)
            .field("total", &self.total())
            .field("hasher", &self.hasher.fingerprint())
            .finish_non_exhaustive()
    }
}
