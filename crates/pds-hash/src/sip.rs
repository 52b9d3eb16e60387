//! Keyed hashers for keys that strangers choose.

use core::fmt;

use pds_core::{Fingerprint, KeyHasher, fingerprint_of};
use siphasher::sip::{SipHasher13, SipHasher24 as Sip24};

/// SipHash-1-3 with a secret key of 16 bytes: for untrusted input.
///
/// Without the key nobody can compute keys that collide. Draw it from the operating system, one for all shards
/// whose sketches are to merge; byte forms carry its fingerprint and never the key, and neither does `Debug`.
/// There is no default key.
///
/// # Source
///
/// `[AumassonBernstein12]`.
#[derive(Clone, Copy)]
pub struct SipHasher(SipHasher13);

/// SipHash-2-4: as [`SipHasher`], with the rounds that its authors proposed first, at more time per key.
///
/// # Source
///
/// `[AumassonBernstein12]`.
#[derive(Clone, Copy)]
pub struct SipHasher24(Sip24);

impl SipHasher {
    /// A hasher with this key.
    pub fn new(key: [u8; 16]) -> Self {
        Self(SipHasher13::new_with_key(&key))
    }
}

impl SipHasher24 {
    /// A hasher with this key.
    pub fn new(key: [u8; 16]) -> Self {
        Self(Sip24::new_with_key(&key))
    }
}

macro_rules! keyed_hasher {
    ($type:ident) => {
        impl KeyHasher for $type {
            #[inline]
            fn hash_bytes(&self, bytes: &[u8]) -> u64 {
                // The state is never written to, so each call starts from the key.
                self.0.hash(bytes)
            }
        }

        impl Fingerprint for $type {
            fn fingerprint(&self) -> u64 {
                fingerprint_of(self)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {{ fingerprint: {:#018x} }}", stringify!($type), self.fingerprint())
            }
        }
    };
}
keyed_hasher!(SipHasher);
keyed_hasher!(SipHasher24);
