//! Shapes of SpaceSaving summaries.

use serde::{Deserialize, Serialize};

use super::super::answer::reciprocal;
use super::super::index::{MAX_SLOTS, slots_asked_for};
use super::super::ranked::Ranked;
use crate::Error;
use crate::params::within_0_and_1;

/// How many keys a summary counts. A value of this type is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct SpaceSavingParams {
    capacity: u32,
}

impl SpaceSavingParams {
    /// Most counters: 2^28.
    pub const MAX_CAPACITY: u32 = MAX_SLOTS;

    /// The fewest counters with which every key that makes up more than a share `phi` of the total is listed, and no
    /// count errs by more than that share: ceil(1 / `phi`), of the very double that `phi` is.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `phi` is NaN or outside (0, 1), or asks for more than
    /// [`SpaceSavingParams::MAX_CAPACITY`] counters.
    ///
    /// # Source
    ///
    /// `[MetwallyAgrawalElAbbadi05, Theorem 2]`.
    pub fn for_phi(phi: f64) -> Result<Self, Error> {
        within_0_and_1("phi", phi)?;
        let domain = "at least 2^-28 (2^28 counters)";
        let capacity = reciprocal(phi, Self::MAX_CAPACITY);
        capacity.map(|capacity| Self { capacity }).ok_or(Error::Parameter { name: "phi", value: phi, domain })
    }

    /// So many counters.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `capacity` is 0 or above [`SpaceSavingParams::MAX_CAPACITY`].
    pub fn with_capacity(capacity: u32) -> Result<Self, Error> {
        slots_asked_for("capacity", capacity).map(|capacity| Self { capacity })
    }

    /// Keys that are counted at a time.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The greatest error as a share of the total: 1 / capacity.
    pub fn epsilon(&self) -> f64 {
        1.0 / f64::from(self.capacity)
    }

    /// The greatest error in counts at this total: floor(total / capacity). What a summary really errs by is mostly
    /// less: [`SpaceSaving::max_error`](crate::SpaceSaving::max_error).
    pub const fn error_bound(&self, total: u64) -> u64 {
        total / self.capacity as u64
    }

    /// Bytes that a summary allocates at most, of keys of type `K`, without what keys own themselves; it is what it
    /// takes once every counter is taken.
    pub const fn size_bytes<K>(&self) -> u64 {
        Ranked::<K, u64>::bytes_for(self.capacity)
    }
}

impl TryFrom<u32> for SpaceSavingParams {
    type Error = Error;

    fn try_from(capacity: u32) -> Result<Self, Error> {
        Self::with_capacity(capacity)
    }
}

impl From<SpaceSavingParams> for u32 {
    fn from(params: SpaceSavingParams) -> Self {
        params.capacity
    }
}
