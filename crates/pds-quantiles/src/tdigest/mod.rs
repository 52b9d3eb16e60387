//! The t-digest.

mod centroid;
mod compress;
mod digest;
mod params;
mod snapshot;
mod wire;

pub use centroid::Centroid;
pub use digest::TDigest;
pub use params::TDigestParams;
pub use snapshot::TDigestSnapshot;
