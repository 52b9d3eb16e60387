//! The peers.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;

use super::{Counter, Hashed};

/// The quick hasher that peers are given.
fn quick() -> FixedState {
    FixedState::with_seed(7)
}

/// The reason why a peer's estimate is not compared.
const RUNNING_SUM: &[(&str, &str)] = &[("estimate", "reads a running floating sum, which drifts")];

/// hyperloglockless, given foldhash.
pub struct Hyperloglockless(hyperloglockless::HyperLogLog<FixedState>);

impl<K: Hash + ?Sized> Counter<K> for Hyperloglockless {
    const NAME: &'static str = "hyperloglockless + foldhash";
    const NOT_FOR: &'static [(&'static str, &'static str)] = RUNNING_SUM;

    fn new(p: u8) -> Self {
        Self(hyperloglockless::HyperLogLog::with_hasher(p, quick()))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.insert(key);
    }
    fn estimate(&mut self) -> f64 {
        self.0.raw_count()
    }
    fn merge(&mut self, other: &Self) {
        self.0.union(&other.0).expect("equal precisions");
    }
}

impl Hashed for Hyperloglockless {
    const CRATE: &'static str = "hyperloglockless";

    #[inline]
    fn insert_hash(&mut self, hash: u64) {
        self.0.insert_hash(hash);
    }
}

/// hyperloglogplus, given foldhash.
pub struct Hyperloglogplus<K: Hash + ?Sized>(hyperloglogplus::HyperLogLogPlus<K, FixedState>);

impl<K: Hash + ?Sized> Counter<K> for Hyperloglogplus<K> {
    const NAME: &'static str = "hyperloglogplus + foldhash";

    fn new(p: u8) -> Self {
        Self(hyperloglogplus::HyperLogLogPlus::new(p, quick()).expect("a usual precision"))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.insert_any(key);
    }
    fn estimate(&mut self) -> f64 {
        hyperloglogplus::HyperLogLog::count(&mut self.0)
    }
    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0).expect("equal precisions");
    }
}

/// datasketches, four or eight bits a register; merging goes through its union.
pub struct Datasketches<const BITS: u8>(datasketches::hll::HllSketch);

impl<const BITS: u8> Datasketches<BITS> {
    const TYPE: datasketches::hll::HllType =
        if BITS == 4 { datasketches::hll::HllType::Hll4 } else { datasketches::hll::HllType::Hll8 };
}

impl<K: Hash + ?Sized, const BITS: u8> Counter<K> for Datasketches<BITS> {
    const NAME: &'static str = if BITS == 4 { "datasketches (HLL_4)" } else { "datasketches (HLL_8)" };
    const NOT_FOR: &'static [(&'static str, &'static str)] = RUNNING_SUM;

    fn new(p: u8) -> Self {
        Self(datasketches::hll::HllSketch::new(p, Self::TYPE).expect("a usual precision"))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.update(key);
    }
    fn estimate(&mut self) -> f64 {
        self.0.estimate()
    }
    fn merge(&mut self, other: &Self) {
        let mut union = datasketches::hll::HllUnion::new(self.0.lg_config_k()).expect("a usual precision");
        union.update(&self.0);
        union.update(&other.0);
        self.0 = union.to_sketch(Self::TYPE);
    }
    fn encoded(&self) -> Option<Vec<u8>> {
        Some(self.0.serialize())
    }
    fn decoded(bytes: &[u8]) -> Option<Self> {
        datasketches::hll::HllSketch::deserialize(bytes).ok().map(Self)
    }
}

/// The compressed counter of datasketches; merging goes through its union.
pub struct Cpc(datasketches::cpc::CpcSketch);

impl<K: Hash + ?Sized> Counter<K> for Cpc {
    const NAME: &'static str = "datasketches (CPC)";
    const NOT_FOR: &'static [(&'static str, &'static str)] = RUNNING_SUM;

    fn new(p: u8) -> Self {
        Self(datasketches::cpc::CpcSketch::new(p).expect("a usual precision"))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.update(key);
    }
    fn estimate(&mut self) -> f64 {
        self.0.estimate()
    }
    fn merge(&mut self, other: &Self) {
        let mut union = datasketches::cpc::CpcUnion::new(self.0.lg_k()).expect("a usual precision");
        union.update(&self.0).expect("equal seeds");
        union.update(&other.0).expect("equal seeds");
        self.0 = union.to_sketch();
    }
    fn encoded(&self) -> Option<Vec<u8>> {
        Some(self.0.serialize())
    }
    fn decoded(bytes: &[u8]) -> Option<Self> {
        datasketches::cpc::CpcSketch::deserialize(bytes).ok().map(Self)
    }
}

/// cardinality-estimator with its default hasher; its precision is a constant.
pub struct CardinalityEstimator<K: Hash + ?Sized, const P: usize>(
    cardinality_estimator::CardinalityEstimator<K, wyhash::WyHash, P>,
);

impl<K: Hash + ?Sized, const P: usize> Counter<K> for CardinalityEstimator<K, P> {
    const NAME: &'static str = "cardinality-estimator";
    const NOT_FOR: &'static [(&'static str, &'static str)] = RUNNING_SUM;

    fn new(p: u8) -> Self {
        assert_eq!(usize::from(p), P, "the precision of the type");
        Self(cardinality_estimator::CardinalityEstimator::new())
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.insert(key);
    }
    fn estimate(&mut self) -> f64 {
        self.0.estimate() as f64
    }
    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }
}

/// ultraloglog, given foldhash. It has no byte form but its registers as they are.
pub struct Ultraloglog(ultraloglog::UltraLogLog);

impl<K: Hash + ?Sized> Counter<K> for Ultraloglog {
    const NAME: &'static str = "ultraloglog + foldhash";
    const NOT_FOR: &'static [(&'static str, &'static str)] = &[("encode", COPIES), ("decode", COPIES)];

    fn new(p: u8) -> Self {
        Self(ultraloglog::UltraLogLog::new(p.into()).expect("a usual precision"))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.add(quick().hash_one(key));
    }
    fn estimate(&mut self) -> f64 {
        self.0.get_distinct_count_estimate()
    }
    fn merge(&mut self, other: &Self) {
        self.0.add_sketch(&other.0).expect("equal precisions");
    }
    fn encoded(&self) -> Option<Vec<u8>> {
        Some(self.0.get_state().to_vec())
    }
    fn decoded(bytes: &[u8]) -> Option<Self> {
        ultraloglog::UltraLogLog::wrap(bytes.to_vec()).ok().map(Self)
    }
}

const COPIES: &str = "copies its registers, unchecked";

impl Hashed for Ultraloglog {
    const CRATE: &'static str = "ultraloglog";

    #[inline]
    fn insert_hash(&mut self, hash: u64) {
        self.0.add(hash);
    }
}

/// exaloglog, the quicker of its two, four bytes a register, given foldhash.
pub struct Exaloglog(exaloglog::ExaLogLogFast);

impl<K: Hash + ?Sized> Counter<K> for Exaloglog {
    const NAME: &'static str = "exaloglog (fast) + foldhash";

    fn new(p: u8) -> Self {
        Self(exaloglog::ExaLogLogFast::new(p.into()))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.add_hash(quick().hash_one(key));
    }
    fn estimate(&mut self) -> f64 {
        self.0.estimate()
    }
    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0).expect("equal precisions");
    }
    fn encoded(&self) -> Option<Vec<u8>> {
        Some(self.0.to_bytes())
    }
    fn decoded(bytes: &[u8]) -> Option<Self> {
        exaloglog::ExaLogLogFast::from_bytes(bytes).ok().map(Self)
    }
}

impl Hashed for Exaloglog {
    const CRATE: &'static str = "exaloglog (fast)";

    #[inline]
    fn insert_hash(&mut self, hash: u64) {
        self.0.add_hash(hash);
    }
    fn insert_batch(&mut self, hashes: &[u64]) {
        self.0.add_hashes(hashes);
    }
}

/// `sketch_oxide`.
pub struct SketchOxide(sketch_oxide::cardinality::HyperLogLog);

impl<K: Hash> Counter<K> for SketchOxide {
    const NAME: &'static str = "sketch_oxide";

    fn new(p: u8) -> Self {
        Self(sketch_oxide::cardinality::HyperLogLog::new(p).expect("a usual precision"))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.update(key);
    }
    fn estimate(&mut self) -> f64 {
        sketch_oxide::Sketch::estimate(&self.0)
    }
    fn merge(&mut self, other: &Self) {
        sketch_oxide::Mergeable::merge(&mut self.0, &other.0).expect("equal precisions");
    }
    fn encoded(&self) -> Option<Vec<u8>> {
        Some(self.0.to_bytes())
    }
    fn decoded(bytes: &[u8]) -> Option<Self> {
        sketch_oxide::cardinality::HyperLogLog::from_bytes(bytes).ok().map(Self)
    }
}

/// amadeus-streaming, which asks for an error and picks the precision.
pub struct Amadeus<K: ?Sized>(amadeus_streaming::HyperLogLog<K>);

impl<K: Hash + ?Sized> Counter<K> for Amadeus<K> {
    const NAME: &'static str = "amadeus-streaming";
    const NOT_FOR: &'static [(&'static str, &'static str)] = RUNNING_SUM;

    fn new(p: u8) -> Self {
        // Its own rule picks p = ceil(log2((1.04 / e)^2)).
        Self(amadeus_streaming::HyperLogLog::new(1.04 / f64::from(1u32 << p).sqrt() * 1.000_001))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.push(key);
    }
    fn estimate(&mut self) -> f64 {
        self.0.len()
    }
    fn merge(&mut self, other: &Self) {
        self.0.union(&other.0);
    }
}
