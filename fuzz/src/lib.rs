//! Hostile bytes and hostile histories for every structure of the workspace.
//!
//! A harness is a function of bytes that panics where a promise is broken, and does nothing else. Two drivers share them:
//! the targets in `fuzz_targets`, which libFuzzer feeds, and `tests/harnesses.rs`, in which proptest does, on any
//! toolchain. `cargo xtask fuzz` runs the former where there is a nightly toolchain with cargo-fuzz, else the latter.
//!
//! * [`decode`]: bytes that claim to be a sketch, as they are and with their checksums put right, are refused, or give a
//!   sketch that answers, changes and encodes like any other;
//! * [`merge`]: two such sketches merge, or are left as they were;
//! * [`models`]: one history of calls to a structure and to an exact one beside it.

#![forbid(unsafe_code)]
// Answers are compared with the answers of the same code elsewhere: they have to be the same floats.
#![allow(clippy::float_cmp)]

mod decode;
mod envelope;
mod kinds;
mod merge;
pub mod models;
mod probe;
mod seeds;
mod subject;
mod subjects;
mod targets;

#[cfg(fuzzing)]
pub use libfuzzer_sys;

pub use decode::decode;
pub use envelope::{pair, sealed, unsealed};
pub use kinds::{Visitor, visit_types};
pub use merge::merge;
pub use probe::Probe;
pub use seeds::{Golden, golden_files, seeds};
pub use subject::Subject;
pub use targets::{TARGETS, Target, run};
