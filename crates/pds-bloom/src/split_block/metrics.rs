//! What the bits tell, of a filter or of a view.

use super::block::{BLOCK_BITS, BLOCK_BYTES, WORD_BITS, WORDS};
use super::law;
use crate::SplitBlockParams;

/// Counts over all blocks, in whole numbers: no order of summing changes them.
#[derive(Clone, Copy)]
pub(crate) struct Census {
    blocks: u64,
    /// Bits that are set.
    ones: u64,
    /// Of the 2^32 upper halves of a hash and the 32^8 choices of one bit in each word, the pairs that are answered yes.
    yes: u128,
}

/// As many pairs as there are.
const PAIRS: u128 = (law::HALVES as u128) << (WORDS as u32 * WORD_BITS.trailing_zeros());

impl Census {
    /// Counts `blocks` blocks; none if more than `limit` pairs are answered yes, as soon as that is known.
    fn within(limit: u128, blocks: u64, each: impl IntoIterator<Item = [u8; BLOCK_BYTES]>) -> Option<Self> {
        let mut census = Self { blocks, ones: 0, yes: 0 };
        // Block b has the upper halves from ceil(b 2^32 / blocks) on: a quotient of them, and one more whenever the
        // remainders have added up.
        let (quotient, rest) = (law::HALVES / blocks, law::HALVES % blocks);
        let mut remainders = blocks - 1;
        for block in each {
            remainders += rest;
            let one_more = remainders >= blocks;
            remainders -= if one_more { blocks } else { 0 };
            let (mut ones, mut yes) = (0, 1);
            for word in block.as_chunks().0 {
                let set = u64::from(u32::from_le_bytes(*word).count_ones());
                ones += set;
                yes *= set;
            }
            census.ones += ones;
            census.yes += u128::from(yes) * u128::from(quotient + u64::from(one_more));
            if census.yes > limit {
                return None;
            }
        }
        Some(census)
    }

    pub(crate) fn of(blocks: u64, each: impl IntoIterator<Item = [u8; BLOCK_BYTES]>) -> Self {
        Self::within(PAIRS, blocks, each).expect("at most all pairs")
    }

    /// The census, if its [`Census::fpr`] is at most `fpr`.
    pub(crate) fn at_most(
        fpr: f64,
        blocks: u64,
        each: impl IntoIterator<Item = [u8; BLOCK_BYTES]>,
    ) -> Option<Self> {
        // Rounded up: what is given up early is above the limit surely.
        let limit = libm::ceil(fpr * PAIRS as f64) as u128;
        Self::within(limit, blocks, each).filter(|census| census.fpr() <= fpr)
    }

    pub(crate) fn fill(self) -> f64 {
        self.ones as f64 / (self.blocks as f64 * BLOCK_BITS as f64)
    }

    pub(crate) fn len(self) -> f64 {
        law::keys_for_fill(self.blocks, self.fill())
    }

    pub(crate) fn fpr(self) -> f64 {
        let bits = self.yes as f64 / PAIRS as f64;
        let shared = (self.len() / self.blocks as f64 / law::HALVES as f64).min(1.0);
        bits + shared * (1.0 - bits)
    }

    pub(crate) fn is_saturated(self, params: SplitBlockParams) -> bool {
        /// The fill at which a bit tells most.
        const HALF: f64 = 0.5;
        let alarm = params.design_fpr().map_or(HALF, |fpr| law::fill_alarm(self.blocks, fpr));
        self.fill() > alarm || self.fill() >= 1.0
    }
}
