//! The format: which block a hash falls into, which bits of it it sets, and the block itself.
//!
//! Nothing here may change: the bits are those of every other program that writes Parquet's Bloom filters.

use core::borrow::Borrow;

/// Bytes of a block.
pub(crate) const BLOCK_BYTES: usize = 32;

/// Words of a block; a key sets one bit in each.
pub(crate) const WORDS: usize = 8;

/// Bits of a word.
pub(crate) const WORD_BITS: u32 = 32;

/// Bits of a block.
pub(crate) const BLOCK_BITS: u64 = WORDS as u64 * WORD_BITS as u64;

/// The odd multipliers that the format prescribes, one for each word.
pub(crate) const SALTS: [u32; WORDS] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// What a product is shifted right by, so that its top five bits are left: a bit of a word.
pub(crate) const SHIFT: u32 = u32::BITS - WORD_BITS.trailing_zeros();

/// Eight words, each little-endian, on every platform: the bytes of the format.
///
/// Aligned so that no block lies in two cache lines.
#[derive(Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Block(pub(crate) [u8; BLOCK_BYTES]);

impl Block {
    /// No bit is set.
    pub(crate) const EMPTY: Self = Self([0; BLOCK_BYTES]);
}

/// One query for blocks of a filter and for arrays of 32 bytes of a payload, which borrow as themselves.
impl Borrow<[u8; BLOCK_BYTES]> for Block {
    #[inline]
    fn borrow(&self) -> &[u8; BLOCK_BYTES] {
        &self.0
    }
}

/// The block, of at most 2^32, that a hash falls into: by its upper half.
#[inline]
pub(crate) const fn index(hash: u64, blocks: u64) -> u64 {
    ((hash >> 32) * blocks) >> 32
}

/// The bit that a hash sets in each word: by its lower half.
#[inline]
fn mask(hash: u64) -> [u32; WORDS] {
    SALTS.map(|salt| 1 << ((hash as u32).wrapping_mul(salt) >> SHIFT))
}

/// Whether the bits of a hash are set in its block.
#[inline]
pub(crate) fn contains(block: &[u8; BLOCK_BYTES], hash: u64) -> bool {
    let (words, _) = block.as_chunks();
    let missing = |sum: u32, (word, bit): (&[u8; 4], u32)| sum | (!u32::from_le_bytes(*word) & bit);
    words.iter().zip(mask(hash)).fold(0, missing) == 0
}

/// Sets the bits of a hash in its block; true if one of them was not set before.
#[inline]
pub(crate) fn insert(block: &mut [u8; BLOCK_BYTES], hash: u64) -> bool {
    let (words, _) = block.as_chunks_mut();
    let mut missing = 0;
    for (bytes, bit) in words.iter_mut().zip(mask(hash)) {
        let word = u32::from_le_bytes(*bytes);
        missing |= !word & bit;
        *bytes = (word | bit).to_le_bytes();
    }
    missing != 0
}

#[cfg(test)]
mod tests {
    use pds_testkit::{DistinctKeys, laws};

    use super::*;

    #[test]
    fn the_layout_is_the_formats() {
        assert_eq!((size_of::<Block>(), align_of::<Block>(), SHIFT), (BLOCK_BYTES, BLOCK_BYTES, 27));
        let mut block = Block::EMPTY;
        // A lower half of 1: the bits are the top five of the salts themselves.
        assert!(insert(&mut block.0, 1) && !insert(&mut block.0, 1) && contains(&block.0, 1));
        let (words, _) = block.0.as_chunks();
        let expected =
            [0x47 >> 3, 0x44 >> 3, 0x88 >> 3, 0xa2 >> 3, 0x70 >> 3, 0x2d >> 3, 0x9e >> 3, 0x5c >> 3];
        assert_eq!(words.iter().map(|word| u32::from_le_bytes(*word)).collect::<std::vec::Vec<_>>(), {
            expected.map(|bit| 1u32 << bit)
        });
    }

    /// Beyond 512 MB too, where products of 32 bits would wrap.
    #[test]
    fn blocks_are_drawn_evenly_whatever_their_number() {
        for blocks in [1, 3, 1000, 1 << 24, (1 << 24) + 1, 1 << 27, 3 << 28, (1 << 31) - 1, 1 << 31] {
            assert_eq!((index(0, blocks), index(u64::MAX, blocks)), (0, blocks - 1));
            assert_eq!(index(u64::from(u32::MAX), blocks), 0, "by the upper half alone");
            let mut counts = [0; 100];
            for hash in DistinctKeys::new(blocks).range(0..50_000) {
                assert!(index(hash, blocks) < blocks);
                counts[(index(hash, blocks) * 100 / blocks) as usize] += 1;
            }
            if blocks % 100 == 0 || blocks > 1 << 20 {
                laws::chi_square_uniform(&counts).assert("blocks");
            }
        }
    }
}
