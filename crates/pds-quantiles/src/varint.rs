//! LEB128: seven bits a byte, the least first, the highest bit where more follow.

use alloc::vec::Vec;

/// Appends a number, in 1 to 10 bytes.
pub(crate) fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes a number from the front of the bytes. `None` if they end before it does, or if it is not as
/// [`put_varint`] writes it: too long, or beyond 64 bits.
#[inline]
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    match **bytes {
        // Most are short.
        [byte @ 0..0x80, ref rest @ ..] => {
            *bytes = rest;
            Some(byte.into())
        }
        _ => take_long(bytes),
    }
}

fn take_long(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let digit = u64::from(byte & 0x7f);
        if digit << shift >> shift != digit {
            return None;
        }
        value |= digit << shift;
        if byte < 0x80 {
            // A last byte of zero adds nothing: there is a shorter form.
            return (byte != 0 || shift == 0).then_some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(value: u64) {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, value);
        let mut rest = &bytes[..];
        assert_eq!((take_varint(&mut rest), rest.len()), (Some(value), 0));
        for cut in 0..bytes.len() {
            assert_eq!(take_varint(&mut &bytes[..cut]), None);
        }
    }

    #[test]
    fn numbers_at_the_edges_round_trip() {
        for bit in 0..64 {
            round_trip((1 << bit) - 1);
            round_trip(1 << bit);
        }
        round_trip(u64::MAX);
    }

    #[test]
    fn a_number_has_one_form() {
        for bytes in [&[0x80, 0][..], &[0xff, 0x80, 0], &[0xff; 10], &[0x80; 11]] {
            assert_eq!(take_varint(&mut &bytes[..]), None, "{bytes:?}");
        }
        let beyond = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2];
        assert_eq!(take_varint(&mut &beyond[..]), None);
    }

    proptest! {
        #[test]
        fn every_number_round_trips(value: u64, shift in 0..64u32) {
            round_trip(value >> shift);
        }

        #[test]
        fn what_is_accepted_is_what_is_written(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            if let Some(value) = take_varint(&mut rest) {
                let mut again = Vec::new();
                put_varint(&mut again, value);
                prop_assert_eq!(&again[..], &bytes[..bytes.len() - rest.len()]);
            }
        }
    }
}
