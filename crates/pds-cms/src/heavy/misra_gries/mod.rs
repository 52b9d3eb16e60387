//! Frequent items after Misra and Gries: counters that are all cut down when there is no room for one more.

mod merge;
mod params;
mod wire;

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

pub use params::MisraGriesParams;

use super::answer::{above, certain, threshold};
use super::roster::{Roster, Slot};
use super::total::Total;
use super::{Guarantee, HeavyHitter, WireKey};
use crate::{Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// The most frequent keys of a stream, with counts that are never too high.
///
/// Every key counts in a counter of its own. When there is no room for one more, the median of all counts is taken from
/// each, and counters that have nothing left are freed: at least half of them.
///
/// * Error: one-sided, certain, without chance. For every key, listed or not,
///   `lower = estimate <= truth <= estimate + max_error() = upper`: [`MisraGries::max_error`] is all that was ever taken
///   from a counter. Since each cut was taken from at least ceil((capacity + 1) / 2) counters, it is at most
///   total / ceil((capacity + 1) / 2).
/// * A key that is not listed has occurred at most [`MisraGries::max_error`] times. Every key that occurred more often
///   is listed. After a purge that leaves nothing, the summary is still not empty: it knows its total and its error.
/// * Merging keeps all of this for both streams, though not the bytes of the whole stream's summary.
/// * Time per key is that of a lookup, and amortised constant for purges, whatever the weights.
/// * Total and counts saturate at `u64::MAX` and never wrap: see [`MisraGries::is_saturated`].
///
/// For the same error [`SpaceSaving`](crate::SpaceSaving) takes half as many counters; its counts err upwards.
///
/// # Source
///
/// `[MisraGries82]`; the purge by the median `[AndersonEtAl17]`, here of all counters and not of a sample; merging
/// `[AgarwalEtAl12]`.
#[derive(Clone)]
pub struct MisraGries<K, H = WyHasher> {
    params: MisraGriesParams,
    roster: Roster<K>,
    /// All that was ever taken from a counter.
    offset: u64,
    total: Total,
    hasher: H,
}

impl<K: Key + Eq> MisraGries<K> {
    /// An empty summary with the default hasher.
    pub fn new(params: MisraGriesParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }
}

impl<K: WireKey> MisraGries<K> {
    /// Decodes a summary made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }
}

impl<K: Key + Eq, H: KeyHasher> MisraGries<K, H> {
    /// Counts a key once; true if the state changed, which it does until total and count are saturated.
    ///
    /// The key is taken by reference and cloned only when it is given a counter: a `MisraGries<String>` counts `&str`.
    #[inline]
    pub fn insert<Q>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Key + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.insert_n(key, 1)
    }

    /// Counts a key `n` times, in the time of one; 0 changes nothing. True if the state changed.
    #[inline]
    pub fn insert_n<Q>(&mut self, key: &Q, n: u64) -> bool
    where
        K: Borrow<Q>,
        Q: Key + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if n == 0 {
            return false;
        }
        let total_grows = self.total.add(n);
        let hash = self.hasher.hash_key(key);
        if let Some(at) = self.roster.find(hash, key) {
            let count = &mut self.roster.slot_mut(at).count;
            let before = core::mem::replace(count, count.saturating_add(n));
            return total_grows || *count != before;
        }
        let room = self.params.capacity() as usize - self.roster.len();
        let n = if room == 0 { n - self.purge(n) } else { n };
        if n > 0 {
            let slot = Slot { key: key.to_owned(), hash, count: n, extra: () };
            self.roster.push(slot, self.params.capacity());
        }
        true
    }

    /// How often the key occurred at least: 0 for a key that is not listed. Never above the truth, and below it by at
    /// most [`MisraGries::max_error`].
    pub fn estimate<Q>(&self, key: &Q) -> u64
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        self.bounds(key).0
    }

    /// Lower and upper bound of how often the key occurred, listed or not. Both are certain.
    pub fn bounds<Q>(&self, key: &Q) -> (u64, u64)
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        let lower = self.roster.get(self.hasher.hash_key(key), key).map_or(0, |slot| slot.count);
        (lower, lower.saturating_add(self.offset))
    }

    /// Whether the key is listed.
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        self.roster.find(self.hasher.hash_key(key), key).is_some()
    }
}

impl<K, H: Fingerprint> MisraGries<K, H> {
    /// An empty summary with a hasher of one's own.
    pub fn with_hasher(params: MisraGriesParams, hasher: H) -> Self {
        Self { params, roster: Roster::default(), offset: 0, total: Total::default(), hasher }
    }

    /// The `k` keys with the greatest estimates, the greatest first; equal ones by their hashes. Fewer if fewer are
    /// listed.
    pub fn top(&self, k: usize) -> Vec<HeavyHitter<&K>> {
        let mut hits = self.hits();
        hits.truncate(k);
        hits
    }

    /// Those of [`MisraGries::top`] that certainly belong to the `k` most frequent keys: they occurred at least as often
    /// as any key outside of the list may have.
    pub fn guaranteed_top(&self, k: usize) -> Vec<HeavyHitter<&K>> {
        certain(self.hits(), k, self.offset)
    }

    /// The keys that make up more than a share `phi` of the total, as far as `guarantee` says; ordered as
    /// [`MisraGries::top`].
    ///
    /// With [`Guarantee::NoFalseNegatives`], a `phi` that the summary was sized for by [`MisraGriesParams::for_phi`] is
    /// always answered. Once the total is saturated, nothing can be listed without false positives.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `phi` is NaN or outside (0, 1); with [`Guarantee::NoFalseNegatives`], also if a key that
    /// is not listed may be above it.
    pub fn heavy_hitters(&self, phi: f64, guarantee: Guarantee) -> Result<Vec<HeavyHitter<&K>>, Error> {
        let threshold = threshold(phi, self.total.sum)?;
        above(self.hits(), threshold, phi, guarantee, self.offset, self.total.saturated)
    }

    /// The most that a key which is not listed may have occurred, and that any count may err by.
    pub fn max_error(&self) -> u64 {
        self.offset
    }

    /// The sum of all counts, exact up to `u64::MAX`, where it stays.
    pub fn total(&self) -> u64 {
        self.total.sum
    }

    /// Whether the total has been asked to hold more than `u64::MAX`. Bounds still hold: an upper one of `u64::MAX`
    /// stands for "that or more".
    pub fn is_saturated(&self) -> bool {
        self.total.saturated
    }

    /// Keys that are listed; perhaps none though some were counted, after a purge.
    pub fn len(&self) -> usize {
        self.roster.len()
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total.sum == 0
    }

    /// Forgets every count.
    pub fn clear(&mut self) {
        *self = Self::with_hasher(self.params, self.hasher.clone());
    }

    /// The shape.
    pub fn params(&self) -> MisraGriesParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Bytes allocated for counters and index, without what keys own themselves.
    pub fn size_bytes(&self) -> usize {
        self.roster.size_bytes()
    }

    /// Makes room for a count that has no counter: takes the median of all, this one included, from each. Gives what was
    /// taken from this one.
    #[inline(never)]
    fn purge(&mut self, n: u64) -> u64 {
        let mut counts: Vec<u64> = self.roster.slots().iter().map(|slot| slot.count).collect();
        counts.push(n);
        // As many counts as the divisor says lie from here on; all before, and this one, are gone.
        let median = counts.len() - self.params.divisor() as usize;
        let (_, &mut cut, _) = counts.select_nth_unstable(median);
        self.cut(cut);
        cut.min(n)
    }

    /// Takes a count from each counter.
    fn cut(&mut self, cut: u64) {
        self.offset = self.offset.saturating_add(cut);
        self.roster.retain(|slot| {
            slot.count = slot.count.saturating_sub(cut);
            slot.count > 0
        });
    }

    fn hits<'a>(&'a self) -> Vec<HeavyHitter<&'a K>> {
        let hit = |slot: &'a Slot<K>| HeavyHitter {
            key: &slot.key,
            estimate: slot.count,
            lower: slot.count,
            upper: slot.count.saturating_add(self.offset),
        };
        self.roster.ranking().into_iter().map(hit).collect()
    }
}

/// Equal shape, hasher, total and error, and the same keys with the same counts: the same bytes,
/// unless two keys share a hash and a count.
impl<K: Eq, H: Fingerprint> PartialEq for MisraGries<K, H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok()
            && (self.total, self.offset) == (other.total, other.offset)
            && self.roster == other.roster
    }
}

impl<K: Key + Eq + Clone, H: KeyHasher> Extend<K> for MisraGries<K, H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows shape, total and error, not the keys.
impl<K, H: fmt::Debug> fmt::Debug for MisraGries<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MisraGries")
            .field("params", &self.params)
            .field("max_error", &self.offset)
            .field("total", &self.total.sum)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
