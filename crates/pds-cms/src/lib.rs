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
mod batch;
mod cell;
mod conservative;
mod count_min;
mod count_sketch;
mod decaying;
mod heavy;
mod params;
mod sliding;
mod table;
mod tally;

#[cfg(target_has_atomic = "64")]
pub use atomic::AtomicCountMinSketch;
pub use cell::Cell;
pub use conservative::{ConservativeCountMin, ConservativeCountMinView};
pub use count_min::{CountMinSketch, CountMinView};
pub use count_sketch::{CountSketch, CountSketchParams, CountSketchView, SignedCell};
pub use decaying::{DecayingCountMin, DecayingCountMinParams, DecayingCountMinView};
pub use heavy::{
    Guarantee, HeavyHitter, HeavyKeeper, HeavyKeeperParams, MisraGries, MisraGriesParams, SpaceSaving,
    SpaceSavingParams, TopK, TopKParams, WireKey,
};
pub use params::CountMinParams;
pub use pds_core::{Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Prehashed, Sketch};
pub use pds_hash::{SipHasher, WyHasher};
pub use sliding::{Pane, SlidingCountMin, SlidingCountMinParams, SlidingCountMinView};

/// What a user of the sketches imports: the types, and the traits that carry `merge` and `to_bytes`.
pub mod prelude {
    #[cfg(target_has_atomic = "64")]
    pub use crate::AtomicCountMinSketch;
    pub use crate::{
        ConservativeCountMin, ConservativeCountMinView, CountMinParams, CountMinSketch, CountMinView,
        CountSketch, CountSketchParams, CountSketchView, DecayingCountMin, DecayingCountMinParams,
        DecayingCountMinView, Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Prehashed, SipHasher,
        Sketch, SlidingCountMin, SlidingCountMinParams, SlidingCountMinView, WyHasher,
    };
    pub use crate::{
        Guarantee, HeavyHitter, HeavyKeeper, HeavyKeeperParams, MisraGries, MisraGriesParams, SpaceSaving,
        SpaceSavingParams, TopK, TopKParams, WireKey,
    };
}
