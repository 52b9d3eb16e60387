//! DDSketch: bins of equal relative width.

mod bins;
mod limit;
mod mapping;
mod otel;
mod params;
mod query;
mod sketch;
mod snapshot;
mod store;
mod view;
mod wire;

pub use mapping::Mapping;
pub use otel::{Buckets, ExponentialHistogram};
pub use params::{Collapse, DDSketchParams};
pub use sketch::DDSketch;
pub use snapshot::DDSketchSnapshot;
pub use view::DDSketchView;
