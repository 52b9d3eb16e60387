//! Keys: values with one canonical byte string.

use alloc::{borrow::Cow, borrow::ToOwned, boxed::Box, rc::Rc, string::String, vec::Vec};

use crate::KeyHasher;

/// A value with exactly one canonical byte string, the same on every platform and for ever.
///
/// | type | hashed as |
/// |---|---|
/// | `[u8]`, `str`, `[u8; N]`, `Vec<u8>`, `String` | its bytes |
/// | integers up to 64 bits, `usize`, `isize` | the value extended to 64 bits (by its sign if signed), 8 bytes little-endian |
/// | `u128` within `u64`, `i128` within `i64` | the same 8 bytes; otherwise 16 bytes little-endian |
/// | `f32`, `f64` | widened to `f64`, -0.0 as +0.0, every NaN as one NaN, its 8 bytes little-endian |
/// | `bool`, `char` | as the integer |
/// | `&`, `Box`, `Rc`, `Arc`, `Cow` of a key | as that key |
///
/// So `5u8`, `5u32` and `5i64` are one key, and keys of different types can meet: `5u64` equals its 8 bytes,
/// `'A'` equals 65, `-1i64` equals `u64::MAX`. Keep to one key type in one sketch.
///
/// Tuples are absent on purpose, since joining parts is ambiguous (`("ab", "c")` against `("a", "bc")`):
/// [`frame`] joins byte strings unambiguously. `std::hash::Hash` is not used: its bytes differ between platforms.
///
/// # Implementing
///
/// Hash one byte string that determines the value, through one call of `hash_bytes`, `hash_u64` or another key.
/// A type that has `std::hash::Hash` alone is no key:
///
/// ```compile_fail,E0277
/// #[derive(Hash)]
/// struct Id(u32);
///
/// fn hash(hasher: &impl pds_core::KeyHasher) -> u64 {
///     hasher.hash_key(&Id(7))
/// }
/// ```
///
/// ```
/// struct Id(u32);
///
/// impl pds_core::Key for Id {
///     fn hash_with<H: pds_core::KeyHasher>(&self, hasher: &H) -> u64 {
///         hasher.hash_key(&self.0)
///     }
/// }
///
/// fn hash(hasher: &impl pds_core::KeyHasher) -> u64 {
///     hasher.hash_key(&Id(7))
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no canonical bytes to hash",
    note = "parts are joined unambiguously by `pds_core::frame`, whose result is a key",
    note = "a type of your own implements `pds_core::Key` by one call of the hasher"
)]
pub trait Key {
    /// The hash of the canonical bytes.
    fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64;
}

impl Key for [u8] {
    #[inline]
    fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
        hasher.hash_bytes(self)
    }
}

macro_rules! keys_by_bytes {
    ($([$($generics:tt)*] $type:ty),*) => {$(
        impl<$($generics)*> Key for $type {
            #[inline]
            fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
                let bytes: &[u8] = self.as_ref();
                hasher.hash_bytes(bytes)
            }
        }
    )*};
}
keys_by_bytes!([] str, [] String, [] Vec<u8>, [const N: usize] [u8; N]);

macro_rules! keys_by_extension {
    ($($type:ty => $wide:ty),*) => {$(
        impl Key for $type {
            #[inline]
            fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
                hasher.hash_u64(*self as $wide as u64)
            }
        }
    )*};
}
keys_by_extension!(
    u8 => u64, u16 => u64, u32 => u64, u64 => u64, usize => u64, bool => u64, char => u64,
    i8 => i64, i16 => i64, i32 => i64, i64 => i64, isize => i64
);

impl Key for u128 {
    #[inline]
    fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
        match u64::try_from(*self) {
            Ok(small) => hasher.hash_u64(small),
            Err(_) => hasher.hash_bytes(&self.to_le_bytes()),
        }
    }
}

impl Key for i128 {
    #[inline]
    fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
        match i64::try_from(*self) {
            Ok(small) => hasher.hash_u64(small as u64),
            Err(_) => hasher.hash_bytes(&self.to_le_bytes()),
        }
    }
}

impl Key for f64 {
    #[inline]
    fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
        /// The quiet NaN with no payload.
        const NAN_BITS: u64 = 0x7ff8_0000_0000_0000;
        let bits = if self.is_nan() {
            NAN_BITS
        } else if *self == 0.0 {
            0
        } else {
            self.to_bits()
        };
        hasher.hash_u64(bits)
    }
}

impl Key for f32 {
    #[inline]
    fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
        f64::from(*self).hash_with(hasher)
    }
}

macro_rules! keys_behind_pointers {
    ($($(#[$cfg:meta])? $type:ty),*) => {$(
        $(#[$cfg])?
        impl<K: Key + ?Sized> Key for $type {
            #[inline]
            fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
                (**self).hash_with(hasher)
            }
        }
    )*};
}
keys_behind_pointers!(&K, &mut K, Box<K>, Rc<K>, #[cfg(target_has_atomic = "ptr")] alloc::sync::Arc<K>);

impl<K: Key + ToOwned + ?Sized> Key for Cow<'_, K> {
    #[inline]
    fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
        (**self).hash_with(hasher)
    }
}

/// Joins byte strings into one that determines them all: each part is preceded by its length as 8
/// little-endian bytes.
///
/// ```
/// assert_ne!(pds_core::frame(&[b"ab", b"c"]), pds_core::frame(&[b"a", b"bc"]));
/// ```
pub fn frame(parts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    frame_into(&mut out, parts);
    out
}

/// As [`frame`], in place of what `out` held: one buffer serves many keys.
pub fn frame_into(out: &mut Vec<u8>, parts: &[&[u8]]) {
    out.clear();
    for part in parts {
        out.extend_from_slice(&(part.len() as u64).to_le_bytes());
        out.extend_from_slice(part);
    }
}
