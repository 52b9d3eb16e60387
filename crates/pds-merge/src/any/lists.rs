//! The hasher of lists, which hash their keys anew when they are decoded.

use pds_core::{Fingerprint, KeyHasher};
use pds_hash::{SipHasher, SipHasher24, WyHasher};

/// The hasher of a list of heavy hitters, one of those of `pds-hash`.
///
/// A list holds keys, not hashes, and hashes them when it is decoded. So unlike all other sketches it is not read by the
/// fingerprint of its hasher alone.
///
/// ```
/// use pds_hash::{Fingerprint, SipHasher};
/// use pds_merge::ListHasher;
///
/// let secret = SipHasher::new(*b"sixteen byte key");
/// assert_eq!(ListHasher::from(secret).fingerprint(), secret.fingerprint());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ListHasher {
    /// The default one, with its default seed or another.
    Wy(WyHasher),
    /// SipHash-1-3 with a secret key.
    Sip(SipHasher),
    /// SipHash-2-4 with a secret key.
    Sip24(SipHasher24),
}

impl Default for ListHasher {
    fn default() -> Self {
        Self::Wy(WyHasher::default())
    }
}

impl From<WyHasher> for ListHasher {
    fn from(hasher: WyHasher) -> Self {
        Self::Wy(hasher)
    }
}

impl From<SipHasher> for ListHasher {
    fn from(hasher: SipHasher) -> Self {
        Self::Sip(hasher)
    }
}

impl From<SipHasher24> for ListHasher {
    fn from(hasher: SipHasher24) -> Self {
        Self::Sip24(hasher)
    }
}

impl Fingerprint for ListHasher {
    fn fingerprint(&self) -> u64 {
        match self {
            Self::Wy(hasher) => hasher.fingerprint(),
            Self::Sip(hasher) => hasher.fingerprint(),
            Self::Sip24(hasher) => hasher.fingerprint(),
        }
    }
}

/// That of the hasher within.
impl KeyHasher for ListHasher {
    fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        match self {
            Self::Wy(hasher) => hasher.hash_bytes(bytes),
            Self::Sip(hasher) => hasher.hash_bytes(bytes),
            Self::Sip24(hasher) => hasher.hash_bytes(bytes),
        }
    }

    fn hash_u64(&self, value: u64) -> u64 {
        match self {
            Self::Wy(hasher) => hasher.hash_u64(value),
            Self::Sip(hasher) => hasher.hash_u64(value),
            Self::Sip24(hasher) => hasher.hash_u64(value),
        }
    }
}
