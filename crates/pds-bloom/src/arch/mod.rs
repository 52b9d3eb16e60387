//! What depends on the processor, and what is done unchecked because it was checked before.

pub(crate) mod block;
pub(crate) mod line;
mod prefetch;
mod simd;
mod words;

pub(crate) use prefetch::prefetch;
pub(crate) use simd::Simd;
pub(crate) use words::{BorrowedWords, Words};
