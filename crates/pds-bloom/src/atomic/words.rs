//! Words that threads share, and the classic filter's insertions into them. Bits are only ever set.

use alloc::boxed::Box;
use core::sync::atomic::{AtomicU64, Ordering};

use pds_hash::Probes;

use crate::arch;
use crate::classic::bits::Bits;

/// A word that threads share. The models of the tests have one of their own.
pub(crate) trait AtomicWord {
    fn new(value: u64) -> Self;

    fn load(&self) -> u64;

    /// Sets bits; what the word was before.
    fn fetch_or(&self, bits: u64) -> u64;

    /// Sets bits; true if this call set one of them, false if others had set them all.
    ///
    /// A word that has them is only read, so that the caches of several processors can keep its line.
    #[inline]
    fn set(&self, bits: u64) -> bool {
        self.load() & bits != bits && self.fetch_or(bits) & bits != bits
    }
}

/// Relaxed: a bit says nothing about other memory, and what has to be seen is published by the user's own means.
impl AtomicWord for AtomicU64 {
    #[inline]
    fn new(value: u64) -> Self {
        Self::new(value)
    }

    #[inline]
    fn load(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn fetch_or(&self, bits: u64) -> u64 {
        self.fetch_or(bits, Ordering::Relaxed)
    }
}

/// Filters below this size live in the first two caches, where a prefetch only costs.
const PREFETCH_BYTES: usize = 1 << 19;

/// How many hashes lie between asking for lines and setting bits in them.
const AHEAD: usize = 16;

/// The words of a classic filter: at least one. Bit i is bit i % 64 of word i / 64.
pub(crate) struct AtomicWords<W = AtomicU64>(Box<[W]>);

impl<W: AtomicWord> AtomicWords<W> {
    pub(crate) fn new(words: impl Iterator<Item = u64>) -> Self {
        Self(words.map(W::new).collect())
    }

    /// The words as they are, each read once.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(W::load)
    }

    /// The words, in the same memory where the standard library collects in place.
    pub(crate) fn into_inner(self) -> Box<[u64]> {
        self.0.into_vec().into_iter().map(|word| word.load()).collect()
    }

    pub(crate) fn clear(&mut self) {
        self.0.fill_with(|| W::new(0));
    }

    /// Sets the bits of each word that `words` has.
    pub(crate) fn union_with(&self, words: &[u64]) {
        for (mine, &theirs) in self.0.iter().zip(words) {
            mine.set(theirs);
        }
    }

    /// Sets the `k` bits of a hash; true if this call set one of them.
    #[inline]
    pub(crate) fn insert(&self, k: u32, hash: u64) -> bool {
        let mut probes = Probes::new(hash);
        (0..k).fold(false, |changed, _| {
            let (word, bit) = probes.next(self.0.len() as u64);
            changed | self.0[word as usize].set(1 << bit)
        })
    }

    /// Sets the bits of each hash, with its lines on their way.
    pub(crate) fn insert_batch(&self, k: u32, hashes: &[u64]) {
        let ahead = self.bytes() >= PREFETCH_BYTES;
        for (i, &hash) in hashes.iter().enumerate() {
            if ahead && let Some(&later) = hashes.get(i + AHEAD) {
                let mut probes = Probes::new(later);
                (0..k).for_each(|_| self.prefetch(&mut probes));
            }
            self.insert(k, hash);
        }
    }
}

/// The queries are those of the owned filter.
impl<W: AtomicWord> Bits for AtomicWords<W> {
    #[inline]
    fn bit(&self, probes: &mut Probes) -> u64 {
        let (word, bit) = probes.next(self.0.len() as u64);
        self.0[word as usize].load() >> bit
    }

    #[inline]
    fn prefetch(&self, probes: &mut Probes) {
        arch::prefetch(&self.0, probes.next(self.0.len() as u64).0);
    }

    fn ones(&self) -> u64 {
        self.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}
