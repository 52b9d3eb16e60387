//! Shapes of HeavyKeepers.

use pds_hash::most_items;
use serde::{Deserialize, Serialize};

use super::super::index::{MAX_SLOTS, slots_asked_for};
use super::super::ranked::Ranked;
use super::bucket::{Bucket, CELLS};
use crate::Error;

/// How many keys are listed, how many cells contend for the list, how fast they decay, and the seed of the chances.
/// A value of this type is valid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct HeavyKeeperParams {
    k: u32,
    buckets: u32,
    base: f64,
    seed: u64,
}

impl HeavyKeeperParams {
    /// Most keys that are listed: 2^28.
    pub const MAX_K: u32 = MAX_SLOTS;

    /// Most buckets: 2^28, of 64 bytes each, as far as the address space goes.
    pub const MAX_BUCKETS: u32 = max_buckets(usize::BITS);

    /// The published base of the decay: a cell at count c gives way by one with a chance of 1.08^-c.
    pub const BASE: f64 = 1.08;

    /// The base nearest to 1: below, the table of chances would be long, and hardly a cell would hold its ground.
    pub const MIN_BASE: f64 = 1.01;

    /// Buckets for each key of the list that [`HeavyKeeperParams::for_top`] takes. With one, a bucket of many frequent keys
    /// may wear out one of them.
    const BUCKETS_PER_KEY: u32 = 4;

    /// Fewest buckets that [`HeavyKeeperParams::for_top`] takes, so that short lists have enough contenders.
    const LEAST_BUCKETS: u32 = 64;

    /// For the `k` most frequent keys: four buckets of eight cells, 256 bytes, for each, and at least 64 buckets.
    ///
    /// How many cells a stream needs depends on its skew; flat streams want more of them.
    ///
    /// # Errors
    ///
    /// As [`HeavyKeeperParams::with_shape`].
    pub fn for_top(k: u32) -> Result<Self, Error> {
        let buckets = k.saturating_mul(Self::BUCKETS_PER_KEY).max(Self::LEAST_BUCKETS);
        Self::with_shape(k, buckets.min(Self::MAX_BUCKETS))
    }

    /// A list of `k` keys and so many buckets of eight cells.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `k` is 0 or above [`HeavyKeeperParams::MAX_K`], or `buckets` 0 or above
    /// [`HeavyKeeperParams::MAX_BUCKETS`].
    pub fn with_shape(k: u32, buckets: u32) -> Result<Self, Error> {
        Self::validated(k, buckets, Self::BASE, 0)
    }

    /// The same, with another base of the decay: the greater, the firmer a cell holds its ground.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `base` is NaN or outside [`HeavyKeeperParams::MIN_BASE`] to 2.
    pub fn with_base(self, base: f64) -> Result<Self, Error> {
        Self::validated(self.k, self.buckets, base, self.seed)
    }

    /// The same, with another seed of the chances; 0 unless said otherwise. One stream, one seed, one result.
    #[must_use]
    pub const fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(k: u32, buckets: u32, base: f64, seed: u64) -> Result<Self, Error> {
        let k = slots_asked_for("k", k)?;
        if !(1..=Self::MAX_BUCKETS).contains(&buckets) {
            let domain = "1 to HeavyKeeperParams::MAX_BUCKETS";
            return Err(Error::Parameter { name: "buckets", value: f64::from(buckets), domain });
        }
        // A NaN is in no range.
        if !(Self::MIN_BASE..=2.0).contains(&base) {
            return Err(Error::Parameter { name: "base", value: base, domain: "1.01 to 2" });
        }
        Ok(Self { k, buckets, base, seed })
    }

    /// Keys that are listed.
    pub const fn k(&self) -> u32 {
        self.k
    }

    /// Buckets of eight cells.
    pub const fn buckets(&self) -> u32 {
        self.buckets
    }

    /// Cells: contenders for the list.
    pub const fn cells(&self) -> u64 {
        self.buckets as u64 * CELLS as u64
    }

    /// The base of the decay.
    pub const fn base(&self) -> f64 {
        self.base
    }

    /// The seed of the chances.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Bytes that a keeper allocates at most, of keys of type `K`, without what keys own themselves; it is what it
    /// takes once the list is full.
    pub const fn size_bytes<K>(&self) -> u64 {
        Ranked::<K>::bytes_for(self.k) + self.cells() * 8
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Shape {
    k: u32,
    buckets: u32,
    base: f64,
    seed: u64,
}

impl TryFrom<Shape> for HeavyKeeperParams {
    type Error = Error;

    fn try_from(Shape { k, buckets, base, seed }: Shape) -> Result<Self, Error> {
        Self::validated(k, buckets, base, seed)
    }
}

impl From<HeavyKeeperParams> for Shape {
    fn from(HeavyKeeperParams { k, buckets, base, seed }: HeavyKeeperParams) -> Self {
        Self { k, buckets, base, seed }
    }
}

/// The most buckets where pointers have so many bits.
const fn max_buckets(pointer_bits: u32) -> u32 {
    let (named, allocatable) = (1 << 28, most_items(size_of::<Bucket>() as u64, pointer_bits));
    if allocatable < named { allocatable as u32 } else { named as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_every_platform_the_most_buckets_can_be_allocated() {
        assert_eq!(size_of::<Bucket>(), 64, "as it is written");
        assert_eq!([16, 32, 64].map(max_buckets), [(1 << 9) - 1, (1 << 25) - 1, 1 << 28]);
    }
}
