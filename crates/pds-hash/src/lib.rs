#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod index;
mod mix;
mod sip;
mod wy;

pub use index::{MAX_ROWS, Probes, column, most_items, reduce};
pub use mix::{mix, route};
pub use pds_core::{Fingerprint, Key, KeyHasher, Prehashed, frame, frame_into};
pub use sip::{SipHasher, SipHasher24};
pub use wy::WyHasher;

/// What hashes keys.
pub mod prelude {
    pub use crate::{Fingerprint, Key, KeyHasher, Prehashed, SipHasher, SipHasher24, WyHasher};
}
