//! The split-block filter: every bit of a key falls into one block of 256, one into each of its eight words.

mod batch;
pub(crate) mod block;
mod filter;
mod fold;
mod law;
mod metrics;
mod params;
#[cfg(feature = "parquet")]
mod parquet;
mod view;
mod wire;

pub use filter::SplitBlockBloomFilter;
pub use params::SplitBlockParams;
#[cfg(feature = "parquet")]
pub use parquet::ParquetHasher;
pub use view::SplitBlockBloomView;
