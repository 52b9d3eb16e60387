//! Repairing weak hashes, and routing.

/// A bijection of 64 bits whose every output bit depends on every input bit.
///
/// Put a hash of doubtful quality (an identity, a linear or truncated hash, an id) through it before handing it
/// to a structure. Equal inputs stay equal: it cannot undo collisions. The table `hash-quality` shows that one
/// round of multiplication would not do.
///
/// # Source
///
/// `[SteeleLeaFlood14]`, finaliser (variant 13 of Stafford).
#[inline]
pub const fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Which of `shards` a key with this hash belongs to: 0 up to `shards` - 1 (0 if there are none).
///
/// Sketches on a shard see only the hashes routed there. Were a shard picked by the hash's own bits, these
/// hashes would no longer be uniform and every estimate on the shard would be wrong; so this routes by a mixed
/// copy, whose bits tell nothing of the hash's own.
#[inline]
pub const fn route(hash: u64, shards: u32) -> u32 {
    /// Any constant: without it, hash 0 would mix to 0.
    const ROUTING: u64 = 0x9e37_79b9_7f4a_7c15;
    crate::reduce(mix(hash ^ ROUTING), shards as u64) as u32
}
