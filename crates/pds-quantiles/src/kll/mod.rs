//! The KLL sketch.

mod codec;
mod item;
mod levels;
mod params;
mod queries;
mod sketch;
mod snapshot;
mod wire;

pub use codec::KllCodec;
pub use item::{KllItem, Ordered};
pub use params::KllParams;
pub use sketch::KllSketch;
pub use snapshot::KllSnapshot;
