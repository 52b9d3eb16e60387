//! The coder: each symbol grows a state by as much as the symbol is rare, and the state spills into words.
//!
//! ```text
//! final states u32 x STATES | words u16
//! ```
//!
//! A state x lies in 2^16..2^32. A symbol with the share f of the range from c on takes it to
//! (x div f) 2^14 + c + x mod f, after the low word has been written if the result would reach 2^32. The decoder does
//! the inverse, and reads a word where the state falls below 2^16: which symbol, and whether a word, follows from the
//! state alone, so that no two streams give the same symbols. Symbols take turns among the states, for the processor
//! to work on several at once. They are written from the last to the first.
//!
//! A state could begin anywhere in 2^16..2^17 at no cost: there the last symbols go, two to a state, as they are.

use alloc::vec;
use alloc::vec::Vec;

use super::MALFORMED;
use super::frequencies::{Frequencies, RANGE, RANGE_BITS};
use crate::Error;

/// States that symbols take turns among: with two the decoder waits for them, and eight gain little for the bytes that
/// they take.
const STATES: usize = 4;

/// The least state.
const LEAST: u32 = 1 << WORD_BITS;

/// Bits that a state spills at a time.
const WORD_BITS: u32 = 16;

/// Symbols that the states begin with.
const KEPT: usize = 2 * STATES;

/// What encoding needs to know of a symbol, the share of which is below the whole range.
#[derive(Clone, Copy, Default)]
struct Step {
    /// 2^64 / share, rounded up: the upper half of a product with it is a quotient by the share.
    reciprocal: u64,
    /// States from here on spill first.
    limit: u32,
    /// What is added per quotient.
    complement: u32,
    /// What is added beside.
    bias: u32,
}

impl Step {
    fn new(share: u32, start: u32) -> Self {
        let limit = share << (u32::BITS - RANGE_BITS);
        let complement = RANGE - share;
        match u64::MAX / u64::from(share) {
            // 2^64 does not fit: with one less the quotient is one too small, which the bias makes good.
            u64::MAX => Self { reciprocal: u64::MAX, limit, complement, bias: start + complement },
            floor => Self { reciprocal: floor + 1, limit, complement, bias: start },
        }
    }

    /// Takes in the symbol; true, with the word, if the state spilled it.
    #[inline]
    fn apply(&self, x: &mut u32, word: &mut [u8; 2]) -> bool {
        let spills = *x >= self.limit;
        // Written always and kept where it spills: no branch, which would often be mispredicted.
        *word = (*x as u16).to_le_bytes();
        let spilt = if spills { *x >> WORD_BITS } else { *x };
        let quotient = ((u128::from(spilt) * u128::from(self.reciprocal)) >> u64::BITS) as u32;
        *x = spilt + self.bias + quotient * self.complement;
        spills
    }
}

/// Appends the stream of symbols that all have a share; nothing if one has the whole range.
pub(super) fn encode(symbols: &[u8], frequencies: &Frequencies, out: &mut Vec<u8>) {
    if frequencies.is_certain() {
        return;
    }
    let mut steps = [Step::default(); 256];
    let mut start = 0;
    for (step, &share) in steps.iter_mut().zip(frequencies.shares()) {
        if share > 0 {
            *step = Step::new(share.into(), start);
            start += u32::from(share);
        }
    }
    let (coded, kept) = symbols.split_at(symbols.len().saturating_sub(KEPT));
    let mut pairs = [0; KEPT];
    pairs[..kept.len()].copy_from_slice(kept);
    let mut states = [0; STATES];
    for (x, pair) in states.iter_mut().zip(pairs.as_chunks().0) {
        *x = LEAST + u32::from(u16::from_le_bytes(*pair));
    }
    // At most one word a symbol, and one that is not kept.
    let mut words = vec![[0; 2]; coded.len() + 1];
    let mut len = 0;
    let (turns, rest) = coded.as_chunks::<STATES>();
    for (x, &symbol) in states.iter_mut().zip(rest).rev() {
        len += usize::from(steps[usize::from(symbol)].apply(x, &mut words[len]));
    }
    for turn in turns.iter().rev() {
        for (x, &symbol) in states.iter_mut().zip(turn).rev() {
            len += usize::from(steps[usize::from(symbol)].apply(x, &mut words[len]));
        }
    }
    for x in states {
        out.extend_from_slice(&x.to_le_bytes());
    }
    // The decoder meets the last one first.
    out.extend(words[..len].iter().rev().flatten());
}

/// Reads the symbols of a stream, as many as there is room for.
///
/// # Errors
///
/// [`Error::Malformed`] unless the stream is one that [`encode`] writes with these frequencies for some symbols, those
/// that are read, the last ones of which may lack a share.
pub(super) fn decode(stream: &[u8], frequencies: &Frequencies, symbols: &mut [u8]) -> Result<(), Error> {
    // The symbol of each point of the range; the start of its share, above, and the length, below.
    let mut points = [0u8; RANGE as usize];
    let mut shares = [0u32; 256];
    let mut start = 0;
    for (symbol, &share) in frequencies.shares().iter().enumerate().filter(|(_, share)| **share > 0) {
        let end = start + usize::from(share);
        points[start..end].fill(symbol as u8);
        shares[symbol] = (start as u32) << 16 | u32::from(share);
        start = end;
    }
    if frequencies.is_certain() {
        symbols.fill(points[0]);
        return if stream.is_empty() { Ok(()) } else { Err(MALFORMED) };
    }
    let (head, rest) = stream.split_first_chunk::<{ 4 * STATES }>().ok_or(MALFORMED)?;
    let (words, odd) = rest.as_chunks::<2>();
    let mut states = [0; STATES];
    for (x, bytes) in states.iter_mut().zip(head.as_chunks().0) {
        *x = u32::from_le_bytes(*bytes);
    }
    if !odd.is_empty() || states.iter().any(|&x| x < LEAST) {
        return Err(MALFORMED);
    }
    let mut read = 0;
    let mut next = |x: &mut u32| {
        let point = *x % RANGE;
        let symbol = points[point as usize];
        let share = shares[usize::from(symbol)];
        let shrunk = (share & 0xffff) * (*x >> RANGE_BITS) + point - (share >> 16);
        // The word is looked at always and read where the state is too small: no branch. One too many is found out at
        // the end.
        let word = words.get(read).map_or(0, |&word| u16::from_le_bytes(word));
        let reads = shrunk < LEAST;
        read += usize::from(reads);
        *x = if reads { shrunk << WORD_BITS | u32::from(word) } else { shrunk };
        symbol
    };
    let (coded, kept) = symbols.split_at_mut(symbols.len().saturating_sub(KEPT));
    let (turns, rest) = coded.as_chunks_mut::<STATES>();
    for turn in turns {
        for (x, symbol) in states.iter_mut().zip(turn) {
            *symbol = next(x);
        }
    }
    for (x, symbol) in states.iter_mut().zip(rest) {
        *symbol = next(x);
    }
    let mut pairs = [0; KEPT];
    for (x, pair) in states.iter().zip(pairs.as_chunks_mut().0) {
        *pair = (*x as u16).to_le_bytes();
    }
    let (pairs, padding) = pairs.split_at(kept.len());
    kept.copy_from_slice(pairs);
    let begun = states.iter().all(|x| x >> WORD_BITS == 1);
    if read == words.len() && begun && padding.iter().all(|&byte| byte == 0) {
        Ok(())
    } else {
        Err(MALFORMED)
    }
}
