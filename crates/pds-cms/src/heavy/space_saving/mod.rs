//! SpaceSaving: a fixed number of counters, the least of which is taken over by a key that has none.

mod merge;
mod params;
mod wire;

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

pub use params::SpaceSavingParams;

use super::answer::{above, certain, threshold};
use super::ranked::Ranked;
use super::roster::Slot;
use super::total::Total;
use super::{Guarantee, HeavyHitter, WireKey};
use crate::{Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// The most frequent keys of a stream, with counts that are never too low and errors that are known key by key.
///
/// A key that has a counter counts in it. One that has none takes over the least counter, and with it that one's count:
/// this is its error, since it may have occurred so often before.
///
/// * Error: one-sided, certain, without chance. For every key, `lower <= truth <= estimate = upper`; the two differ by at
///   most the least count, which is at most total / capacity. A key without a counter has occurred at most
///   [`SpaceSaving::max_error`] times, the least count once every counter is taken, and 0 before.
/// * Every key that occurred more often than total / capacity is listed.
/// * Merging keeps all of this for both streams, though not the bytes of the whole stream's summary: [`Merge`], not
///   [`ExactMerge`]:
///
/// ```compile_fail,E0277
/// fn shard<S: pds_cms::ExactMerge>(_: S) {}
///
/// let params = pds_cms::SpaceSavingParams::with_capacity(10).unwrap();
/// shard(pds_cms::SpaceSaving::<u64>::new(params));
/// ```
///
/// * Time per key is that of a lookup for a listed key, plus that of finding the least counter for others, amortised
///   constant, whatever the weight.
/// * Total and counts saturate at `u64::MAX` and never wrap: see [`SpaceSaving::is_saturated`].
///
/// Memory grows with the keys that are listed, up to the capacity. What is read from bytes answers as what was written; of
/// several least counters it may later take over another.
///
/// [`Merge`]: crate::Merge
/// [`ExactMerge`]: crate::ExactMerge
///
/// # Source
///
/// `[MetwallyAgrawalElAbbadi05]`; merging `[AgarwalEtAl12]`, with the counts of a single step as `[CafaroEtAl16]`.
#[derive(Clone)]
pub struct SpaceSaving<K, H = WyHasher> {
    params: SpaceSavingParams,
    /// Besides its count, each slot holds its error.
    ranked: Ranked<K, u64>,
    total: Total,
    hasher: H,
}

impl<K: Key + Eq> SpaceSaving<K> {
    /// An empty summary with the default hasher.
    pub fn new(params: SpaceSavingParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }
}

impl<K: WireKey> SpaceSaving<K> {
    /// Decodes a summary made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }
}

impl<K: Key + Eq, H: KeyHasher> SpaceSaving<K, H> {
    /// Counts a key once; true if the state changed, which it does until total and count are saturated.
    ///
    /// The key is taken by reference and cloned only when it is given a counter: a `SpaceSaving<String>` counts `&str`.
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
        if let Some(at) = self.ranked.find(hash, key) {
            return self.ranked.add(at, n) | total_grows;
        }
        let error = self.max_error();
        let slot = Slot { key: key.to_owned(), hash, count: error.saturating_add(n), extra: error };
        self.ranked.admit(slot);
        true
    }

    /// How often the key occurred: never below the truth, and above it by at most total / capacity. 0 to
    /// [`SpaceSaving::max_error`] for a key that is not listed, given as the latter.
    pub fn estimate<Q>(&self, key: &Q) -> u64
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        self.bounds(key).1
    }

    /// Lower and upper bound of how often the key occurred, listed or not. Both are certain.
    pub fn bounds<Q>(&self, key: &Q) -> (u64, u64)
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        let slot = self.ranked.roster().get(self.hasher.hash_key(key), key);
        slot.map_or((0, self.max_error()), bounds_of)
    }

    /// Whether the key is listed.
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        self.ranked.find(self.hasher.hash_key(key), key).is_some()
    }
}

impl<K, H: Fingerprint> SpaceSaving<K, H> {
    /// An empty summary with a hasher of one's own.
    pub fn with_hasher(params: SpaceSavingParams, hasher: H) -> Self {
        Self { params, ranked: Ranked::new(params.capacity()), total: Total::default(), hasher }
    }

    /// The `k` keys with the greatest estimates, the greatest first; equal ones by their hashes. Fewer if fewer are
    /// listed.
    pub fn top(&self, k: usize) -> Vec<HeavyHitter<&K>> {
        let mut hits = self.hits();
        hits.truncate(k);
        hits
    }

    /// Those of [`SpaceSaving::top`] that certainly belong to the `k` most frequent keys: they occurred at least as often
    /// as any key outside of the list may have.
    pub fn guaranteed_top(&self, k: usize) -> Vec<HeavyHitter<&K>> {
        certain(self.hits(), k, self.max_error())
    }

    /// The keys that make up more than a share `phi` of the total, as far as `guarantee` says; ordered as
    /// [`SpaceSaving::top`].
    ///
    /// With [`Guarantee::NoFalseNegatives`], a `phi` that the summary was sized for by [`SpaceSavingParams::for_phi`] is
    /// always answered. Once the total is saturated, nothing can be listed without false positives.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `phi` is NaN or outside (0, 1); with [`Guarantee::NoFalseNegatives`], also if a key that
    /// is not listed may be above it.
    pub fn heavy_hitters(&self, phi: f64, guarantee: Guarantee) -> Result<Vec<HeavyHitter<&K>>, Error> {
        let threshold = threshold(phi, self.total.sum)?;
        above(self.hits(), threshold, phi, guarantee, self.max_error(), self.total.saturated)
    }

    /// The most that a key which is not listed may have occurred, and that any count may err by: the least count once
    /// every counter is taken, 0 before.
    #[inline]
    pub fn max_error(&self) -> u64 {
        self.ranked.least_count()
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

    /// Keys that are listed.
    pub fn len(&self) -> usize {
        self.ranked.roster().len()
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets every count.
    pub fn clear(&mut self) {
        self.ranked.clear();
        self.total = Total::default();
    }

    /// The shape.
    pub fn params(&self) -> SpaceSavingParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Bytes allocated for counters, index and ladder, without what keys own themselves.
    pub fn size_bytes(&self) -> usize {
        self.ranked.size_bytes()
    }

    fn hits(&self) -> Vec<HeavyHitter<&K>> {
        let hit = |slot| {
            let (lower, upper) = bounds_of(slot);
            HeavyHitter { key: &slot.key, estimate: upper, lower, upper }
        };
        self.ranked.roster().ranking().into_iter().map(hit).collect()
    }
}

fn bounds_of<K>(slot: &Slot<K, u64>) -> (u64, u64) {
    (slot.count - slot.extra, slot.count)
}

/// Equal shape, hasher and total, and the same keys with the same counts and errors: the same bytes,
/// unless two keys share a hash and a count.
impl<K: Eq, H: Fingerprint> PartialEq for SpaceSaving<K, H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.total == other.total && self.ranked == other.ranked
    }
}

impl<K: Key + Eq + Clone, H: KeyHasher> Extend<K> for SpaceSaving<K, H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows shape and total, not the keys.
impl<K, H: fmt::Debug + Fingerprint> fmt::Debug for SpaceSaving<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpaceSaving")
            .field("params", &self.params)
            .field("len", &self.len())
            .field("total", &self.total.sum)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
