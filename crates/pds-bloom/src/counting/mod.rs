//! The counting filter: a blocked filter from which keys can be removed.

mod counters;
mod filter;
mod params;
mod view;
mod wire;

pub use filter::CountingBloomFilter;
pub use params::CountingBloomParams;
pub use view::CountingBloomView;
