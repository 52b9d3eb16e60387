//! Sketches of a kind that only their bytes tell.

mod answer;
#[cfg(feature = "bloom")]
mod bloom;
mod bytes;
#[cfg(feature = "cms")]
mod counts;
#[cfg(feature = "cuckoo")]
mod cuckoo;
mod description;
mod display;
#[cfg(feature = "cms")]
mod heavy;
mod held;
#[cfg(feature = "hll")]
mod hll;
mod kinds;
mod law;
mod lists;
#[cfg(feature = "quantiles")]
mod quantiles;
mod sketch;
#[cfg(feature = "cms")]
mod sliding;
#[cfg(feature = "static-filters")]
mod static_filters;
#[cfg(feature = "theta")]
mod theta;

pub use answer::{Answer, Value};
pub use bytes::{AnyFold, merge_bytes, merge_bytes_lenient};
#[cfg(feature = "cms")]
pub use counts::{AnyConservativeCountMin, AnyCountMin, AnyCountSketch};
pub use description::{Description, Stated};
pub use law::MergeLaw;
pub use lists::ListHasher;
#[cfg(feature = "quantiles")]
pub use quantiles::AnyKll;
pub use sketch::AnySketch;
#[cfg(feature = "cms")]
pub use sliding::AnySlidingCountMin;
#[cfg(feature = "static-filters")]
pub use static_filters::{AnyBinaryFuse, AnyXor};
