#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(all(target_has_atomic = "8", target_has_atomic = "32"))]
mod atomic;
mod bits;
mod codec;
mod estimator;
mod histogram;
mod hll;
mod information;
mod joint;
mod packed;
mod params;
mod registers;
mod sparse;
mod state;
mod stored;
mod streaming;
mod ull;

#[cfg(all(target_has_atomic = "8", target_has_atomic = "32"))]
pub use atomic::AtomicHyperLogLog;
pub use hll::{Estimate, HllView, HyperLogLog};
pub use joint::{Joint, Part};
pub use params::HllParams;
pub use pds_core::{Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Prehashed, Sketch};
pub use pds_hash::{SipHasher, WyHasher};
pub use streaming::StreamingHyperLogLog;
pub use ull::{UllParams, UllView, UltraLogLog};

/// What a user of the sketch imports: the types, and the traits that carry `merge` and `to_bytes`.
pub mod prelude {
    #[cfg(all(target_has_atomic = "8", target_has_atomic = "32"))]
    pub use crate::AtomicHyperLogLog;
    pub use crate::{
        Error, ExactMerge, Fingerprint, HllParams, HllView, HyperLogLog, Key, KeyHasher, Merge, Prehashed,
        SipHasher, Sketch, StreamingHyperLogLog, UllParams, UllView, UltraLogLog, WyHasher,
    };
}
