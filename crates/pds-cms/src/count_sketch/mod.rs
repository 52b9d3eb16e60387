//! The count-sketch: signed counts, unbiased.

mod cell;
mod measures;
mod params;
mod sketch;
mod view;
mod wire;

pub use cell::SignedCell;
pub use params::CountSketchParams;
pub use sketch::CountSketch;
pub use view::CountSketchView;
