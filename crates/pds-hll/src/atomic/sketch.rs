//! The sketch.

use core::fmt;

use pds_core::same_hasher;

use super::shared::Shared;
use crate::{Error, Fingerprint, HllParams, HyperLogLog, Key, KeyHasher, WyHasher};

/// A [`HyperLogLog`] that threads fill together, by shared reference and without a lock.
///
/// It becomes the owned one by [`AtomicHyperLogLog::snapshot`] or [`AtomicHyperLogLog::into_inner`], for its bytes, for
/// merging and for estimates: the bytes of a sketch that was filled by many threads are those of a sketch that was filled by
/// one, in any order of the keys.
///
/// * Error: as of the owned sketch.
/// * No call waits for another: an insertion is a load of a register, and a maximum if that is too low; up to
///   [`HllParams::sparse_limit`] keys also a search in a table, of a bounded number of steps. Of these first keys, those whose
///   hashes somebody chose to meet in the table go to a tree behind a lock; without the feature `std` there is no lock, and the
///   steps are as many as the table's slots at worst.
/// * Memory: twice that of the owned sketch, for the few first keys have to be kept apart beside the registers.
///
/// # Order
///
/// A snapshot holds every key whose insertion happens before it: made earlier by the same thread, or by a thread that was
/// joined since, or that published it by a lock, a channel, or a `Release` store that the reading thread read with `Acquire`.
/// Of the keys whose insertion is under way it may hold any. It is always the sketch of some set of keys between the two. An
/// answer is no such edge: that [`AtomicHyperLogLog::insert`] returned false says nothing about other memory which the
/// inserting thread wrote.
///
/// ```
/// use pds_hll::prelude::*;
///
/// # fn main() -> Result<(), Error> {
/// let visitors = AtomicHyperLogLog::new(HllParams::with_precision(12)?);
/// std::thread::scope(|scope| {
///     scope.spawn(|| (0..600u32).for_each(|id| { visitors.insert(&id); }));
///     scope.spawn(|| (400..1000u32).for_each(|id| { visitors.insert(&id); }));
/// });
/// let mut alone = HyperLogLog::new(visitors.params());
/// alone.extend(0..1000u32);
/// assert!(visitors.into_inner() == alone);
/// # Ok(())
/// # }
/// ```
pub struct AtomicHyperLogLog<H = WyHasher> {
    shared: Shared,
    hasher: H,
}

impl AtomicHyperLogLog {
    /// An empty sketch with the default hasher.
    pub fn new(params: HllParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }
}

impl<H: KeyHasher> AtomicHyperLogLog<H> {
    /// Counts a key; true if this call changed the sketch. A key that was counted before never changes it; of several threads
    /// that insert a new key at once one is told true at most.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> AtomicHyperLogLog<H> {
    /// An empty sketch with a hasher of one's own.
    pub fn with_hasher(params: HllParams, hasher: H) -> Self {
        Self { shared: Shared::empty(params), hasher }
    }

    /// As [`AtomicHyperLogLog::insert`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        self.shared.insert(hash)
    }

    /// Counts many hashes.
    pub fn insert_batch(&self, hashes: &[u64]) {
        for &hash in hashes {
            self.shared.insert(hash);
        }
    }

    /// Counts the keys of an owned sketch, one that a thread filled for itself for example, of this precision or a higher one.
    ///
    /// # Errors
    ///
    /// [`Error::Hasher`] if the hashers differ; [`Error::Incompatible`] if the other precision is lower: registers that threads
    /// share are not folded. `self` is then unchanged.
    pub fn union_with(&self, other: &HyperLogLog<H>) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher().fingerprint())?;
        if other.params() < self.params() {
            return Err(Error::Incompatible { field: "precision" });
        }
        self.shared.union_with(other.state());
        Ok(())
    }

    /// A copy as an owned sketch, in time linear in the registers: see [the type](Self#order).
    pub fn snapshot(&self) -> HyperLogLog<H> {
        HyperLogLog::from_state(self.shared.state(), self.hasher.clone())
    }

    /// The owned sketch of the same keys.
    pub fn into_inner(self) -> HyperLogLog<H> {
        HyperLogLog::from_state(self.shared.state(), self.hasher)
    }

    /// [`HyperLogLog::estimate`] of a snapshot.
    pub fn estimate(&self) -> f64 {
        self.shared.state().estimate()
    }

    /// [`HyperLogLog::bounds`] of a snapshot.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        self.shared.state().bounds(kappa)
    }

    /// The precision.
    pub fn params(&self) -> HllParams {
        self.shared.params()
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.shared = Shared::empty(self.params());
    }

    /// Bytes of the registers and of the table beside them, from the beginning, and of the tree if hashes were chosen for it.
    pub fn size_bytes(&self) -> usize {
        self.shared.size_bytes()
    }
}

/// Shared from here on, with the keys of the owned sketch.
impl<H: Fingerprint> From<HyperLogLog<H>> for AtomicHyperLogLog<H> {
    fn from(sketch: HyperLogLog<H>) -> Self {
        let shared = Shared::empty(sketch.params());
        shared.union_with(sketch.state());
        Self { shared, hasher: sketch.hasher().clone() }
    }
}

/// Shows the precision, not the registers.
impl<H: fmt::Debug> fmt::Debug for AtomicHyperLogLog<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicHyperLogLog")
            .field("params", &self.shared.params())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
