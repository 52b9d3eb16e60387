//! The shape of the table, and how fast counts fade.

use serde::{Deserialize, Serialize};

use crate::{CountMinParams, Error};

/// The shape of a table, and the time in which a count loses half of its weight.
///
/// A value of this type is valid: a sketch of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct DecayingCountMinParams {
    table: CountMinParams,
    half_life: f64,
}

impl DecayingCountMinParams {
    /// Most half-lives between time 0 and any other: beyond, a `f64` does not tell two of them apart.
    pub const MAX_HALF_LIVES: f64 = 4_503_599_627_370_496.0;

    /// A table of this shape, whose counts weigh half after each `half_life`: a positive number, in the unit in which its
    /// user measures time.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `half_life` is NaN, infinite, 0, negative or subnormal.
    pub fn with_half_life(table: CountMinParams, half_life: f64) -> Result<Self, Error> {
        // A NaN is not normal either.
        if half_life.is_normal() && half_life > 0.0 {
            Ok(Self { table, half_life })
        } else {
            Err(Error::Parameter { name: "half_life", value: half_life, domain: "above 0, finite" })
        }
    }

    /// The shape of the table.
    pub const fn table(&self) -> CountMinParams {
        self.table
    }

    /// The time in which a count loses half of its weight.
    pub const fn half_life(&self) -> f64 {
        self.half_life
    }

    /// Bytes of the table: what a sketch of this shape allocates, 8 a cell.
    pub const fn size_bytes(&self) -> u64 {
        self.table.size_bytes::<u64>()
    }

    /// A time in half-lives.
    pub(crate) fn in_half_lives(&self, time: f64) -> Result<f64, Error> {
        if !time.is_finite() {
            return Err(Error::NonFinite);
        }
        let half_lives = time / self.half_life;
        if half_lives.abs() <= Self::MAX_HALF_LIVES {
            Ok(half_lives)
        } else {
            Err(Error::Parameter { name: "time", value: time, domain: "within 2^52 half-lives of 0" })
        }
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Shape {
    table: CountMinParams,
    half_life: f64,
}

impl TryFrom<Shape> for DecayingCountMinParams {
    type Error = Error;

    fn try_from(Shape { table, half_life }: Shape) -> Result<Self, Error> {
        Self::with_half_life(table, half_life)
    }
}

impl From<DecayingCountMinParams> for Shape {
    fn from(DecayingCountMinParams { table, half_life }: DecayingCountMinParams) -> Self {
        Self { table, half_life }
    }
}
