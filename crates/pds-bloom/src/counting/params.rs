//! The shape of a counting filter: that of its bits, within what the counters beside them leave room for.

use serde::{Deserialize, Serialize};

use super::counters::COUNTER_LINES;
use crate::blocked::line::LINE_BYTES;
use crate::blocked::probes::LINE_BITS;
use crate::targets::most;
use crate::{BlockedBloomParams, Error};

/// The shape of a counting Bloom filter: that of the blocked filter which answers, and which counters of four bits a bit
/// lie beside.
///
/// A value of this type is valid: a filter of it can be made without further checks. Bits, rates and number of bits per key
/// are those of the blocked filter; the memory is five times as much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BlockedBloomParams", into = "BlockedBloomParams")]
pub struct CountingBloomParams {
    bits: BlockedBloomParams,
}

impl CountingBloomParams {
    /// Most bits per key.
    pub const MAX_K: u32 = BlockedBloomParams::MAX_K;

    /// Bytes of a line and its counters.
    const BYTES_PER_LINE: usize = LINE_BYTES * (1 + COUNTER_LINES);

    const MAX_LINES: u64 = most(Self::BYTES_PER_LINE, LINE_BITS, usize::BITS);

    /// Most bits: with their counters they are what the address space of this platform holds.
    pub const MAX_BITS: u64 = Self::MAX_LINES * LINE_BYTES as u64 * 8;

    /// The smallest shape whose rate of false positives is at most `fpr` while `keys` distinct keys are held: solved as
    /// by [`BlockedBloomParams::for_fpr`].
    ///
    /// * `keys`: distinct keys held at a time, not insertions over the filter's life: what is removed leaves no trace, and
    ///   copies of a key share its bits. 0 is legal;
    /// * `fpr`: probability of a wrong yes per absent key, within (0, 1); 0.01 is one in a hundred.
    ///
    /// # Errors
    ///
    /// As [`BlockedBloomParams::for_fpr`], and [`Error::Parameter`] if the filter would exceed
    /// [`CountingBloomParams::MAX_BITS`].
    ///
    /// # Source
    ///
    /// Counters: `[FanEtAl00]`.
    pub fn for_fpr(keys: u64, fpr: f64) -> Result<Self, Error> {
        BlockedBloomParams::for_fpr(keys, fpr)?.try_into()
    }

    /// The best number of bits per key for so many keys and this memory without the counters:
    /// [`BlockedBloomParams::for_bits`].
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `bits` is 0 or above [`CountingBloomParams::MAX_BITS`].
    pub fn for_bits(keys: u64, bits: u64) -> Result<Self, Error> {
        BlockedBloomParams::for_bits(keys, bits)?.try_into()
    }

    /// A raw shape: `bits` (rounded up to a whole number of 512-bit lines; the counters come on top) and `k` bits per key.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `bits` is 0 or above [`CountingBloomParams::MAX_BITS`], or if `k` is 0 or above
    /// [`CountingBloomParams::MAX_K`].
    pub fn with_shape(bits: u64, k: u32) -> Result<Self, Error> {
        BlockedBloomParams::with_shape(bits, k)?.try_into()
    }

    /// Bits of the filter, without the counters: a multiple of 512.
    pub const fn bits(&self) -> u64 {
        self.bits.bits()
    }

    /// Lines of 64 bytes of bits; each has 256 bytes of counters.
    pub const fn lines(&self) -> u64 {
        self.bits.lines()
    }

    /// Bits per key.
    pub const fn k(&self) -> u32 {
        self.bits.k()
    }

    /// The rate of false positives that the shape was designed for; `None` for a raw shape.
    pub const fn design_fpr(&self) -> Option<f64> {
        self.bits.design_fpr()
    }

    /// Bytes of bits and counters: what a filter of this shape allocates, five times its bits.
    pub const fn size_bytes(&self) -> u64 {
        self.lines() * Self::BYTES_PER_LINE as u64
    }

    /// Expected rate of false positives while `keys` distinct keys are held, a probability:
    /// [`BlockedBloomParams::fpr`].
    pub fn fpr(&self, keys: u64) -> f64 {
        self.bits.fpr(keys)
    }

    /// Expected share of set bits while `keys` distinct keys are held.
    pub fn fill(&self, keys: u64) -> f64 {
        self.bits.fill(keys)
    }

    /// The shape of the bits.
    pub(crate) fn blocked(&self) -> BlockedBloomParams {
        self.bits
    }
}

/// The one gate beside the blocked filter's: there is room for the counters too.
impl TryFrom<BlockedBloomParams> for CountingBloomParams {
    type Error = Error;

    fn try_from(bits: BlockedBloomParams) -> Result<Self, Error> {
        if bits.lines() <= Self::MAX_LINES {
            Ok(Self { bits })
        } else {
            Err(Error::Parameter {
                name: "bits",
                value: bits.bits() as f64,
                domain: "1 up to CountingBloomParams::MAX_BITS",
            })
        }
    }
}

/// The shape of the bits alone.
impl From<CountingBloomParams> for BlockedBloomParams {
    fn from(params: CountingBloomParams) -> Self {
        params.bits
    }
}
