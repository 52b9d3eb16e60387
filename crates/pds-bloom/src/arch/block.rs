//! A block's eight words at once, where the processor has AVX2.

use core::borrow::Borrow;

use super::{Simd, prefetch};
use crate::rolling::rolling;
use crate::split_block::block::{self, BLOCK_BYTES, Block, index};

/// Filters below this size live in the first two caches, where a prefetch only costs.
const PREFETCH_BYTES: usize = 1 << 19;

/// How many hashes lie between asking for a block and changing it.
const AHEAD: usize = 64;

/// Whether the bits of a hash are set in the block that it falls into.
///
/// Always inlined: the processor is then asked about once for a loop, and a call is all that is left in it.
///
/// # Panics
///
/// If there is no block.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn contains<B: Borrow<[u8; BLOCK_BYTES]>>(simd: Simd, blocks: &[B], hash: u64) -> bool {
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: `Simd::avx2` is true only where the processor was found to have it.
        return unsafe { avx2::contains(blocks, hash) };
    }
    let _ = simd;
    portable::contains(blocks, hash)
}

/// Sets the bits of a hash in the block that it falls into; true if one of them was not set before.
///
/// # Panics
///
/// If there is no block.
#[inline(always)]
#[allow(clippy::inline_always)] // as `contains`
pub(crate) fn insert(simd: Simd, blocks: &mut [Block], hash: u64) -> bool {
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: as in `contains`.
        return unsafe { avx2::insert(blocks, hash) };
    }
    let _ = simd;
    portable::insert(blocks, hash)
}

/// [`contains`] for each hash, in the block that it falls into; the lengths are equal, and there is a block.
pub(crate) fn contains_batch<B: Borrow<[u8; BLOCK_BYTES]>>(
    simd: Simd,
    blocks: &[B],
    hashes: &[u64],
    found: &mut [bool],
) {
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: as in `contains`.
        return unsafe { avx2::contains_batch(blocks, hashes, found) };
    }
    let _ = simd;
    let count = blocks.len() as u64;
    let at = |i: usize| index(hashes[i], count);
    visit(blocks, hashes.len(), at, |i, block| found[i] = block::contains(block, hashes[i]));
}

/// [`insert`] for each hash, in the block that it falls into; there is a block.
pub(crate) fn insert_batch(simd: Simd, blocks: &mut [Block], hashes: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: as in `contains`.
        return unsafe { avx2::insert_batch(blocks, hashes) };
    }
    let _ = simd;
    each_mut(blocks, hashes, |block, hash| _ = block::insert(block, hash));
}

/// Calls with each number below `hashes` and the block `at` it, the blocks of later numbers being on their way.
#[inline(always)]
#[allow(clippy::inline_always)] // into functions compiled for AVX2 too
fn visit<B: Borrow<[u8; BLOCK_BYTES]>>(
    blocks: &[B],
    hashes: usize,
    at: impl Fn(usize) -> u64,
    mut visit: impl FnMut(usize, &[u8; BLOCK_BYTES]),
) {
    if size_of_val(blocks) < PREFETCH_BYTES {
        (0..hashes).for_each(|i| visit(i, blocks[at(i) as usize].borrow()));
    } else {
        rolling(hashes, |i| prefetch(blocks, at(i)), |i| visit(i, blocks[at(i) as usize].borrow()));
    }
}

/// Changes each hash's block, with the blocks of later hashes on their way.
#[inline(always)]
#[allow(clippy::inline_always)] // into functions compiled for AVX2 too
fn each_mut(blocks: &mut [Block], hashes: &[u64], change: impl Fn(&mut [u8; BLOCK_BYTES], u64)) {
    let count = blocks.len() as u64;
    let ahead = size_of_val(blocks) >= PREFETCH_BYTES;
    for (i, &hash) in hashes.iter().enumerate() {
        if ahead && let Some(&later) = hashes.get(i + AHEAD) {
            prefetch(blocks, index(later, count));
        }
        change(&mut blocks[index(hash, count) as usize].0, hash);
    }
}

/// In line only where there is nothing else: beside a call it would take the registers of the loops around it.
mod portable {
    use core::borrow::Borrow;

    use super::{BLOCK_BYTES, Block, block, index};

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    pub(super) fn contains<B: Borrow<[u8; BLOCK_BYTES]>>(blocks: &[B], hash: u64) -> bool {
        block::contains(blocks[index(hash, blocks.len() as u64) as usize].borrow(), hash)
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    pub(super) fn insert(blocks: &mut [Block], hash: u64) -> bool {
        let count = blocks.len() as u64;
        block::insert(&mut blocks[index(hash, count) as usize].0, hash)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use core::arch::x86_64::{
        __m256i, _mm256_loadu_si256, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi32,
        _mm256_sllv_epi32, _mm256_srli_epi32, _mm256_storeu_si256, _mm256_testc_si256,
    };

    use core::borrow::Borrow;
    use core::slice;

    use super::{BLOCK_BYTES, Block, each_mut, index, visit};
    use crate::split_block::block::{SALTS, SHIFT};

    /// The bit that a hash sets in each word, as lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(hash: u64) -> __m256i {
        // SAFETY: the salts are 32 bytes, and the load wants no alignment.
        let salts = unsafe { _mm256_loadu_si256(SALTS.as_ptr().cast()) };
        let products = _mm256_mullo_epi32(_mm256_set1_epi32(hash as i32), salts);
        _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<{ SHIFT.cast_signed() }>(products))
    }

    /// The words of a block, as lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn words(block: &[u8; BLOCK_BYTES]) -> __m256i {
        // SAFETY: a block is 32 bytes, and the load wants no alignment.
        unsafe { _mm256_loadu_si256(block.as_ptr().cast()) }
    }

    /// The lower and the upper half of each hash, so that the lower one is broadcast from where it lies: out of a register
    /// it takes a third more time.
    #[inline]
    fn halves(hashes: &[u64]) -> &[[u32; 2]] {
        // SAFETY: two numbers of 32 bits are as large as one of 64, and need no more alignment; any bits are numbers.
        unsafe { slice::from_raw_parts(hashes.as_ptr().cast(), hashes.len()) }
    }

    /// In line with the loops of a batch; [`contains`] is what is called from outside.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn contains_inline(block: &[u8; BLOCK_BYTES], hash: u64) -> bool {
        _mm256_testc_si256(words(block), mask(hash)) != 0
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn insert_inline(block: &mut [u8; BLOCK_BYTES], hash: u64) -> bool {
        let (before, mask) = (words(block), mask(hash));
        // SAFETY: a block is 32 bytes, and the store wants no alignment.
        unsafe { _mm256_storeu_si256(block.as_mut_ptr().cast(), _mm256_or_si256(before, mask)) };
        _mm256_testc_si256(before, mask) == 0
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn contains<B: Borrow<[u8; BLOCK_BYTES]>>(blocks: &[B], hash: u64) -> bool {
        contains_inline(blocks[index(hash, blocks.len() as u64) as usize].borrow(), hash)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn insert(blocks: &mut [Block], hash: u64) -> bool {
        let count = blocks.len() as u64;
        insert_inline(&mut blocks[index(hash, count) as usize].0, hash)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn contains_batch<B: Borrow<[u8; BLOCK_BYTES]>>(
        blocks: &[B],
        hashes: &[u64],
        found: &mut [bool],
    ) {
        assert_eq!(hashes.len(), found.len());
        let count = blocks.len() as u64;
        let halves = halves(hashes);
        let at = |i: usize| (u64::from(halves[i][1]) * count) >> 32;
        visit(blocks, halves.len(), at, |i, block| {
            found[i] = contains_inline(block, u64::from(halves[i][0]));
        });
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn insert_batch(blocks: &mut [Block], hashes: &[u64]) {
        each_mut(blocks, hashes, |block, hash| _ = insert_inline(block, hash));
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use pds_testkit::{DistinctKeys, fewer_interpreted};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The portable code is the oracle; where there is no AVX2 this compares it with itself.
        #[test]
        fn every_backend_does_the_same(hashes: Vec<u64>, bytes: [u8; BLOCK_BYTES], near: u64) {
            let simd = Simd::detect();
            let (mut one, mut other) = ([Block(bytes)], [Block(bytes)]);
            for hash in hashes.iter().copied().chain([near, near ^ 1 << 31, near ^ 1 << 32]) {
                prop_assert_eq!(contains(simd, &one, hash), contains(Simd::PORTABLE, &one, hash));
                prop_assert_eq!(insert(simd, &mut one, hash), insert(Simd::PORTABLE, &mut other, hash));
                prop_assert!(one == other);
                prop_assert!(contains(simd, &one, hash));
            }
        }
    }

    #[test]
    fn every_loop_does_the_same() {
        let hashes: Vec<u64> = DistinctKeys::new(1).range(0..fewer_interpreted(200_000)).collect();
        let members = &hashes[..hashes.len() / 2];
        for count in [1, 3, (PREFETCH_BYTES / BLOCK_BYTES) - 1, PREFETCH_BYTES / BLOCK_BYTES] {
            let mut filters =
                [vec![Block::EMPTY; count], vec![Block::EMPTY; count], vec![Block::EMPTY; count]];
            insert_batch(Simd::detect(), &mut filters[0], members);
            insert_batch(Simd::PORTABLE, &mut filters[1], members);
            for &hash in members {
                insert(Simd::PORTABLE, &mut filters[2], hash);
            }
            assert!(filters[0] == filters[1] && filters[1] == filters[2], "{count} blocks");
            let mut found = [vec![false; hashes.len()], vec![false; hashes.len()]];
            contains_batch(Simd::detect(), &filters[0], &hashes, &mut found[0]);
            contains_batch(Simd::PORTABLE, &filters[0], &hashes, &mut found[1]);
            for (i, &hash) in hashes.iter().enumerate() {
                let alone = contains(Simd::detect(), &filters[0], hash);
                assert!(found[0][i] == alone && found[1][i] == alone && (alone || i >= members.len()));
            }
        }
    }
}
