#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod error;

pub use error::{MergeError, Merged};
pub use pds_core::{Error, ExactMerge, Fingerprint, Merge, Prehashed, Sketch};
