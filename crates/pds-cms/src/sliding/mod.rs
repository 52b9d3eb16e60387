//! A window over the newest counts, as a ring of sketches.

mod pane;
mod params;
mod sketch;
mod view;
mod wire;

pub use pane::Pane;
pub use params::SlidingCountMinParams;
pub use sketch::SlidingCountMin;
pub use view::SlidingCountMinView;
