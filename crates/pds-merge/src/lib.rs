#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod absorb;
#[cfg(feature = "any")]
mod any;
#[cfg(feature = "any")]
mod bytes;
mod error;
mod fold;
pub mod propagate;
mod rollup;
mod sliding;
mod tree;

pub use absorb::union_hashes;
#[cfg(feature = "cuckoo")]
pub use absorb::{absorb_all, absorb_all_growable};
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
pub use fold::{Fold, merge_all, merge_all_lenient, merge_encoded, merge_encoded_lenient};
pub use pds_core::{Error, ExactMerge, Fingerprint, Merge, Prehashed, Sketch};
pub use propagate::Bounded;
pub use rollup::{Rollup, RollupParams, TimeError};
pub use sliding::SlidingWindow;
pub use tree::merge_tree;
#[cfg(feature = "rayon")]
pub use tree::merge_tree_parallel;
