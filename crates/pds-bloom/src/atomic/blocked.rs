//! The blocked filter, shared.

use alloc::boxed::Box;
use core::fmt;

use pds_core::same_hasher;
use pds_hash::reduce;

use super::line::AtomicLine;
use crate::arch::{Simd, prefetch};
use crate::blocked::line::{self, LINE_BYTES, Line};
use crate::rolling::rolling;
use crate::{BlockedBloomFilter, BlockedBloomParams, Error, Fingerprint, Key, KeyHasher, WyHasher};

/// Filters below this size live in the first two caches, where a prefetch only costs.
const PREFETCH_BYTES: usize = 1 << 19;

/// A [`BlockedBloomFilter`] that threads fill and ask together, by shared reference and without a lock.
///
/// It has the bits of the owned filter, and becomes one by [`AtomicBlockedBloomFilter::into_inner`] or
/// [`AtomicBlockedBloomFilter::snapshot`], for its bytes and for merging: the bytes of a filter that was filled by many
/// threads are those of a filter that was filled by one, in any order of the keys.
///
/// * Error: as of the owned filter, for keys whose insertion *happened before* the query: see below.
/// * Every call is free of waiting: a query is eight loads, an insertion a load per bit and an atomic "or" for each word
///   of the line in which a bit was not set, at most eight.
///
/// # Order
///
/// All access is relaxed, and orders nothing by itself: the rules are those of [`AtomicBloomFilter`].
///
/// * A query sees every insertion that happens before it, by the same thread or through a join, a lock, a channel or a
///   `Release` store that was read with `Acquire`. Such a key is found.
/// * Without such an edge a query may see none or some of the key's bits, and say no. The words of a line are read one
///   after the other: that they share a cache line does not make them one.
/// * It never sees a bit that nobody set, and what a thread was told yes about stays yes for that thread, until
///   [`AtomicBlockedBloomFilter::clear`].
///
/// [`AtomicBloomFilter`]: crate::AtomicBloomFilter#order
///
/// ```
/// use pds_bloom::prelude::*;
///
/// # fn main() -> Result<(), Error> {
/// let params = pds_bloom::BlockedBloomParams::for_fpr(10_000, 0.01)?;
/// let seen = pds_bloom::AtomicBlockedBloomFilter::new(params);
/// std::thread::scope(|scope| {
///     scope.spawn(|| seen.insert("alice"));
///     scope.spawn(|| seen.insert("bob"));
/// });
/// // Both threads were joined.
/// assert!(seen.contains("alice") && seen.contains("bob"));
/// # Ok(())
/// # }
/// ```
pub struct AtomicBlockedBloomFilter<H = WyHasher> {
    params: BlockedBloomParams,
    lines: Box<[AtomicLine]>,
    simd: Simd,
    hasher: H,
}

impl AtomicBlockedBloomFilter {
    /// An empty filter with the default hasher.
    pub fn new(params: BlockedBloomParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }
}

impl<H: KeyHasher> AtomicBlockedBloomFilter<H> {
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

impl<H: Fingerprint> AtomicBlockedBloomFilter<H> {
    /// An empty filter with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`BlockedBloomParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: BlockedBloomParams, hasher: H) -> Self {
        let lines = (0..params.lines()).map(|_| AtomicLine::new(&Line::EMPTY)).collect();
        Self { params, lines, simd: Simd::detect(), hasher }
    }

    /// As [`AtomicBlockedBloomFilter::insert`], for a hash by this filter's hasher.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        self.lines[self.line_of(hash) as usize].insert(hash, self.params.k())
    }

    /// As [`AtomicBlockedBloomFilter::contains`], for a hash by this filter's hasher.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.lines[self.line_of(hash) as usize].contains(self.simd, hash, self.params.k())
    }

    /// Adds many hashes, fetching the memory of later ones ahead.
    pub fn insert_batch(&self, hashes: &[u64]) {
        self.visit(hashes.len(), hashes, |_, hash| _ = self.insert_hash(hash));
    }

    /// Answers [`AtomicBlockedBloomFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later
    /// ones ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        let count = hashes.len().min(found.len());
        self.visit(count, hashes, |i, hash| found[i] = self.contains_hash(hash));
        count
    }

    /// Adds the keys of an owned filter, one that a thread filled for itself for example.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`](crate::Merge::merge) of the owned filters; `self` is then unchanged.
    pub fn union_with(&self, other: &BlockedBloomFilter<H>) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher().fingerprint())?;
        self.params.compatible(&other.params())?;
        for (mine, theirs) in self.lines.iter().zip(other.lines()) {
            mine.set(theirs);
        }
        Ok(())
    }

    /// A copy as an owned filter, each word read once.
    ///
    /// It holds every key whose insertion happened before the call. Of a key that is inserted meanwhile it may have none,
    /// some or all of the bits.
    pub fn snapshot(&self) -> BlockedBloomFilter<H> {
        let lines = self.lines.iter().map(AtomicLine::load).collect();
        BlockedBloomFilter::from_parts(self.params, lines, self.hasher.clone())
    }

    /// The owned filter with the same bits.
    pub fn into_inner(self) -> BlockedBloomFilter<H> {
        // In the same memory, where the standard library collects in place.
        let lines = self.lines.into_vec().into_iter().map(|line| line.load()).collect();
        BlockedBloomFilter::from_parts(self.params, lines, self.hasher)
    }

    /// The shape.
    pub fn params(&self) -> BlockedBloomParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no insertion is seen.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.load() == Line::EMPTY)
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.lines.fill_with(|| AtomicLine::new(&Line::EMPTY));
    }

    /// Bytes of the bit array.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }

    /// Share of the bits that are set, within 0..=1, each word being read once.
    pub fn fill_ratio(&self) -> f64 {
        let ones: u64 = self.lines.iter().map(|line| u64::from(line::ones(&line.load().0))).sum();
        ones as f64 / (self.lines.len() as f64 * (LINE_BYTES * 8) as f64)
    }

    /// As [`BlockedBloomFilter::estimated_len`], of a [snapshot](Self::snapshot) that takes its memory for the time of the call.
    pub fn estimated_len(&self) -> f64 {
        self.snapshot().estimated_len()
    }

    /// As [`BlockedBloomFilter::estimated_fpr`], of a [snapshot](Self::snapshot) that takes its memory for the time of the call.
    pub fn estimated_fpr(&self) -> f64 {
        self.snapshot().estimated_fpr()
    }

    /// As [`BlockedBloomFilter::is_saturated`], of a [snapshot](Self::snapshot) that takes its memory for the time of the call.
    pub fn is_saturated(&self) -> bool {
        self.snapshot().is_saturated()
    }

    #[inline]
    fn line_of(&self, hash: u64) -> u64 {
        reduce(hash, self.lines.len() as u64)
    }

    /// Calls with the number of each of the first `count` hashes and the hash, the lines of later ones being on their way.
    #[inline]
    fn visit(&self, count: usize, hashes: &[u64], mut visit: impl FnMut(usize, u64)) {
        if self.size_bytes() < PREFETCH_BYTES {
            (0..count).for_each(|i| visit(i, hashes[i]));
        } else {
            rolling(count, |i| prefetch(&self.lines, self.line_of(hashes[i])), |i| visit(i, hashes[i]));
        }
    }
}

/// The same bits, to be shared.
impl<H: Fingerprint> From<BlockedBloomFilter<H>> for AtomicBlockedBloomFilter<H> {
    fn from(filter: BlockedBloomFilter<H>) -> Self {
        let lines = filter.lines().iter().map(AtomicLine::new).collect();
        Self { params: filter.params(), lines, simd: Simd::detect(), hasher: filter.hasher().clone() }
    }
}

/// By shared reference, as the insertions are.
impl<H: KeyHasher, K: Key> Extend<K> for &AtomicBlockedBloomFilter<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for AtomicBlockedBloomFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicBlockedBloomFilter")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
