//! Which types decode a kind.

use pds_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, ScalableBloomFilter, SplitBlockBloomFilter,
    WindowedBloomFilter,
};
use pds_cms::{
    ConservativeCountMin, CountMinSketch, CountSketch, DecayingCountMin, HeavyKeeper, MisraGries,
    SlidingCountMin, SpaceSaving, TopK,
};
use pds_core::wire::Kind;
use pds_cuckoo::{CuckooFilter, GrowableCuckooFilter};
use pds_hll::{HyperLogLog, StreamingHyperLogLog, UltraLogLog};
use pds_quantiles::{DDSketch, KllSketch, TDigest};
use pds_static_filters::{
    BinaryFuseFilter8, BinaryFuseFilter8x4, BinaryFuseFilter16, BinaryFuseFilter16x4, BinaryFuseFilter32,
    BinaryFuseFilter32x4, RibbonFilter, XorFilter8, XorFilter16,
};
use pds_theta::{CompactTheta, ThetaSketch};

use crate::subject::Subject;

/// Something to do with each type of a kind.
pub trait Visitor {
    /// Does it.
    fn visit<S: Subject>(&mut self);
}

/// Visits every type that decodes a kind: all widths of cells, and of keys one of numbers, of texts and of bytes.
/// False if there is none.
pub fn visit_types(kind: Kind, visitor: &mut impl Visitor) -> bool {
    match kind {
        Kind::BLOOM => visitor.visit::<BloomFilter>(),
        Kind::SPLIT_BLOCK_BLOOM => visitor.visit::<SplitBlockBloomFilter>(),
        Kind::BLOCKED_BLOOM => visitor.visit::<BlockedBloomFilter>(),
        Kind::COUNTING_BLOOM => visitor.visit::<CountingBloomFilter>(),
        Kind::SCALABLE_BLOOM => visitor.visit::<ScalableBloomFilter>(),
        Kind::WINDOWED_BLOOM => visitor.visit::<WindowedBloomFilter>(),
        Kind::CUCKOO => visitor.visit::<CuckooFilter>(),
        Kind::GROWABLE_CUCKOO => visitor.visit::<GrowableCuckooFilter>(),
        Kind::BINARY_FUSE => {
            visitor.visit::<BinaryFuseFilter8>();
            visitor.visit::<BinaryFuseFilter16>();
            visitor.visit::<BinaryFuseFilter32>();
            visitor.visit::<BinaryFuseFilter8x4>();
            visitor.visit::<BinaryFuseFilter16x4>();
            visitor.visit::<BinaryFuseFilter32x4>();
        }
        Kind::XOR => {
            visitor.visit::<XorFilter8>();
            visitor.visit::<XorFilter16>();
        }
        Kind::RIBBON => visitor.visit::<RibbonFilter>(),
        Kind::HYPER_LOG_LOG => visitor.visit::<HyperLogLog>(),
        Kind::ULTRA_LOG_LOG => visitor.visit::<UltraLogLog>(),
        Kind::STREAMING_HYPER_LOG_LOG => visitor.visit::<StreamingHyperLogLog>(),
        Kind::THETA => visitor.visit::<ThetaSketch>(),
        Kind::THETA_RESULT => visitor.visit::<CompactTheta>(),
        Kind::COUNT_MIN => {
            visitor.visit::<CountMinSketch<u8>>();
            visitor.visit::<CountMinSketch<u16>>();
            visitor.visit::<CountMinSketch<u32>>();
            visitor.visit::<CountMinSketch<u64>>();
        }
        Kind::CONSERVATIVE_COUNT_MIN => {
            visitor.visit::<ConservativeCountMin<u8>>();
            visitor.visit::<ConservativeCountMin<u16>>();
            visitor.visit::<ConservativeCountMin<u32>>();
            visitor.visit::<ConservativeCountMin<u64>>();
        }
        Kind::COUNT_SKETCH => {
            visitor.visit::<CountSketch<i32>>();
            visitor.visit::<CountSketch<i64>>();
        }
        Kind::SLIDING_COUNT_MIN => {
            visitor.visit::<SlidingCountMin<CountMinSketch<u8>>>();
            visitor.visit::<SlidingCountMin<CountMinSketch<u16>>>();
            visitor.visit::<SlidingCountMin<CountMinSketch<u32>>>();
            visitor.visit::<SlidingCountMin<CountMinSketch<u64>>>();
            visitor.visit::<SlidingCountMin<ConservativeCountMin<u8>>>();
            visitor.visit::<SlidingCountMin<ConservativeCountMin<u16>>>();
            visitor.visit::<SlidingCountMin<ConservativeCountMin<u32>>>();
            visitor.visit::<SlidingCountMin<ConservativeCountMin<u64>>>();
        }
        Kind::DECAYING_COUNT_MIN => visitor.visit::<DecayingCountMin>(),
        Kind::SPACE_SAVING => {
            visitor.visit::<SpaceSaving<u64>>();
            visitor.visit::<SpaceSaving<String>>();
            visitor.visit::<SpaceSaving<Vec<u8>>>();
        }
        Kind::MISRA_GRIES => {
            visitor.visit::<MisraGries<u64>>();
            visitor.visit::<MisraGries<String>>();
            visitor.visit::<MisraGries<Vec<u8>>>();
        }
        Kind::TOP_K => {
            visitor.visit::<TopK<u64>>();
            visitor.visit::<TopK<String>>();
            visitor.visit::<TopK<Vec<u8>>>();
        }
        Kind::HEAVY_KEEPER => {
            visitor.visit::<HeavyKeeper<u64>>();
            visitor.visit::<HeavyKeeper<String>>();
            visitor.visit::<HeavyKeeper<Vec<u8>>>();
        }
        Kind::DDSKETCH => visitor.visit::<DDSketch>(),
        Kind::T_DIGEST => visitor.visit::<TDigest>(),
        Kind::KLL => {
            visitor.visit::<KllSketch<f64>>();
            visitor.visit::<KllSketch<u64>>();
            visitor.visit::<KllSketch<i64>>();
            visitor.visit::<KllSketch<String>>();
            visitor.visit::<KllSketch<Vec<u8>>>();
        }
        _ => return false,
    }
    true
}
