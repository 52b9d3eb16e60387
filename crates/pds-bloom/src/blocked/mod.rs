//! The blocked filter: the bits of a key lie in one cache line.

pub(crate) mod filter;
pub(crate) mod law;
pub(crate) mod line;
mod params;
pub(crate) mod probes;
mod view;
pub(crate) mod wire;

pub use filter::BlockedBloomFilter;
pub(crate) use filter::Counted;
pub use params::BlockedBloomParams;
pub use view::BlockedBloomView;
