//! Filters that threads fill together, by shared reference: the same bits as the owned ones.

mod blocked;
mod classic;
mod line;
#[cfg(all(test, not(miri)))] // the models switch stacks, which the interpreter cannot
mod models;
mod words;

pub use blocked::AtomicBlockedBloomFilter;
pub use classic::AtomicBloomFilter;
