#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[allow(unsafe_code)]
mod arch;
mod classic;
mod loads;
mod targets;

pub use classic::{BloomFilter, BloomParams, BloomView};
pub use pds_core::{Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Prehashed, Sketch};
pub use pds_hash::{SipHasher, WyHasher};

/// What a user of the filters imports: the types, and the traits that carry `merge` and `to_bytes`.
pub mod prelude {
    pub use crate::{
        BloomFilter, BloomParams, BloomView, Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge,
        Prehashed, SipHasher, Sketch,
    };
}
