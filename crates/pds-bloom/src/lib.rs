#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[allow(unsafe_code)]
mod arch;
mod batch;
mod bits;
mod filter;
mod law;
mod metrics;
mod params;
mod view;
mod wire;

pub use filter::BloomFilter;
pub use params::BloomParams;
pub use pds_core::{Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Prehashed, Sketch};
pub use pds_hash::{SipHasher, WyHasher};
pub use view::BloomView;

/// What a user of the filters imports: the types, and the traits that carry `merge` and `to_bytes`.
pub mod prelude {
    pub use crate::{
        BloomFilter, BloomParams, BloomView, Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge,
        Prehashed, SipHasher, Sketch,
    };
}
