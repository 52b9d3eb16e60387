//! Binary fuse filters: windows of three or four segments.

mod shape;
mod sizing;

pub use shape::BinaryFuse;
