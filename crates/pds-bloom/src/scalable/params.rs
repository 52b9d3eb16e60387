//! From targets to validated parameters, and what the next layer of a chain has to be.

use serde::{Deserialize, Serialize};

use super::layer::LayerParams;
use crate::Error;
use crate::targets::rate;

/// How a scalable Bloom filter begins and how it grows: keys of the first layer, the rate of the whole, the growth from
/// layer to layer, the share of the rate that a layer gets, and the most memory.
///
/// A value of this type is valid: a filter of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct ScalableBloomParams {
    keys: u64,
    fpr: f64,
    growth: u32,
    shares: u32,
    max_bytes: u64,
}

impl ScalableBloomParams {
    /// Most layers of a chain.
    pub const MAX_LAYERS: usize = 64;

    /// Growth from layer to layer unless said otherwise: few layers to ask, none of them half empty for long.
    pub const GROWTH: u32 = 4;

    /// Shares unless said otherwise: the first seven layers, that is a growth to 5461 times the first layer, all keep an
    /// eighth of the rate.
    pub const SHARES: u32 = 8;

    /// A filter that begins with room for `keys` distinct keys and keeps a rate of false positives of at most `fpr`,
    /// however much it grows.
    ///
    /// * `keys`: distinct keys expected at first; 0 is legal and counts as 1;
    /// * `fpr`: probability of a wrong yes per absent key, of all layers together, within (0, 1).
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `fpr` is NaN or outside (0, 1), or if the first layer cannot be made: its rate is
    /// `fpr` / 8.
    ///
    /// # Source
    ///
    /// `[AlmeidaEtAl07]`.
    pub fn for_fpr(keys: u64, fpr: f64) -> Result<Self, Error> {
        let (growth, shares) = (Self::GROWTH, Self::SHARES);
        Self { keys, fpr, growth, shares, max_bytes: u64::MAX }.validated()
    }

    /// The same with another growth: each layer is for so many times the keys of the one before.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `growth` is below 2 or above 64.
    pub fn with_growth(self, growth: u32) -> Result<Self, Error> {
        Self { growth, ..self }.validated()
    }

    /// The same with another division of the rate: a layer gets fpr / `shares`, or half of what its predecessors have left
    /// if that is less, so that all of them together never reach fpr. With 1 the rates are fpr / 2, fpr / 4, fpr / 8 and
    /// so on. Few shares suit filters that hardly grow, many those that grow a lot: a layer's rate costs the more bits
    /// the larger the layer, and late layers hold most keys.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `shares` is 0 or above 64, or if the first layer cannot be made.
    pub fn with_shares(self, shares: u32) -> Result<Self, Error> {
        Self { shares, ..self }.validated()
    }

    /// The same with a limit to the memory of all layers together: beyond it, insertions fail with [`Error::Full`].
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the first layer alone is larger.
    pub fn with_max_bytes(self, max_bytes: u64) -> Result<Self, Error> {
        Self { max_bytes, ..self }.validated()
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(self) -> Result<Self, Error> {
        rate(self.fpr)?;
        if !(2..=64).contains(&self.growth) {
            return Err(Error::Parameter {
                name: "growth",
                value: f64::from(self.growth),
                domain: "2 to 64",
            });
        }
        if !(1..=64).contains(&self.shares) {
            return Err(Error::Parameter {
                name: "shares",
                value: f64::from(self.shares),
                domain: "1 to 64",
            });
        }
        if self.first_layer()?.size_bytes() > self.max_bytes {
            return Err(Error::Parameter {
                name: "max_bytes",
                value: self.max_bytes as f64,
                domain: "at least the size of the first layer",
            });
        }
        Ok(self)
    }

    /// Keys of the first layer.
    pub const fn keys(&self) -> u64 {
        self.keys
    }

    /// The rate of false positives that all layers together keep.
    pub const fn design_fpr(&self) -> f64 {
        self.fpr
    }

    /// How many times the keys of its predecessor a layer is for.
    pub const fn growth(&self) -> u32 {
        self.growth
    }

    /// Into how many shares the rate is divided.
    pub const fn shares(&self) -> u32 {
        self.shares
    }

    /// Most bytes of all layers together.
    pub const fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Bytes of the filter once it has grown to so many distinct keys; `None` if it cannot.
    pub fn size_bytes(&self, keys: u64) -> Option<u64> {
        let (mut spent, mut room, mut bytes, mut largest) = (0.0, 0u64, 0u64, None);
        for _ in 0..Self::MAX_LAYERS {
            let layer = self.next_layer(spent, largest).ok()?;
            bytes = bytes.checked_add(layer.size_bytes()).filter(|&bytes| bytes <= self.max_bytes)?;
            room = room.saturating_add(layer.keys());
            if room >= keys {
                return Some(bytes);
            }
            spent += layer.fpr();
            largest = Some(layer.keys());
        }
        None
    }

    pub(super) fn first_layer(&self) -> Result<LayerParams, Error> {
        self.next_layer(0.0, None)
    }

    /// The layer behind layers whose rates add up to `spent`, and the largest of which is for `largest` keys.
    ///
    pub(super) fn next_layer(&self, spent: f64, largest: Option<u64>) -> Result<LayerParams, Error> {
        let keys = match largest {
            None => self.keys.max(1),
            Some(largest) => largest.checked_mul(u64::from(self.growth)).ok_or(Error::Full)?,
        };
        let share = self.fpr / f64::from(self.shares);
        LayerParams::for_fpr(keys, share.min((self.fpr - spent) / 2.0))
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Shape {
    keys: u64,
    fpr: f64,
    growth: u32,
    shares: u32,
    max_bytes: u64,
}

impl TryFrom<Shape> for ScalableBloomParams {
    type Error = Error;

    fn try_from(Shape { keys, fpr, growth, shares, max_bytes }: Shape) -> Result<Self, Error> {
        Self { keys, fpr, growth, shares, max_bytes }.validated()
    }
}

impl From<ScalableBloomParams> for Shape {
    fn from(params: ScalableBloomParams) -> Self {
        let ScalableBloomParams { keys, fpr, growth, shares, max_bytes } = params;
        Self { keys, fpr, growth, shares, max_bytes }
    }
}
