//! From targets, or from a raw shape, to validated parameters.

use serde::{Deserialize, Serialize};

use super::law;
use crate::Error;
use crate::targets::{ROUNDING_SLACK, most, rate, reachable, smallest};

/// The shape of a classic Bloom filter: bits, probes per key, and the rate that it was designed for.
///
/// A value of this type is valid: a filter of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct BloomParams {
    words: u64,
    k: u32,
    target: Option<f64>,
}

impl BloomParams {
    /// Most probes per key. The best number for a rate of p is log2(1/p), and a rate below 2^-64 is out of reach.
    pub const MAX_K: u32 = 64;

    /// Most bits: what the address space of this platform holds in one allocation.
    pub const MAX_BITS: u64 = 64 * most(8, 64, usize::BITS);

    /// The smallest shape whose rate of false positives at `keys` distinct keys is at most `fpr`.
    ///
    /// For each whole number of probes next to log2(1/fpr) the fewest bits are solved for, so that the promise
    /// holds at the very number of probes that is used (the textbook's rounding breaks it: see
    /// [`BloomParams::textbook`]); bits are whole 64-bit words. The promise is kept by an upper bound of the rate, so
    /// that it holds for the smallest filters too, and includes the chance of two keys sharing a 64-bit hash.
    ///
    /// * `keys`: distinct keys expected; 0 is legal;
    /// * `fpr`: probability of a wrong yes per absent key, within (0, 1); 0.01 is one in a hundred.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `fpr` is NaN or outside (0, 1), or so low that 64-bit hashes cannot meet it at
    /// this number of keys (near `keys` / 2^64), or if the filter would exceed [`BloomParams::MAX_BITS`].
    ///
    /// # Source
    ///
    /// Rate: `[Bloom70]`; its bound: `[JoagDevProschan83, 3.1]`; best number of probes: `[BroderMitzenmacher04, 2.2]`.
    pub fn for_fpr(keys: u64, fpr: f64) -> Result<Self, Error> {
        let best_k = whole_k(-libm::log2(rate(fpr)?));
        let own_share = reachable(keys, fpr)?;
        let mut best: Option<Self> = None;
        for k in best_k.saturating_sub(1).max(1)..=(best_k + 1).min(Self::MAX_K) {
            let words = fewest_words(k, keys, fpr, own_share);
            if let Some(words) = words
                && best.is_none_or(|best| words < best.words)
            {
                best = Some(Self { words, k, target: Some(fpr) });
            }
        }
        best.ok_or(too_large(law::bits_for(f64::from(best_k), keys as f64, own_share)))
    }

    /// The published shape: m/n = -ln p / (ln 2)^2 bits per key and k = round(m/n ln 2), bits rounded up to whole
    /// 64-bit words. Its rate may exceed `fpr` slightly (0.1007 for 0.1, 0.01004 for 0.01), since k is rounded
    /// after m is chosen. The rate that it is designed for, and that [`BloomFilter::is_saturated`] refers to, is
    /// the one of the shape.
    ///
    /// [`BloomFilter::is_saturated`]: crate::BloomFilter::is_saturated
    ///
    /// # Errors
    ///
    /// As [`BloomParams::for_fpr`].
    ///
    /// # Source
    ///
    /// `[BroderMitzenmacher04, 2.2]`.
    pub fn textbook(keys: u64, fpr: f64) -> Result<Self, Error> {
        const LN_2: f64 = core::f64::consts::LN_2;
        let bits_per_key = -libm::log(rate(fpr)?) / (LN_2 * LN_2);
        reachable(keys, fpr)?;
        let k = whole_k(bits_per_key * LN_2);
        let words = whole_words(bits_per_key * keys as f64)?;
        // A rate next to 1 rounds to 1, which is no rate to design for.
        let own_rate = Self { words, k, target: None }.fpr(keys).min(1.0 - f64::EPSILON);
        Ok(Self { words, k, target: Some(own_rate.max(fpr)) })
    }

    /// A raw shape: `bits` (rounded up to a whole number of 64-bit words) and `k` probes per key.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `bits` is 0 or above [`BloomParams::MAX_BITS`], or if `k` is 0 or above
    /// [`BloomParams::MAX_K`].
    pub fn with_shape(bits: u64, k: u32) -> Result<Self, Error> {
        Self { words: bits.div_ceil(64), k, target: None }.validated()
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(self) -> Result<Self, Error> {
        if !(1..=Self::MAX_BITS / 64).contains(&self.words) {
            return Err(Error::Parameter {
                name: "bits",
                value: self.words as f64 * 64.0,
                domain: "1 up to BloomParams::MAX_BITS",
            });
        }
        if !(1..=Self::MAX_K).contains(&self.k) {
            return Err(Error::Parameter { name: "k", value: f64::from(self.k), domain: "1 to 64" });
        }
        if let Some(target) = self.target {
            rate(target)?;
        }
        Ok(self)
    }

    /// Bits of the filter: a multiple of 64.
    pub const fn bits(&self) -> u64 {
        self.words * 64
    }

    /// Probes per key.
    pub const fn k(&self) -> u32 {
        self.k
    }

    /// The rate of false positives that the shape was designed for; `None` for a raw shape.
    pub const fn design_fpr(&self) -> Option<f64> {
        self.target
    }

    /// Bytes of the bit array: what a filter of this shape allocates.
    pub const fn size_bytes(&self) -> u64 {
        self.words * 8
    }

    /// Expected rate of false positives after `keys` distinct keys, a probability.
    ///
    /// An absent key is answered yes with this chance, averaged over hash functions: the mean of fill^k, and
    /// `keys` / 2^64 for a shared hash. Independent probes are assumed. Within 1% for shapes of more than k^2 bits and
    /// rates above 1e-6; in smaller ones the true rate can be a multiple of it. The tables `bloom-sizing` and
    /// `bloom-small` have measured rates beside it.
    ///
    /// # Source
    ///
    /// `[Bloom70]`; correction for small filters in the manner of `[BoseEtAl08]`.
    pub fn fpr(&self, keys: u64) -> f64 {
        law::false_positive_rate(self.bits() as f64, f64::from(self.k), keys as f64)
    }

    /// Expected share of set bits after `keys` distinct keys: 1 - (1 - 1/m)^(k keys).
    pub fn fill(&self, keys: u64) -> f64 {
        law::expected_fill(self.bits() as f64, f64::from(self.k), keys as f64)
    }

    pub(crate) fn words(&self) -> u64 {
        self.words
    }

    /// Whether the words of filters of these shapes can be combined.
    pub(crate) fn compatible(self, other: Self) -> Result<(), Error> {
        let differs = |field| Err(Error::Incompatible { field });
        if self.bits() != other.bits() {
            differs("bits")
        } else if self.k() != other.k() {
            differs("k")
        } else if self.design_fpr() != other.design_fpr() {
            differs("design_fpr")
        } else {
            Ok(())
        }
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Shape {
    words: u64,
    k: u32,
    target: Option<f64>,
}

impl TryFrom<Shape> for BloomParams {
    type Error = Error;

    fn try_from(Shape { words, k, target }: Shape) -> Result<Self, Error> {
        Self { words, k, target }.validated()
    }
}

impl From<BloomParams> for Shape {
    fn from(BloomParams { words, k, target }: BloomParams) -> Self {
        Self { words, k, target }
    }
}

fn whole_k(k: f64) -> u32 {
    libm::round(k).clamp(1.0, f64::from(BloomParams::MAX_K)) as u32
}

fn whole_words(bits: f64) -> Result<u64, Error> {
    let words = libm::ceil(bits * (1.0 + ROUNDING_SLACK) / 64.0).max(1.0);
    if words > (BloomParams::MAX_BITS / 64) as f64 {
        return Err(too_large(words * 64.0));
    }
    Ok((words as u64).min(BloomParams::MAX_BITS / 64))
}

fn too_large(bits: f64) -> Error {
    Error::Parameter { name: "bits", value: bits, domain: "1 up to BloomParams::MAX_BITS" }
}

/// The fewest words that keep the promise: the closed form's, and the few more that its corrections ask for; none if
/// they are too many.
fn fewest_words(k: u32, keys: u64, fpr: f64, own_share: f64) -> Option<u64> {
    let keys = keys as f64;
    let promised = |words: u64| law::rate_bound((words * 64) as f64, k, keys) <= fpr * (1.0 - ROUNDING_SLACK);
    let guess = whole_words(law::bits_for(f64::from(k), keys, own_share)).ok()?;
    smallest(guess, BloomParams::MAX_BITS / 64, promised)
}
