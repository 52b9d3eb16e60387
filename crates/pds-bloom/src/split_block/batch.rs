//! Many hashes at a time.

use core::borrow::Borrow;

use super::block::{BLOCK_BYTES, Block};
use crate::arch::{Simd, block as arch};

/// Answers for the first min(lengths) hashes, and returns that number.
pub(crate) fn contains<B: Borrow<[u8; BLOCK_BYTES]>>(
    simd: Simd,
    blocks: &[B],
    hashes: &[u64],
    found: &mut [bool],
) -> usize {
    let count = hashes.len().min(found.len());
    arch::contains_batch(simd, blocks, &hashes[..count], &mut found[..count]);
    count
}

/// Sets the bits of each hash.
pub(crate) fn insert(simd: Simd, blocks: &mut [Block], hashes: &[u64]) {
    arch::insert_batch(simd, blocks, hashes);
}
