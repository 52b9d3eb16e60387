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

/// The seed of an attempt to peel: the first takes the hashes as they are given, which saves a query the mixing.
pub(crate) fn attempt_seed(attempt: u32) -> u64 {
    if attempt == 0 { AS_GIVEN } else { seed(attempt) }
}

/// The hash under the seed of an attempt: one-to-one too.
#[inline]
pub(crate) fn attempted(hash: u64, seed: u64) -> u64 {
    if seed == AS_GIVEN { hash } else { seeded(hash, seed) }
}
