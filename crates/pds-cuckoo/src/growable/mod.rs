//! The filter that grows.

mod filter;
mod params;
mod resize;
mod view;
mod wire;

pub use filter::GrowableCuckooFilter;
pub use params::GrowableCuckooParams;
pub use view::GrowableCuckooView;
