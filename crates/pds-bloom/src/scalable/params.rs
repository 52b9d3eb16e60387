//! From targets to validated parameters, and what the next layer of a chain has to be.

use pds_hash::most_items;
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
    /// What follows from the others.
    first: LayerParams,
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
    /// * `keys`: distinct keys expected at first; 0 is legal. The first layer has room for the root of it more, so that as
    ///   many do not make the filter grow by chance;
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
        Shape { keys, fpr, growth: Self::GROWTH, shares: Self::SHARES, max_bytes: u64::MAX }.try_into()
    }

    /// The same with another growth: each layer is for so many times the keys of the one before.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `growth` is below 2 or above 64.
    pub fn with_growth(self, growth: u32) -> Result<Self, Error> {
        Shape { growth, ..self.into() }.try_into()
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
        Shape { shares, ..self.into() }.try_into()
    }

    /// The same with a limit to the memory of all layers together: beyond it, insertions fail with [`Error::Full`].
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the first layer alone, which is [`ScalableBloomParams::size_bytes`] of 0 keys, is larger.
    pub fn with_max_bytes(self, max_bytes: u64) -> Result<Self, Error> {
        Shape { max_bytes, ..self.into() }.try_into()
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

    /// Expected bytes of the filter once it has grown to so many distinct keys; `None` if it cannot.
    ///
    /// Layers are left by their fill, so that within about a root of `keys` of a growth the next layer, several times as
    /// large, may be there already: ask for a few per cent more keys to be sure.
    pub fn size_bytes(&self, keys: u64) -> Option<u64> {
        let (mut layers, mut room) = (alloc::vec![self.first], self.first.keys());
        while room < keys {
            let next = self.layer_after(&layers).ok()?;
            room = room.saturating_add(next.keys());
            layers.push(next);
        }
        Some(layers.iter().map(LayerParams::size_bytes).sum())
    }

    pub(super) fn first_layer(&self) -> LayerParams {
        self.first
    }

    /// Parameters that were read, with the first layer that was read beside them. The ranges are checked, and that the
    /// layer is for as many keys and has the share of the rate that it should; its size is what was read.
    pub(super) fn read(shape: Shape, first: LayerParams) -> Result<Self, Error> {
        shape.ranges().map_err(|_| Error::Malformed { field: "params" })?;
        let params = Self::with_first(shape, first);
        let (keys, share) = params.next_targets(&[])?;
        if first.keys() == keys && first.fpr().to_bits() == share.to_bits() {
            Ok(params)
        } else {
            Err(Error::Malformed { field: "first layer" })
        }
    }

    fn with_first(Shape { keys, fpr, growth, shares, max_bytes }: Shape, first: LayerParams) -> Self {
        Self { keys, fpr, growth, shares, max_bytes, first }
    }

    /// The layer that follows these, within all limits.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] if none can.
    pub(super) fn layer_after(&self, layers: &[LayerParams]) -> Result<LayerParams, Error> {
        if layers.len() >= Self::MAX_LAYERS {
            return Err(Error::Full);
        }
        let (keys, fpr) = self.next_targets(layers)?;
        let next = LayerParams::for_fpr(keys, fpr).map_err(|_| Error::Full)?;
        let bytes =
            layers.iter().try_fold(next.size_bytes(), |sum, layer| sum.checked_add(layer.size_bytes()));
        let most = self.max_bytes.min(most_items(1, usize::BITS));
        if bytes.is_some_and(|bytes| bytes <= most) { Ok(next) } else { Err(Error::Full) }
    }

    /// Keys and rate of the layer behind these: so many times the keys of the largest, and a share of the rate, or half of
    /// what is left.
    fn next_targets(&self, layers: &[LayerParams]) -> Result<(u64, f64), Error> {
        let spent: f64 = layers.iter().map(LayerParams::fpr).sum();
        let keys = match layers.iter().map(LayerParams::keys).max() {
            None => room(self.keys),
            Some(largest) => largest.checked_mul(u64::from(self.growth)).ok_or(Error::Full)?,
        };
        Ok((keys, (self.fpr / f64::from(self.shares)).min((self.fpr - spent) / 2.0)))
    }

    /// Whether a layer of so many keys can be part of a chain: first, or so many times the growth.
    pub(super) fn has_layer_for(&self, keys: u64) -> bool {
        let mut size = Some(room(self.keys));
        while let Some(keys_there) = size
            && keys_there < keys
        {
            size = keys_there.checked_mul(u64::from(self.growth));
        }
        size == Some(keys)
    }

    /// Whether filters of these parameters merge: all but the memory's limit agree.
    pub(super) fn compatible(&self, other: &Self) -> Result<(), Error> {
        let differs = |field| Err(Error::Incompatible { field });
        if self.keys != other.keys {
            differs("keys")
        } else if self.fpr.to_bits() != other.fpr.to_bits() {
            differs("design_fpr")
        } else if self.growth != other.growth {
            differs("growth")
        } else if self.shares != other.shares {
            differs("shares")
        } else {
            Ok(())
        }
    }
}

/// Keys that the first layer is for: a layer is left by its fill, which at `keys` keys lies above its expectation in every
/// second filter, by as much as some 0.4 roots of keys.
fn room(keys: u64) -> u64 {
    keys.saturating_add(keys.isqrt() + 1)
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Shape {
    keys: u64,
    fpr: f64,
    growth: u32,
    shares: u32,
    max_bytes: u64,
}

impl Shape {
    fn ranges(&self) -> Result<(), Error> {
        rate(self.fpr)?;
        let out_of =
            |name, value: u32, domain| Err(Error::Parameter { name, value: f64::from(value), domain });
        if !(2..=64).contains(&self.growth) {
            return out_of("growth", self.growth, "2 to 64");
        }
        if !(1..=64).contains(&self.shares) {
            return out_of("shares", self.shares, "1 to 64");
        }
        Ok(())
    }
}

/// The one gate.
impl TryFrom<Shape> for ScalableBloomParams {
    type Error = Error;

    fn try_from(shape: Shape) -> Result<Self, Error> {
        shape.ranges()?;
        let share = (shape.fpr / f64::from(shape.shares)).min(shape.fpr / 2.0);
        let first = LayerParams::for_fpr(room(shape.keys), share)?;
        if first.size_bytes() > shape.max_bytes {
            return Err(Error::Parameter {
                name: "max_bytes",
                value: shape.max_bytes as f64,
                domain: "at least the first layer, ScalableBloomParams::size_bytes(0)",
            });
        }
        Ok(Self::with_first(shape, first))
    }
}

impl From<ScalableBloomParams> for Shape {
    fn from(params: ScalableBloomParams) -> Self {
        let ScalableBloomParams { keys, fpr, growth, shares, max_bytes, .. } = params;
        Self { keys, fpr, growth, shares, max_bytes }
    }
}
