//! Where things lie: layers of rows, in blocks of 64 and buckets of 128, and segments that are solved on their own.
//!
//! A layer of `blocks` blocks has 64 rows each. Block `b` is stored as one word for each column; the blocks from `split` on have
//! one column more than those before. Behind the blocks lie the thresholds, 2 bits for each bucket.

use pds_hash::reduce;
use serde::{Deserialize, Serialize};

use crate::seeds::seed;

/// Rows of a block: the bits of a word, and of the coefficients of a key.
pub(crate) const WIDTH: u64 = 64;

/// log2 of the rows of a bucket. Near w^2 / (4 log2 w) = 170, as published.
pub(crate) const LOG2_BUCKET: u32 = 7;

/// Rows of a bucket.
pub(crate) const BUCKET: u64 = 1 << LOG2_BUCKET;

/// By the bucket's two bits: the keys whose first row is below are bumped. Chosen by trial for the fewest rows left empty.
pub(crate) const THRESHOLDS: [u8; 4] = [0, 24, 52, BUCKET as u8];

/// Rows of a segment: its last bucket is bumped whole, so that it is solved without its neighbours, in the second-level
/// cache.
pub(crate) const SEGMENT: u64 = 1 << 16;

/// Buckets whose thresholds fill a word.
const BUCKETS_PER_WORD: u64 = 32;

/// Layers at most: each takes in what the one before bumped, some 3 in a hundred of its keys.
pub(crate) const MAX_LAYERS: usize = 12;

/// The number of the seed of layers that bump: they cannot fail, and need one.
const BUMPING: u32 = u32::MAX;

/// What is written of a filter, and what its layers follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) columns: u32,
    /// In 2^16ths: the share of blocks with one column more.
    pub(crate) extra: u32,
    /// Distinct hashes.
    pub(crate) keys: u64,
    /// Mixed into the seed of each layer: 0 but for sets that no near-uniform one looks like.
    pub(crate) seed: u64,
    /// The number of the last layer's seed, if that passes nothing on; else 0.
    pub(crate) attempt: u32,
    /// Whether the last layer passes nothing on; else nothing was left for one.
    pub(crate) complete: bool,
    /// Blocks of each layer; 0 where there is none.
    pub(crate) blocks: [u32; MAX_LAYERS],
}

impl Shape {
    /// How many layers there are.
    pub(crate) fn depth(&self) -> usize {
        self.blocks.iter().position(|&blocks| blocks == 0).unwrap_or(MAX_LAYERS)
    }

    /// The seed of every layer that bumps.
    pub(crate) fn bumping_seed(&self) -> u64 {
        seed(BUMPING) ^ self.seed
    }
}

/// The shape of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Layer {
    /// Blocks of 64 rows; 0 if there is no such layer.
    pub(crate) blocks: u64,
    /// The first block that has one column more.
    pub(crate) split: u64,
    /// Columns of the blocks before.
    pub(crate) columns: u32,
    /// Whether it may pass keys on; the last layer may not.
    pub(crate) bumping: bool,
    /// Its first word among those of the filter.
    pub(crate) first_word: u64,
    /// What hashes are seeded with.
    pub(crate) seed: u64,
}

/// A key's equation.
#[derive(Clone, Copy)]
pub(crate) struct Equation {
    /// The first row.
    pub(crate) start: u64,
    /// Which of the 64 rows from there on are summed up; the first is.
    pub(crate) coefficients: u64,
}

impl Layer {
    pub(crate) fn rows(&self) -> u64 {
        self.blocks * WIDTH
    }

    /// The number of first rows: in the last layer, all windows end within it; in others, keys whose window would not are
    /// bumped with the last bucket.
    pub(crate) fn starts(&self) -> u64 {
        if self.bumping { self.rows() } else { self.rows() - (WIDTH - 1) }
    }

    #[inline]
    pub(crate) fn start(&self, hash: u64) -> u64 {
        reduce(hash, self.starts())
    }

    #[inline]
    pub(crate) fn equation(&self, hash: u64) -> Equation {
        /// Odd, from the fractional bits of e: the product's bits are none of the start's.
        const ODD: u64 = 0xb7e1_5162_8aed_2a6b;
        Equation { start: self.start(hash), coefficients: hash.wrapping_mul(ODD).rotate_left(32) | 1 }
    }

    pub(crate) fn buckets(&self) -> u64 {
        if self.bumping { self.rows().div_ceil(BUCKET) } else { 0 }
    }

    /// Words of the blocks.
    pub(crate) fn block_words(&self) -> u64 {
        self.blocks * u64::from(self.columns) + (self.blocks - self.split)
    }

    /// Words of blocks and thresholds.
    pub(crate) fn words(&self) -> u64 {
        self.block_words() + self.buckets().div_ceil(BUCKETS_PER_WORD)
    }

    /// The first word of a block, and its columns.
    #[inline]
    pub(crate) fn block(&self, block: u64) -> (u64, u32) {
        let extra = block.saturating_sub(self.split);
        let wide = block >= self.split;
        (self.first_word + block * u64::from(self.columns) + extra, self.columns + u32::from(wide))
    }

    /// The word with the threshold of a bucket, and how far it is shifted.
    #[inline]
    pub(crate) fn threshold(&self, bucket: u64) -> (u64, u32) {
        let word = self.first_word + self.block_words() + bucket / BUCKETS_PER_WORD;
        (word, (bucket % BUCKETS_PER_WORD) as u32 * 2)
    }
}

/// The fingerprint of a hash: other bits than its equation's.
#[inline]
pub(crate) fn fingerprint(hash: u64) -> u32 {
    /// Odd, from the fractional bits of the golden ratio.
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    ((hash ^ (hash >> 32)).wrapping_mul(ODD) >> 32) as u32
}

/// All layers of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Geometry {
    layers: [Layer; MAX_LAYERS],
    depth: usize,
}

impl Geometry {
    /// None if words outnumber the numbers that there are for them: none wraps, whatever the shape says.
    pub(crate) fn new(shape: &Shape) -> Option<Self> {
        let mut layers = [Layer::default(); MAX_LAYERS];
        let (depth, mut first_word) = (shape.depth(), 0u64);
        for (i, (layer, &blocks)) in layers.iter_mut().zip(&shape.blocks[..depth]).enumerate() {
            // Below 2^32, as columns and extra are: products of two, and a layer's words, are below 2^64.
            let blocks = u64::from(blocks);
            let bumping = !(shape.complete && i + 1 == depth);
            // No key starts in the last blocks, but for one row of the last layer: the share is that of the others.
            let closed = if bumping { blocks.min(BUCKET / WIDTH) } else { u64::from(blocks > 1) };
            let wide = if shape.extra == 0 {
                0
            } else {
                closed + ((blocks - closed) * u64::from(shape.extra)).div_ceil(1 << 16)
            };
            *layer = Layer {
                blocks,
                split: blocks.saturating_sub(wide),
                columns: shape.columns,
                bumping,
                first_word,
                seed: if bumping { shape.bumping_seed() } else { seed(shape.attempt) ^ shape.seed },
            };
            first_word = first_word.checked_add(layer.words())?;
        }
        Some(Self { layers, depth })
    }

    #[inline]
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers[..self.depth]
    }

    pub(crate) fn words(&self) -> u64 {
        self.layers().iter().map(Layer::words).sum()
    }

    /// Bytes of blocks and thresholds.
    pub(crate) fn size(&self) -> u128 {
        u128::from(self.words()) * 8
    }
}
