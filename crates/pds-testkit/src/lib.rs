//! stub
#![forbid(unsafe_code)]
mod experiment;
mod keys;
pub mod laws;
mod oracle;
mod streams;
mod table;
mod values;

pub use experiment::{Cell, Experiment, Plot, Scale};
pub use keys::{DistinctKeys, SplitMix64, seed_for};
pub use oracle::{ExactFrequencies, ExactQuantiles, ExactSet};
pub use streams::{ParetoKeys, Zipf};
pub use table::{Check, Row, Value, all_pass, significant};
pub use values::Values;
