//! The classic filter: every probe falls anywhere in the array.

pub(crate) mod batch;
pub(crate) mod bits;
mod filter;
mod law;
pub(crate) mod metrics;
mod params;
mod view;
mod wire;

pub use filter::BloomFilter;
pub use params::BloomParams;
pub use view::BloomView;
