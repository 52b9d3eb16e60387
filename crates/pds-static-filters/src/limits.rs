//! What bounds every filter over 64-bit hashes: collisions of hashes, and the address space.

use crate::Error;

/// Chance that an absent key has the 64-bit hash of one of `keys` keys: no filter over 64-bit hashes gets below.
pub(crate) fn hash_collision_rate(keys: u64) -> f64 {
    /// 2^64 hashes.
    const HASHES: f64 = 18_446_744_073_709_551_616.0;
    -libm::expm1(-(keys as f64) / HASHES)
}

/// A size that can be asked for in one allocation of this platform.
pub(crate) fn allocatable(bytes: u128) -> Result<u64, Error> {
    if bytes <= isize::MAX as u128 {
        Ok(bytes as u64)
    } else {
        Err(Error::Parameter { name: "bytes", value: bytes as f64, domain: "at most isize::MAX" })
    }
}

/// A quotient per key; 0 where there is no key.
pub(crate) fn per_key(total: f64, keys: u64) -> f64 {
    if keys == 0 { 0.0 } else { total / keys as f64 }
}
