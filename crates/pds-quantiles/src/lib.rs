#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod contract;
mod order;
mod sketch;

pub use contract::Contract;
pub use order::{QuantileRule, RankRule};
pub use pds_core::{Error, ExactMerge, Merge, Sketch};
pub use sketch::{QuantileSketch, Quantiles};

/// What a user of the sketches imports: the types, and the traits that carry insertion, queries, `merge` and
/// `to_bytes`.
pub mod prelude {
    pub use crate::{
        Contract, Error, ExactMerge, Merge, QuantileRule, QuantileSketch, Quantiles, RankRule, Sketch,
    };
}
