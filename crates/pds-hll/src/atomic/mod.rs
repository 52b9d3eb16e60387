//! A sketch that threads fill together, by shared reference: the same bytes as the owned one.

mod cells;
#[cfg(all(test, not(miri)))] // the models switch stacks, which the interpreter cannot
mod models;
mod shared;
mod sketch;
#[cfg(feature = "std")]
mod spilled;

pub use sketch::AtomicHyperLogLog;
