//! Where things lie: layers of rows, in blocks of 64 and buckets of 128, and segments that are solved on their own.
//!
//! A layer of `blocks` blocks has 64 rows each. Block `b` is stored as one word for each column; the blocks from `split` on have
//! one column more than those before. Behind the blocks lie the thresholds, 2 bits for each bucket.

use pds_hash::reduce;

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
    fn starts(&self) -> u64 {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    layers: [Layer; MAX_LAYERS],
    depth: usize,
}

impl Geometry {
    /// Layers of so many blocks, with `columns` columns, and one more in the last `extra` / 2^16 of each. If `complete`, the
    /// last layer passes nothing on.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_LAYERS`].
    pub(crate) fn new(blocks: &[u32], columns: u32, extra: u32, complete: bool) -> Self {
        let mut layers = [Layer::default(); MAX_LAYERS];
        let mut first_word = 0;
        assert!(blocks.len() <= MAX_LAYERS, "layers within bounds");
        for (i, &count) in blocks.iter().enumerate() {
            let count = u64::from(count);
            let bumping = !(complete && i + 1 == blocks.len());
            // No key starts in the last blocks, but for one row of the last layer: the share is that of the others.
            let closed = if bumping { BUCKET / WIDTH } else { u64::from(count > 1) };
            let wide =
                if extra == 0 { 0 } else { closed + ((count - closed) * u64::from(extra)).div_ceil(1 << 16) };
            layers[i] = Layer { blocks: count, split: count - wide, columns, bumping, first_word };
            first_word += layers[i].words();
        }
        Self { layers, depth: blocks.len() }
    }

    /// Blocks of each layer, 0 where there is none.
    pub(crate) fn blocks(&self) -> [u32; MAX_LAYERS] {
        self.layers.map(|layer| layer.blocks as u32)
    }

    /// Whether the last layer passes nothing on.
    pub(crate) fn complete(&self) -> bool {
        self.layers().last().is_some_and(|layer| !layer.bumping)
    }

    #[inline]
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers[..self.depth]
    }

    pub(crate) fn words(&self) -> u64 {
        self.layers().iter().map(Layer::words).sum()
    }
}
