//! Shapes of Misra-Gries summaries.

use serde::{Deserialize, Serialize};

use super::super::answer::reciprocal;
use super::super::index::{MAX_SLOTS, slots_asked_for};
use super::super::roster::Roster;
use crate::Error;
use crate::params::within_0_and_1;

/// How many keys a summary counts. A value of this type is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct MisraGriesParams {
    capacity: u32,
}

impl MisraGriesParams {
    /// Most counters: 2^28.
    pub const MAX_CAPACITY: u32 = MAX_SLOTS;

    /// The fewest counters with which every key that makes up more than a share `phi` of the total is listed, and no
    /// count errs by more than that share: 2 ceil(1 / `phi`) - 2, of the very double that `phi` is.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `phi` is NaN or outside (0, 1), or asks for more than
    /// [`MisraGriesParams::MAX_CAPACITY`] counters.
    pub fn for_phi(phi: f64) -> Result<Self, Error> {
        within_0_and_1("phi", phi)?;
        let domain = "at least 2^-27 (2^28 counters)";
        let divisor = reciprocal(phi, Self::MAX_CAPACITY / 2 + 1);
        let divisor = divisor.ok_or(Error::Parameter { name: "phi", value: phi, domain })?;
        Ok(Self { capacity: (2 * divisor - 2).max(1) })
    }

    /// So many counters.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `capacity` is 0 or above [`MisraGriesParams::MAX_CAPACITY`].
    pub fn with_capacity(capacity: u32) -> Result<Self, Error> {
        slots_asked_for("capacity", capacity).map(|capacity| Self { capacity })
    }

    /// Keys that are counted at a time.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The greatest error as a share of the total, of this very capacity: 1 / ceil((capacity + 1) / 2).
    pub fn epsilon(&self) -> f64 {
        1.0 / self.divisor() as f64
    }

    /// The greatest error in counts at this total: floor(total / ceil((capacity + 1) / 2)). What a summary really errs by
    /// is mostly less: [`MisraGries::max_error`](crate::MisraGries::max_error).
    pub const fn error_bound(&self, total: u64) -> u64 {
        total / self.divisor()
    }

    /// How many counters a purge takes its cut from, at least: of one counter more than there is room for, those from the
    /// median on.
    pub(super) const fn divisor(self) -> u64 {
        (self.capacity as u64 + 1).div_ceil(2)
    }

    /// Bytes that a summary allocates at most, of keys of type `K`, without what keys own themselves; it is what it
    /// takes once every counter is taken.
    pub const fn size_bytes<K>(&self) -> u64 {
        Roster::<K>::bytes_for(self.capacity)
    }
}

impl TryFrom<u32> for MisraGriesParams {
    type Error = Error;

    fn try_from(capacity: u32) -> Result<Self, Error> {
        Self::with_capacity(capacity)
    }
}

impl From<MisraGriesParams> for u32 {
    fn from(params: MisraGriesParams) -> Self {
        params.capacity
    }
}
