//! The filter of a fixed size.

mod filter;
mod params;
mod view;
mod wire;

pub use filter::CuckooFilter;
pub use params::CuckooParams;
pub use view::CuckooView;
