//! Counts that fade with time.

mod params;
mod sketch;
mod view;
mod wire;

pub use params::DecayingCountMinParams;
pub use sketch::DecayingCountMin;
pub use view::DecayingCountMinView;
