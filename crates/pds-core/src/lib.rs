#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod error;
mod hasher;
mod key;
mod sketch;
pub mod wire;

pub use error::Error;
pub use hasher::{Fingerprint, KeyHasher, Prehashed, fingerprint_of, same_hasher};
pub use key::{Key, frame, frame_into};
pub use sketch::{ExactMerge, Merge, Sketch};

/// The names that a hasher or a structure is written with.
pub mod prelude {
    pub use crate::{Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Prehashed, Sketch, wire};
}
