#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod contract;
mod finite;
mod kll;
mod order;
mod sketch;
mod tdigest;
mod varint;

pub use contract::Contract;
pub use finite::Finite;
pub use kll::{KllCodec, KllItem, KllParams, KllSketch, KllSnapshot, Ordered};
pub use order::{QuantileRule, RankRule};
pub use pds_core::{Error, ExactMerge, Merge, Sketch};
pub use sketch::{QuantileSketch, Quantiles};
pub use tdigest::{Centroid, TDigest, TDigestParams, TDigestSnapshot};

/// What a user of the sketches imports: the types, and the traits that carry insertion, queries, `merge` and
/// `to_bytes`.
pub mod prelude {
    pub use crate::{
        Contract, Error, ExactMerge, KllParams, KllSketch, Merge, QuantileRule, QuantileSketch, Quantiles,
        RankRule, Sketch, TDigest, TDigestParams,
    };
}
