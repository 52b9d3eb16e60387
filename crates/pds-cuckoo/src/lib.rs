#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[allow(unsafe_code)]
mod arch;
mod batch;
mod evict;
mod fixed;
mod geometry;
mod growable;
mod lanes;
mod law;
mod stored;
mod table;
mod targets;

pub use fixed::{CuckooFilter, CuckooParams, CuckooView};
pub use growable::{GrowableCuckooFilter, GrowableCuckooParams, GrowableCuckooView};
pub use pds_core::{Error, Fingerprint, Key, KeyHasher, Prehashed, Sketch};
pub use pds_hash::{SipHasher, WyHasher};

/// What a user of the filters imports: the types, and the traits that carry `to_bytes`.
pub mod prelude {
    pub use crate::{
        CuckooFilter, CuckooParams, CuckooView, Error, Fingerprint, GrowableCuckooFilter,
        GrowableCuckooParams, GrowableCuckooView, Key, KeyHasher, Prehashed, SipHasher, Sketch, WyHasher,
    };
}
