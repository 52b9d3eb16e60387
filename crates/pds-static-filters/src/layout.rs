//! Where the slots of a hash lie, behind one interface for all filters that peel.

use pds_core::wire::Kind;

use crate::Error;

/// How a filter lays out its slots: [`BinaryFuse`](crate::BinaryFuse) or [`Xor`](crate::Xor).
///
/// A value of it is a validated shape. The trait is sealed.
pub trait Layout: sealed::Layout {}

pub(crate) mod sealed {
    use super::{Error, Kind};
    use core::fmt::Debug;

    /// What building and asking need of a shape; kept from the public interface.
    pub trait Layout: Copy + PartialEq + Debug + Send + Sync {
        /// The slots of one hash, within its shard.
        type Places: AsRef<[u32]> + Copy;

        /// What is written of the shape, and what it reads from; `try_from_raw` is the gate.
        type Raw: serde::Serialize + serde::de::DeserializeOwned + Copy;

        /// Slots of a key.
        const ARITY: usize;

        /// The kind on the wire.
        const KIND: Kind;

        /// The shape of the first attempt.
        fn for_keys(keys: u64) -> Result<Self, Error>;

        /// The shape of a later attempt: other, and larger once many have failed.
        fn for_attempt(self, attempt: u32) -> Self;

        /// What is written of the shape.
        fn to_raw(self) -> Self::Raw;

        /// The shape that was written, if it is one.
        fn try_from_raw(raw: Self::Raw) -> Result<Self, Error>;

        /// Shards, which are built on their own; none if there is no key.
        fn shards(&self) -> u64;

        /// Slots of each shard.
        fn shard_slots(&self) -> u64;

        /// The shard of a seeded hash, and the hash that has the place within it. The slots that the shard's hashes have
        /// move with the hash, so that hashes in order visit memory in order (of each third, for xor).
        fn route(&self, hash: u64) -> (u64, u64);

        /// The places of a seeded hash: each below `shard_slots`, all different. `local` is what [`Layout::route`] gave.
        fn places(&self, hash: u64, local: u64) -> Self::Places;
    }
}
