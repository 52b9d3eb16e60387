//! The mergeable sketch: its state, its bytes, views of them, and what several sketches say together.

mod ratio;
mod sketch;
pub(crate) mod state;
pub(crate) mod union;
mod view;
pub(crate) mod wire;

pub use ratio::Estimate;
pub use sketch::HyperLogLog;
pub use view::HllView;
