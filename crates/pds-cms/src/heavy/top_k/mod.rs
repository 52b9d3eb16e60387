//! Top-k: a sketch that counts all keys, and a list of those with the greatest estimates.

mod merge;
mod params;
mod wire;

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

pub use params::TopKParams;

use super::answer::{above, threshold};
use super::ranked::Ranked;
use super::roster::Slot;
use super::{Guarantee, HeavyHitter, WireKey};
use crate::{ConservativeCountMin, Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// The `k` keys with the greatest estimates of a conservative count-min sketch.
///
/// Every key is counted in the sketch. One that is not listed is taken into the list when its estimate exceeds the least
/// of the list, strictly: of equal counts the one that is listed stays, so that ties do not churn.
///
/// * Error: as the sketch's. The upper bound is certain; the estimate, which is the upper bound, exceeds the truth by more
///   than epsilon times the total with a chance of at most delta, and the lower bound fails as rarely. For a key in the
///   list it is what the sketch gave when the key last occurred: nothing that was counted since makes it worse.
/// * Keys that are not listed can be asked for too.
/// * A key that is not listed occurred at most [`TopK::max_unlisted`] times, for certain. So whether one was missed is
///   known.
/// * Merging merges the sketches, and estimates the keys of both lists anew. What stands in the lists is not added up,
///   which would count some of it twice. A key that was too rare for the list of every shard is not found: the bound of
///   what is not listed is then the sum of the shards'. [`Merge`](crate::Merge), not
///   [`ExactMerge`](crate::ExactMerge).
/// * Cells, of 4 bytes, and the total saturate and never wrap, as the sketch's.
///
/// # Source
///
/// `[CharikarChenFarachColton02]`, the list; the sketch as [`ConservativeCountMin`].
#[derive(Clone)]
pub struct TopK<K, H = WyHasher> {
    params: TopKParams,
    sketch: ConservativeCountMin<u32, H>,
    ranked: Ranked<K>,
    /// No key that is not listed has occurred more often.
    unlisted: u64,
}

impl<K: Key + Eq> TopK<K> {
    /// An empty list with the default hasher.
    pub fn new(params: TopKParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }
}

impl<K: WireKey> TopK<K> {
    /// Decodes a list made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }
}

impl<K: Key + Eq, H: KeyHasher> TopK<K, H> {
    /// Counts a key once; true if the state changed.
    ///
    /// The key is taken by reference and cloned only when it is listed: a `TopK<String>` counts `&str`.
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
        let hash = self.hasher().hash_key(key);
        let counted = self.sketch.insert_hash_n(hash, n);
        let count = self.sketch.estimate_hash(hash);
        if let Some(at) = self.ranked.find(hash, key) {
            return self.ranked.raise(at, count) | counted;
        }
        if count > self.ranked.least_count() {
            let out = self.ranked.admit(Slot { key: key.to_owned(), hash, count, extra: () });
            self.unlisted = self.unlisted.max(out.map_or(0, |out| out.count));
            return true;
        }
        let before = self.unlisted;
        self.unlisted = before.max(count);
        counted || self.unlisted > before
    }

    /// How often the key occurred, listed or not: never below the truth, and above it by more than epsilon times the total
    /// with a chance of at most delta.
    pub fn estimate<Q>(&self, key: &Q) -> u64
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        self.bounds(key).1
    }

    /// Lower and upper bound of how often the key occurred, listed or not. The upper one is certain, the lower one holds
    /// with a chance of at least 1 - delta.
    pub fn bounds<Q>(&self, key: &Q) -> (u64, u64)
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        let hash = self.hasher().hash_key(key);
        match self.ranked.roster().get(hash, key) {
            Some(slot) => self.bounds_of(slot),
            None => self.bounded(hash, self.unlisted),
        }
    }

    /// Whether the key is listed.
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        self.ranked.find(self.hasher().hash_key(key), key).is_some()
    }
}

impl<K, H: Fingerprint> TopK<K, H> {
    /// An empty list with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of the sketch is not to be had.
    pub fn with_hasher(params: TopKParams, hasher: H) -> Self {
        let sketch = ConservativeCountMin::with_hasher(params.sketch(), hasher);
        Self { params, sketch, ranked: Ranked::new(params.k()), unlisted: 0 }
    }

    /// The `k` keys with the greatest estimates, the greatest first; equal ones by their hashes. Fewer if fewer are
    /// listed.
    pub fn top<'a>(&'a self, k: usize) -> Vec<HeavyHitter<&'a K>> {
        let hit = |slot: &'a Slot<K>| {
            let (lower, upper) = self.bounds_of(slot);
            HeavyHitter { key: &slot.key, estimate: upper, lower, upper }
        };
        self.ranked.roster().ranking().into_iter().take(k).map(hit).collect()
    }

    /// The keys that make up more than a share `phi` of the total, as far as `guarantee` says; ordered as [`TopK::top`].
    ///
    /// [`Guarantee::NoFalseNegatives`] is certain. With [`Guarantee::NoFalsePositives`], each key listed may be wrong with
    /// a chance of delta. Once the total is saturated, nothing can be listed without false positives.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `phi` is NaN or outside (0, 1); with [`Guarantee::NoFalseNegatives`], also if a key that
    /// is not listed may be above it.
    pub fn heavy_hitters(&self, phi: f64, guarantee: Guarantee) -> Result<Vec<HeavyHitter<&K>>, Error> {
        let threshold = threshold(phi, self.total())?;
        // No total beyond the greatest is told from the greatest; nothing is lost by taking it for one.
        let saturated = self.total() == u64::MAX;
        above(self.top(self.len()), threshold, phi, guarantee, self.unlisted, saturated)
    }

    /// The most that a key which is not listed may have occurred.
    pub fn max_unlisted(&self) -> u64 {
        self.unlisted
    }

    /// The sum of all counts, exact up to `u64::MAX`, where it stays.
    pub fn total(&self) -> u64 {
        self.sketch.total()
    }

    /// Whether a cell of the sketch, or the total, has been asked to hold more than it can. Upper bounds still hold.
    pub fn is_saturated(&self) -> bool {
        self.sketch.is_saturated()
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
        self.sketch.clear();
        self.ranked.clear();
        self.unlisted = 0;
    }

    /// The shape.
    pub fn params(&self) -> TopKParams {
        self.params
    }

    /// The sketch that counts all keys.
    pub fn sketch(&self) -> &ConservativeCountMin<u32, H> {
        &self.sketch
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        self.sketch.hasher()
    }

    /// Bytes allocated for sketch and list, without what keys own themselves.
    pub fn size_bytes(&self) -> usize {
        self.sketch.size_bytes() + self.ranked.size_bytes()
    }

    fn bounds_of(&self, slot: &Slot<K>) -> (u64, u64) {
        self.bounded(slot.hash, slot.count)
    }

    /// The sketch's bounds, with an upper one that may be known to be lower.
    fn bounded(&self, hash: u64, most: u64) -> (u64, u64) {
        let (lower, upper) = self.sketch.bounds_hash(hash);
        let upper = upper.min(most);
        (lower.min(upper), upper)
    }
}

/// Equal shape, hasher and sketch, and the same keys with the same counts: the same bytes,
/// unless two keys share a hash and a count.
impl<K: Eq, H: Fingerprint> PartialEq for TopK<K, H> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && self.sketch == other.sketch
            && self.ranked == other.ranked
            && self.unlisted == other.unlisted
    }
}

impl<K: Key + Eq + Clone, H: KeyHasher> Extend<K> for TopK<K, H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows shape and total, neither keys nor cells.
impl<K, H: fmt::Debug + Fingerprint> fmt::Debug for TopK<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopK")
            .field("params", &self.params)
            .field("total", &self.total())
            .field("hasher", self.hasher())
            .finish_non_exhaustive()
    }
}
