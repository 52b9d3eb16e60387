//! How much work a test does.

/// So many, or a thousandth of them, and one at least, under Miri, which is a thousand times as slow.
#[must_use]
pub const fn fewer_interpreted(n: u64) -> u64 {
    if cfg!(miri) { n.div_ceil(1000) } else { n }
}
