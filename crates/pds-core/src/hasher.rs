//! What a hash function has to promise, and how its identity travels.

use core::num::NonZeroU64;

use crate::{Error, Key};

/// The bytes whose hash names a hasher. The trailing number is the version of the key encoding of [`Key`].
const PROBE: &[u8] = b"pds key encoding 1";

/// Names a hash function, its seed and the key encoding, without revealing a key.
///
/// Two values with one fingerprint hash alike, up to a chance of 2^-64. 0 stands for "hashes nothing".
pub trait Fingerprint: Clone {
    /// The name. It is written into every byte form and compared by every merge.
    fn fingerprint(&self) -> u64;
}

/// A hash function with its seed or key.
///
/// # Requirements
///
/// * Deterministic: one input, one output, on every platform and in every version.
/// * The 64 output bits are near uniform; structures use them as they come.
/// * One call sees the whole key: there is no streaming form whose writes could get lost or be split.
/// * `fingerprint()` is [`fingerprint_of`]`(self)`.
pub trait KeyHasher: Fingerprint {
    /// Hashes one byte string.
    fn hash_bytes(&self, bytes: &[u8]) -> u64;

    /// Hashes eight little-endian bytes. An override may be faster but must give the value that
    /// [`KeyHasher::hash_bytes`] gives for them.
    #[inline]
    fn hash_u64(&self, value: u64) -> u64 {
        self.hash_bytes(&value.to_le_bytes())
    }

    /// Hashes a key by its canonical bytes.
    #[inline]
    fn hash_key<K: Key + ?Sized>(&self, key: &K) -> u64 {
        key.hash_with(self)
    }
}

/// The fingerprint of every [`KeyHasher`]: `max(1, hash_u64(hash_bytes(probe)))`.
///
/// It covers both hashing paths, the seed or key and the version of the key encoding, and cannot be inverted
/// to a key of a keyed hash function.
pub fn fingerprint_of<H: KeyHasher>(hasher: &H) -> u64 {
    hasher.hash_u64(hasher.hash_bytes(PROBE)).max(1)
}

/// Checks that two hashers are one.
///
/// # Errors
///
/// [`Error::Hasher`] if `found` is not `expected`.
pub fn same_hasher(expected: u64, found: u64) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Hasher { expected, found }) }
}

/// Stands for a hasher that is elsewhere: hashes made by the caller, or a secret key that this process does
/// not hold.
///
/// A structure with it decodes, answers for hashes, estimates and merges; it cannot hash keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prehashed(
    /// The fingerprint of the hasher that it stands for; for hashes of one's own, any fixed number.
    pub NonZeroU64,
);

impl Prehashed {
    /// Stands for the hasher of these bytes, whichever it was.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if the bytes do not begin with an envelope's header, or if it hashes nothing.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let fingerprint = crate::wire::peek(bytes)?.fingerprint;
        NonZeroU64::new(fingerprint).map(Self).ok_or(Error::Malformed { field: "fingerprint" })
    }
}

impl Fingerprint for Prehashed {
    fn fingerprint(&self) -> u64 {
        self.0.get()
    }
}

/// The hasher of a structure that hashes nothing.
impl Fingerprint for () {
    fn fingerprint(&self) -> u64 {
        0
    }
}
