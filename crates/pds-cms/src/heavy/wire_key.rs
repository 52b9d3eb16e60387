//! How keys are written.

use alloc::string::String;
use alloc::vec::Vec;

use crate::Key;

/// A key that can be written and read again: by its canonical bytes, those that [`Key`] hashes.
///
/// Byte strings and texts are written as they are, integers as [`Key`] extends them: 8 bytes, or 16 beyond 64 bits. So a
/// list of `u32` keys is read as one of `u64` keys; a `u64` that is no `u32`, or bytes that are no UTF-8, are refused.
///
/// # Implementing
///
/// `write_key` appends the one byte string that `hash_with` hashes, and `read_key` accepts that one alone:
/// `K::read_key(bytes)` is `Some(key)` exactly if `key` writes `bytes`. It must not allocate more than a small multiple
/// of the bytes.
///
/// ```
/// use pds_cms::{Key, KeyHasher, WireKey};
///
/// #[derive(Clone, PartialEq, Eq)]
/// struct Id(u64);
///
/// impl Key for Id {
///     fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
///         self.0.hash_with(hasher)
///     }
/// }
///
/// impl WireKey for Id {
///     fn write_key(&self, bytes: &mut Vec<u8>) {
///         self.0.write_key(bytes);
///     }
///
///     fn read_key(bytes: &[u8]) -> Option<Self> {
///         u64::read_key(bytes).map(Self)
///     }
/// }
/// ```
pub trait WireKey: Key + Eq + Sized {
    /// Appends the canonical bytes.
    fn write_key(&self, bytes: &mut Vec<u8>);

    /// The key of these canonical bytes; `None` if there is none.
    fn read_key(bytes: &[u8]) -> Option<Self>;
}

impl WireKey for Vec<u8> {
    fn write_key(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self);
    }

    fn read_key(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

impl WireKey for String {
    fn write_key(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.as_bytes());
    }

    fn read_key(bytes: &[u8]) -> Option<Self> {
        core::str::from_utf8(bytes).ok().map(Self::from)
    }
}

impl<const N: usize> WireKey for [u8; N] {
    fn write_key(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self);
    }

    fn read_key(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }
}

macro_rules! integers {
    ($($type:ty => $wide:ty),*) => {$(
        impl WireKey for $type {
            fn write_key(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&(*self as $wide).to_le_bytes());
            }

            fn read_key(bytes: &[u8]) -> Option<Self> {
                <$wide>::from_le_bytes(bytes.try_into().ok()?).try_into().ok()
            }
        }
    )*};
}
integers!(
    u8 => u64, u16 => u64, u32 => u64, u64 => u64, usize => u64,
    i8 => i64, i16 => i64, i32 => i64, i64 => i64, isize => i64
);

macro_rules! wide_integers {
    ($($type:ty => $narrow:ty),*) => {$(
        impl WireKey for $type {
            fn write_key(&self, bytes: &mut Vec<u8>) {
                match <$narrow>::try_from(*self) {
                    Ok(narrow) => bytes.extend_from_slice(&narrow.to_le_bytes()),
                    Err(_) => bytes.extend_from_slice(&self.to_le_bytes()),
                }
            }

            fn read_key(bytes: &[u8]) -> Option<Self> {
                if let Ok(narrow) = bytes.try_into() {
                    return Some(Self::from(<$narrow>::from_le_bytes(narrow)));
                }
                // 16 bytes of what 8 hold are not canonical.
                let wide = Self::from_le_bytes(bytes.try_into().ok()?);
                <$narrow>::try_from(wide).is_err().then_some(wide)
            }
        }
    )*};
}
wide_integers!(u128 => u64, i128 => i64);

impl WireKey for char {
    fn write_key(&self, bytes: &mut Vec<u8>) {
        u32::from(*self).write_key(bytes);
    }

    fn read_key(bytes: &[u8]) -> Option<Self> {
        u32::read_key(bytes).and_then(Self::from_u32)
    }
}

impl WireKey for bool {
    fn write_key(&self, bytes: &mut Vec<u8>) {
        u8::from(*self).write_key(bytes);
    }

    fn read_key(bytes: &[u8]) -> Option<Self> {
        match u8::read_key(bytes)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use core::fmt::Debug;
    use std::string::ToString;
    use std::vec;

    use super::*;
    use crate::{KeyHasher, WyHasher};

    fn check<K: WireKey + Debug>(keys: impl IntoIterator<Item = K>) {
        for key in keys {
            let mut bytes = Vec::new();
            key.write_key(&mut bytes);
            let hasher = WyHasher::default();
            assert_eq!(
                hasher.hash_bytes(&bytes),
                hasher.hash_key(&key),
                "{key:?} is written as it is hashed"
            );
            assert_eq!(K::read_key(&bytes).as_ref(), Some(&key));
        }
    }

    #[test]
    fn keys_are_written_by_the_bytes_that_are_hashed_and_read_again() {
        check(["", "a", "naïve"].map(ToString::to_string));
        check([vec![], vec![0xff; 9]]);
        check([[0u8; 4], [1, 2, 3, 255]]);
        check([0, 1, u8::MAX]);
        check([0, 1, u16::MAX]);
        check([0, 1, u32::MAX]);
        check([0, 1, u64::MAX]);
        check([0, 1, usize::MAX]);
        check([0, -1, i8::MIN, i8::MAX]);
        check([0, -1, i16::MIN]);
        check([0, -1, i32::MIN]);
        check([0, -1, i64::MIN]);
        check([0, -1, isize::MIN]);
        check([0, 1, u128::from(u64::MAX), 1 << 64, u128::MAX]);
        check([0, -1, i128::from(i64::MIN), i128::from(i64::MIN) - 1, 1 << 63, i128::MIN]);
        check(['a', '\u{10ffff}']);
        check([false, true]);
    }

    #[test]
    fn bytes_that_no_key_writes_are_refused() {
        assert_eq!(String::read_key(&[0xff]), None);
        assert_eq!(<[u8; 4]>::read_key(&[1, 2, 3]), None);
        assert_eq!(u64::read_key(&[0; 7]), None);
        assert_eq!(u8::read_key(&256u64.to_le_bytes()), None);
        assert_eq!(i8::read_key(&255u64.to_le_bytes()), None);
        assert_eq!(u128::read_key(&7u128.to_le_bytes()), None);
        assert_eq!(i128::read_key(&(-7i128).to_le_bytes()), None);
        assert_eq!(char::read_key(&0xd800u64.to_le_bytes()), None);
        assert_eq!(bool::read_key(&2u64.to_le_bytes()), None);
    }
}
