//! The tokens in bytes: in order, the gaps between indices in Rice's code, the leading zeros in unary.
//!
//! Bits follow each other from the lowest of the first byte. A token is the gap to the index before it (0 before the
//! first): gap / 2^k zeros, a one, and the low k bits of the gap; then one zero for each of its leading zeros, and a
//! one unless there are 38. Zeros fill the last byte. Within an index the leading zeros increase.
//!
//! Gaps between random indices have a geometric distribution nearly, leading zeros have one exactly, and these are its
//! codes: less than 20 bits a token at 1000 tokens.
//!
//! Source: `[Golomb66]`, `[Rice79]`.

use alloc::vec::Vec;

use super::token::{INDEX_BITS, MAX_RANK, Token};
use crate::Error;
use crate::bits::{Reader, Writer};

/// What every fault of a payload of tokens is called.
const MALFORMED: Error = Error::Malformed { field: "tokens" };

/// The bits k of a gap that stand as they are: the whole part of log2(mean gap * ln 2), which is within a hundredth of a
/// bit of the best.
fn remainder_bits(count: usize) -> u32 {
    /// 2^26 ln 2.
    const SCALE: usize = 46_516_319;
    (SCALE / count.max(1)).max(1).ilog2()
}

/// Most bytes of the code of up to `count` tokens, however they were chosen: a gap takes k + 1 bits and all of them
/// together 2^26 / 2^k zeros, 3 a token at most; leading zeros take 38. Rounded up from log2 to k + 1.
pub(crate) fn most_bytes(count: usize) -> usize {
    (count * (remainder_bits(count) + 1 + 1 + 3 + MAX_RANK) as usize).div_ceil(8)
}

/// Appends the code of tokens that are in order, each once.
pub(crate) fn encode(tokens: &[Token], out: &mut Vec<u8>) {
    let k = remainder_bits(tokens.len());
    let mut bits = Writer::new(out);
    let mut last = 0;
    for token in tokens {
        let gap = token.index() - last;
        last = token.index();
        bits.zeros(gap >> k);
        bits.put(1, 1);
        bits.put(gap & ((1 << k) - 1), k);
        bits.zeros(token.rank());
        if token.rank() < MAX_RANK {
            bits.put(1, 1);
        }
    }
    bits.finish();
}

/// Reads tokens where their bytes lie, in order. The first fault ends it, as does the last token; that the bytes end
/// there too is checked with it. So whoever has seen no error has seen the code of just these tokens.
#[derive(Clone)]
pub(crate) struct Tokens<'a> {
    bits: Reader<'a>,
    k: u32,
    left: usize,
    last: Option<Token>,
}

impl<'a> Tokens<'a> {
    /// Of `count` tokens.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if the payload is too short for so many: what is allocated for them is then bounded by what
    /// was sent.
    pub(crate) fn open(payload: &'a [u8], count: usize) -> Result<Self, Error> {
        let k = remainder_bits(count);
        // A gap takes k + 1 bits at least, the leading zeros one.
        let least = count as u64 * u64::from(k + 2);
        if (payload.len() as u64) < least.div_ceil(8) || (count == 0 && !payload.is_empty()) {
            return Err(MALFORMED);
        }
        Ok(Self { bits: Reader::new(payload), k, left: count, last: None })
    }

    fn read(&mut self) -> Option<Token> {
        let quotient = self.bits.unary()?;
        let gap = quotient << self.k | u64::from(self.bits.take(self.k)?);
        let index = self.last.map_or(0, |token| u64::from(token.index())) + gap;
        if index >> INDEX_BITS != 0 {
            return None;
        }
        let token = Token::from_parts(index as u32, self.bits.unary_to(MAX_RANK)?);
        (self.last < Some(token) && (self.left > 1 || self.bits.is_finished())).then_some(token)
    }
}

impl Iterator for Tokens<'_> {
    type Item = Result<Token, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let token = self.read();
        self.left = if token.is_some() { self.left - 1 } else { 0 };
        self.last = token;
        Some(token.ok_or(MALFORMED))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left))
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec;

    use pds_testkit::{DistinctKeys, laws};
    use proptest::collection::{btree_set, vec as vec_of};
    use proptest::prelude::*;

    use super::*;

    fn tokens() -> impl Strategy<Value = Vec<Token>> {
        let index = prop_oneof![0..1u32 << INDEX_BITS, 0..4u32, (1 << INDEX_BITS) - 4..1u32 << INDEX_BITS];
        let rank = prop_oneof![0..=MAX_RANK, 0..2u32, Just(MAX_RANK)];
        btree_set((index, rank).prop_map(|(index, rank)| Token::from_parts(index, rank)), 0..200)
            .prop_map(|set: BTreeSet<Token>| set.into_iter().collect())
    }

    fn encoded(tokens: &[Token]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(tokens, &mut bytes);
        bytes
    }

    fn decoded(bytes: &[u8], count: usize) -> Result<Vec<Token>, Error> {
        Tokens::open(bytes, count)?.collect()
    }

    proptest! {
        #[test]
        fn tokens_come_back(tokens in tokens()) {
            prop_assert_eq!(decoded(&encoded(&tokens), tokens.len()), Ok(tokens));
        }

        #[test]
        fn whatever_decodes_is_the_code_of_its_tokens(bytes in vec_of(any::<u8>(), 0..60), count in 0..40usize) {
            if let Ok(tokens) = decoded(&bytes, count) {
                prop_assert_eq!(tokens.len(), count);
                prop_assert!(tokens.is_sorted_by(|a, b| a < b));
                prop_assert_eq!(encoded(&tokens), bytes);
            }
        }

        #[test]
        fn changed_bytes_are_refused_or_canonical(tokens in tokens(), at: usize, bits: u8, cut in 0..3usize) {
            let mut bytes = encoded(&tokens);
            if bytes.is_empty() {
                return Ok(());
            }
            let at = at % bytes.len();
            bytes[at] ^= bits;
            bytes.truncate(bytes.len() - cut.min(bytes.len()));
            for count in [tokens.len(), tokens.len() + 1, tokens.len() - 1] {
                if let Ok(tokens) = decoded(&bytes, count) {
                    prop_assert_eq!(&encoded(&tokens), &bytes);
                }
            }
        }
    }

    #[test]
    fn a_long_run_of_zeros_is_refused_and_does_not_overflow() {
        for byte in [0, 1, 0x80, 0xff] {
            let mut bytes = vec![0; 1 << 16];
            bytes.push(byte);
            assert!(decoded(&bytes, 1).is_err());
            assert!(decoded(&bytes, 49_152).is_err());
        }
    }

    #[test]
    fn a_thousand_tokens_take_less_than_two_and_a_half_bytes_each() {
        let mut set = super::super::TokenSet::new();
        for key in DistinctKeys::new(1).range(0..1000) {
            set.insert(Token::of(key), usize::MAX);
        }
        laws::at_most(encoded(&set.sorted()).len() as f64, 2500.0).assert("bytes");
    }
}
