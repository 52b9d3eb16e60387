//! The query, written once over owned words and borrowed bytes.

use pds_hash::Probes;

use crate::arch::{self, BorrowedWords, Words};

/// A bit array whose bit i is bit i % 64 of little-endian word i / 64: bit i % 8 of byte i / 8.
pub(crate) trait Bits {
    /// The bit that the next probe falls on, in the lowest place; the others are anything.
    fn bit(&self, probes: &mut Probes) -> u64;

    /// Asks for the cache line that the next probe falls on.
    fn prefetch(&self, probes: &mut Probes);

    /// How many bits are set.
    fn ones(&self) -> u64;

    /// How many bytes the bits take.
    fn bytes(&self) -> usize;
}

impl Bits for Words {
    #[inline]
    fn bit(&self, probes: &mut Probes) -> u64 {
        Words::bit(self, probes)
    }

    #[inline]
    fn prefetch(&self, probes: &mut Probes) {
        arch::prefetch(self, probes.next(self.len() as u64).0);
    }

    fn ones(&self) -> u64 {
        self.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn bytes(&self) -> usize {
        size_of_val::<[u64]>(self)
    }
}

/// The payload of an envelope.
impl Bits for BorrowedWords<'_> {
    #[inline]
    fn bit(&self, probes: &mut Probes) -> u64 {
        BorrowedWords::bit(*self, probes)
    }

    #[inline]
    fn prefetch(&self, probes: &mut Probes) {
        arch::prefetch(self, probes.next(self.len() as u64).0);
    }

    fn ones(&self) -> u64 {
        self.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum()
    }

    fn bytes(&self) -> usize {
        size_of_val::<[[u8; 8]]>(self)
    }
}

/// Up to this size probes mostly hit the second-level cache, and looking at all of them costs less than a branch that
/// is mispredicted.
const BRANCH_FREE_BYTES: usize = 1 << 20;

/// Whether all `k` probed bits are set.
///
/// Always inlined: as a call it takes twice the time in cache, and out of it fewer queries overlap.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn contains<B: Bits + ?Sized>(array: &B, k: u32, hash: u64) -> bool {
    let mut probes = Probes::new(hash);
    if array.bytes() <= BRANCH_FREE_BYTES {
        (0..k).fold(1, |all, _| all & array.bit(&mut probes)) & 1 == 1
    } else {
        all_set(array, k, &mut probes)
    }
}

/// Whether the next `k` probed bits are set, at least one, stopping at the first that is not: a miss touches two cache
/// lines on average.
///
/// The loop is written out: `(0..k).all(..)` takes three instructions more per probe, and the fewer there are, the more
/// queries wait for memory at a time.
#[inline(always)]
#[allow(clippy::inline_always)] // see `contains`
pub(crate) fn all_set<B: Bits + ?Sized>(array: &B, k: u32, probes: &mut Probes) -> bool {
    let mut left = k;
    loop {
        if array.bit(probes) & 1 == 0 {
            return false;
        }
        left -= 1;
        if left == 0 {
            return true;
        }
    }
}
