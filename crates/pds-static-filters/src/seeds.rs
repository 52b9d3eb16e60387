//! Seeds: the same hashes, placed otherwise.

use pds_hash::mix;

/// The fractional bits of pi, so that seed 0 is not the hash itself.
const SEEDS: u64 = 0x243f_6a88_85a3_08d3;

/// The seed of a number.
pub(crate) fn seed(number: u32) -> u64 {
    mix(SEEDS.wrapping_add(u64::from(number)))
}

/// The hash under a seed: one-to-one, so that distinct hashes stay distinct.
#[inline]
pub(crate) fn seeded(hash: u64, seed: u64) -> u64 {
    mix(hash ^ seed)
}

/// Leaves hashes as they are.
const AS_GIVEN: u64 = 0;

/// The low bits of an attempt's seed: its number.
const NUMBER: u64 = 63;

/// What a set of hashes, in order, has for itself: seeds made of it cannot be aimed at by who does not know the whole set.
pub(crate) fn digest(sorted: &[u64]) -> u64 {
    sorted.iter().fold(SEEDS, |digest, &hash| mix(digest ^ hash))
}

/// The seed of an attempt to peel, its number below 64. The first takes the hashes as they are given, which saves a query the
/// mixing.
pub(crate) fn attempt_seed(attempt: u32, digest: impl FnOnce() -> u64) -> u64 {
    match u64::from(attempt) {
        0 => AS_GIVEN,
        number => mix(digest().wrapping_add(number)) & !NUMBER | number,
    }
}

/// The number of the attempt that has a seed.
pub(crate) fn attempt_of(seed: u64) -> u32 {
    (seed & NUMBER) as u32
}

/// The hash under the seed of an attempt: one-to-one too.
#[inline]
pub(crate) fn attempted(hash: u64, seed: u64) -> u64 {
    if seed == AS_GIVEN { hash } else { seeded(hash, seed) }
}
