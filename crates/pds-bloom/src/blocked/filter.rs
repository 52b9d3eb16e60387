//! The blocked filter.

use alloc::boxed::Box;
use alloc::vec;
use core::borrow::Borrow;
use core::fmt;

use pds_core::same_hasher;
use pds_hash::reduce;

use super::law;
use super::line::{self, Line};
use crate::arch::{self, Simd};
use crate::{
    BlockedBloomParams, BlockedBloomView, Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Sketch,
    WyHasher,
};

/// A Bloom filter whose bits lie, for each key, in one cache line of 64 bytes: a query waits for memory once.
///
/// * Error: one-sided. A key that was inserted is always found; a stranger is found with the probability
///   [`BlockedBloomParams::fpr`], which for the same memory is above a classic filter's, since lines fill unevenly.
/// * Merging is exact: the bits of the merged filter are those of the whole stream's filter.
/// * Keys cannot be removed, listed or counted exactly.
///
/// # Source
///
/// `[PutzeSandersSingler07]`.
#[derive(Clone)]
pub struct BlockedBloomFilter<H = WyHasher> {
    params: BlockedBloomParams,
    lines: Box<[Line]>,
    simd: Simd,
    hasher: H,
}

impl BlockedBloomFilter {
    /// An empty filter with the default hasher.
    pub fn new(params: BlockedBloomParams) -> Self {
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

    /// Opens a filter made with the default hasher where its bytes lie: see [`BlockedBloomView`].
    ///
    /// # Errors
    ///
    /// As [`BlockedBloomFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<BlockedBloomView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> BlockedBloomFilter<H> {
    /// Adds a key; true if a bit changed, false if the filter would have said yes before.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// False is certain: the key was not inserted. True is a hint: a stranger gets it with the filter's rate of
    /// false positives.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> BlockedBloomFilter<H> {
    /// An empty filter with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`BlockedBloomParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: BlockedBloomParams, hasher: H) -> Self {
        // In range: the parameters keep to the address space.
        Self::from_parts(params, vec![Line::EMPTY; params.lines() as usize].into_boxed_slice(), hasher)
    }

    /// Opens a filter where its bytes lie, in constant time: see [`BlockedBloomView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`BlockedBloomView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<BlockedBloomView<'_, H>, Error> {
        BlockedBloomView::open(bytes, hasher)
    }

    /// As [`BlockedBloomFilter::insert`], for a hash by this filter's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let at = reduce(hash, self.lines.len() as u64) as usize;
        arch::line::insert(self.simd, &mut self.lines[at].0, hash, self.params.k())
    }

    /// As [`BlockedBloomFilter::insert_hash`]; how many bits changed.
    #[inline]
    pub(crate) fn insert_counted(&mut self, hash: u64) -> u32 {
        let at = reduce(hash, self.lines.len() as u64) as usize;
        let line = &mut self.lines[at].0;
        let before = line::ones(line);
        arch::line::insert(self.simd, line, hash, self.params.k());
        line::ones(line) - before
    }

    /// How many bits are set.
    pub(crate) fn ones(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line::ones(&line.0))).sum()
    }

    /// As [`BlockedBloomFilter::contains`], for a hash by this filter's hasher.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let at = reduce(hash, self.lines.len() as u64) as usize;
        arch::line::contains(self.simd, &self.lines[at].0, hash, self.params.k())
    }

    /// Adds many hashes, fetching the memory of later ones ahead.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        arch::line::insert_batch(self.simd, &mut self.lines, self.params.k(), hashes);
    }

    /// Answers [`BlockedBloomFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later
    /// ones ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        let count = hashes.len().min(found.len());
        let (hashes, found) = (&hashes[..count], &mut found[..count]);
        arch::line::contains_batch(self.simd, &self.lines, self.params.k(), hashes, found);
        count
    }

    /// Keeps the bits that `other` has too: the filter then says yes to every key of both, and to strangers more
    /// often than a filter of the intersection would.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`]; `self` is then unchanged.
    pub fn intersect(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        self.combine(other, |mine, theirs| mine & theirs);
        Ok(())
    }

    /// The shape.
    pub fn params(&self) -> BlockedBloomParams {
        self.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| *line == Line::EMPTY)
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.lines.fill(Line::EMPTY);
    }

    /// Bytes of the bit array.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }

    /// Share of the bits that are set, within 0..=1. Counts them: time in the size of the filter.
    pub fn fill_ratio(&self) -> f64 {
        Counted::of(&self.lines, self.params).fill
    }

    /// Estimated number of distinct keys, from the fill: unbiased to first order, infinite when every bit is set.
    /// After [`BlockedBloomFilter::intersect`] it means nothing.
    pub fn estimated_len(&self) -> f64 {
        Counted::of(&self.lines, self.params).len(self.params)
    }

    /// The rate of false positives of this very filter, a probability: that of each line by its fill, averaged over
    /// the lines.
    pub fn estimated_fpr(&self) -> f64 {
        Counted::of(&self.lines, self.params).fpr
    }

    /// Whether the filter holds more than it was designed for: its fill is above the one of the design rate by more
    /// than chance explains (a filter at its design load raises the alarm with a chance below 1e-9), or every bit is
    /// set. A raw shape has no design rate: more than half of its bits are set.
    pub fn is_saturated(&self) -> bool {
        Counted::of(&self.lines, self.params).is_saturated(self.params)
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(crate) fn from_parts(params: BlockedBloomParams, lines: Box<[Line]>, hasher: H) -> Self {
        Self { params, lines, simd: Simd::detect(), hasher }
    }

    fn combine(&mut self, other: &Self, with: impl Fn(u8, u8) -> u8) {
        for (mine, theirs) in self.lines.iter_mut().zip(&other.lines) {
            for (mine, theirs) in mine.0.iter_mut().zip(&theirs.0) {
                *mine = with(*mine, *theirs);
            }
        }
    }

    fn compatible(&self, other: &Self) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.compatible(&other.params)
    }
}

impl BlockedBloomParams {
    /// Whether the lines of filters of these shapes can be combined.
    pub(crate) fn compatible(&self, other: &Self) -> Result<(), Error> {
        let differs = |field| Err(Error::Incompatible { field });
        if self.lines() != other.lines() {
            differs("bits")
        } else if self.k() != other.k() {
            differs("k")
        } else if self.design_fpr() != other.design_fpr() {
            differs("design_fpr")
        } else {
            Ok(())
        }
    }
}

/// What counting the bits tells, of a filter or of a view.
pub(crate) struct Counted {
    pub(crate) fill: f64,
    pub(crate) fpr: f64,
}

impl Counted {
    pub(crate) fn of<L: Borrow<[u8; line::LINE_BYTES]>>(lines: &[L], params: BlockedBloomParams) -> Self {
        Self::of_each(lines.iter(), params)
    }

    /// Of lines that do not lie side by side.
    pub(crate) fn of_each<'a, L: Borrow<[u8; line::LINE_BYTES]> + 'a>(
        lines: impl ExactSizeIterator<Item = &'a L>,
        params: BlockedBloomParams,
    ) -> Self {
        let count = lines.len() as f64;
        // How many lines have so many ones: integers, so that the order of the sum does not matter.
        let mut histogram = [0u64; line::LINE_BYTES * 8 + 1];
        for line in lines {
            histogram[line::ones(line.borrow()) as usize] += 1;
        }
        let (mut ones, mut fpr) = (0, 0.0);
        for (set, &lines) in histogram.iter().enumerate().filter(|(_, lines)| **lines > 0) {
            ones += set as u64 * lines;
            fpr += lines as f64 * law::rate_of_ones(params.k(), set as u32);
        }
        Self { fill: ones as f64 / (count * (line::LINE_BYTES * 8) as f64), fpr: fpr / count }
    }

    pub(crate) fn len(&self, params: BlockedBloomParams) -> f64 {
        law::keys_for_fill(params.lines(), params.k(), self.fill)
    }

    pub(crate) fn is_saturated(&self, params: BlockedBloomParams) -> bool {
        /// The fill at which a bit tells most.
        const HALF: f64 = 0.5;
        let alarm =
            params.design_keys().map_or(HALF, |keys| law::fill_alarm(params.lines(), params.k(), keys));
        self.fill > alarm || self.fill >= 1.0
    }
}

impl<H: Fingerprint> Merge for BlockedBloomFilter<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        self.combine(other, |mine, theirs| mine | theirs);
        Ok(())
    }
}

impl<H: Fingerprint> ExactMerge for BlockedBloomFilter<H> {}

/// Equal shape, hasher and bits: the same bytes.
impl<H: Fingerprint> PartialEq for BlockedBloomFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.lines == other.lines
    }
}

impl<H: KeyHasher, K: Key> Extend<K> for BlockedBloomFilter<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the shape, not the bits.
impl<H: fmt::Debug> fmt::Debug for BlockedBloomFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockedBloomFilter")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
