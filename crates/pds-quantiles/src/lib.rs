#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod contract;
mod ddsketch;
mod finite;
mod kll;
mod order;
mod sketch;
mod tdigest;
mod varint;

pub use contract::Contract;
pub use ddsketch::{
    Buckets, Collapse, DDSketch, DDSketchParams, DDSketchSnapshot, DDSketchView, ExponentialHistogram,
    Mapping,
};
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
        Collapse, Contract, DDSketch, DDSketchParams, DDSketchSnapshot, DDSketchView, Error, ExactMerge,
        KllParams, KllSketch, Mapping, Merge, QuantileRule, QuantileSketch, Quantiles, RankRule, Sketch,
        TDigest, TDigestParams,
    };
}
