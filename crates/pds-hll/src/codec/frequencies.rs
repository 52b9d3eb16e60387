//! The share of the coder's range that each symbol is given.

use super::MAX_ALPHABET;

/// log2 of the coder's range. Counts of 2^14 symbols, or of a lower power of two, have their exact shares; of more, a
/// share is off by less than one part of the range, except for the most frequent symbol's.
pub(super) const RANGE_BITS: u32 = 14;

/// The coder's range.
pub(super) const RANGE: u32 = 1 << RANGE_BITS;

/// Shares of the symbols, which sum to [`RANGE`].
pub(super) struct Frequencies([u16; MAX_ALPHABET]);

impl Frequencies {
    /// Shares by counts, not all zero, of at most [`MAX_ALPHABET`] symbols: 0 for a count of 0, at least 1 for any
    /// other.
    pub(super) fn by_counts(counts: &[u32]) -> Self {
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let mut shares = [0; MAX_ALPHABET];
        let mut given = 0;
        let mut greatest = 0;
        for (symbol, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let share = ((u64::from(count) << RANGE_BITS) / total).max(1);
            shares[symbol] = share as u16;
            given += share as u32;
            if count > counts[greatest] {
                greatest = symbol;
            }
        }
        // What rounding left is the most frequent symbol's, and so is what it took: a part for each of r rare symbols
        // at most. That symbol has RANGE / (192 - r) parts at least, which is more, as r (192 - r) is at most 96^2.
        let others = given - u32::from(shares[greatest]);
        shares[greatest] = RANGE.saturating_sub(others).max(1) as u16;
        Self(shares)
    }

    /// The share of each symbol.
    pub(super) fn shares(&self) -> &[u16; MAX_ALPHABET] {
        &self.0
    }

    /// True if one symbol has the whole range.
    pub(super) fn is_certain(&self) -> bool {
        self.0.iter().any(|&share| u32::from(share) == RANGE)
    }
}
