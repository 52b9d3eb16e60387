//! Counting, asking and advancing.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use super::pane::sealed::Inner;
use super::{Pane, SlidingCountMinParams, SlidingCountMinView};
use crate::{CountMinSketch, Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Sketch};

/// Counts of a sliding window: a ring of sketches, the *panes*, the oldest of which is forgotten whenever the window
/// advances.
///
/// The window advances when its user says so ([`SlidingCountMin::advance`]): by a clock, by a number of events, or by whatever
/// else divides a stream. With B panes it holds what was counted since the last B - 1 advances, the current pane filling up:
/// to cover a time W at least, advance every W / (B - 1); it then covers W / (B - 1) more at most.
///
/// * Error: one-sided. The estimate is the sum over all panes of what each says, never below the count within the window.
///   It is at most what one sketch of the whole window would say, since the sum of the least cells is at most the least of the
///   sums: it exceeds the truth by more than epsilon times the total of the window with a chance of at most delta.
/// * Merging takes windows that advanced equally often, and is exact if that of the panes is.
/// * `S` is the pane: [`CountMinSketch`], or [`ConservativeCountMin`](crate::ConservativeCountMin) for smaller errors.
#[derive(Clone, PartialEq)]
pub struct SlidingCountMin<S = CountMinSketch> {
    /// Generation g has the place g mod B.
    panes: Box<[S]>,
    generation: u64,
}

impl SlidingCountMin {
    /// An empty window of plain sketches of 4-byte cells with the default hasher.
    pub fn new(params: SlidingCountMinParams) -> Self {
        Self::with_hasher(params, crate::WyHasher::default())
    }

    /// Decodes a window of plain sketches of 4-byte cells made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a window of plain sketches of 4-byte cells made with the default hasher where its bytes lie: see
    /// [`SlidingCountMinView`].
    ///
    /// # Errors
    ///
    /// As [`SlidingCountMin::view_with`].
    pub fn view(bytes: &[u8]) -> Result<SlidingCountMinView<'_>, Error> {
        Self::view_with(bytes, crate::WyHasher::default())
    }
}

impl<S: Pane> SlidingCountMin<S>
where
    S::Hasher: KeyHasher,
{
    /// Counts a key once in the current pane; true if the state changed.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash_n(self.hasher().hash_key(key), 1)
    }

    /// Counts a key `n` times in the current pane, in the time of one; 0 changes nothing. True if the state changed.
    #[inline]
    pub fn insert_n<K: Key + ?Sized>(&mut self, key: &K, n: u64) -> bool {
        self.insert_hash_n(self.hasher().hash_key(key), n)
    }

    /// How often the key occurred within the window: never below the truth, up to `u64::MAX`.
    #[inline]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.estimate_hash(self.hasher().hash_key(key))
    }

    /// How often the key occurred within the `newest` panes, the current one included; with more than there are, within the
    /// window.
    #[inline]
    pub fn estimate_within<K: Key + ?Sized>(&self, key: &K, newest: u32) -> u64 {
        self.estimate_hash_within(self.hasher().hash_key(key), newest)
    }

    /// Lower and upper bound of how often the key occurred within the window.
    ///
    /// The upper bound is the estimate, and certain. The lower one, less by epsilon times the total of the window and at
    /// least 0, holds with a chance of at least 1 - delta.
    pub fn bounds<K: Key + ?Sized>(&self, key: &K) -> (u64, u64) {
        self.bounds_hash(self.hasher().hash_key(key))
    }
}

impl<S: Pane> SlidingCountMin<S> {
    /// An empty window with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`SlidingCountMinParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: SlidingCountMinParams, hasher: S::Hasher) -> Self {
        let pane = S::empty(params.pane(), hasher);
        Self { panes: vec![pane; params.panes() as usize].into_boxed_slice(), generation: 0 }
    }

    /// Opens a window where its bytes lie, in time of the number of panes: see [`SlidingCountMinView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`SlidingCountMinView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: S::Hasher) -> Result<SlidingCountMinView<'_, S>, Error> {
        SlidingCountMinView::open(bytes, hasher)
    }

    /// As [`SlidingCountMin::insert`], for a hash by this window's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.insert_hash_n(hash, 1)
    }

    /// As [`SlidingCountMin::insert_n`], for a hash by this window's hasher.
    #[inline]
    pub fn insert_hash_n(&mut self, hash: u64, n: u64) -> bool {
        let current = self.place(0);
        self.panes[current].count(hash, n)
    }

    /// Counts many hashes once each in the current pane, fetching the memory of later ones ahead.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        let current = self.place(0);
        self.panes[current].count_each(hashes);
    }

    /// As [`SlidingCountMin::estimate`], for a hash by this window's hasher.
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.panes.iter().fold(0, |sum, pane| sum.saturating_add(pane.table().estimate_hash(hash)))
    }

    /// As [`SlidingCountMin::estimate_within`], for a hash by this window's hasher.
    pub fn estimate_hash_within(&self, hash: u64, newest: u32) -> u64 {
        let newest = (newest as usize).min(self.panes.len());
        let panes = (0..newest).map(|age| &self.panes[self.place(age)]);
        panes.fold(0, |sum, pane| sum.saturating_add(pane.table().estimate_hash(hash)))
    }

    /// As [`SlidingCountMin::bounds`], for a hash by this window's hasher.
    pub fn bounds_hash(&self, hash: u64) -> (u64, u64) {
        let upper = self.estimate_hash(hash);
        let tables = || self.panes.iter().map(S::table);
        let least = tables().fold(0u64, |sum, table| sum.saturating_add(table.least(hash).into()));
        (self.params().lower(tables().map(|table| &table.tally), least).min(upper), upper)
    }

    /// Begins a new pane, and forgets the oldest: [`SlidingCountMin::generation`] is one more.
    pub fn advance(&mut self) {
        self.advance_by(1);
    }

    /// As many advances as `panes`, in the time of at most as many as there are panes.
    ///
    /// The number of generations is within `u64`; beyond, the window stays at the last.
    pub fn advance_by(&mut self, panes: u64) {
        let steps = panes.min(u64::MAX - self.generation);
        self.generation += steps;
        // As many of the newest places as were begun; all, if more were.
        for age in 0..usize::try_from(steps).map_or(self.panes.len(), |steps| steps.min(self.panes.len())) {
            let place = self.place(age);
            self.panes[place].forget();
        }
    }

    /// How often the window advanced.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The sketch of one pane, by its age: 0 is the current one; `None` beyond the window.
    pub fn pane(&self, age: u32) -> Option<&S> {
        let age = age as usize;
        (age < self.panes.len()).then(|| &self.panes[self.place(age)])
    }

    /// The sum of all counts within the window, up to `u64::MAX`.
    pub fn total(&self) -> u64 {
        self.panes.iter().fold(0, |total, pane| total.saturating_add(pane.table().total()))
    }

    /// The shape.
    pub fn params(&self) -> SlidingCountMinParams {
        // Valid: the window was made of them.
        let panes = self.panes.len() as u32;
        SlidingCountMinParams::from_valid(self.panes[0].table().params(), panes)
    }

    /// The hasher.
    pub fn hasher(&self) -> &S::Hasher {
        self.panes[0].table().hasher()
    }

    /// True if nothing was counted within the window.
    pub fn is_empty(&self) -> bool {
        self.panes.iter().all(|pane| pane.table().is_empty())
    }

    /// Forgets every count; the generation stays.
    pub fn clear(&mut self) {
        self.panes.iter_mut().for_each(Inner::forget);
    }

    /// Bytes of the tables.
    pub fn size_bytes(&self) -> usize {
        self.panes.iter().map(|pane| pane.table().size_bytes()).sum()
    }

    /// Whether a cell or the total of a pane has been asked to hold more than it can.
    pub fn is_saturated(&self) -> bool {
        self.panes.iter().any(|pane| pane.table().is_saturated())
    }

    pub(crate) fn from_parts(panes: Box<[S]>, generation: u64) -> Self {
        Self { panes, generation }
    }

    /// The panes by their places.
    pub(crate) fn panes(&self) -> &[S] {
        &self.panes
    }

    /// The place of the pane of this age, which is less than the number of panes.
    fn place(&self, age: usize) -> usize {
        let count = self.panes.len();
        let current = (self.generation % count as u64) as usize;
        (current + count - age) % count
    }
}

/// Pane by pane. Windows that advanced differently often are refused as [`Error::Incompatible`] in `generation`: advance the
/// one that is behind first.
impl<S: Pane> Merge for SlidingCountMin<S> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        if self.panes.len() != other.panes.len() {
            return Err(Error::Incompatible { field: "panes" });
        }
        self.panes[0].table().compatible(other.panes[0].table())?;
        if self.generation != other.generation {
            return Err(Error::Incompatible { field: "generation" });
        }
        // All panes are of one shape and hasher, which is all that could be refused.
        self.panes.iter_mut().zip(&other.panes).try_for_each(|(mine, theirs)| mine.merge(theirs))
    }
}

impl<S: Pane + ExactMerge> ExactMerge for SlidingCountMin<S> {}

impl<S: Pane, K: Key> Extend<K> for SlidingCountMin<S>
where
    S::Hasher: KeyHasher,
{
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows shape, generation and total, not the cells.
impl<S: Pane> fmt::Debug for SlidingCountMin<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlidingCountMin")
            .field("params", &self.params())
            .field("generation", &self.generation)
            .field("total", &self.total())
            .field("hasher", &self.hasher().fingerprint())
            .finish_non_exhaustive()
    }
}
