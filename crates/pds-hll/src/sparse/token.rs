//! What is kept of a hash.

use crate::registers::value;

/// Bits of a hash that a token holds as they are: the lowest, which pick the register at any precision.
pub(crate) const INDEX_BITS: u32 = 26;

/// Bits of the count of leading zeros, below the index.
const RANK_BITS: u32 = 6;

/// Most leading zeros that are counted apart. A hash with so many has nothing but zeros above its index bits: whatever
/// zeros follow are seen in these.
pub(crate) const MAX_RANK: u32 = 64 - INDEX_BITS;

/// No token has these bits: their rank would be 63.
pub(crate) const EMPTY: u32 = u32::MAX;

/// The low 26 bits of a hash, and its leading zeros, up to 38.
///
/// Ordered by index, then by leading zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Token(u32);

impl Token {
    /// The token of a hash.
    #[inline]
    pub(crate) fn of(hash: u64) -> Self {
        let rank = hash.leading_zeros().min(MAX_RANK);
        Self((hash as u32) << RANK_BITS | rank)
    }

    /// The token with these bits; `None` for bits that no hash has.
    pub(crate) fn from_bits(bits: u32) -> Option<Self> {
        let token = Self(bits);
        (token.rank() <= MAX_RANK).then_some(token)
    }

    /// From parts in range: an index below 2^26, a rank of at most 38.
    pub(super) fn from_parts(index: u32, rank: u32) -> Self {
        Self(index << RANK_BITS | rank)
    }

    /// The bits, never [`EMPTY`].
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(super) fn index(self) -> u32 {
        self.0 >> RANK_BITS
    }

    pub(super) fn rank(self) -> u32 {
        self.0 & ((1 << RANK_BITS) - 1)
    }

    /// A hash with this token, the same for every hash that has it: it does to registers of any precision, up to 26,
    /// what they did.
    #[inline]
    pub(crate) fn hash(self) -> u64 {
        let (index, rank) = (u64::from(self.index()), self.rank());
        if rank < MAX_RANK { 1 << (63 - rank) | index } else { index }
    }

    /// The register of 2^`precision` that the token belongs to, and the value that it gives it.
    #[inline]
    pub(crate) fn index_and_value(self, precision: u8) -> (usize, u8) {
        let hash = self.hash();
        (hash as usize & ((1 << precision) - 1), value(hash))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_token_keeps_what_registers_need(hash: u64, zeros in 0..=64u32, precision in 4..=18u8) {
            let hash = hash.checked_shr(zeros).unwrap_or(0);
            let token = Token::of(hash);
            let mask = (1usize << precision) - 1;
            prop_assert_eq!(token.index_and_value(precision), (hash as usize & mask, value(hash)));
            prop_assert_eq!(Token::of(token.hash()), token);
            prop_assert_eq!(Token::from_bits(token.bits()), Some(token));
            prop_assert!(token.bits() != EMPTY);
            prop_assert_eq!(Token::from_parts(token.index(), token.rank()), token);
        }

        #[test]
        fn bits_are_a_token_if_some_hash_has_them(bits: u32) {
            match Token::from_bits(bits) {
                Some(token) => prop_assert_eq!(Token::of(token.hash()).bits(), bits),
                None => prop_assert!(bits & 63 > 38),
            }
        }
    }
}
