//! The query, written once over owned words and borrowed bytes.

use pds_hash::Probes;

use crate::arch;

/// A bit array whose bit i is bit i % 64 of little-endian word i / 64: bit i % 8 of byte i / 8.
pub(crate) trait Bits {
    /// Bit `position`, as 0 or 1. The position lies below the length.
    fn bit(&self, position: u64) -> u64;

    /// How many bits are set.
    fn ones(&self) -> u64;

    /// Asks for the cache line of a bit.
    fn prefetch(&self, position: u64);

    /// How many bytes the bits take.
    fn bytes(&self) -> usize;
}

impl Bits for [u64] {
    #[inline]
    fn bit(&self, position: u64) -> u64 {
        self[(position / 64) as usize] >> (position % 64) & 1
    }

    fn ones(&self) -> u64 {
        self.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    #[inline]
    fn prefetch(&self, position: u64) {
        arch::prefetch(self, position / 64);
    }

    fn bytes(&self) -> usize {
        size_of_val(self)
    }
}

impl Bits for [u8] {
    #[inline]
    fn bit(&self, position: u64) -> u64 {
        u64::from(self[(position / 8) as usize] >> (position % 8) & 1)
    }

    fn ones(&self) -> u64 {
        let (words, rest) = self.as_chunks();
        let ones = |sum: u64, word: u64| sum + u64::from(word.count_ones());
        let sum = words.iter().map(|word| u64::from_le_bytes(*word)).fold(0, ones);
        rest.iter().map(|&byte| u64::from(byte)).fold(sum, ones)
    }

    #[inline]
    fn prefetch(&self, position: u64) {
        arch::prefetch(self, position / 8);
    }

    fn bytes(&self) -> usize {
        self.len()
    }
}

/// Whether all `k` probed bits are set, looking at every one of them: a miss costs no mispredicted branch.
#[inline]
pub(crate) fn all_set<B: Bits + ?Sized>(array: &B, bits: u64, k: u32, hash: u64) -> bool {
    let mut probes = Probes::new(hash);
    let mut all = 1;
    for _ in 0..k {
        all &= array.bit(probes.next(bits));
    }
    all == 1
}

/// As [`all_set`], stopping at the first bit that is not set: a miss touches two cache lines on average.
#[inline]
pub(crate) fn all_set_early_out<B: Bits + ?Sized>(array: &B, bits: u64, k: u32, hash: u64) -> bool {
    let mut probes = Probes::new(hash);
    (0..k).all(|_| array.bit(probes.next(bits)) == 1)
}

/// Above this size most probes miss the second-level cache, and the lines that an early exit saves cost more than
/// the branch that it mispredicts.
pub(crate) const BRANCH_FREE_BITS: u64 = 8 << 20;

/// Whether the filter holds the hash, by whichever loop suits its size.
#[inline]
pub(crate) fn contains<B: Bits + ?Sized>(array: &B, bits: u64, k: u32, hash: u64) -> bool {
    if bits <= BRANCH_FREE_BITS {
        all_set(array, bits, k, hash)
    } else {
        all_set_early_out(array, bits, k, hash)
    }
}
