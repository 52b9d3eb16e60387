#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod effort;
mod envelope;
mod experiment;
mod golden;
mod keys;
pub mod laws;
mod merge_laws;
mod oracle;
mod streams;
mod table;
#[cfg(test)]
mod toy;
mod values;
mod wire_laws;

pub use effort::fewer_interpreted;
pub use envelope::{forge, payload_start, reseal};
pub use experiment::{Cell, Experiment, Plot, Scale};
pub use golden::golden;
pub use keys::{DistinctKeys, SplitMix64, seed_for};
pub use merge_laws::{exact_merge_laws, idempotent_merge_law, key_lists, refused_merge_law};
pub use oracle::{ExactFrequencies, ExactQuantiles, ExactSet};
/// For the expansion of [`merge_laws!`] and [`wire_laws!`].
#[doc(hidden)]
pub use proptest;
pub use streams::{ParetoKeys, Zipf};
pub use table::{Check, Row, Value, all_pass, significant};
pub use values::Values;
#[doc(hidden)]
pub use wire_laws::built;
pub use wire_laws::{WireLaws, canonical_bytes_law};
