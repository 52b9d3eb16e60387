//! Filters that are built once.

use alloc::string::ToString;
use alloc::vec;

use pds_core::wire::Kind;
use pds_static_filters::{
    BinaryFuseFilter8, BinaryFuseFilter8x4, BinaryFuseFilter16, BinaryFuseFilter16x4, BinaryFuseFilter32,
    BinaryFuseFilter32x4, Layout, RibbonFilter, Slot, StaticFilter, XorFilter8, XorFilter16,
};

use super::display::{exact, rounded};
use super::held::{Held, Parameters, hashed_elsewhere, hold_variants};
use super::{Answer, MergeLaw, Stated};
use crate::{Error, Prehashed, Sketch};

/// A binary fuse filter, by the number of slots that a key has and the bits of a slot.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyBinaryFuse {
    /// 3 slots of 8 bits.
    Bits8(BinaryFuseFilter8<Prehashed>),
    /// 3 slots of 16 bits.
    Bits16(BinaryFuseFilter16<Prehashed>),
    /// 3 slots of 32 bits.
    Bits32(BinaryFuseFilter32<Prehashed>),
    /// 4 slots of 8 bits.
    Bits8x4(BinaryFuseFilter8x4<Prehashed>),
    /// 4 slots of 16 bits.
    Bits16x4(BinaryFuseFilter16x4<Prehashed>),
    /// 4 slots of 32 bits.
    Bits32x4(BinaryFuseFilter32x4<Prehashed>),
}

/// A xor filter, by the bits of a slot.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyXor {
    /// Slots of 8 bits.
    Bits8(XorFilter8<Prehashed>),
    /// Slots of 16 bits.
    Bits16(XorFilter16<Prehashed>),
}

/// Of two of a kind that does not merge, whatever its types.
fn unmergeable<S: Held>(_: &S, _: &S) -> Result<(), Error> {
    Err(Error::Unmergeable { kind: S::KIND.0 })
}

hold_variants! {
    AnyBinaryFuse { Bits8, Bits16, Bits32, Bits8x4, Bits16x4, Bits32x4 }
    BINARY_FUSE "BinaryFuseFilter", unmergeable
}
hold_variants! { AnyXor { Bits8, Bits16 } XOR "XorFilter", unmergeable }

/// What all of them answer alike.
macro_rules! never_merged {
    () => {
        hashed_elsewhere! {}

        fn law(&self) -> MergeLaw {
            MergeLaw::None
        }

        fn ask(&self) -> Answer {
            let keys = Some(self.len() as f64);
            Answer::Membership { keys, fpr: self.estimated_fpr(), saturated: false }
        }

        fn has(&self, hash: u64) -> Option<bool> {
            Some(self.contains_hash(hash))
        }
    };
}

impl<L: Layout, S: Slot> Held for StaticFilter<L, S, Prehashed> {
    const KIND: Kind = <Self as Sketch>::KIND;
    const NAME: &'static str = "StaticFilter";

    never_merged! {}

    fn parameters(&self) -> Parameters {
        vec![
            ("keys", self.len().to_string()),
            ("arity", self.params().arity().to_string()),
            ("bits", self.params().bits().to_string()),
            ("bits_per_key", rounded(self.bits_per_key())),
        ]
    }

    fn stated(&self) -> Option<Stated> {
        Some(Stated::FalsePositiveRate(self.params().fpr()))
    }
}

impl Held for RibbonFilter<Prehashed> {
    const KIND: Kind = Kind::RIBBON;
    const NAME: &'static str = "RibbonFilter";

    never_merged! {}

    fn parameters(&self) -> Parameters {
        vec![
            ("keys", self.len().to_string()),
            ("columns", exact(self.params().columns())),
            ("bits_per_key", rounded(self.bits_per_key())),
        ]
    }

    fn stated(&self) -> Option<Stated> {
        Some(Stated::FalsePositiveRate(self.params().fpr(self.len())))
    }
}
