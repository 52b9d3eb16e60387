//! Shapes of top-k lists.

use serde::{Deserialize, Serialize};

use super::super::index::{MAX_SLOTS, slots_asked_for};
use super::super::ranked::Ranked;
use crate::{CountMinParams, Error};

/// How many keys are listed, and the sketch that counts all. A value of this type is valid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct TopKParams {
    k: u32,
    sketch: CountMinParams,
}

impl TopKParams {
    /// Most keys that are listed: 2^28.
    pub const MAX_K: u32 = MAX_SLOTS;

    /// A list of `k` keys, whose counts exceed the truth by more than `eps` times the total with a chance of at most
    /// `delta` each: see [`CountMinParams::for_error`].
    ///
    /// # Errors
    ///
    /// As [`TopKParams::with_sketch`] and [`CountMinParams::for_error`].
    pub fn for_error(k: u32, eps: f64, delta: f64) -> Result<Self, Error> {
        Self::with_sketch(k, CountMinParams::for_error(eps, delta)?)
    }

    /// A list of `k` keys beside a sketch of this shape.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `k` is 0 or above [`TopKParams::MAX_K`].
    pub fn with_sketch(k: u32, sketch: CountMinParams) -> Result<Self, Error> {
        slots_asked_for("k", k).map(|k| Self { k, sketch })
    }

    /// Keys that are listed.
    pub const fn k(&self) -> u32 {
        self.k
    }

    /// The shape of the sketch.
    pub const fn sketch(&self) -> CountMinParams {
        self.sketch
    }

    /// Bytes that a list and its sketch allocate at most, of keys of type `K`, without what keys own themselves; it
    /// is what it takes once the list is full.
    pub const fn size_bytes<K>(&self) -> u64 {
        Ranked::<K>::bytes_for(self.k) + self.sketch.size_bytes::<u32>()
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Shape {
    k: u32,
    sketch: CountMinParams,
}

impl TryFrom<Shape> for TopKParams {
    type Error = Error;

    fn try_from(Shape { k, sketch }: Shape) -> Result<Self, Error> {
        Self::with_sketch(k, sketch)
    }
}

impl From<TopKParams> for Shape {
    fn from(TopKParams { k, sketch }: TopKParams) -> Self {
        Self { k, sketch }
    }
}
