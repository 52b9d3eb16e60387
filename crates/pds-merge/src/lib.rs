#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod absorb;
#[cfg(any(
    feature = "bloom",
    feature = "cms",
    feature = "cuckoo",
    feature = "hll",
    feature = "quantiles",
    feature = "static-filters",
    feature = "theta"
))]
mod any;
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
#[cfg(any(
    feature = "bloom",
    feature = "cms",
    feature = "cuckoo",
    feature = "hll",
    feature = "quantiles",
    feature = "static-filters",
    feature = "theta"
))]
pub use any::{
    Answer, AnyFold, AnySketch, Description, ListHasher, MergeLaw, Stated, Value, merge_bytes,
    merge_bytes_lenient,
};
#[cfg(feature = "static-filters")]
pub use any::{AnyBinaryFuse, AnyXor};
#[cfg(feature = "cms")]
pub use any::{AnyConservativeCountMin, AnyCountMin, AnyCountSketch, AnySlidingCountMin};
pub use error::{MergeError, Merged};
pub use fold::{Fold, merge_all, merge_all_lenient, merge_encoded, merge_encoded_lenient};
pub use pds_core::{Error, ExactMerge, Fingerprint, Merge, Prehashed, Sketch};
pub use propagate::Bounded;
pub use rollup::{Rollup, RollupParams, TimeError};
pub use sliding::SlidingWindow;
pub use tree::merge_tree;
#[cfg(feature = "rayon")]
pub use tree::merge_tree_parallel;
