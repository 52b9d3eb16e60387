#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod binomial;
mod compact;
mod jaccard;
mod operations;
mod params;
mod reading;
mod rice;
mod sketch;
mod source;
mod table;
mod view;
mod wire;

pub use compact::CompactTheta;
pub use jaccard::{Jaccard, jaccard};
pub use operations::{difference, intersection, union};
pub use params::ThetaParams;
pub use pds_core::{Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Prehashed, Sketch};
pub use pds_hash::{SipHasher, WyHasher};
pub use sketch::ThetaSketch;
pub use source::ThetaSource;
pub use view::ThetaView;

/// What a user of the sketch imports: the types, and the traits that carry `merge` and `to_bytes`.
pub mod prelude {
    pub use crate::{
        CompactTheta, Error, ExactMerge, Fingerprint, Jaccard, Key, KeyHasher, Merge, Prehashed, SipHasher,
        Sketch, ThetaParams, ThetaSketch, ThetaSource, ThetaView, WyHasher,
    };
}
