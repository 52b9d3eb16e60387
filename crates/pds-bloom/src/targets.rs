//! What every sizing has in common: its gates, and the search for the smallest size that keeps a promise.

use pds_hash::most_items;

use crate::Error;

/// Relative slack that sizing adds before rounding up, so that the last bit of a logarithm cannot move a shape
/// whose exact value is whole.
pub(crate) const ROUNDING_SLACK: f64 = 1e-12;

/// The most items of so many bytes that one allocation holds where pointers have so many bits, as far as a `u64` counts
/// the bits that answer: so many of an item.
pub(crate) const fn most(item_bytes: usize, item_bits: u32, pointer_bits: u32) -> u64 {
    let (allocatable, countable) = (most_items(item_bytes as u64, pointer_bits), u64::MAX / item_bits as u64);
    if allocatable < countable { allocatable } else { countable }
}

/// A rate that can be asked for.
pub(crate) fn rate(fpr: f64) -> Result<f64, Error> {
    if fpr > 0.0 && fpr < 1.0 {
        Ok(fpr)
    } else {
        Err(Error::Parameter { name: "fpr", value: fpr, domain: "0 < fpr < 1" })
    }
}

/// The share of the rate that is left to the filter once hash collisions have had theirs.
pub(crate) fn reachable(keys: u64, fpr: f64) -> Result<f64, Error> {
    /// Below this share, sizing would pay many bits for the last of it.
    const LEAST_SHARE: f64 = 0.5;
    let own_share = rate(fpr)? - hash_collision_rate(keys as f64);
    if own_share >= fpr * LEAST_SHARE {
        Ok(own_share)
    } else {
        Err(Error::Parameter { name: "fpr", value: fpr, domain: "at least 2 * keys / 2^64 (64-bit hashes)" })
    }
}

/// Chance that an absent key has the 64-bit hash of one of `keys` keys: no filter over 64-bit hashes gets below.
pub(crate) fn hash_collision_rate(keys: f64) -> f64 {
    /// 2^64 hashes.
    const HASHES: f64 = 18_446_744_073_709_551_616.0;
    -libm::expm1(-keys / HASHES)
}

/// The smallest size, from 1 to `most`, that is good enough: at or above a guess, or below it where the guess was too
/// much. A size that is good enough stays so when it grows. None if `most` is not.
pub(crate) fn smallest(guess: u64, most: u64, mut good: impl FnMut(u64) -> bool) -> Option<u64> {
    let mut enough = guess.clamp(1, most);
    let mut too_small = 0;
    let mut step = 1;
    if good(enough) {
        // Down, in steps that double, until one is too small.
        while enough > 1 {
            let lower = enough.saturating_sub(step).max(1);
            if !good(lower) {
                too_small = lower;
                break;
            }
            enough = lower;
            step = step.saturating_mul(2);
        }
    } else {
        too_small = enough;
        loop {
            if too_small == most {
                return None;
            }
            enough = too_small.saturating_add(step).min(most);
            if good(enough) {
                break;
            }
            too_small = enough;
            step = step.saturating_mul(2);
        }
    }
    // The last step may have gone too far: halve the way back.
    while enough - too_small > 1 {
        let middle = too_small + (enough - too_small) / 2;
        if good(middle) { enough = middle } else { too_small = middle }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words, blocks, lines, and lines with counters.
    #[test]
    fn on_every_platform_the_largest_shape_can_be_allocated_and_counted_and_one_more_cannot() {
        for (bytes, bits) in [(8, 64), (32, 256), (64, 512), (320, 512)] {
            for pointer_bits in [16, 32, 64] {
                let most = u128::from(most(bytes, bits, pointer_bits));
                let fits = |items: u128| {
                    items * (bytes as u128) < 1 << (pointer_bits - 1)
                        && items * u128::from(bits) <= u128::from(u64::MAX)
                };
                assert!(most > 0 && fits(most) && !fits(most + 1), "{bytes} bytes, {pointer_bits} bits");
            }
            // What would come out as another shape if it were cut down to 32 bits.
            assert!(most(bytes, bits, 32) * (bytes as u64) < 1 << 31);
        }
    }

    #[test]
    fn the_smallest_is_found_from_any_guess() {
        for least in [1, 2, 3, 64, 1000, u64::MAX - 1, u64::MAX] {
            for guess in [0, 1, 2, 65, 999, 1 << 40, u64::MAX] {
                assert_eq!(smallest(guess, u64::MAX, |size| size >= least), Some(least));
            }
        }
        assert_eq!(smallest(5, 10, |_| false), None);
        assert_eq!(smallest(50, 10, |size| size >= 10), Some(10));
    }
}
