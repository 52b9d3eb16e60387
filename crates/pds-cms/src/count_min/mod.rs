//! The plain count-min sketch.

mod measures;
mod merge;
mod sketch;
mod turnstile;
mod view;
pub(crate) mod wire;

pub use sketch::CountMinSketch;
pub use view::CountMinView;
