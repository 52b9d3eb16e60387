//! The counting filter.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use pds_core::same_hasher;
use pds_hash::reduce;

use super::counters::{self, COUNTER_LINES, Counters};
use crate::arch::{self, Simd, prefetch};
use crate::blocked::Counted;
use crate::blocked::line::Line;
use crate::rolling::AHEAD;
use crate::{
    BlockedBloomFilter, CountingBloomParams, CountingBloomView, Error, ExactMerge, Fingerprint, Key,
    KeyHasher, Merge, Sketch, WyHasher,
};

/// A blocked Bloom filter from which keys can be removed: beside each bit, a counter of how many of the inserted keys have
/// it.
///
/// Holds a multiset: a key that was inserted three times is there until it was removed three times (from 15 copies on for ever). Queries look at the
/// bits alone, and take the time of a [`BlockedBloomFilter`]; insertions and removals touch the counters too.
///
/// * Error: one-sided. A key that is held is always found; a stranger is found with the probability
///   [`CountingBloomParams::fpr`] of the distinct keys held.
/// * Counters have four bits. One that gets to 15 sticks there, since it may have missed some: its bit is never cleared
///   again, and only [`clear`](Self::clear) frees it. Copies of one key do that, from the 15th on, for the bits of that
///   key; among distinct keys within the design load it is next to impossible (see
///   [`saturated_cells`](Self::saturated_cells)).
/// * **Remove only what was inserted.** A stranger that the filter wrongly says yes to can be removed, and takes away
///   counts that belong to others: keys that share bits with it may then be denied. The filter cannot tell; what it can
///   tell, it refuses.
/// * Merging adds the counters. Exact for histories without removals: the bytes of the merged filter are those of the whole
///   stream's filter, since min(15, a + b) groups as it likes. With removals it is exact as long as no counter sticks
///   and no shard refuses one that another's keys would have allowed.
///   There is no intersection: the counts of common keys are not known.
/// * Memory: five times the bits of a blocked filter.
///
/// # Source
///
/// `[FanEtAl00]`; lines: `[PutzeSandersSingler07]`.
#[derive(Clone)]
pub struct CountingBloomFilter<H = WyHasher> {
    params: CountingBloomParams,
    lines: Box<[Line]>,
    counters: Box<[Counters]>,
    simd: Simd,
    hasher: H,
}

impl CountingBloomFilter {
    /// An empty filter with the default hasher.
    pub fn new(params: CountingBloomParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }

    /// Decodes a filter made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a filter made with the default hasher where its bytes lie: see [`CountingBloomView`].
    ///
    /// # Errors
    ///
    /// As [`CountingBloomFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<CountingBloomView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> CountingBloomFilter<H> {
    /// Adds a copy of a key; true if a bit changed, false if the filter would have said yes before. It is counted in
    /// either case.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Takes back one insertion of a key: for keys that were inserted, and not removed as often since. Others may take
    /// away what belongs to keys that are held. `Ok` does not say that the key is gone: while copies are left it is there,
    /// and where all of its counters stick it stays.
    ///
    /// # Errors
    ///
    /// [`Error::NotPresent`] if the filter says no to the key, which is then not held; nothing is changed.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.remove_hash(self.hasher.hash_key(key))
    }

    /// False is certain: the key is not held. True is a hint: a stranger gets it with the filter's rate of false
    /// positives.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> CountingBloomFilter<H> {
    /// An empty filter with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`CountingBloomParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: CountingBloomParams, hasher: H) -> Self {
        // In range: the parameters keep to the address space.
        let count = params.lines() as usize;
        let (lines, counters) = (vec![Line::EMPTY; count], vec![counters::NONE; count]);
        Self::from_parts(params, lines.into_boxed_slice(), counters.into_boxed_slice(), hasher)
    }

    /// Opens a filter where its bytes lie, in constant time: see [`CountingBloomView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload, which is neither checked against its checksum (see
    /// [`CountingBloomView::verify`]) nor the bits against the counters.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<CountingBloomView<'_, H>, Error> {
        CountingBloomView::open(bytes, hasher)
    }

    /// As [`CountingBloomFilter::insert`], for a hash by this filter's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let at = reduce(hash, self.lines.len() as u64) as usize;
        let (counters, k) = (&mut self.counters[at], self.params.k());
        counters::for_each_cell(hash, k, |cell| counters::add(counters, cell));
        arch::line::insert(self.simd, &mut self.lines[at].0, hash, k)
    }

    /// As [`CountingBloomFilter::remove`], for a hash by this filter's hasher.
    ///
    /// # Errors
    ///
    /// As [`CountingBloomFilter::remove`].
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
        let at = reduce(hash, self.lines.len() as u64) as usize;
        let (line, k) = (&mut self.lines[at].0, self.params.k());
        // A counter is 0 just where its bit is not set.
        if !arch::line::contains(self.simd, line, hash, k) {
            return Err(Error::NotPresent);
        }
        let counters = &mut self.counters[at];
        counters::for_each_cell(hash, k, |cell| {
            let gone = counters::take(counters, cell);
            line[(cell / 8) as usize % line.len()] &= !(u8::from(gone) << (cell % 8));
        });
        Ok(())
    }

    /// As [`CountingBloomFilter::contains`], for a hash by this filter's hasher.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let at = reduce(hash, self.lines.len() as u64) as usize;
        arch::line::contains(self.simd, &self.lines[at].0, hash, self.params.k())
    }

    /// Adds many hashes, fetching the memory of later ones ahead.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        let count = self.lines.len() as u64;
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + AHEAD) {
                let at = reduce(later, count);
                prefetch(&self.lines, at);
                let counters = self.counters.as_flattened();
                (0..COUNTER_LINES as u64)
                    .for_each(|line| prefetch(counters, at * COUNTER_LINES as u64 + line));
            }
            self.insert_hash(hash);
        }
    }

    /// Answers [`CountingBloomFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later ones
    /// ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        let count = hashes.len().min(found.len());
        let (hashes, found) = (&hashes[..count], &mut found[..count]);
        arch::line::contains_batch(self.simd, &self.lines, self.params.k(), hashes, found);
        count
    }

    /// A filter with the same answers and without the counters, a fifth of the memory: to ship to where keys are only
    /// asked for.
    pub fn to_blocked(&self) -> BlockedBloomFilter<H> {
        BlockedBloomFilter::from_parts(self.params.blocked(), self.lines.clone(), self.hasher.clone())
    }

    /// The shape.
    pub fn params(&self) -> CountingBloomParams {
        self.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no key is held, and none of those that were has left a sticky counter.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| *line == Line::EMPTY)
    }

    /// Forgets every key, and frees the sticky counters.
    pub fn clear(&mut self) {
        self.lines.fill(Line::EMPTY);
        self.counters.fill(counters::NONE);
    }

    /// Bytes of bits and counters.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.lines) + size_of_val(&*self.counters)
    }

    /// How many counters are at 15 and stick there, so that their bits stay set until [`CountingBloomFilter::clear`].
    /// Counts them: time in the size of the filter.
    ///
    /// The 15th copy of a key makes the key's bits stick. Where there are no copies, it takes several times the design load
    /// before a first counter does.
    pub fn saturated_cells(&self) -> u64 {
        self.counters.as_flattened().iter().map(|line| counters::sticky(&line.0)).sum()
    }

    /// Share of the bits that are set, within 0..=1. Counts them: time in the size of the filter.
    pub fn fill_ratio(&self) -> f64 {
        self.counted().fill
    }

    /// Estimated number of distinct keys held, from the fill: unbiased to first order, infinite when every bit is set.
    /// Bits that stick count as those of keys.
    pub fn estimated_len(&self) -> f64 {
        self.counted().len(self.params.blocked())
    }

    /// The rate of false positives of this very filter, a probability: that of each line by its fill, averaged over the
    /// lines.
    pub fn estimated_fpr(&self) -> f64 {
        self.counted().fpr
    }

    /// Whether the filter holds more than it was designed for: as [`BlockedBloomFilter::is_saturated`]. About the bits,
    /// not about counters that stick: see [`CountingBloomFilter::saturated_cells`].
    pub fn is_saturated(&self) -> bool {
        self.counted().is_saturated(self.params.blocked())
    }

    pub(crate) fn planes(&self) -> (&[Line], &[Counters]) {
        (&self.lines, &self.counters)
    }

    pub(crate) fn from_parts(
        params: CountingBloomParams,
        lines: Box<[Line]>,
        counters: Box<[Counters]>,
        hasher: H,
    ) -> Self {
        Self { params, lines, counters, simd: Simd::detect(), hasher }
    }

    fn counted(&self) -> Counted {
        Counted::of(&self.lines, self.params.blocked())
    }

    fn compatible(&self, other: &Self) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.blocked().compatible(&other.params.blocked())
    }
}

/// Adds the counters; those that reach 15 stick.
impl<H: Fingerprint> Merge for CountingBloomFilter<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        for (mine, theirs) in self.counters.iter_mut().zip(&other.counters) {
            counters::merge(mine, theirs);
        }
        for (mine, theirs) in self.lines.iter_mut().zip(&other.lines) {
            mine.0.iter_mut().zip(&theirs.0).for_each(|(mine, theirs)| *mine |= theirs);
        }
        Ok(())
    }
}

/// For histories of insertions alone, and for others as long as no counter sticks. A counter that stuck in one shard
/// before keys were removed there sticks in the merged filter too; in the whole stream's filter it might not have, or
/// another might.
impl<H: Fingerprint> ExactMerge for CountingBloomFilter<H> {}

/// Equal shape, hasher and counters: the same bytes.
impl<H: Fingerprint> PartialEq for CountingBloomFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.counters == other.counters
    }
}

impl<H: KeyHasher, K: Key> Extend<K> for CountingBloomFilter<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for CountingBloomFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingBloomFilter")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
