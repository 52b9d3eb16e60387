//! The default hasher.

use pds_core::{Fingerprint, KeyHasher, fingerprint_of};
use wyhash::final3::wyhash;

/// The standard secret of wyhash final version 3.
const STANDARD_SECRET: [u64; 4] =
    [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3];

/// wyhash, final version 3: the default hasher, and the one to use when nobody chooses keys against you.
///
/// The default has seed 0 and the standard secret, fixed for ever, so that sketches built on different machines
/// merge. Any other seed derives a secret of its own, so that no family of colliding keys holds for every seed;
/// still, a seed is no key: whoever may probe for collisions calls for [`SipHasher`](crate::SipHasher).
///
/// Deriving takes some microseconds: clone a hasher rather than making it again.
///
/// # Source
///
/// `[WangEtAl20]`, final version 3, one-shot; a key of 8 bytes takes an inline path that gives the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WyHasher {
    seed: u64,
    secret: [u64; 4],
}

impl WyHasher {
    /// The default hasher.
    pub const fn new() -> Self {
        Self { seed: 0, secret: STANDARD_SECRET }
    }

    /// A hasher of a family of 2^64. Seed 0 is the default hasher.
    pub fn with_seed(seed: u64) -> Self {
        if seed == 0 { Self::new() } else { Self { seed, secret: make_secret(seed) } }
    }
}

impl Default for WyHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl Fingerprint for WyHasher {
    fn fingerprint(&self) -> u64 {
        fingerprint_of(self)
    }
}

impl KeyHasher for WyHasher {
    #[inline]
    fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        match <[u8; 8]>::try_from(bytes) {
            // A feature of the wyhash crate changes what its function gives, and any crate in the graph may switch it on:
            // eight bytes take one path here, so that a number and its bytes stay one key even then.
            Ok(word) => self.hash_u64(u64::from_le_bytes(word)),
            Err(_) => wyhash(bytes, self.seed, self.secret),
        }
    }

    /// The case of eight bytes, written out: the crate's function is not inlined and takes three times as long.
    #[inline]
    fn hash_u64(&self, value: u64) -> u64 {
        let [first, second, ..] = self.secret;
        fold(second ^ 8, fold(value.rotate_left(32) ^ second, value ^ self.seed ^ first))
    }
}

/// The secret of a seed, as wyhash makes it: odd numbers of bytes of four ones each, any two of which differ in 32 bits.
///
/// The crate's function takes remainders of a `usize`, and gives other secrets where that has 32 bits.
fn make_secret(seed: u64) -> [u64; 4] {
    const BYTES: [u8; 70] = {
        let (mut bytes, mut found, mut byte) = ([0; 70], 0, 0u8);
        while found < bytes.len() {
            if byte.count_ones() == 4 {
                bytes[found] = byte;
                found += 1;
            }
            byte += 1;
        }
        bytes
    };
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_add(STANDARD_SECRET[0]);
        fold(state, state ^ STANDARD_SECRET[1])
    };
    let mut secret = [0; 4];
    for at in 0..secret.len() {
        let differs = |word: u64| secret[..at].iter().all(|other: &u64| (other ^ word).count_ones() == 32);
        secret[at] = loop {
            let word = u64::from_le_bytes(core::array::from_fn(|_| BYTES[(random() % 70) as usize]));
            if word % 2 == 1 && differs(word) {
                break word;
            }
        };
    }
    secret
}

/// The two halves of the product, one on the other.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}
