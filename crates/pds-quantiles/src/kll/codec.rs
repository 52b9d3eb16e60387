//! How items are written.

use alloc::string::String;
use alloc::vec::Vec;

use pds_core::wire;

use super::KllItem;
use crate::Finite;

/// Items with a byte form. One value, one form.
///
/// An item in memory may take at most eight times the bytes of its shortest form, so that decoding allocates in
/// proportion to what it reads.
pub trait KllCodec: KllItem {
    /// Names the type in the bytes: below 128 for those of this crate, from there on for others.
    const TAG: u8;

    /// Appends an item.
    fn put(stored: &Self::Stored, bytes: &mut Vec<u8>);

    /// Takes an item from the front of the bytes; `None` if they are none as [`KllCodec::put`] writes them.
    fn take(bytes: &mut &[u8]) -> Option<Self::Stored>;
}

/// The bits, 8 bytes.
impl KllCodec for f64 {
    const TAG: u8 = 1;

    fn put(stored: &Finite, bytes: &mut Vec<u8>) {
        wire::put_words(bytes, &[stored.get().to_bits()]);
    }

    fn take(bytes: &mut &[u8]) -> Option<Finite> {
        let bits = take_word(bytes)?;
        // The bits of -0.0 are not those that come back.
        Finite::new(Self::from_bits(bits)).filter(|value| value.get().to_bits() == bits)
    }
}

/// 8 bytes.
impl KllCodec for u64 {
    const TAG: u8 = 2;

    fn put(stored: &Self, bytes: &mut Vec<u8>) {
        wire::put_words(bytes, &[*stored]);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        take_word(bytes)
    }
}

/// 8 bytes, two's complement.
impl KllCodec for i64 {
    const TAG: u8 = 3;

    fn put(stored: &Self, bytes: &mut Vec<u8>) {
        wire::put_words(bytes, &[stored.cast_unsigned()]);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        take_word(bytes).map(u64::cast_signed)
    }
}

/// The length in bytes as a word of 8 bytes, then UTF-8.
impl KllCodec for String {
    const TAG: u8 = 4;

    fn put(stored: &Self, bytes: &mut Vec<u8>) {
        put_slice(stored.as_bytes(), bytes);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        core::str::from_utf8(take_slice(bytes)?).ok().map(Self::from)
    }
}

/// The length as a word of 8 bytes, then the bytes.
impl KllCodec for Vec<u8> {
    const TAG: u8 = 5;

    fn put(stored: &Self, bytes: &mut Vec<u8>) {
        put_slice(stored, bytes);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        take_slice(bytes).map(<[u8]>::to_vec)
    }
}

fn take_word(bytes: &mut &[u8]) -> Option<u64> {
    let (word, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*word))
}

/// A word of length, not a varint: an empty string has to take its share of what it needs in memory.
fn put_slice(slice: &[u8], bytes: &mut Vec<u8>) {
    wire::put_words(bytes, &[slice.len() as u64]);
    bytes.extend_from_slice(slice);
}

fn take_slice<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_word(bytes)?).ok()?;
    let (slice, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(slice)
}
