//! HeavyKeeper: cells that give way by chance, the less likely the more they hold.

mod bucket;
mod chance;
mod params;
mod wire;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

use pds_hash::reduce;

pub use params::HeavyKeeperParams;

use self::bucket::Bucket;
use self::chance::Chance;
use super::answer::threshold;
use super::ranked::Ranked;
use super::roster::Slot;
use super::total::Total;
use super::{HeavyHitter, WireKey};
use crate::{Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// The `k` most frequent keys of a stream, found by counting with exponential decay.
///
/// Keys that are not listed contend for cells, of 8 bytes each, in a bucket that their hash names: a key without a cell
/// takes one off the least count of its bucket with a chance of base^-count, and takes the cell over once nothing is left.
/// So many rare keys wear each other down, and a frequent one holds its ground. A key whose cell holds more than the
/// least count of the list is listed, counts exactly from then on, and leaves its cell to others; the key that gives way
/// to it contends again.
///
/// * Error: one-sided low, but for a shared fingerprint: an estimate exceeds the truth only if two keys of one bucket have
///   the same 32 further bits of hash. How much it is too low by, and whether a frequent key is missed, no theorem says:
///   it is rare on skewed streams, and not on flat ones. Where a guarantee is needed, take
///   [`SpaceSaving`](crate::SpaceSaving).
/// * Not mergeable: what decayed on one shard cannot be told on another.
///
/// ```compile_fail,E0277
/// fn shard<S: pds_cms::Merge>(_: S) {}
///
/// let params = pds_cms::HeavyKeeperParams::for_top(10).unwrap();
/// shard(pds_cms::HeavyKeeper::<u64>::new(params));
/// ```
///
/// * Time per key is constant, whatever the weight: of many blows at a cell, the number that it takes is drawn at once.
/// * Chances come from a generator in the structure: one stream and one seed, one result, on every platform. Bytes hold the
///   generator's state, but not which of several listed keys with the least count gives way next: a keeper that was read
///   from bytes answers as the one that was written, and the two may differ after further keys.
/// * The total saturates at `u64::MAX`, and so do counts. A cell stops at 4,294,967,295: a key that is not listed by then
///   is not, either, if all of the list are above it.
///
/// # Source
///
/// `[GongEtAl18]`; the guarded cells of one bucket after `[YangEtAl18]`.
#[derive(Clone)]
pub struct HeavyKeeper<K, H = WyHasher> {
    params: HeavyKeeperParams,
    buckets: Box<[Bucket]>,
    ranked: Ranked<K>,
    chance: Chance,
    total: Total,
    hasher: H,
}

impl<K: Key + Eq> HeavyKeeper<K> {
    /// An empty keeper with the default hasher.
    pub fn new(params: HeavyKeeperParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }
}

impl<K: WireKey> HeavyKeeper<K> {
    /// Decodes a keeper made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }
}

impl<K: Key + Eq, H: KeyHasher> HeavyKeeper<K, H> {
    /// Counts a key once; true, since the state changes: at least the chances have been drawn on.
    ///
    /// The key is taken by reference and cloned only when it is listed: a `HeavyKeeper<String>` counts `&str`.
    #[inline]
    pub fn insert<Q>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Key + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.insert_n(key, 1)
    }

    /// Counts a key `n` times, in a time that does not depend on `n`; 0 changes nothing. True if `n` is positive.
    ///
    /// The chances are those of counting `n` times once, but drawn at once: another outcome of the same law.
    #[inline]
    pub fn insert_n<Q>(&mut self, key: &Q, n: u64) -> bool
    where
        K: Borrow<Q>,
        Q: Key + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if n == 0 {
            return false;
        }
        self.total.add(n);
        let hash = self.hasher.hash_key(key);
        if let Some(at) = self.ranked.find(hash, key) {
            self.ranked.add(at, n);
            return true;
        }
        let bucket = &mut self.buckets[reduce(hash, self.params.buckets().into()) as usize];
        let count = bucket.count_n(fingerprint(hash), n, &mut self.chance);
        // Strictly: of equal counts, the one that is listed stays so.
        if count > self.ranked.least_count() {
            bucket.free(fingerprint(hash));
            let out = self.ranked.admit(Slot { key: key.to_owned(), hash, count, extra: () });
            if let Some(out) = out {
                let bucket = &mut self.buckets[reduce(out.hash, self.params.buckets().into()) as usize];
                bucket.give(fingerprint(out.hash), out.count);
            }
        }
        true
    }

    /// How often the key occurred: never above the truth, but for a shared fingerprint, and 0 where nothing is known.
    pub fn estimate<Q>(&self, key: &Q) -> u64
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        let hash = self.hasher.hash_key(key);
        let bucket = &self.buckets[reduce(hash, self.params.buckets().into()) as usize];
        self.ranked.roster().get(hash, key).map_or_else(|| bucket.count(fingerprint(hash)), |slot| slot.count)
    }

    /// Lower and upper bound of how often the key occurred. The lower one is the estimate; the upper one is the total,
    /// since nothing less is certain.
    pub fn bounds<Q>(&self, key: &Q) -> (u64, u64)
    where
        K: Borrow<Q>,
        Q: Key + Eq + ?Sized,
    {
        (self.estimate(key), self.total.sum)
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

impl<K, H: Fingerprint> HeavyKeeper<K, H> {
    /// An empty keeper with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of the buckets is not to be had.
    pub fn with_hasher(params: HeavyKeeperParams, hasher: H) -> Self {
        Self {
            params,
            buckets: vec![Bucket::default(); params.buckets() as usize].into_boxed_slice(),
            ranked: Ranked::new(params.k()),
            chance: Chance::new(params.base(), params.seed()),
            total: Total::default(),
            hasher,
        }
    }

    /// The `k` keys with the greatest estimates, the greatest first; equal ones by their hashes. Fewer if fewer are
    /// listed.
    pub fn top<'a>(&'a self, k: usize) -> Vec<HeavyHitter<&'a K>> {
        let hit = |slot: &'a Slot<K>| HeavyHitter {
            key: &slot.key,
            estimate: slot.count,
            lower: slot.count,
            upper: self.total.sum,
        };
        self.ranked.roster().ranking().into_iter().take(k).map(hit).collect()
    }

    /// The listed keys that make up more than a share `phi` of the total; ordered as [`HeavyKeeper::top`].
    ///
    /// There is no guarantee to choose: none is listed that is not above it, but for a shared fingerprint, and some that
    /// are may be missing ([`Guarantee::NoFalsePositives`](crate::Guarantee::NoFalsePositives)). Once the total is
    /// saturated, none is listed.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `phi` is NaN or outside (0, 1).
    pub fn heavy_hitters(&self, phi: f64) -> Result<Vec<HeavyHitter<&K>>, Error> {
        let threshold = threshold(phi, self.total.sum)?;
        let mut hits = if self.total.saturated { Vec::new() } else { self.top(self.len()) };
        hits.retain(|hit| hit.lower > threshold);
        Ok(hits)
    }

    /// The sum of all counts, exact up to `u64::MAX`, where it stays.
    pub fn total(&self) -> u64 {
        self.total.sum
    }

    /// Whether the total has been asked to hold more than `u64::MAX`.
    pub fn is_saturated(&self) -> bool {
        self.total.saturated
    }

    /// Keys that are listed.
    pub fn len(&self) -> usize {
        self.ranked.roster().len()
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total.sum == 0
    }

    /// Forgets every count, and starts the chances anew.
    pub fn clear(&mut self) {
        self.buckets.fill(Bucket::default());
        self.ranked.clear();
        self.chance = Chance::new(self.params.base(), self.params.seed());
        self.total = Total::default();
    }

    /// The shape.
    pub fn params(&self) -> HeavyKeeperParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Bytes allocated for buckets and list, without what keys own themselves.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.buckets) + self.ranked.size_bytes()
    }
}

/// Bits of the hash other than those that name the bucket.
#[inline]
fn fingerprint(hash: u64) -> u32 {
    hash as u32
}

/// Equal shape, hasher, total, chances and cells, and the same keys with the same counts: the same bytes,
/// unless two keys share a hash and a count.
impl<K: Eq, H: Fingerprint> PartialEq for HeavyKeeper<K, H> {
    fn eq(&self, other: &Self) -> bool {
        self.hasher.fingerprint() == other.hasher.fingerprint()
            && self.params == other.params
            && (self.total, self.chance.state()) == (other.total, other.chance.state())
            && self.buckets == other.buckets
            && self.ranked == other.ranked
    }
}

impl<K: Key + Eq + Clone, H: KeyHasher> Extend<K> for HeavyKeeper<K, H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows shape and total, neither keys nor cells.
impl<K, H: fmt::Debug> fmt::Debug for HeavyKeeper<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeavyKeeper")
            .field("params", &self.params)
            .field("total", &self.total.sum)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
