//! The query, over the bytes of owned and of borrowed filters.

use super::geometry::{BUCKET, Geometry, LOG2_BUCKET, Layer, THRESHOLDS, WIDTH, fingerprint};
use crate::arch::prefetch;
use crate::seeds::seeded;

/// A filter's words, little-endian: as many as its geometry has.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a>(&'a [[u8; 8]]);

impl<'a> Words<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }

    #[inline]
    fn get(self, index: u64) -> u64 {
        u64::from_le_bytes(self.0[index as usize])
    }
}

/// Whether a hash solves its equation, in the layer that took it in.
#[inline]
pub(crate) fn contains(geometry: &Geometry, words: Words<'_>, hash: u64) -> bool {
    let mut hash = hash;
    for layer in geometry.layers() {
        hash = seeded(hash, layer.seed);
        if !bumped(layer, words, hash) {
            return solves(layer, words, hash);
        }
    }
    false
}

#[inline]
fn bumped(layer: &Layer, words: Words<'_>, hash: u64) -> bool {
    if !layer.bumping {
        return false;
    }
    let start = layer.start(hash);
    let threshold = threshold(layer, words, start >> LOG2_BUCKET);
    // The last bucket is bumped whole, whatever the bytes say: windows that begin there would leave the layer.
    start % BUCKET < threshold || start + BUCKET >= layer.rows()
}

/// The keys of a bucket whose first row, counted from the bucket's, is below are bumped.
#[inline]
pub(crate) fn threshold(layer: &Layer, words: Words<'_>, bucket: u64) -> u64 {
    let (word, shift) = layer.threshold(bucket);
    u64::from(THRESHOLDS[(words.get(word) >> shift & 3) as usize])
}

#[inline]
fn solves(layer: &Layer, words: Words<'_>, hash: u64) -> bool {
    let equation = layer.equation(hash);
    let (block, shift) = (equation.start / WIDTH, (equation.start % WIDTH) as u32);
    // The coefficients are moved to the rows, not the rows to the coefficients: once for all columns.
    let low = equation.coefficients << shift;
    let high = (equation.coefficients >> 1) >> (WIDTH as u32 - 1 - shift);
    let ((first, columns), fingerprint) = (layer.block(block), fingerprint(hash));
    if columns == 0 {
        return true;
    }
    // A window that begins with a block ends with it; the word that is read is a copy of one that there is.
    let next = if high == 0 { first } else { layer.block(block + 1).0 };
    let columns = columns as usize;
    let first = &words.0[first as usize..first as usize + columns];
    let next = &words.0[next as usize..next as usize + columns];
    let mut wrong = 0;
    for (column, (low_word, high_word)) in first.iter().zip(next).enumerate() {
        let sum = u64::from_le_bytes(*low_word) & low ^ u64::from_le_bytes(*high_word) & high;
        wrong |= sum.count_ones() ^ (fingerprint >> column);
    }
    wrong & 1 == 0
}

/// Asks for the lines of a hash in the first layer: of two blocks side by side, the first byte's and the last one's. Where
/// the first has no column nothing is read.
#[inline]
fn ask(geometry: &Geometry, bytes: &[u8], hash: u64) {
    if let Some(layer) = geometry.layers().first() {
        let (word, columns) = layer.block(layer.start(seeded(hash, layer.seed)) / WIDTH);
        let (first, length) = (word as usize * 8, columns as usize * 16);
        if length > 0 {
            prefetch(bytes, first);
            prefetch(bytes, first.saturating_add(length - 1));
        }
    }
}

/// Filters below this size are asked without a prefetch: they live in the first two caches, where it only costs. It pays
/// earlier than in the other filters, since a query is too long for the processor to have many under way by itself.
const PREFETCH_BYTES: usize = 1 << 20;

/// How many hashes lie between asking for the lines of one and looking at them.
const AHEAD: usize = 16;

/// Answers for the first min(lengths) hashes, and returns that number.
pub(crate) fn contains_batch(geometry: &Geometry, bytes: &[u8], hashes: &[u64], found: &mut [bool]) -> usize {
    let count = hashes.len().min(found.len());
    let (hashes, found) = (&hashes[..count], &mut found[..count]);
    let words = Words::new(bytes);
    let ahead = bytes.len() >= PREFETCH_BYTES;
    for (i, (found, &hash)) in found.iter_mut().zip(hashes).enumerate() {
        if ahead && let Some(&later) = hashes.get(i + AHEAD) {
            ask(geometry, bytes, later);
        }
        *found = contains(geometry, words, hash);
    }
    count
}
