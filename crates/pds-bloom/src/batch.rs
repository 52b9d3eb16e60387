//! Many hashes at a time, with the memory of later ones fetched ahead.

use pds_hash::Probes;

use crate::bits::{self, Bits, all_set_early_out};

/// How many hashes ahead lines are asked for.
const WINDOW: usize = 64;

/// Filters below this size live in the first two caches, where a prefetch only costs.
const PREFETCH_BYTES: usize = 1 << 19;

/// Answers for the first min(lengths) hashes, and returns that number.
pub(crate) fn contains<B: Bits + ?Sized>(
    array: &B,
    bits: u64,
    k: u32,
    hashes: &[u64],
    found: &mut [bool],
) -> usize {
    let count = hashes.len().min(found.len());
    let (hashes, found) = (&hashes[..count], &mut found[..count]);
    if array.bytes() < PREFETCH_BYTES {
        for (found, &hash) in found.iter_mut().zip(hashes) {
            *found = bits::contains(array, bits, k, hash);
        }
        return count;
    }
    for &hash in hashes.iter().take(WINDOW) {
        prefetch_all(array, bits, k, hash);
    }
    for (i, found) in found.iter_mut().enumerate() {
        if let Some(&ahead) = hashes.get(i + WINDOW) {
            prefetch_all(array, bits, k, ahead);
        }
        *found = all_set_early_out(array, bits, k, hashes[i]);
    }
    count
}

/// Calls `insert` for each hash, with its lines on their way.
pub(crate) fn insert(words: &mut [u64], bits: u64, k: u32, hashes: &[u64], insert: impl Fn(&mut [u64], u64)) {
    let ahead = words.bytes() >= PREFETCH_BYTES;
    for (i, &hash) in hashes.iter().enumerate() {
        if ahead && let Some(&later) = hashes.get(i + WINDOW / 4) {
            prefetch_all(words, bits, k, later);
        }
        insert(words, hash);
    }
}

#[inline]
fn prefetch_all<B: Bits + ?Sized>(array: &B, bits: u64, k: u32, hash: u64) {
    let mut probes = Probes::new(hash);
    for _ in 0..k {
        array.prefetch(probes.next(bits));
    }
}
