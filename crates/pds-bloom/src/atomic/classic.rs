//! The classic filter, shared.

use core::fmt;

use pds_core::same_hasher;

use super::words::AtomicWords;
use crate::classic::bits::{self, Bits};
use crate::classic::{batch, metrics};
use crate::{BloomFilter, BloomParams, Error, Fingerprint, Key, KeyHasher, WyHasher};

/// A [`BloomFilter`] that threads fill and ask together, by shared reference and without a lock.
///
/// It has the bits of the owned filter, and becomes one by [`AtomicBloomFilter::into_inner`] or
/// [`AtomicBloomFilter::snapshot`], for its bytes and for merging: the bytes of a filter that was filled by many threads
/// are those of a filter that was filled by one, in any order of the keys.
///
/// * Error: as of the owned filter, for keys whose insertion *happened before* the query: see below.
/// * Every call is free of waiting: a query is a load per bit, an insertion a load per bit and an atomic "or" per bit that
///   was not set.
///
/// # Order
///
/// All access is relaxed, and orders nothing by itself.
///
/// * A query sees every insertion that happens before it: made earlier by the same thread, or by a thread that was joined
///   since, or that published it by a lock, a channel, or a `Release` store that the asking thread read with `Acquire`.
///   Such a key is found.
/// * Without such an edge a query may see none or some of the key's bits. It then says no to a key whose insertion is
///   under way, or has ended on another thread.
/// * It never sees a bit that nobody set: a stranger is taken for a key no more often than in the owned filter that holds
///   all keys whose insertion has begun.
/// * What a thread was told yes about stays yes for that thread, until [`AtomicBloomFilter::clear`].
/// * An answer is no edge either: that a key was found, or that [`AtomicBloomFilter::insert`] returned false, says nothing
///   about other memory which the inserting thread wrote.
///
/// ```
/// use pds_bloom::prelude::*;
///
/// # fn main() -> Result<(), Error> {
/// let seen = AtomicBloomFilter::new(BloomParams::for_fpr(10_000, 0.01)?);
/// std::thread::scope(|scope| {
///     scope.spawn(|| seen.insert("alice"));
///     scope.spawn(|| seen.insert("bob"));
/// });
/// // Both threads were joined.
/// assert!(seen.contains("alice") && seen.contains("bob"));
/// assert!(BloomFilter::from_bytes(&seen.into_inner().to_bytes())?.contains("alice"));
/// # Ok(())
/// # }
/// ```
pub struct AtomicBloomFilter<H = WyHasher> {
    params: BloomParams,
    words: AtomicWords,
    hasher: H,
}

impl AtomicBloomFilter {
    /// An empty filter with the default hasher.
    pub fn new(params: BloomParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }
}

impl<H: KeyHasher> AtomicBloomFilter<H> {
    /// Adds a key; true if this call changed a bit.
    ///
    /// Each bit is changed by one call. So if several threads insert a key that the filter does not hold, at least one of
    /// them is told true, unless the insertion of other keys sets the missing bits meanwhile; and more than one may be,
    /// each having set some of the bits. False says that others have set all of the bits: the filter would have said
    /// yes. Either way the calling thread finds the key from now on.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// False is certain for keys whose insertion happened before: see [the type](Self#order). True is a hint: a stranger
    /// gets it with the filter's rate of false positives.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> AtomicBloomFilter<H> {
    /// An empty filter with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`BloomParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: BloomParams, hasher: H) -> Self {
        Self { params, words: AtomicWords::new((0..params.words()).map(|_| 0)), hasher }
    }

    /// As [`AtomicBloomFilter::insert`], for a hash by this filter's hasher.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        self.words.insert(self.params.k(), hash)
    }

    /// As [`AtomicBloomFilter::contains`], for a hash by this filter's hasher.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        bits::contains(&self.words, self.params.k(), hash)
    }

    /// Adds many hashes, fetching the memory of later ones ahead.
    pub fn insert_batch(&self, hashes: &[u64]) {
        self.words.insert_batch(self.params.k(), hashes);
    }

    /// Answers [`AtomicBloomFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later ones
    /// ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        batch::contains(&self.words, self.params.k(), hashes, found)
    }

    /// Adds the keys of an owned filter, one that a thread filled for itself for example.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`](crate::Merge::merge) of the owned filters; `self` is then unchanged.
    pub fn union_with(&self, other: &BloomFilter<H>) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher().fingerprint())?;
        self.params.compatible(other.params())?;
        self.words.union_with(other.words());
        Ok(())
    }

    /// A copy as an owned filter, each word read once.
    ///
    /// It holds every key whose insertion happened before the call. Of a key that is inserted meanwhile it may have none,
    /// some or all of the bits.
    pub fn snapshot(&self) -> BloomFilter<H> {
        BloomFilter::from_parts(self.params, self.words.iter().collect(), self.hasher.clone())
    }

    /// The owned filter with the same bits.
    pub fn into_inner(self) -> BloomFilter<H> {
        BloomFilter::from_parts(self.params, self.words.into_inner(), self.hasher)
    }

    /// The shape.
    pub fn params(&self) -> BloomParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no insertion is seen.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word == 0)
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Bytes of the bit array.
    pub fn size_bytes(&self) -> usize {
        self.words.bytes()
    }

    /// Share of the bits that are set, within 0..=1, each word being read once.
    pub fn fill_ratio(&self) -> f64 {
        self.words.ones() as f64 / self.params.bits() as f64
    }

    /// As [`BloomFilter::estimated_len`], by [`AtomicBloomFilter::fill_ratio`].
    pub fn estimated_len(&self) -> f64 {
        metrics::estimated_len(self.params, self.fill_ratio())
    }

    /// As [`BloomFilter::estimated_fpr`], by [`AtomicBloomFilter::fill_ratio`].
    pub fn estimated_fpr(&self) -> f64 {
        metrics::estimated_fpr(self.params, self.fill_ratio())
    }

    /// As [`BloomFilter::is_saturated`], by [`AtomicBloomFilter::fill_ratio`].
    pub fn is_saturated(&self) -> bool {
        metrics::is_saturated(self.params, self.fill_ratio())
    }
}

/// The same bits, to be shared.
impl<H: Fingerprint> From<BloomFilter<H>> for AtomicBloomFilter<H> {
    fn from(filter: BloomFilter<H>) -> Self {
        let words = AtomicWords::new(filter.words().iter().copied());
        Self { params: filter.params(), words, hasher: filter.hasher().clone() }
    }
}

/// By shared reference, as the insertions are.
impl<H: KeyHasher, K: Key> Extend<K> for &AtomicBloomFilter<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for AtomicBloomFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicBloomFilter")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
