//! From targets, or from a raw shape, to validated parameters.

use serde::{Deserialize, Serialize};

use super::block::BLOCK_BYTES;
use super::law;
use crate::Error;
use crate::targets::{ROUNDING_SLACK, rate, reachable, smallest};

/// The shape of a split-block Bloom filter: its blocks of 256 bits, and the rate that it was designed for.
///
/// A value of this type is valid: a filter of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct SplitBlockParams {
    blocks: u64,
    target: Option<f64>,
}

impl SplitBlockParams {
    /// Most blocks: the limit of the format, 2^31 (64 GiB), or what the address space of this platform holds in one
    /// allocation.
    pub const MAX_BLOCKS: u64 = {
        let (format, allocatable) = (1 << 31, isize::MAX as u64 / BLOCK_BYTES as u64);
        if allocatable < format { allocatable } else { format }
    };

    /// The fewest blocks whose rate of false positives at `keys` distinct keys is at most `fpr`.
    ///
    /// The rate is that of [`SplitBlockParams::fpr`], which counts that some blocks have more keys than others. The
    /// formula that is mostly used, -8 / ln(1 - fpr^(1/8)) bits per key, does not: at 0.01 it gives 9.68 bits per key,
    /// whose rate is 0.0146. This gives 10.53. Eight bits per key suit rates around 0.01. A
    /// [`BloomFilter`](crate::BloomFilter) takes fewer bits at any rate: a tenth fewer at 0.01, four tenths at 1e-5.
    ///
    /// * `keys`: distinct keys expected; 0 is legal;
    /// * `fpr`: probability of a wrong yes per absent key, within (0, 1); 0.01 is one in a hundred.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `fpr` is NaN or outside (0, 1), or so low that [`SplitBlockParams::MAX_BLOCKS`] cannot keep
    /// it at this number of keys.
    ///
    /// # Source
    ///
    /// Blocks of unequal load: `[PutzeSandersSingler07]`.
    pub fn for_fpr(keys: u64, fpr: f64) -> Result<Self, Error> {
        reachable(keys, fpr)?;
        let promised = |blocks| law::rate(blocks, keys) <= fpr * (1.0 - ROUNDING_SLACK);
        let blocks = smallest(law::blocks_for(keys, fpr), Self::MAX_BLOCKS, promised);
        blocks.map(|blocks| Self { blocks, target: Some(fpr) }).ok_or(Error::Parameter {
            name: "fpr",
            value: fpr,
            domain: "at least SplitBlockParams::fpr(keys) of MAX_BLOCKS blocks",
        })
    }

    /// A raw shape.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `blocks` is 0 or above [`SplitBlockParams::MAX_BLOCKS`].
    pub fn with_shape(blocks: u64) -> Result<Self, Error> {
        Self { blocks, target: None }.validated()
    }

    /// The same with the number of blocks rounded up to a power of two, which readers of Parquet files before the
    /// format allowed any number ask for. The rate that it was designed for stays.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if that is above [`SplitBlockParams::MAX_BLOCKS`], which on platforms of 64 bits it never is.
    pub fn to_power_of_two(self) -> Result<Self, Error> {
        Self { blocks: self.blocks.next_power_of_two(), ..self }.validated()
    }

    /// The shape of a filter of this one after [`SplitBlockBloomFilter::fold`]: one block for `factor` of them. The rate
    /// that it was designed for stays.
    ///
    /// [`SplitBlockBloomFilter::fold`]: crate::SplitBlockBloomFilter::fold
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `factor` is 0 or does not divide the number of blocks.
    pub fn fold(self, factor: u64) -> Result<Self, Error> {
        if factor == 0 || !self.blocks.is_multiple_of(factor) {
            return Err(Error::Parameter {
                name: "factor",
                value: factor as f64,
                domain: "a divisor of the number of blocks",
            });
        }
        Ok(Self { blocks: self.blocks / factor, ..self })
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(self) -> Result<Self, Error> {
        if !(1..=Self::MAX_BLOCKS).contains(&self.blocks) {
            return Err(Error::Parameter {
                name: "blocks",
                value: self.blocks as f64,
                domain: "1 up to SplitBlockParams::MAX_BLOCKS",
            });
        }
        if let Some(target) = self.target {
            rate(target)?;
        }
        Ok(self)
    }

    /// Blocks of 256 bits.
    pub const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The rate of false positives that the shape was designed for; `None` for a raw shape.
    pub const fn design_fpr(&self) -> Option<f64> {
        self.target
    }

    /// Bytes of the bit array: what a filter of this shape allocates.
    pub const fn size_bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES as u64
    }

    /// Expected rate of false positives after `keys` distinct keys, a probability: exact for independent hashes,
    /// averaged over hash functions.
    ///
    /// A hash is a block, by its upper 32 bits, and eight bits there, by its lower 32. With j keys in the block of an
    /// absent key the chance of a yes is
    ///
    /// ```text
    /// 1 - (1 - 2^-32)^j (1 - (1 - (1 - 1/32)^j)^8)
    /// ```
    ///
    /// since some key there has the same lower half, or none has and its eight bits are set by others. The rate is the
    /// mean over j, binomial(`keys`, share of the block). Each block has one of two shares, the whole multiples of
    /// 2^-32 next to 1 / blocks.
    pub fn fpr(&self, keys: u64) -> f64 {
        law::rate(self.blocks, keys)
    }

    /// Expected share of set bits after `keys` distinct keys: 1 - (1 - 1/(32 blocks))^keys, for each share of a block.
    pub fn fill(&self, keys: u64) -> f64 {
        law::fill(self.blocks, keys)
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Shape {
    blocks: u64,
    target: Option<f64>,
}

impl TryFrom<Shape> for SplitBlockParams {
    type Error = Error;

    fn try_from(Shape { blocks, target }: Shape) -> Result<Self, Error> {
        Self { blocks, target }.validated()
    }
}

impl From<SplitBlockParams> for Shape {
    fn from(SplitBlockParams { blocks, target }: SplitBlockParams) -> Self {
        Self { blocks, target }
    }
}
