//! The shape of a binary fuse filter: shards of overlapping windows of segments.

use pds_core::wire::Kind;
use pds_hash::reduce;
use serde::{Deserialize, Serialize};

use super::sizing;
use crate::Error;
use crate::layout::{self, Layout};

/// The layout of binary fuse filters, of 3 or 4 slots for each key.
///
/// The slots are cut into segments of a power of two. A key's first slot falls anywhere but into the last segments, and
/// each further one into the next segment, so that a filter is solved as a wave from its two ends. Beyond some millions of
/// keys the filter consists of equal shards, which are solved on their own.
///
/// # Source
///
/// `[GrafLemire22]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinaryFuse<const ARITY: usize> {
    /// 0 if and only if there is no key.
    shards: u32,
    /// In each shard: segments where a first slot may lie, at least one.
    windows: u32,
    /// Slots of a segment, a power of two.
    segment: u32,
    /// `windows * segment`.
    starts: u64,
}

/// What is written: shards, windows and log2 of the segment.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RawBinaryFuse {
    shards: u32,
    windows: u32,
    log2_segment: u8,
}

/// How far the hash is shifted for the place within each further segment: the fields are disjoint up to
/// [`MAX_LOG2_SEGMENT`].
const SHIFTS: [u32; 4] = [0, 0, 14, 28];

/// log2 of the longest segment: shards are so small that no longer one is of use.
pub(crate) const MAX_LOG2_SEGMENT: u32 = 14;

/// Slots of the largest shard, so that places fit 32 bits with room to spare.
const MAX_SHARD_SLOTS: u64 = 1 << 30;

impl<const ARITY: usize> BinaryFuse<ARITY> {
    /// The shape without slots, of a filter without keys.
    pub(crate) const EMPTY: Self = Self { shards: 0, windows: 1, segment: 1, starts: 1 };

    /// The one gate.
    pub(crate) fn new(shards: u32, windows: u32, log2_segment: u32) -> Result<Self, Error> {
        let invalid = |name, value, domain| Err(Error::Parameter { name, value, domain });
        if log2_segment > MAX_LOG2_SEGMENT {
            return invalid("segment", f64::from(log2_segment), "at most 2^14 slots");
        }
        let shape =
            Self { shards, windows, segment: 1 << log2_segment, starts: u64::from(windows) << log2_segment };
        if windows == 0 || layout::sealed::Layout::shard_slots(&shape) > MAX_SHARD_SLOTS {
            return invalid("windows", f64::from(windows), "at least 1, and at most 2^30 slots in a shard");
        }
        if shards == 0 && shape != Self::EMPTY {
            return invalid("shards", 0.0, "at least 1 where there are slots");
        }
        Ok(shape)
    }

    /// Shards, which are solved on their own; 0 in a filter without keys.
    pub const fn shards(&self) -> u32 {
        self.shards
    }

    /// Slots of a segment.
    pub const fn segment(&self) -> u32 {
        self.segment
    }

    /// Segments of a shard.
    pub const fn segments(&self) -> u64 {
        self.windows as u64 + ARITY as u64 - 1
    }
}

impl BinaryFuse<4> {
    /// The compact shape for so many keys.
    pub(crate) fn compact(keys: u64) -> Result<Self, Error> {
        sizing::compact(keys)
    }
}

impl Layout for BinaryFuse<3> {}
impl Layout for BinaryFuse<4> {}

impl<const ARITY: usize> layout::sealed::Layout for BinaryFuse<ARITY> {
    type Places = [u32; ARITY];
    type Raw = RawBinaryFuse;

    const ARITY: usize = ARITY;
    const KIND: Kind = Kind::BINARY_FUSE;

    fn for_keys(keys: u64) -> Result<Self, Error> {
        sizing::for_keys(keys)
    }

    fn for_attempt(self, attempt: u32) -> Self {
        sizing::for_attempt(self, attempt)
    }

    fn to_raw(self) -> RawBinaryFuse {
        let log2_segment = self.segment.trailing_zeros() as u8;
        RawBinaryFuse { shards: self.shards, windows: self.windows, log2_segment }
    }

    fn try_from_raw(RawBinaryFuse { shards, windows, log2_segment }: RawBinaryFuse) -> Result<Self, Error> {
        Self::new(shards, windows, u32::from(log2_segment))
    }

    #[inline]
    fn shards(&self) -> u64 {
        u64::from(self.shards)
    }

    #[inline]
    fn shard_slots(&self) -> u64 {
        self.starts + (ARITY as u64 - 1) * u64::from(self.segment)
    }

    #[inline]
    fn route(&self, hash: u64) -> (u64, u64) {
        (reduce(hash, u64::from(self.shards)), hash.wrapping_mul(u64::from(self.shards)))
    }

    #[inline]
    fn places(&self, hash: u64, local: u64) -> [u32; ARITY] {
        let mask = self.segment - 1;
        let first = reduce(local, self.starts) as u32;
        let mut places = [first; ARITY];
        let mut base = first;
        for (place, shift) in places.iter_mut().zip(SHIFTS).skip(1) {
            base += self.segment;
            *place = base ^ ((hash >> shift) as u32 & mask);
        }
        places
    }
}
