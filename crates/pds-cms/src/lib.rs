#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod cell;
mod count_min;
mod params;
mod table;
mod tally;
mod view;
mod wire;

pub use cell::Cell;
pub use count_min::CountMinSketch;
pub use params::CountMinParams;
pub use pds_core::{Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Prehashed, Sketch};
pub use pds_hash::{SipHasher, WyHasher};
pub use view::CountMinView;

/// What a user of the sketches imports: the types, and the traits that carry `merge` and `to_bytes`.
pub mod prelude {
    pub use crate::{
        CountMinParams, CountMinSketch, CountMinView, Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge,
        Prehashed, SipHasher, Sketch,
    };
}
