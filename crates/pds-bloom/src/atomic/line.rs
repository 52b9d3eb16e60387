//! A cache line that threads share.

use core::sync::atomic::AtomicU64;

use super::words::AtomicWord;
use crate::arch::{self, Simd};
use crate::blocked::line::{LINE_BYTES, Line};
use crate::blocked::probes;

/// Words of a line.
const WORDS: usize = LINE_BYTES / 8;

/// A line of eight words, aligned as the cache is. A word holds the value of its eight bytes in little-endian order, on
/// every platform: bit i of the line is bit i % 64 of word i / 64.
#[repr(C, align(64))]
pub(crate) struct AtomicLine<W = AtomicU64>([W; WORDS]);

impl<W: AtomicWord> AtomicLine<W> {
    pub(crate) fn new(line: &Line) -> Self {
        Self(words(line).map(W::new))
    }

    /// The line as it is, each word read once.
    #[inline]
    pub(crate) fn load(&self) -> Line {
        let mut line = Line::EMPTY;
        let (chunks, _) = line.0.as_chunks_mut();
        for (bytes, word) in chunks.iter_mut().zip(&self.0) {
            *bytes = word.load().to_le_bytes();
        }
        line
    }

    /// Sets the bits of another line; true if this call set one of them.
    pub(crate) fn set(&self, bits: &Line) -> bool {
        let words = self.0.iter().zip(words(bits));
        words.fold(false, |changed, (word, bits)| changed | word.set(bits))
    }

    /// Sets the `k` bits of a hash, those of a word at once; true if this call set one of them.
    ///
    /// First all bits are looked at, without a branch on each: which words a key falls into cannot be predicted.
    #[inline]
    pub(crate) fn insert(&self, hash: u64, k: u32) -> bool {
        let (mut bits, mut missing) = ([0; WORDS], 0u32);
        probes::for_each(hash, k, |place| {
            let at = word_of(place);
            bits[at] |= 1 << (place % 64);
            missing |= (!self.bit(place) as u32 & 1) << at;
        });
        let mut changed = false;
        while missing != 0 {
            let at = missing.trailing_zeros() as usize % WORDS;
            changed |= self.0[at].fetch_or(bits[at]) & bits[at] != bits[at];
            missing &= missing - 1;
        }
        changed
    }

    /// Whether the `k` bits of a hash are set: in a copy, which the owned filter's code is asked about. It takes four fifths
    /// of the time of looking at the bits here one by one.
    #[inline]
    pub(crate) fn contains(&self, simd: Simd, hash: u64, k: u32) -> bool {
        arch::line::contains(simd, &self.load().0, hash, k)
    }

    /// Whether a bit is set, in the lowest place; the others are anything.
    #[inline]
    fn bit(&self, place: u32) -> u64 {
        self.0[word_of(place)].load() >> (place % 64)
    }
}

/// The word of a bit: below their number, which the remainder says to the compiler.
#[inline]
fn word_of(place: u32) -> usize {
    (place / 64) as usize % WORDS
}

fn words(line: &Line) -> [u64; WORDS] {
    let (chunks, _) = line.0.as_chunks();
    core::array::from_fn(|i| u64::from_le_bytes(chunks[i]))
}
