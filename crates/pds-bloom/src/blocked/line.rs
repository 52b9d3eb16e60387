//! A cache line of bits, owned or borrowed, and what is done with it on every target.

use core::borrow::Borrow;

use super::probes;

/// Bytes of a line.
pub(crate) const LINE_BYTES: usize = 64;

/// A line of one's own, aligned as the cache is. Bit i is bit i % 8 of byte i / 8, on every platform.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [u8; LINE_BYTES]);

impl Line {
    pub(crate) const EMPTY: Self = Self([0; LINE_BYTES]);
}

impl Borrow<[u8; LINE_BYTES]> for Line {
    #[inline]
    fn borrow(&self) -> &[u8; LINE_BYTES] {
        &self.0
    }
}

/// Whether a bit is set, in the lowest place; the others are anything.
#[inline]
fn bit(line: &[u8; LINE_BYTES], bit: u32) -> u8 {
    line[(bit / 8) as usize % LINE_BYTES] >> (bit % 8)
}

/// Whether the `k` bits of a hash are all set.
#[inline]
pub(crate) fn contains(line: &[u8; LINE_BYTES], hash: u64, k: u32) -> bool {
    let mut all = 1;
    probes::for_each(hash, k, |place| all &= bit(line, place));
    all & 1 == 1
}

/// Sets the `k` bits of a hash; true if one of them was not set before.
#[inline]
pub(crate) fn insert(line: &mut [u8; LINE_BYTES], hash: u64, k: u32) -> bool {
    let mut known = 1;
    probes::for_each(hash, k, |place| {
        known &= bit(line, place);
        line[(place / 8) as usize % LINE_BYTES] |= 1 << (place % 8);
    });
    known & 1 == 0
}

/// How many bits are set.
pub(crate) fn ones(line: &[u8; LINE_BYTES]) -> u32 {
    let (words, _) = line.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum()
}
