//! From targets, or from a raw shape, to validated parameters.

use serde::{Deserialize, Serialize};

use super::law::{self, LineLaw};
use super::line::LINE_BYTES;
use super::probes::{LINE_BITS, ROUND};
use crate::Error;
use crate::targets::{ROUNDING_SLACK, most, rate, reachable, smallest};

/// The shape of a blocked Bloom filter: lines of 64 bytes, bits per key, and the rate that it was designed for.
///
/// A value of this type is valid: a filter of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct BlockedBloomParams {
    lines: u64,
    k: u32,
    target: Option<f64>,
}

impl BlockedBloomParams {
    /// Most bits per key.
    pub const MAX_K: u32 = 24;

    /// Most bits: what the address space of this platform holds in one allocation.
    pub const MAX_BITS: u64 = LINE_BITS as u64 * most(LINE_BYTES, LINE_BITS, usize::BITS);

    const MAX_LINES: u64 = Self::MAX_BITS / LINE_BITS as u64;

    /// The smallest shape whose rate of false positives at `keys` distinct keys is at most `fpr`.
    ///
    /// For each number of bits per key that comes into question the fewest lines are solved for, by the exact law of a
    /// line averaged over how many keys fall into it. Up to eight bits per key are one round of the query, so that more
    /// than eight are taken only where they save over 2% of the memory.
    ///
    /// * `keys`: distinct keys expected; 0 is legal;
    /// * `fpr`: probability of a wrong yes per absent key, within (0, 1); 0.01 is one in a hundred. Down to 1e-4 a blocked
    ///   filter takes up to a seventh more memory than a classic one, below that more and more.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `fpr` is NaN or outside (0, 1), or so low that 64-bit hashes cannot meet it at this number
    /// of keys (near `keys` / 2^64), or if the filter would exceed [`BlockedBloomParams::MAX_BITS`].
    ///
    /// # Source
    ///
    /// Blocks: `[PutzeSandersSingler07]`.
    pub fn for_fpr(keys: u64, fpr: f64) -> Result<Self, Error> {
        /// How many lines more one round may cost than several.
        const WORTH_A_ROUND: f64 = 1.02;
        let best_k = -libm::log2(rate(fpr)?);
        reachable(keys, fpr)?;
        // Uneven lines want fewer bits than a classic filter, and the fewer the lower the rate.
        let (low, high) = (libm::floor(best_k * 0.6), libm::ceil(best_k) + 1.0);
        let mut best: Option<(u64, Self)> = None;
        let whole = |k: f64| k.clamp(1.0, f64::from(Self::MAX_K)) as u32;
        for k in whole(low)..=whole(high) {
            let Some(lines) = fewest_lines(k, keys, fpr) else { continue };
            let price = if k <= ROUND { lines } else { (lines as f64 * WORTH_A_ROUND) as u64 };
            if best.is_none_or(|(least, _)| price < least) {
                best = Some((price, Self { lines, k, target: Some(fpr) }));
            }
        }
        best.map(|(_, params)| params).ok_or(Error::Parameter {
            name: "fpr",
            value: fpr,
            domain: OUT_OF_REACH,
        })
    }

    /// The best number of bits per key for so many keys and at most this memory: `bits`, rounded up to whole lines.
    /// The rate that results is the design rate.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `bits` is 0 or above [`BlockedBloomParams::MAX_BITS`].
    pub fn for_bits(keys: u64, bits: u64) -> Result<Self, Error> {
        /// How much of the rate one round may cost more than several.
        const WORTH_A_ROUND: f64 = 1.05;
        let Self { lines, .. } = Self::with_shape(bits, 1)?;
        let price = |k: u32| {
            let rate = LineLaw::new(k).filter_rate(lines, keys);
            if k <= ROUND { rate } else { rate * WORTH_A_ROUND }
        };
        let (mut k, mut least) = (1, price(1));
        // The price falls to its least and rises from there, but for the step behind a round.
        for more in 2..=Self::MAX_K {
            let price = price(more);
            if price < least {
                (k, least) = (more, price);
            } else if more > k + ROUND {
                break;
            }
        }
        let shape = Self { lines, k, target: None };
        let own_rate = shape.fpr(keys);
        // No rate to design for: none at all, or a filter that is full.
        let target = (own_rate > 0.0 && own_rate < 1.0).then_some(own_rate);
        Ok(Self { target, ..shape })
    }

    /// A raw shape: `bits` (rounded up to a whole number of 512-bit lines) and `k` bits per key.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `bits` is 0 or above [`BlockedBloomParams::MAX_BITS`], or if `k` is 0 or above
    /// [`BlockedBloomParams::MAX_K`].
    pub fn with_shape(bits: u64, k: u32) -> Result<Self, Error> {
        Self { lines: bits.div_ceil(u64::from(LINE_BITS)), k, target: None }.validated()
    }

    /// A raw shape with a rate that it was designed for.
    pub(crate) fn designed(lines: u64, k: u32, target: Option<f64>) -> Result<Self, Error> {
        Self { lines, k, target }.validated()
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(self) -> Result<Self, Error> {
        if !(1..=Self::MAX_LINES).contains(&self.lines) {
            return Err(Error::Parameter {
                name: "bits",
                value: self.lines as f64 * f64::from(LINE_BITS),
                domain: "1 up to BlockedBloomParams::MAX_BITS",
            });
        }
        if !(1..=Self::MAX_K).contains(&self.k) {
            return Err(Error::Parameter { name: "k", value: f64::from(self.k), domain: "1 to 24" });
        }
        if let Some(target) = self.target {
            rate(target)?;
        }
        Ok(self)
    }

    /// Bits of the filter: a multiple of 512.
    pub const fn bits(&self) -> u64 {
        self.lines * LINE_BITS as u64
    }

    /// Lines of 64 bytes.
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Bits per key.
    pub const fn k(&self) -> u32 {
        self.k
    }

    /// The rate of false positives that the shape was designed for; `None` for a raw shape.
    pub const fn design_fpr(&self) -> Option<f64> {
        self.target
    }

    /// Bytes of the bit array: what a filter of this shape allocates.
    pub const fn size_bytes(&self) -> u64 {
        self.lines * LINE_BYTES as u64
    }

    /// Expected rate of false positives after `keys` distinct keys, a probability: the rate of a line averaged over the
    /// number of keys in it, and the chance of sharing another key's bits.
    ///
    /// Exact if the bits of a key are a random subset of the line's (several of them, for more than eight bits). How
    /// near that comes is what the table `blocked-fpr` shows.
    pub fn fpr(&self, keys: u64) -> f64 {
        LineLaw::new(self.k).filter_rate(self.lines, keys)
    }

    /// Expected share of set bits after `keys` distinct keys.
    pub fn fill(&self, keys: u64) -> f64 {
        law::expected_fill(self.lines, self.k, keys as f64)
    }

    /// Distinct keys at which the expected rate reaches the design rate; `None` for a raw shape.
    pub(crate) fn design_keys(&self) -> Option<u64> {
        let target = self.target?;
        let mut law = LineLaw::new(self.k);
        let guess = law::keys_for_fill(self.lines, self.k, libm::pow(target, 1.0 / f64::from(self.k)));
        // One more than the design load is the smallest load that is too much.
        let too_many = smallest(guess as u64, u64::MAX, |keys| law.filter_rate(self.lines, keys) > target);
        Some(too_many.map_or(u64::MAX, |keys| keys - 1))
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Shape {
    lines: u64,
    k: u32,
    target: Option<f64>,
}

impl TryFrom<Shape> for BlockedBloomParams {
    type Error = Error;

    fn try_from(Shape { lines, k, target }: Shape) -> Result<Self, Error> {
        Self { lines, k, target }.validated()
    }
}

impl From<BlockedBloomParams> for Shape {
    fn from(BlockedBloomParams { lines, k, target }: BlockedBloomParams) -> Self {
        Self { lines, k, target }
    }
}

const OUT_OF_REACH: &str = "a rate that a filter of at most BlockedBloomParams::MAX_BITS reaches";

/// The share of the rate that sizing leaves to the bits' not being random subsets, whose excess grows with the bits of a
/// key. The table `blocked-fpr` has measured rates beside the law's.
const PROBES_EXCESS: f64 = 0.006;

/// The fewest lines that keep the promise; none if they are too many.
fn fewest_lines(k: u32, keys: u64, fpr: f64) -> Option<u64> {
    let mut law = LineLaw::new(k);
    let allowed = fpr * (1.0 - PROBES_EXCESS) * (1.0 - ROUNDING_SLACK);
    let k = f64::from(k);
    // A classic filter's bits: too few, but near.
    let bits = k * keys as f64 / -libm::log1p(-libm::pow(fpr, 1.0 / k));
    let guess = libm::ceil(bits / f64::from(LINE_BITS)) as u64;
    smallest(guess, BlockedBloomParams::MAX_LINES, |lines| law.filter_rate(lines, keys) <= allowed)
}
