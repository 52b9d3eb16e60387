//! Bumped ribbon filters.

mod band;
mod build;
mod filter;
mod geometry;
mod lookup;
mod params;
mod rate;
mod sizing;
mod view;
mod wire;

pub use filter::RibbonFilter;
pub use params::RibbonParams;
pub use view::RibbonView;
