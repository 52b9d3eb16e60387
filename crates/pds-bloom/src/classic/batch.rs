//! Many hashes at a time, with the memory of later ones fetched ahead.

use pds_hash::Probes;

use super::bits::{self, Bits};
use crate::arch::Words;

/// Filters below this size live in the first two caches, where a prefetch only costs.
const PREFETCH_BYTES: usize = 1 << 19;

/// Probes whose lines are asked for first: they turn three of four strangers away, for whom the other lines need not
/// travel.
const FIRST: u32 = 2;

/// How many hashes lie between asking for the first lines and looking at them, and again between asking for the others
/// and looking at those.
const AHEAD: usize = 16;

/// Answers for the first min(lengths) hashes, and returns that number.
pub(crate) fn contains<B: Bits + ?Sized>(array: &B, k: u32, hashes: &[u64], found: &mut [bool]) -> usize {
    let count = hashes.len().min(found.len());
    let (hashes, found) = (&hashes[..count], &mut found[..count]);
    if array.bytes() < PREFETCH_BYTES {
        for (found, &hash) in found.iter_mut().zip(hashes) {
            *found = bits::contains(array, k, hash);
        }
        return count;
    }
    let first = k.min(FIRST);
    // Three steps, each on a hash of its own; a hash goes through them at three turns. Hash i is asked for at turn i,
    // its first bits are looked at in turn i + AHEAD, the rest in turn i + 2 AHEAD.
    for turn in 0..count + 2 * AHEAD {
        if let Some(&hash) = hashes.get(turn) {
            prefetch(array, first, &mut Probes::new(hash));
        }
        if let Some(middle) = turn.checked_sub(AHEAD)
            && let Some(&hash) = hashes.get(middle)
        {
            let mut probes = Probes::new(hash);
            found[middle] = bits::all_set(array, first, &mut probes);
            if found[middle] {
                prefetch(array, k - first, &mut probes);
            }
        }
        if let Some(last) = turn.checked_sub(2 * AHEAD)
            && found[last]
        {
            let mut probes = Probes::new(hashes[last]);
            (0..first).for_each(|_| _ = probes.next(1));
            found[last] = k == first || bits::all_set(array, k - first, &mut probes);
        }
    }
    count
}

/// Sets the bits of each hash, with its lines on their way.
pub(crate) fn insert(words: &mut Words, k: u32, hashes: &[u64], insert: impl Fn(&mut Words, u64)) {
    let ahead = words.bytes() >= PREFETCH_BYTES;
    for (i, &hash) in hashes.iter().enumerate() {
        if ahead && let Some(&later) = hashes.get(i + AHEAD) {
            prefetch(words, k, &mut Probes::new(later));
        }
        insert(words, hash);
    }
}

#[inline]
fn prefetch<B: Bits + ?Sized>(array: &B, k: u32, probes: &mut Probes) {
    for _ in 0..k {
        array.prefetch(probes);
    }
}
