//! One segment of a layer: Gaussian elimination as keys come, and back substitution.
//!
//! The system is a band: a key's coefficients lie within 64 rows. Keys come bucket by bucket, and within a bucket in three
//! groups, from its end to its begin. A group that does not fit is taken back and bumped, with the groups before it.

use alloc::vec::Vec;

use super::geometry::{BUCKET, LOG2_BUCKET, Layer, THRESHOLDS, WIDTH, fingerprint};

/// Memory of a segment while it is solved: 12 bytes a row.
#[derive(Default)]
pub(crate) struct Band {
    /// Coefficients of the row's equation; the lowest bit is set, or none is.
    coefficients: Vec<u64>,
    /// Right-hand sides.
    values: Vec<u32>,
    /// Rows taken by the group in hand.
    taken: Vec<u32>,
}

/// A segment: the rows from `first` up to `end`, of which the last bucket is bumped whole.
pub(crate) struct Segment<'a> {
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// The hashes that start there, in order.
    pub(crate) hashes: &'a [u64],
    /// Where the words of its blocks go.
    pub(crate) words: &'a mut [u8],
    /// Where two bits for each of its buckets go; zero before.
    pub(crate) thresholds: &'a mut [u8],
}

impl Band {
    fn reset(&mut self, rows: u64) {
        self.coefficients.clear();
        self.coefficients.resize(rows as usize, 0);
        self.values.clear();
        self.values.resize(rows as usize, 0);
    }

    /// Solves a segment, and adds the seeded hashes that do not fit to those that are bumped.
    pub(crate) fn solve(&mut self, layer: &Layer, segment: Segment<'_>, bumped: &mut Vec<u64>) {
        let Segment { first, end, hashes, words, thresholds } = segment;
        self.reset(end - first);
        let buckets = (end - first).div_ceil(BUCKET);
        let mut rest = hashes;
        for bucket in 0..buckets {
            let from = first + (bucket << LOG2_BUCKET);
            let (keys, later) = split(layer, rest, from + BUCKET);
            rest = later;
            let threshold =
                if bucket + 1 == buckets { 3 } else { self.insert_bucket(layer, first, from, keys) };
            let below = from + u64::from(THRESHOLDS[usize::from(threshold)]);
            bumped.extend_from_slice(split(layer, keys, below).0);
            thresholds[bucket as usize / 4] |= threshold << (bucket % 4 * 2);
        }
        self.back_substitute(layer, first, words);
    }

    /// Takes in the hashes of a whole layer that bumps nothing, in order; false if they do not fit.
    pub(crate) fn insert_all(&mut self, layer: &Layer, hashes: &[u64]) -> bool {
        self.reset(layer.rows());
        self.taken.clear();
        hashes.iter().all(|&hash| self.insert(layer, 0, hash))
    }

    /// The threshold's number.
    fn insert_bucket(&mut self, layer: &Layer, first: u64, from: u64, keys: &[u64]) -> u8 {
        let mut keys = keys;
        for group in (0..3u8).rev() {
            let (rest, hashes) = split(layer, keys, from + u64::from(THRESHOLDS[usize::from(group)]));
            keys = rest;
            self.taken.clear();
            if !hashes.iter().all(|&hash| self.insert(layer, first, hash)) {
                for &row in &self.taken {
                    self.coefficients[row as usize] = 0;
                }
                return group + 1;
            }
        }
        0
    }

    /// Adds an equation; false if it has no row, being a sum of others. Distinct keys alone come here, so that no sum is
    /// right but by chance.
    #[inline]
    fn insert(&mut self, layer: &Layer, first: u64, hash: u64) -> bool {
        let equation = layer.equation(hash);
        let mut row = (equation.start - first) as usize;
        let (mut coefficients, mut value) = (equation.coefficients, fingerprint(hash));
        loop {
            let present = self.coefficients[row];
            if present == 0 {
                self.coefficients[row] = coefficients;
                self.values[row] = value;
                self.taken.push(row as u32);
                return true;
            }
            coefficients ^= present;
            value ^= self.values[row];
            if coefficients == 0 {
                return false;
            }
            let zeros = coefficients.trailing_zeros();
            coefficients >>= zeros;
            row += zeros as usize;
        }
    }

    /// Columns that are solved at a time, in registers.
    const LANES: usize = 8;

    /// Writes the words of the blocks from row `first` on.
    pub(crate) fn back_substitute(&self, layer: &Layer, first: u64, bytes: &mut [u8]) {
        let words = bytes.as_chunks_mut::<8>().0;
        let blocks = self.coefficients.len() as u64 / WIDTH;
        let (base, _) = layer.block(first / WIDTH);
        let columns = layer.columns as usize + usize::from(layer.split < layer.blocks);
        for group in (0..columns).step_by(Self::LANES) {
            let mut state = [0u64; Self::LANES];
            for block in (0..blocks).rev() {
                let (word, here) = layer.block(first / WIDTH + block);
                let rows = (block * WIDTH) as usize..((block + 1) * WIDTH) as usize;
                for (&coefficients, &value) in
                    self.coefficients[rows.clone()].iter().zip(&self.values[rows]).rev()
                {
                    // A row that no key took is zero.
                    let taken = coefficients & 1;
                    let value = value >> group;
                    for (lane, state) in state.iter_mut().enumerate() {
                        let window = *state << 1;
                        let bit = parity(coefficients & window) ^ u64::from(value >> lane);
                        *state = window | (bit & taken);
                    }
                }
                let here = (here as usize).saturating_sub(group).min(Self::LANES);
                let word = (word - base) as usize + group;
                for (word, state) in words[word..word + here].iter_mut().zip(state) {
                    *word = state.to_le_bytes();
                }
            }
        }
    }
}

/// The parity in the lowest bit; the others are anything. Folded, since lanes are solved side by side in wide registers,
/// which cannot count.
#[inline]
fn parity(mut bits: u64) -> u64 {
    bits ^= bits >> 32;
    bits ^= bits >> 16;
    bits ^= bits >> 8;
    bits ^= bits >> 4;
    bits ^= bits >> 2;
    bits ^ (bits >> 1)
}

/// The hashes that start before a row, and the others.
#[inline]
fn split<'a>(layer: &Layer, hashes: &'a [u64], row: u64) -> (&'a [u64], &'a [u64]) {
    // Buckets are short: a step at a time beats halving.
    let mut count = 0;
    while count < hashes.len() && layer.start(hashes[count]) < row {
        count += 1;
    }
    hashes.split_at(count)
}
