//! From targets, or from a raw shape, to validated parameters.

use serde::{Deserialize, Serialize};

use crate::targets::rate;
use crate::{BlockedBloomParams, Error};

/// The shape of a windowed Bloom filter: that of one generation, how many there are, and the rate that all of them
/// together were designed for.
///
/// A value of this type is valid: a filter of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct WindowedBloomParams {
    each: BlockedBloomParams,
    generations: u32,
    target: Option<f64>,
}

impl WindowedBloomParams {
    /// Most bits per key.
    pub const MAX_K: u32 = BlockedBloomParams::MAX_K;

    /// Fewest generations: with one, advancing would forget a key of a moment ago.
    pub const MIN_GENERATIONS: u32 = 2;

    /// Most generations: the answers of all of them are one word.
    pub const MAX_GENERATIONS: u32 = u64::BITS;

    /// Most bits of all generations together: what the address space of this platform holds in one allocation.
    pub const MAX_BITS: u64 = BlockedBloomParams::MAX_BITS;

    /// The smallest shape whose rate of false positives is at most `fpr` in total, with every generation full.
    ///
    /// A stranger is asked for in all generations. Each gets the rate 1 - (1 - fpr)^(1 / generations), and is sized as by
    /// [`BlockedBloomParams::for_fpr`].
    ///
    /// * `keys_per_generation`: distinct keys expected between two advances; 0 is legal;
    /// * `fpr`: probability of a wrong yes per absent key, within (0, 1); 0.01 is one in a hundred;
    /// * `generations`: 2 to 64. A key is found for at least `generations` - 1 advances after its insertion, and for fewer
    ///   than `generations` (but for false positives): more of them forget more punctually, and take more bits a key and
    ///   more time a query.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `fpr` is NaN or outside (0, 1), or so low that the share of a generation is out of reach of
    /// a blocked filter; if there are fewer than 2 generations or more than 64; or if the filter would exceed
    /// [`WindowedBloomParams::MAX_BITS`].
    ///
    /// # Source
    ///
    /// Filters that take turns, two of them: `[ChangFengLi04]`.
    pub fn for_fpr(keys_per_generation: u64, fpr: f64, generations: u32) -> Result<Self, Error> {
        let share = share(rate(fpr)?, in_range(generations)?);
        let each = BlockedBloomParams::for_fpr(keys_per_generation, share).map_err(|error| match error {
            Error::Parameter { name: "fpr", .. } => {
                Error::Parameter { name: "fpr", value: fpr, domain: OUT_OF_REACH }
            }
            other => other,
        })?;
        Self::validated(each.lines(), each.k(), generations, Some(fpr))
    }

    /// A raw shape: `bits_per_generation` (rounded up to a whole number of 512-bit lines), `k` bits per key, and how many
    /// generations.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `bits_per_generation` is 0, or above [`WindowedBloomParams::MAX_BITS`] in all generations
    /// together; if `k` is 0 or above [`WindowedBloomParams::MAX_K`]; or if there are fewer than 2 generations or more than
    /// 64.
    pub fn with_shape(bits_per_generation: u64, k: u32, generations: u32) -> Result<Self, Error> {
        let each = BlockedBloomParams::with_shape(bits_per_generation, k)?;
        Self::validated(each.lines(), k, generations, None)
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(lines: u64, k: u32, generations: u32, target: Option<f64>) -> Result<Self, Error> {
        let count = u64::from(in_range(generations)?);
        if lines > Self::MAX_BITS / LINE_BITS / count {
            return Err(Error::Parameter {
                name: "bits",
                value: lines as f64 * LINE_BITS as f64 * count as f64,
                domain: "1 up to WindowedBloomParams::MAX_BITS, in all generations together",
            });
        }
        let target = target.map(rate).transpose()?;
        let each = BlockedBloomParams::designed(lines, k, target.map(|fpr| share(fpr, generations)))?;
        Ok(Self { each, generations, target })
    }

    /// How many generations there are.
    pub const fn generations(&self) -> u32 {
        self.generations
    }

    /// Bits of one generation: a multiple of 512.
    pub const fn bits_per_generation(&self) -> u64 {
        self.each.bits()
    }

    /// Bits of all generations.
    pub const fn bits(&self) -> u64 {
        self.each.bits() * self.generations as u64
    }

    /// Bits per key.
    pub const fn k(&self) -> u32 {
        self.each.k()
    }

    /// The total rate of false positives that the shape was designed for; `None` for a raw shape.
    pub const fn design_fpr(&self) -> Option<f64> {
        self.target
    }

    /// Bytes of all generations: what a filter of this shape allocates.
    pub const fn size_bytes(&self) -> u64 {
        self.each.size_bytes() * self.generations as u64
    }

    /// Expected total rate of false positives with `keys_per_generation` distinct keys in every generation, a
    /// probability: 1 - (1 - p)^generations, where p is the rate of one generation, [`BlockedBloomParams::fpr`].
    ///
    /// For keys of their own in every generation. Keys that come again share their bits, and the rate is lower.
    pub fn fpr(&self, keys_per_generation: u64) -> f64 {
        -libm::expm1(f64::from(self.generations) * libm::log1p(-self.each.fpr(keys_per_generation)))
    }

    /// Expected share of set bits with `keys_per_generation` distinct keys in every generation.
    pub fn fill(&self, keys_per_generation: u64) -> f64 {
        self.each.fill(keys_per_generation)
    }

    /// The shape of one generation.
    pub(crate) fn each(&self) -> BlockedBloomParams {
        self.each
    }

    /// Whether the generations of filters of these shapes can be combined.
    pub(crate) fn compatible(&self, other: &Self) -> Result<(), Error> {
        if self.generations != other.generations {
            return Err(Error::Incompatible { field: "generations" });
        }
        self.each.compatible(&other.each)?;
        if self.target != other.target {
            return Err(Error::Incompatible { field: "design_fpr" });
        }
        Ok(())
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Shape {
    lines: u64,
    k: u32,
    generations: u32,
    target: Option<f64>,
}

impl TryFrom<Shape> for WindowedBloomParams {
    type Error = Error;

    fn try_from(Shape { lines, k, generations, target }: Shape) -> Result<Self, Error> {
        Self::validated(lines, k, generations, target)
    }
}

impl From<WindowedBloomParams> for Shape {
    fn from(WindowedBloomParams { each, generations, target }: WindowedBloomParams) -> Self {
        Self { lines: each.lines(), k: each.k(), generations, target }
    }
}

const OUT_OF_REACH: &str = "a rate whose share of one generation a blocked filter over 64-bit hashes reaches";

/// Bits of a line.
const LINE_BITS: u64 = crate::blocked::probes::LINE_BITS as u64;

fn in_range(generations: u32) -> Result<u32, Error> {
    let range = WindowedBloomParams::MIN_GENERATIONS..=WindowedBloomParams::MAX_GENERATIONS;
    if range.contains(&generations) {
        Ok(generations)
    } else {
        Err(Error::Parameter { name: "generations", value: f64::from(generations), domain: "2 to 64" })
    }
}

/// The rate of one generation: that of all, if they are independent, is then `fpr`.
fn share(fpr: f64, generations: u32) -> f64 {
    -libm::expm1(libm::log1p(-fpr) / f64::from(generations))
}
