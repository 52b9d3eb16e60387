//! The sketch that counts as it goes: more precise than registers alone, and bound to one stream.

mod error;
mod sketch;
mod wire;

pub use sketch::StreamingHyperLogLog;
