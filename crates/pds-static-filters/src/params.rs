//! The validated shape of a filter whose slots are solved by peeling, and its price.

use core::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::layout::Layout;
use crate::{BinaryFuse, Error, Slot, Xor, limits};

/// The shape of a binary fuse or xor filter: how many keys, and where their slots lie.
///
/// It prices a filter before it is built: its size, and its rate of false positives. A build that needs more attempts than
/// usual may end with a larger shape; [`StaticFilter::params`](crate::StaticFilter::params) has the one that it ended with.
///
/// A value of this type is valid. Use it by the names [`BinaryFuseParams8`](crate::BinaryFuseParams8) and so on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticParams<L, S> {
    keys: u64,
    layout: L,
    slot: PhantomData<S>,
}

impl<L: Layout, S: Slot> StaticParams<L, S> {
    /// The shape for a number of distinct keys; 0 is legal.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the slots would exceed the address space of this platform, or what the layout can number.
    pub fn for_keys(keys: u64) -> Result<Self, Error> {
        Self::validated(keys, L::for_keys(keys)?)
    }

    /// The one gate.
    pub(crate) fn validated(keys: u64, layout: L) -> Result<Self, Error> {
        let params = Self { keys, layout, slot: PhantomData };
        limits::allocatable(params.slots() * S::BYTES as u128)?;
        if u128::from(keys) > params.slots() || (keys == 0) != (layout.shards() == 0) {
            return Err(Error::Parameter {
                name: "keys",
                value: keys as f64,
                domain: "at most one for each slot",
            });
        }
        Ok(params)
    }

    /// Distinct keys.
    pub const fn keys(&self) -> u64 {
        self.keys
    }

    /// Slots of a key, which a query reads: 3 or 4.
    pub const fn arity(&self) -> u32 {
        L::ARITY as u32
    }

    /// Bits of a slot.
    pub const fn bits(&self) -> u32 {
        S::BITS
    }

    /// Where the slots lie.
    pub const fn layout(&self) -> L {
        self.layout
    }

    /// Bytes of the slots.
    pub fn size_bytes(&self) -> u64 {
        self.slots() as u64 * S::BYTES as u64
    }

    /// Bits of the slots for each key; 0 without keys.
    pub fn bits_per_key(&self) -> f64 {
        limits::per_key(self.size_bytes() as f64 * 8.0, self.keys)
    }

    /// Rate of false positives, a probability: 2^-bits, and keys / 2^64 for a shared hash; 0 without keys.
    ///
    /// # Source
    ///
    /// `[GrafLemire22]`.
    pub fn fpr(&self) -> f64 {
        if self.keys == 0 {
            return 0.0;
        }
        libm::exp2(-f64::from(S::BITS)) + limits::hash_collision_rate(self.keys)
    }

    fn slots(&self) -> u128 {
        u128::from(self.layout.shards()) * u128::from(self.layout.shard_slots())
    }
}

impl<S: Slot> StaticParams<BinaryFuse<4>, S> {
    /// The compact shape for a number of distinct keys: at most 1.125 slots a key from 10,000 keys on, where
    /// [`StaticParams::for_keys`] needs 100,000 to get there; never more than it. Building takes longer and more memory
    /// (some keys are set aside, and their equations solved at the end), asking does not.
    ///
    /// # Errors
    ///
    /// As [`StaticParams::for_keys`].
    pub fn compact(keys: u64) -> Result<Self, Error> {
        Self::validated(keys, BinaryFuse::compact(keys)?)
    }
}

/// What parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Raw<R> {
    /// Slots of a key.
    pub(crate) arity: u8,
    /// Bits of a slot.
    pub(crate) bits: u8,
    pub(crate) keys: u64,
    pub(crate) shape: R,
}

impl<L: Layout, S: Slot> StaticParams<L, S> {
    pub(crate) fn to_raw(self) -> Raw<L::Raw> {
        Raw { arity: L::ARITY as u8, bits: S::BITS as u8, keys: self.keys, shape: self.layout.to_raw() }
    }

    pub(crate) fn try_from_raw(raw: Raw<L::Raw>) -> Result<Self, Error> {
        if usize::from(raw.arity) != L::ARITY {
            return Err(Error::Incompatible { field: "arity" });
        }
        if u32::from(raw.bits) != S::BITS {
            return Err(Error::Incompatible { field: "bits" });
        }
        let malformed = |_| Error::Malformed { field: "params" };
        Self::validated(raw.keys, L::try_from_raw(raw.shape).map_err(malformed)?).map_err(malformed)
    }
}

/// Arity, bits, keys and the shape.
impl<L: Layout, S: Slot> Serialize for StaticParams<L, S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        self.to_raw().serialize(serializer)
    }
}

/// Through the gate.
impl<'de, L: Layout, S: Slot> Deserialize<'de> for StaticParams<L, S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from_raw(Raw::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Shape of a [`BinaryFuseFilter8`](crate::BinaryFuseFilter8).
pub type BinaryFuseParams8 = StaticParams<BinaryFuse<3>, u8>;
/// Shape of a [`BinaryFuseFilter16`](crate::BinaryFuseFilter16).
pub type BinaryFuseParams16 = StaticParams<BinaryFuse<3>, u16>;
/// Shape of a [`BinaryFuseFilter32`](crate::BinaryFuseFilter32).
pub type BinaryFuseParams32 = StaticParams<BinaryFuse<3>, u32>;
/// Shape of a [`BinaryFuseFilter8x4`](crate::BinaryFuseFilter8x4).
pub type BinaryFuseParams8x4 = StaticParams<BinaryFuse<4>, u8>;
/// Shape of a [`BinaryFuseFilter16x4`](crate::BinaryFuseFilter16x4).
pub type BinaryFuseParams16x4 = StaticParams<BinaryFuse<4>, u16>;
/// Shape of a [`BinaryFuseFilter32x4`](crate::BinaryFuseFilter32x4).
pub type BinaryFuseParams32x4 = StaticParams<BinaryFuse<4>, u32>;
/// Shape of a [`XorFilter8`](crate::XorFilter8).
pub type XorParams8 = StaticParams<Xor, u8>;
/// Shape of a [`XorFilter16`](crate::XorFilter16).
pub type XorParams16 = StaticParams<Xor, u16>;
