//! What every sizing has in common: its gates, and the choice of a fingerprint.

use pds_hash::most_items;

use crate::Error;
use crate::lanes::{SLOTS, WIDEST};
use crate::{arch, law};

/// The shortest fingerprint: with fewer than 15 of them, tables of some thousand keys do not fill.
pub(crate) const SHORTEST: u32 = 4;

/// Most bytes of a table: what this platform holds in one allocation, and at most 2^60, so that the number of its bits
/// is a `u64`.
pub(crate) const MAX_BYTES: u64 = max_bytes(usize::BITS);

const fn max_bytes(pointer_bits: u32) -> u64 {
    let (allocatable, countable) = (most_items(8, pointer_bits) * 8, 1 << 60);
    if allocatable < countable { allocatable } else { countable }
}

/// Relative slack that sizing leaves, so that the last bit of a logarithm cannot move a shape.
const ROUNDING_SLACK: f64 = 1e-12;

/// How many fingerprints of this length there are: 0 is an empty slot.
pub(crate) const fn fingerprints(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// The shortest fingerprint with which a table at its highest load keeps a rate.
pub(crate) fn shortest_fingerprint(keys: u64, fpr: f64) -> Result<u32, Error> {
    let refused = |domain| Err(Error::Parameter { name: "fpr", value: fpr, domain });
    if !(fpr > 0.0 && fpr < 1.0) {
        return refused("0 < fpr < 1");
    }
    if keys > 0 && law::hash_collision_rate(keys as f64) > fpr / 2.0 {
        return refused("at least 2 * keys / 2^64 (64-bit hashes)");
    }
    let promised = fpr * (1.0 - ROUNDING_SLACK);
    let full = |bits: &u32| law::full_rate(fingerprints(*bits) as f64, keys as f64) <= promised;
    match (SHORTEST..=WIDEST).find(full) {
        Some(bits) => Ok(bits),
        None => refused("at least 7.6 / 2^32 (fingerprints of 32 bits)"),
    }
}

/// The gate of a number of buckets of slots of some width.
pub(crate) fn buckets(name: &'static str, buckets: u64, width: u32) -> Result<u64, Error> {
    if !fits(buckets, width, usize::BITS) {
        return Err(Error::Parameter {
            name,
            value: buckets as f64,
            domain: "1 up to what the address space holds",
        });
    }
    Ok(buckets)
}

/// Whether there are buckets, and they can be allocated where pointers have so many bits.
fn fits(buckets: u64, width: u32, pointer_bits: u32) -> bool {
    buckets > 0 && arch::size_bytes(buckets, width) <= max_bytes(pointer_bits)
}

/// The gate of the length of a fingerprint.
pub(crate) fn fingerprint_bits(bits: u32) -> Result<u32, Error> {
    if (SHORTEST..=WIDEST).contains(&bits) {
        return Ok(bits);
    }
    Err(Error::Parameter { name: "fingerprint_bits", value: f64::from(bits), domain: "4 to 32" })
}

/// More keys than fit into any table of this platform.
pub(crate) fn too_many(keys: u64) -> Error {
    Error::Parameter { name: "keys", value: keys as f64, domain: "what the address space holds" }
}

/// The most buckets of slots of some width.
pub(crate) fn most_buckets(width: u32) -> u64 {
    (MAX_BYTES - 32) * 8 / u64::from(SLOTS * width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_beyond_the_address_space_is_refused_on_every_platform() {
        assert_eq!([32, 64].map(max_bytes), [(1 << 31) - 8, 1 << 60]);
        for width in SHORTEST..=WIDEST {
            // Cut down to 32 bits, the bytes of the second would be those of a small table.
            for buckets in [1 << 32, (1 << 35) / u64::from(SLOTS * width) + 1] {
                assert!(fits(buckets, width, 64) && !fits(buckets, width, 32), "{width} bits");
            }
            assert!(fits(1, width, 32) && !fits(0, width, 32) && !fits(u64::MAX, width, 64));
        }
    }
}
