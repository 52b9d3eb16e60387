//! Sliding windows of count-min sketches.

use alloc::string::ToString;

use pds_cms::{Cell, ConservativeCountMin, CountMinSketch, Pane, SlidingCountMin};
use pds_core::wire::Kind;

use super::counts::{frequencies, shape, share_of_total, wide};
use super::held::{Held, Parameters, hashed_elsewhere, hold_variants};
use super::{Answer, MergeLaw, Stated};
use crate::{Error, Merge, Prehashed};

/// A sliding window, by its panes and their cells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnySlidingCountMin {
    /// Plain panes, cells of 1 byte.
    U8(SlidingCountMin<CountMinSketch<u8, Prehashed>>),
    /// Plain panes, cells of 2 bytes.
    U16(SlidingCountMin<CountMinSketch<u16, Prehashed>>),
    /// Plain panes, cells of 4 bytes.
    U32(SlidingCountMin<CountMinSketch<u32, Prehashed>>),
    /// Plain panes, cells of 8 bytes.
    U64(SlidingCountMin<CountMinSketch<u64, Prehashed>>),
    /// Conservative panes, cells of 1 byte.
    ConservativeU8(SlidingCountMin<ConservativeCountMin<u8, Prehashed>>),
    /// Conservative panes, cells of 2 bytes.
    ConservativeU16(SlidingCountMin<ConservativeCountMin<u16, Prehashed>>),
    /// Conservative panes, cells of 4 bytes.
    ConservativeU32(SlidingCountMin<ConservativeCountMin<u32, Prehashed>>),
    /// Conservative panes, cells of 8 bytes.
    ConservativeU64(SlidingCountMin<ConservativeCountMin<u64, Prehashed>>),
}

impl AnySlidingCountMin {
    fn cell_bytes(&self) -> u8 {
        match self {
            Self::U8(_) | Self::ConservativeU8(_) => 1,
            Self::U16(_) | Self::ConservativeU16(_) => 2,
            Self::U32(_) | Self::ConservativeU32(_) => 4,
            Self::U64(_) | Self::ConservativeU64(_) => 8,
        }
    }

    /// In the order in which windows are read.
    fn differ(&self, other: &Self) -> Result<(), Error> {
        let field = if self.cell_bytes() == other.cell_bytes() { "pane" } else { "cell_bytes" };
        Err(Error::Incompatible { field })
    }
}

hold_variants! {
    AnySlidingCountMin {
        U32, U64, U16, U8, ConservativeU32, ConservativeU64, ConservativeU16, ConservativeU8
    }
    SLIDING_COUNT_MIN "SlidingCountMin", Self::differ
}

/// A pane as its window shows it.
trait Shown: Pane<Hasher = Prehashed> {
    type Counter;
    const LAW: MergeLaw;
    const NAME: &'static str;
}

impl<C: Cell> Shown for CountMinSketch<C, Prehashed> {
    type Counter = C;
    const LAW: MergeLaw = MergeLaw::Exact;
    const NAME: &'static str = "plain";
}

impl<C: Cell> Shown for ConservativeCountMin<C, Prehashed> {
    type Counter = C;
    const LAW: MergeLaw = MergeLaw::Bounded;
    const NAME: &'static str = "conservative";
}

impl<S: Shown> Held for SlidingCountMin<S> {
    const KIND: Kind = Kind::SLIDING_COUNT_MIN;
    const NAME: &'static str = "SlidingCountMin";

    hashed_elsewhere! {}

    fn law(&self) -> MergeLaw {
        S::LAW
    }

    fn take(&mut self, other: &Self) -> Result<(), Error> {
        self.merge(other)
    }

    fn ask(&self) -> Answer {
        frequencies(self.params().pane(), self.total(), self.is_saturated())
    }

    fn between(&self, hash: u64) -> Option<(i128, i128)> {
        Some(wide(self.bounds_hash(hash)))
    }

    fn parameters(&self) -> Parameters {
        let params = self.params();
        let pane = params.pane();
        let mut parameters = shape::<S::Counter>(pane.width(), pane.depth(), pane.delta());
        parameters.push(("pane", S::NAME.to_string()));
        parameters.push(("panes", params.panes().to_string()));
        parameters.push(("generation", self.generation().to_string()));
        parameters
    }

    fn stated(&self) -> Option<Stated> {
        Some(share_of_total(self.params().pane()))
    }
}
