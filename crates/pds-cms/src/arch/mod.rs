//! What depends on the processor.

mod prefetch;

pub(crate) use prefetch::prefetch;
