//! The classic filter: every probe falls anywhere in the array.

mod batch;
mod bits;
mod filter;
mod law;
mod metrics;
mod params;
mod view;
mod wire;

pub use filter::BloomFilter;
pub use params::BloomParams;
pub use view::BloomView;
