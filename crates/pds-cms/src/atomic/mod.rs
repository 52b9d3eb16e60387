//! A sketch that threads fill together, by shared reference: the same bytes as the owned one.

#[cfg(all(test, not(miri)))] // the models switch stacks, which the interpreter cannot
mod models;
mod shared;
mod sketch;

pub use sketch::AtomicCountMinSketch;
