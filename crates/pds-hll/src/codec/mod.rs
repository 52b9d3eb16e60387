//! Order-0 entropy coding of registers: as many bits a register as their distribution holds, and little more.
//!
//! Integers alone, so the same bytes on every platform; and one form for one list of symbols: what the decoder
//! accepts, the encoder writes with the same bytes. The number of symbols and the alphabet are known to both sides.
//!
//! ```text
//! counts of the symbols (see `counts`) | stream (see `rans`; empty where all symbols are one)
//! ```
//!
//! # Source
//!
//! Coder: the range variant of asymmetric numeral systems, `[Duda13]`.

mod counts;
mod frequencies;
mod rans;

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use crate::Error;
pub(crate) use counts::count;
use frequencies::Frequencies;

/// The size of the greatest alphabet: symbols are bytes below it.
pub(crate) const MAX_ALPHABET: usize = 192;

/// What every refusal says.
const MALFORMED: Error = Error::Malformed { field: "coded registers" };

/// Appends symbols in coded form: at least one, below 2^31 of them, all below `alphabet`, which is at most
/// [`MAX_ALPHABET`].
pub(crate) fn encode(symbols: &[u8], alphabet: usize, out: &mut Vec<u8>) {
    let counts = counts::count(symbols);
    counts::write(&counts[..alphabet], out);
    rans::encode(symbols, &Frequencies::by_counts(&counts[..alphabet]), out);
}

/// Symbols in coded form, the counts of which have been read.
#[derive(Clone, Copy)]
pub(crate) struct Decoder<'a> {
    counts: [u32; MAX_ALPHABET],
    alphabet: usize,
    stream: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Reads the counts of `count` symbols below `alphabet`, in time linear in the alphabet.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] unless the bytes begin with counts as [`encode`] writes them.
    pub(crate) fn open(payload: &'a [u8], count: usize, alphabet: usize) -> Result<Self, Error> {
        let mut counts = [0; MAX_ALPHABET];
        let stream = counts::read(payload, count, &mut counts[..alphabet])?;
        Ok(Self { counts, alphabet, stream })
    }

    /// How often each symbol of the alphabet occurs.
    pub(crate) fn histogram(&self) -> &[u32] {
        &self.counts[..self.alphabet]
    }

    /// Reads the symbols; `symbols` has room for exactly all of them.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] unless the bytes are exactly those that [`encode`] writes for what is read.
    pub(crate) fn decode_into(&self, symbols: &mut [u8]) -> Result<(), Error> {
        rans::decode(self.stream, &Frequencies::by_counts(self.histogram()), symbols)?;
        // A stream can give symbols that were not counted so; the encoder would have written other counts.
        if counts::count(symbols) == self.counts { Ok(()) } else { Err(MALFORMED) }
    }
}
