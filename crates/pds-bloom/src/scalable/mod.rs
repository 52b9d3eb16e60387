//! The scalable filter: a chain of filters, each larger and stricter than the one before.

mod filter;
mod layer;
mod merge;
mod params;
mod view;
mod wire;

pub use filter::ScalableBloomFilter;
pub use params::ScalableBloomParams;
pub use view::ScalableBloomView;
