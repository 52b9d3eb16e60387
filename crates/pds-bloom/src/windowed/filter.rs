//! The windowed filter.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use pds_core::same_hasher;

use super::window::{self, Window};
use crate::arch::{self, Simd, prefetch};
use crate::blocked::line::Line;
use crate::rolling::AHEAD;
use crate::{
    Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Sketch, WindowedBloomParams, WindowedBloomView,
    WyHasher,
};

/// A Bloom filter that forgets: several generations of a blocked filter side by side, of which one takes the insertions,
/// and the oldest is emptied to make room for the next.
///
/// When a generation ends is for the caller to say, by [`advance`](WindowedBloomFilter::advance): after so many keys, or so
/// much time by a clock of the caller's. There is no clock inside.
///
/// * Lifetime: of G generations, a key is found from its insertion on until G - 1 advances have been made, at least. With
///   the advance after that it is gone, but for false positives. Advances every t seconds: a key is found for (G - 1) t
///   seconds at least, and no longer than G t. Inserting it again begins its life again.
/// * Error: one-sided within that lifetime. A stranger, or a key that is too old, is found with the probability
///   [`WindowedBloomParams::fpr`].
/// * A query reads the G lines of a block index, which are neighbours in memory.
/// * Merging is exact between filters that have advanced equally often: the bits of the merged filter are those of the
///   filter of both streams, with advances at the same times. Others are refused.
///
/// # Source
///
/// Filters that take turns, two of them: `[ChangFengLi04]`. Lines: `[PutzeSandersSingler07]`.
#[derive(Clone)]
pub struct WindowedBloomFilter<H = WyHasher> {
    params: WindowedBloomParams,
    generation: u64,
    /// Where in the ring the current generation is: follows from `generation`.
    current: usize,
    lines: Box<[Line]>,
    simd: Simd,
    hasher: H,
}

impl WindowedBloomFilter {
    /// An empty filter with the default hasher, in generation 0.
    pub fn new(params: WindowedBloomParams) -> Self {
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

    /// Opens a filter made with the default hasher where its bytes lie: see [`WindowedBloomView`].
    ///
    /// # Errors
    ///
    /// As [`WindowedBloomFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<WindowedBloomView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> WindowedBloomFilter<H> {
    /// Adds a key to the current generation, whether or not an older one has it; true if a bit of the current one changed.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// False is certain: the key was not inserted in any of the generations that there are. True is a hint: a stranger
    /// gets it with the filter's rate of false positives.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// How many advances ago the key was inserted last: 0 for the current generation, at most `generations` - 1; `None` is
    /// certain, as a no of [`WindowedBloomFilter::contains`].
    ///
    /// Never too old, but too young where a younger generation wrongly says yes.
    #[inline]
    pub fn age<K: Key + ?Sized>(&self, key: &K) -> Option<u32> {
        self.age_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> WindowedBloomFilter<H> {
    /// An empty filter with a hasher of one's own, in generation 0.
    ///
    /// Aborts, as every allocation does, if the memory of [`WindowedBloomParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: WindowedBloomParams, hasher: H) -> Self {
        // In range: the parameters keep to the address space.
        let count = params.each().lines() as usize * params.generations() as usize;
        Self::from_parts(params, 0, vec![Line::EMPTY; count].into_boxed_slice(), hasher)
    }

    /// Opens a filter where its bytes lie, in constant time: see [`WindowedBloomView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`WindowedBloomView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<WindowedBloomView<'_, H>, Error> {
        WindowedBloomView::open(bytes, hasher)
    }

    /// Ends the current generation: the oldest one is emptied and becomes the current one.
    ///
    /// Writes the lines of one generation, which lie all over the memory.
    pub fn advance(&mut self) {
        // Behind the last number there is, the smallest with the next position in the ring.
        let next = (self.current + 1) % self.params.generations() as usize;
        self.generation = self.generation.checked_add(1).unwrap_or(next as u64);
        self.current = next;
        for line in self.lines[next..].iter_mut().step_by(self.params.generations() as usize) {
            *line = Line::EMPTY;
        }
    }

    /// Advances until the current generation is `generation`; does nothing if it is that or a later one already.
    ///
    /// For a number that is derived from a clock, whatever time has passed, and for shards that are to merge. Takes no more
    /// time than emptying the filter.
    pub fn advance_to(&mut self, generation: u64) {
        let generations = u64::from(self.params.generations());
        if generation.saturating_sub(self.generation) < generations {
            (self.generation..generation).for_each(|_| self.advance());
        } else {
            self.clear();
            self.generation = generation;
            self.current = (generation % generations) as usize;
        }
    }

    /// How often the filter was advanced. (After 2^64 advances it begins again, below the number of generations.)
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// As [`WindowedBloomFilter::insert`], for a hash by this filter's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let at = window::start(&self.params, hash) + self.current;
        arch::line::insert(self.simd, &mut self.lines[at].0, hash, self.params.k())
    }

    /// As [`WindowedBloomFilter::contains`], for a hash by this filter's hasher.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.window().contains(hash)
    }

    /// As [`WindowedBloomFilter::age`], for a hash by this filter's hasher.
    #[inline]
    pub fn age_hash(&self, hash: u64) -> Option<u32> {
        self.window().age(hash)
    }

    /// Adds many hashes to the current generation, fetching the memory of later ones ahead.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + AHEAD) {
                prefetch(&self.lines, (window::start(&self.params, later) + self.current) as u64);
            }
            self.insert_hash(hash);
        }
    }

    /// Answers [`WindowedBloomFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later ones
    /// ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        let count = hashes.len().min(found.len());
        self.window().contains_batch(&hashes[..count], &mut found[..count]);
        count
    }

    /// The shape.
    pub fn params(&self) -> WindowedBloomParams {
        self.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no generation has a key.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| *line == Line::EMPTY)
    }

    /// Forgets every key of every generation. The number of the generation stays.
    pub fn clear(&mut self) {
        self.lines.fill(Line::EMPTY);
    }

    /// Bytes of all generations.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }

    /// Share of the bits of all generations that are set, within 0..=1. Counts them: time in the size of the filter.
    pub fn fill_ratio(&self) -> f64 {
        self.window().fill_ratio()
    }

    /// Estimated number of distinct keys of one generation, from its fill: unbiased to first order, infinite when every bit
    /// is set. `age` 0 is the current generation; `None` from the number of generations on.
    ///
    /// Keys that came again in another generation count in each.
    pub fn estimated_len_of(&self, age: u32) -> Option<f64> {
        self.window().counted(age).map(|counted| counted.len(self.params.each()))
    }

    /// The rate of false positives of this very filter, a probability: the chance that one of the lines of a block says
    /// yes by its fill, averaged over the blocks.
    ///
    /// Lines of one block are taken to be independent. Keys that were inserted in several generations make them alike, and
    /// the true rate is lower.
    pub fn estimated_fpr(&self) -> f64 {
        self.window().estimated_fpr()
    }

    /// Whether the current generation holds more than it was designed for, so that it is time to advance: its fill is above
    /// the one of its share of the design rate by more than chance explains (a generation at its design load raises the
    /// alarm with a chance below 1e-9), or every bit of it is set. A raw shape has no design rate: more than half of the
    /// generation's bits are set.
    ///
    /// Older generations do not count: what they were filled with shows in [`WindowedBloomFilter::estimated_fpr`].
    pub fn is_saturated(&self) -> bool {
        self.window().is_saturated()
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(crate) fn from_parts(
        params: WindowedBloomParams,
        generation: u64,
        lines: Box<[Line]>,
        hasher: H,
    ) -> Self {
        let current = window::position(&params, generation);
        Self { params, generation, current, lines, simd: Simd::detect(), hasher }
    }

    #[inline]
    fn window(&self) -> Window<'_, Line> {
        Window { params: self.params, lines: &self.lines, current: self.current, simd: self.simd }
    }

    fn compatible(&self, other: &Self) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.compatible(&other.params)?;
        if self.generation == other.generation {
            Ok(())
        } else {
            Err(Error::Incompatible { field: "generation" })
        }
    }
}

/// Only between filters of one generation number: it names the keys' ages.
impl<H: Fingerprint> Merge for WindowedBloomFilter<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        for (mine, theirs) in self.lines.iter_mut().zip(&other.lines) {
            mine.0.iter_mut().zip(&theirs.0).for_each(|(mine, theirs)| *mine |= theirs);
        }
        Ok(())
    }
}

/// For streams in which the advances stand at the same times.
impl<H: Fingerprint> ExactMerge for WindowedBloomFilter<H> {}

/// Equal shape, hasher, generation and bits: the same bytes.
impl<H: Fingerprint> PartialEq for WindowedBloomFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.lines == other.lines
    }
}

/// Into the current generation.
impl<H: KeyHasher, K: Key> Extend<K> for WindowedBloomFilter<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows shape and generation, not the bits.
impl<H: fmt::Debug> fmt::Debug for WindowedBloomFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowedBloomFilter")
            .field("params", &self.params)
            .field("generation", &self.generation)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
