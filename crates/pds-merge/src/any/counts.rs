//! Sketches of counters.

use alloc::string::ToString;
use alloc::vec;

use pds_cms::{
    Cell, ConservativeCountMin, CountMinParams, CountMinSketch, CountSketch, DecayingCountMin, SignedCell,
};
use pds_core::wire::Kind;

use super::display::exact;
use super::held::{Held, Parameters, hashed_elsewhere, hold_variants};
use super::{Answer, MergeLaw, Stated};
use crate::{Error, Merge, Prehashed};

/// A count-min sketch, by its cells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyCountMin {
    /// Cells of 1 byte.
    U8(CountMinSketch<u8, Prehashed>),
    /// Cells of 2 bytes.
    U16(CountMinSketch<u16, Prehashed>),
    /// Cells of 4 bytes.
    U32(CountMinSketch<u32, Prehashed>),
    /// Cells of 8 bytes.
    U64(CountMinSketch<u64, Prehashed>),
}

/// A count-min sketch with conservative update, by its cells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyConservativeCountMin {
    /// Cells of 1 byte.
    U8(ConservativeCountMin<u8, Prehashed>),
    /// Cells of 2 bytes.
    U16(ConservativeCountMin<u16, Prehashed>),
    /// Cells of 4 bytes.
    U32(ConservativeCountMin<u32, Prehashed>),
    /// Cells of 8 bytes.
    U64(ConservativeCountMin<u64, Prehashed>),
}

/// A count-sketch, by its cells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyCountSketch {
    /// Cells of 4 bytes.
    I32(CountSketch<i32, Prehashed>),
    /// Cells of 8 bytes.
    I64(CountSketch<i64, Prehashed>),
}

fn other_cells<S>(_: &S, _: &S) -> Result<(), Error> {
    Err(Error::Incompatible { field: "cell_bytes" })
}

hold_variants! { AnyCountMin { U32, U64, U16, U8 } COUNT_MIN "CountMinSketch", other_cells }
hold_variants! {
    AnyConservativeCountMin { U32, U64, U16, U8 }
    CONSERVATIVE_COUNT_MIN "ConservativeCountMin", other_cells
}
hold_variants! { AnyCountSketch { I32, I64 } COUNT_SKETCH "CountSketch", other_cells }

/// The answer of a table with such a total.
pub(super) fn frequencies(params: CountMinParams, total: u64, saturated: bool) -> Answer {
    let above = (!saturated).then(|| params.error_bound(total));
    Answer::Frequencies { total: Some(total), below: 0, above, delta: params.delta() }
}

/// Shape, promise and cells.
pub(super) fn shape<C>(width: u64, depth: u32, delta: f64) -> Parameters {
    vec![
        ("width", width.to_string()),
        ("depth", depth.to_string()),
        ("delta", exact(delta)),
        ("cell_bytes", size_of::<C>().to_string()),
    ]
}

pub(super) fn share_of_total(params: CountMinParams) -> Stated {
    Stated::ShareOfTotal { epsilon: params.epsilon(), delta: params.delta() }
}

/// Bounds as they are for counts with a sign too.
pub(super) fn wide((lower, upper): (u64, u64)) -> (i128, i128) {
    (lower.into(), upper.into())
}

/// What both kinds answer alike.
macro_rules! hold_table {
    ($sketch:ident $kind:ident $law:ident) => {
        impl<C: Cell> Held for $sketch<C, Prehashed> {
            const KIND: Kind = Kind::$kind;
            const NAME: &'static str = stringify!($sketch);

            hashed_elsewhere! {}

            fn law(&self) -> MergeLaw {
                MergeLaw::$law
            }

            fn take(&mut self, other: &Self) -> Result<(), Error> {
                self.merge(other)
            }

            fn ask(&self) -> Answer {
                frequencies(self.params(), self.total(), self.is_saturated())
            }

            fn between(&self, hash: u64) -> Option<(i128, i128)> {
                Some(wide(self.bounds_hash(hash)))
            }

            fn parameters(&self) -> Parameters {
                let params = self.params();
                shape::<C>(params.width(), params.depth(), params.delta())
            }

            fn fill(&self) -> Option<f64> {
                Some(self.fill_ratio())
            }

            fn stated(&self) -> Option<Stated> {
                Some(share_of_total(self.params()))
            }
        }
    };
}

hold_table! { CountMinSketch COUNT_MIN Exact }
hold_table! { ConservativeCountMin CONSERVATIVE_COUNT_MIN Bounded }

impl<C: SignedCell> Held for CountSketch<C, Prehashed> {
    const KIND: Kind = Kind::COUNT_SKETCH;
    const NAME: &'static str = "CountSketch";

    hashed_elsewhere! {}

    fn law(&self) -> MergeLaw {
        MergeLaw::Exact
    }

    fn take(&mut self, other: &Self) -> Result<(), Error> {
        self.merge(other)
    }

    fn ask(&self) -> Answer {
        let bound = self.error_bound();
        let (total, above, delta) = (Some(self.weight()), Some(bound), self.params().delta());
        Answer::Frequencies { total, below: bound, above, delta }
    }

    fn between(&self, hash: u64) -> Option<(i128, i128)> {
        let (lower, upper) = self.bounds_hash(hash);
        Some((lower.into(), upper.into()))
    }

    fn parameters(&self) -> Parameters {
        let params = self.params();
        shape::<C>(params.width(), params.depth(), params.delta())
    }

    fn stated(&self) -> Option<Stated> {
        let params = self.params();
        Some(Stated::ShareOfNorm { epsilon: params.epsilon(), delta: params.delta() })
    }
}

impl Held for DecayingCountMin<Prehashed> {
    const KIND: Kind = Kind::DECAYING_COUNT_MIN;
    const NAME: &'static str = "DecayingCountMin";

    hashed_elsewhere! {}

    fn law(&self) -> MergeLaw {
        MergeLaw::Bounded
    }

    fn take(&mut self, other: &Self) -> Result<(), Error> {
        self.merge(other)
    }

    fn ask(&self) -> Answer {
        Answer::Frequencies { total: None, below: 0, above: None, delta: self.params().table().delta() }
    }

    fn parameters(&self) -> Parameters {
        let (table, half_life) = (self.params().table(), self.params().half_life());
        let mut parameters = shape::<f64>(table.width(), table.depth(), table.delta());
        parameters.push(("half_life", exact(half_life)));
        parameters
    }

    fn stated(&self) -> Option<Stated> {
        Some(share_of_total(self.params().table()))
    }
}
