#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[allow(unsafe_code)]
mod arch;
#[cfg(target_has_atomic = "64")]
mod atomic;
mod blocked;
mod classic;
mod counting;
mod loads;
mod rolling;
mod scalable;
mod split_block;
mod targets;
mod windowed;

#[cfg(target_has_atomic = "64")]
pub use atomic::{AtomicBlockedBloomFilter, AtomicBloomFilter};
pub use blocked::{BlockedBloomFilter, BlockedBloomParams, BlockedBloomView};
pub use classic::{BloomFilter, BloomParams, BloomView};
pub use counting::{CountingBloomFilter, CountingBloomParams, CountingBloomView};
pub use pds_core::{Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Prehashed, Sketch};
pub use pds_hash::{SipHasher, WyHasher};
pub use scalable::{ScalableBloomFilter, ScalableBloomParams, ScalableBloomView};
#[cfg(feature = "parquet")]
pub use split_block::ParquetHasher;
pub use split_block::{SplitBlockBloomFilter, SplitBlockBloomView, SplitBlockParams};
pub use windowed::{WindowedBloomFilter, WindowedBloomParams, WindowedBloomView};

/// What a user of the filters imports: the types, and the traits that carry `merge` and `to_bytes`.
pub mod prelude {
    #[cfg(target_has_atomic = "64")]
    pub use crate::{AtomicBlockedBloomFilter, AtomicBloomFilter};
    pub use crate::{
        BlockedBloomFilter, BlockedBloomParams, BlockedBloomView, BloomFilter, BloomParams, BloomView,
        CountingBloomFilter, CountingBloomParams, CountingBloomView, Error, ExactMerge, Fingerprint, Key,
        KeyHasher, Merge, Prehashed, ScalableBloomFilter, ScalableBloomParams, ScalableBloomView, SipHasher,
        Sketch, SplitBlockBloomFilter, SplitBlockBloomView, SplitBlockParams, WindowedBloomFilter,
        WindowedBloomParams, WindowedBloomView, WyHasher,
    };
}
