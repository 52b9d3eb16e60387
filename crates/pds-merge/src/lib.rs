#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(feature = "any")]
mod any;
#[cfg(feature = "any")]
mod bytes;
mod error;

#[cfg(feature = "quantiles")]
pub use any::AnyKll;
#[cfg(feature = "any")]
pub use any::{Answer, AnySketch, Description, ListHasher, MergeLaw, Stated, Value};
#[cfg(feature = "static-filters")]
pub use any::{AnyBinaryFuse, AnyXor};
#[cfg(feature = "cms")]
pub use any::{AnyConservativeCountMin, AnyCountMin, AnyCountSketch, AnySlidingCountMin};
#[cfg(feature = "any")]
pub use bytes::{AnyFold, merge_bytes, merge_bytes_lenient};
pub use error::{MergeError, Merged};
pub use pds_core::{Error, ExactMerge, Fingerprint, Merge, Prehashed, Sketch};
