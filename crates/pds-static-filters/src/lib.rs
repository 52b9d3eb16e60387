#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[allow(unsafe_code)]
mod arch;
mod augment;
mod batch;
mod build;
mod filter;
mod fuse;
mod gauss;
mod layout;
mod limits;
mod params;
mod partition;
mod peel;
mod ribbon;
mod seeds;
mod slot;
mod view;
mod wire;
mod xor;

pub use filter::{
    BinaryFuseFilter8, BinaryFuseFilter8x4, BinaryFuseFilter16, BinaryFuseFilter16x4, BinaryFuseFilter32,
    BinaryFuseFilter32x4, StaticFilter, XorFilter8, XorFilter16,
};
pub use fuse::BinaryFuse;
pub use layout::Layout;
pub use params::{
    BinaryFuseParams8, BinaryFuseParams8x4, BinaryFuseParams16, BinaryFuseParams16x4, BinaryFuseParams32,
    BinaryFuseParams32x4, StaticParams, XorParams8, XorParams16,
};
pub use pds_core::{Error, Fingerprint, Key, KeyHasher, Prehashed, Sketch};
pub use pds_hash::{SipHasher, WyHasher};
pub use ribbon::{RibbonFilter, RibbonParams, RibbonView};
pub use slot::Slot;
pub use view::StaticView;
pub use xor::Xor;

/// What a user of the filters imports: the types, and the traits that carry `to_bytes`.
pub mod prelude {
    pub use crate::{
        BinaryFuseFilter8, BinaryFuseFilter8x4, BinaryFuseFilter16, BinaryFuseFilter16x4, BinaryFuseFilter32,
        BinaryFuseFilter32x4, BinaryFuseParams8, BinaryFuseParams8x4, BinaryFuseParams16,
        BinaryFuseParams16x4, BinaryFuseParams32, BinaryFuseParams32x4, Error, Fingerprint, Key, KeyHasher,
        Prehashed, RibbonFilter, RibbonParams, RibbonView, SipHasher, Sketch, WyHasher, XorFilter8,
        XorFilter16, XorParams8, XorParams16,
    };
}
