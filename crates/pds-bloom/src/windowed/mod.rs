//! The windowed filter: generations of a blocked filter, the oldest of which makes room for the next.

mod filter;
mod params;
mod view;
mod window;
mod wire;

pub use filter::WindowedBloomFilter;
pub use params::WindowedBloomParams;
pub use view::WindowedBloomView;
