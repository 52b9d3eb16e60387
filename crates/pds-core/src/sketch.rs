//! What structures have in common: merging and a byte form.

use alloc::vec::Vec;

use crate::{Error, wire};

/// Two structures over two streams become one that answers for both.
///
/// After `Ok`, `self` answers for both streams within its documented bound.
pub trait Merge {
    /// Takes in what `other` has seen; `other` is not changed.
    ///
    /// # Errors
    ///
    /// [`Error::Incompatible`] names what differs, [`Error::Hasher`] says that the hashers do. `self` is then
    /// unchanged.
    fn merge(&mut self, other: &Self) -> Result<(), Error>;
}

/// Law: the bytes of the merged sketch equal the bytes of the sketch of the concatenated stream, in any order
/// or grouping.
///
/// Code that shards a stream, or retries a shard, may ask for it; sketches that merge within a bound only,
/// such as a conservative count-min, do not have it.
pub trait ExactMerge: Merge {}

/// A structure with a byte form.
///
/// Decoding never panics, never loops without bound, and allocates at most 16 times the input plus a constant
/// of the kind (at most 1 MiB).
pub trait Sketch: Sized {
    /// The kind written into the envelope.
    const KIND: wire::Kind;

    /// Where the hashes come from; `()` where nothing is hashed.
    type Hasher;

    /// The byte form: one [envelope](wire), the same bytes for the same state on every platform.
    fn to_bytes(&self) -> Vec<u8>;

    /// Decodes with a given hasher, or with [`Prehashed`](crate::Prehashed) where the hasher is elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Kind`], [`Error::Version`], [`Error::Checksum`] and [`Error::Malformed`] say what is wrong with
    /// the bytes; [`Error::Hasher`] that they were made with another hasher; [`Error::Incompatible`] that the type
    /// asked for differs from theirs in a parameter of the type, such as the width of cells.
    fn from_bytes_with(bytes: &[u8], hasher: Self::Hasher) -> Result<Self, Error>;

    /// Decodes with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    fn from_bytes(bytes: &[u8]) -> Result<Self, Error>
    where
        Self::Hasher: Default,
    {
        Self::from_bytes_with(bytes, Self::Hasher::default())
    }

    /// Merges the sketch of these bytes: as decoding and [`Merge::merge`], without a second sketch where a structure can.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`] and [`Merge::merge`]. `self` is then unchanged.
    fn merge_encoded(&mut self, bytes: &[u8], hasher: Self::Hasher) -> Result<(), Error>
    where
        Self: Merge,
    {
        self.merge(&Self::from_bytes_with(bytes, hasher)?)
    }
}
