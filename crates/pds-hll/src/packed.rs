//! Registers of six bits: the payload of the byte form.
//!
//! Register i holds bits 6i to 6i + 5 of the payload, counted from the lowest bit of the first byte. Eight registers
//! take six bytes, and move at once as the bytes of a word.

use alloc::vec::Vec;

/// Registers that are handled at once; their number is always a multiple of it.
pub(crate) const GROUP: usize = 8;

/// That many registers.
pub(crate) type Group = [u8; GROUP];

/// Bytes of a group in the payload.
pub(crate) const PACKED_LEN: usize = 6;

/// Appends registers, each below 64.
pub(crate) fn pack(registers: &[u8], payload: &mut Vec<u8>) {
    payload.reserve(registers.len() / GROUP * PACKED_LEN);
    for group in groups(registers) {
        payload.extend_from_slice(&squeeze(u64::from_le_bytes(group)).to_le_bytes()[..PACKED_LEN]);
    }
}

/// The registers of a payload, each below 64.
pub(crate) fn unpack(payload: &[u8]) -> impl Iterator<Item = Group> + '_ {
    payload.as_chunks::<PACKED_LEN>().0.iter().map(|packed| {
        let mut word = [0; GROUP];
        word[..PACKED_LEN].copy_from_slice(packed);
        spread(u64::from_le_bytes(word)).to_le_bytes()
    })
}

/// Registers in memory.
pub(crate) fn groups(registers: &[u8]) -> impl Iterator<Item = Group> + '_ {
    registers.as_chunks::<GROUP>().0.iter().copied()
}

/// Closes the gaps of two bits: pairs of lanes, then pairs of pairs, then the two halves.
const fn squeeze(x: u64) -> u64 {
    let x = (x & 0x003f_003f_003f_003f) | (x >> 2 & 0x0fc0_0fc0_0fc0_0fc0);
    let x = (x & 0x0000_0fff_0000_0fff) | (x >> 4 & 0x00ff_f000_00ff_f000);
    (x & 0x0000_0000_00ff_ffff) | (x >> 8 & 0x0000_ffff_ff00_0000)
}

/// Undoes [`squeeze`].
const fn spread(x: u64) -> u64 {
    let x = (x & 0x0000_0000_00ff_ffff) | (x << 8 & 0x00ff_ffff_0000_0000);
    let x = (x & 0x0000_0fff_0000_0fff) | (x << 4 & 0x0fff_0000_0fff_0000);
    (x & 0x003f_003f_003f_003f) | (x << 2 & 0x3f00_3f00_3f00_3f00)
}
