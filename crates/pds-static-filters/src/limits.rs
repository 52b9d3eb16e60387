//! What bounds every filter over 64-bit hashes: collisions of hashes, and the address space.

use pds_hash::most_items;

use crate::Error;

/// Chance that an absent key has the 64-bit hash of one of `keys` keys: no filter over 64-bit hashes gets below.
pub(crate) fn hash_collision_rate(keys: u64) -> f64 {
    /// 2^64 hashes.
    const HASHES: f64 = 18_446_744_073_709_551_616.0;
    -libm::expm1(-(keys as f64) / HASHES)
}

/// A size that can be asked for in one allocation of this platform.
pub(crate) fn allocatable(bytes: u128) -> Result<u64, Error> {
    allocatable_on(usize::BITS, bytes)
}

/// The same where pointers have so many bits.
fn allocatable_on(pointer_bits: u32, bytes: u128) -> Result<u64, Error> {
    if bytes <= u128::from(most_items(1, pointer_bits)) {
        Ok(bytes as u64)
    } else {
        Err(Error::Parameter { name: "bytes", value: bytes as f64, domain: "at most isize::MAX" })
    }
}

/// A quotient per key; 0 where there is no key.
pub(crate) fn per_key(total: f64, keys: u64) -> f64 {
    if keys == 0 { 0.0 } else { total / keys as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_beyond_the_address_space_is_refused_on_every_platform() {
        for pointer_bits in [16, 32, 64] {
            let most = (1u128 << (pointer_bits - 1)) - 1;
            assert_eq!(allocatable_on(pointer_bits, most), Ok(most as u64));
            for bytes in [most + 1, 1 << pointer_bits, (1 << pointer_bits) + 8, u128::MAX] {
                let refused = allocatable_on(pointer_bits, bytes);
                assert!(matches!(refused, Err(Error::Parameter { name: "bytes", .. })), "{bytes}");
            }
        }
    }
}
