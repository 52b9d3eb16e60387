//! The layout of xor filters: three blocks, a slot in each.

use pds_core::wire::Kind;
use pds_hash::reduce;

use crate::Error;
use crate::layout::{self, Layout};

/// The layout of xor filters: a slot of a key in each third of them.
///
/// Kept for its published shape; [`BinaryFuse`](crate::BinaryFuse) takes less memory and less time.
///
/// # Source
///
/// `[GrafLemire20]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xor {
    /// Slots of a third; 0 if and only if there is no key.
    block: u32,
}

impl Xor {
    const BLOCKS: u64 = 3;

    /// Slots of a third: all places fit 32 bits.
    const MAX_BLOCK: u64 = u32::MAX as u64 / Self::BLOCKS;

    fn with_slots(slots: u128) -> Result<Self, Error> {
        let block = slots.div_ceil(u128::from(Self::BLOCKS));
        if block > u128::from(Self::MAX_BLOCK) {
            return Err(Error::Parameter {
                name: "slots",
                value: slots as f64,
                domain: "below 2^32, 1.23 a key",
            });
        }
        Ok(Self { block: block as u32 })
    }

    /// Slots of a third.
    pub const fn block(&self) -> u32 {
        self.block
    }
}

impl Layout for Xor {}

impl layout::sealed::Layout for Xor {
    type Places = [u32; 3];
    type Raw = u32;

    const ARITY: usize = 3;
    const KIND: Kind = Kind::XOR;

    /// 32 + 1.23 slots a key, as published; no slots for no keys.
    fn for_keys(keys: u64) -> Result<Self, Error> {
        let slots = if keys == 0 { 0 } else { 32 + (u128::from(keys) * 123).div_ceil(100) };
        Self::with_slots(slots)
    }

    /// After half of the attempts, which are likelier to fail by a fault than by chance, larger by a thirty-second each.
    fn for_attempt(self, attempt: u32) -> Self {
        let more = attempt.saturating_sub(crate::build::MAX_ATTEMPTS / 2);
        let block = u64::from(self.block) + u64::from(self.block.div_ceil(32)) * u64::from(more);
        Self { block: block.min(Self::MAX_BLOCK) as u32 }
    }

    fn to_raw(self) -> u32 {
        self.block
    }

    fn try_from_raw(block: u32) -> Result<Self, Error> {
        Self::with_slots(u128::from(block) * u128::from(Self::BLOCKS))
    }

    #[inline]
    fn shards(&self) -> u64 {
        u64::from(self.block != 0)
    }

    #[inline]
    fn shard_slots(&self) -> u64 {
        u64::from(self.block) * Self::BLOCKS
    }

    #[inline]
    fn route(&self, hash: u64) -> (u64, u64) {
        (0, hash)
    }

    #[inline]
    fn places(&self, hash: u64, _: u64) -> [u32; 3] {
        /// A third of the hash.
        const TURN: u32 = 21;
        let block = self.block;
        let place =
            |turns: u32| reduce(hash.rotate_left(turns * TURN), u64::from(block)) as u32 + turns * block;
        [place(0), place(1), place(2)]
    }
}
