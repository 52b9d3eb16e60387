//! Distinct counters: ours, and each peer's.

use std::hash::Hash;

use pds_hll::{HllParams, HyperLogLog, Key, Merge};
use pds_testkit::{DistinctKeys, laws};

use crate::report::Gate;

/// A distinct counter that is timed, over keys of one type.
pub trait Counter<K: ?Sized>: Sized {
    /// The crate, and the hasher it was given.
    const NAME: &'static str;
    /// Whether it is ours.
    const OURS: bool = false;
    /// Operations at which it does less, with the reason.
    const NOT_FOR: &'static [(&'static str, &'static str)] = &[];

    /// With 2^p registers.
    fn new(p: u8) -> Self;
    /// Counts a key.
    fn insert(&mut self, key: &K);
    /// The estimate; some peers have to change for it.
    fn estimate(&mut self) -> f64;
    /// Takes in another.
    fn merge(&mut self, other: &Self);
    /// Bytes in memory, as far as the crate says.
    fn size_bytes(&self) -> usize;
}

/// Streams of the gate.
const STREAMS: u64 = 200;

/// The gate: the root mean square of the relative error at 2.5 m, where classic estimators switch, is at most
/// 1.04/sqrt(m), by the chi-square law over 200 streams.
pub fn gate<C: Counter<u64>>(p: u8) -> Gate {
    let keys_each = (5u64 << p) / 2;
    let mut bytes = 0;
    let errors: Vec<f64> = (0..STREAMS)
        .map(|stream| {
            let mut counter = C::new(p);
            for key in DistinctKeys::new(stream).range(0..keys_each) {
                counter.insert(&key);
            }
            bytes = counter.size_bytes();
            counter.estimate() / keys_each as f64 - 1.0
        })
        .collect();
    let promise = 1.04 / f64::from(1u32 << p).sqrt();
    let verdict = laws::rmse_at_most(&errors, promise);
    let gate =
        Gate::of(bytes as f64, laws::rmse(&errors), "the error at 2.5 m is above 1.04/sqrt(m)", verdict);
    Gate { not_for: C::NOT_FOR, ..gate }
}

/// Ours, with the default hasher.
#[derive(Clone)]
pub struct Ours(HyperLogLog);

fn params(p: u8) -> HllParams {
    HllParams::with_precision(p).expect("a usual precision")
}

impl<K: Key + ?Sized> Counter<K> for Ours {
    const NAME: &'static str = "pds-hll";
    const OURS: bool = true;

    fn new(p: u8) -> Self {
        Self(HyperLogLog::new(params(p)))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.insert(key);
    }
    fn estimate(&mut self) -> f64 {
        self.0.estimate()
    }
    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0).expect("equal hashers");
    }
    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}

/// Ours over hashes made beforehand.
#[derive(Clone)]
pub struct OursPrehashed(HyperLogLog);

impl Counter<u64> for OursPrehashed {
    const NAME: &'static str = "pds-hll";
    const OURS: bool = true;

    fn new(p: u8) -> Self {
        Self(HyperLogLog::new(params(p)))
    }
    #[inline]
    fn insert(&mut self, hash: &u64) {
        self.0.insert_hash(*hash);
    }
    fn estimate(&mut self) -> f64 {
        self.0.estimate()
    }
    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0).expect("equal hashers");
    }
    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}

/// The reason why a peer's estimate is not compared.
const RUNNING_SUM: &[(&str, &str)] = &[("estimate", "reads a running floating sum, which drifts")];

/// hyperloglockless, given foldhash.
pub struct Hyperloglockless(hyperloglockless::HyperLogLog<foldhash::fast::FixedState>);

impl<K: Hash + ?Sized> Counter<K> for Hyperloglockless {
    const NAME: &'static str = "hyperloglockless + foldhash";
    const NOT_FOR: &'static [(&'static str, &'static str)] = RUNNING_SUM;

    fn new(p: u8) -> Self {
        Self(hyperloglockless::HyperLogLog::with_hasher(p, foldhash::fast::FixedState::with_seed(7)))
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
    fn size_bytes(&self) -> usize {
        self.0.len()
    }
}

/// hyperloglockless over hashes made beforehand.
pub struct HyperlogocklessPrehashed(hyperloglockless::HyperLogLog<foldhash::fast::FixedState>);

impl Counter<u64> for HyperlogocklessPrehashed {
    const NAME: &'static str = "hyperloglockless";
    const NOT_FOR: &'static [(&'static str, &'static str)] = RUNNING_SUM;

    fn new(p: u8) -> Self {
        Self(hyperloglockless::HyperLogLog::with_hasher(p, foldhash::fast::FixedState::with_seed(7)))
    }
    #[inline]
    fn insert(&mut self, hash: &u64) {
        self.0.insert_hash(*hash);
    }
    fn estimate(&mut self) -> f64 {
        self.0.raw_count()
    }
    fn merge(&mut self, other: &Self) {
        self.0.union(&other.0).expect("equal precisions");
    }
    fn size_bytes(&self) -> usize {
        self.0.len()
    }
}

/// hyperloglogplus, given foldhash.
pub struct Hyperloglogplus<K: Hash + ?Sized>(hyperloglogplus::HyperLogLogPlus<K, foldhash::fast::FixedState>);

impl<K: Hash + ?Sized> Counter<K> for Hyperloglogplus<K> {
    const NAME: &'static str = "hyperloglogplus + foldhash";

    fn new(p: u8) -> Self {
        let hasher = foldhash::fast::FixedState::with_seed(7);
        Self(hyperloglogplus::HyperLogLogPlus::new(p, hasher).expect("a usual precision"))
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
    fn size_bytes(&self) -> usize {
        // Six bits a register; the crate does not tell.
        0
    }
}

/// datasketches, eight bits a register; merging goes through its union.
pub struct Datasketches(datasketches::hll::HllSketch);

impl<K: Hash + ?Sized> Counter<K> for Datasketches {
    const NAME: &'static str = "datasketches (HLL_8)";
    const NOT_FOR: &'static [(&'static str, &'static str)] = RUNNING_SUM;

    fn new(p: u8) -> Self {
        let sketch = datasketches::hll::HllSketch::new(p, datasketches::hll::HllType::Hll8);
        Self(sketch.expect("a usual precision"))
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
        self.0 = union.to_sketch(datasketches::hll::HllType::Hll8);
    }
    fn size_bytes(&self) -> usize {
        self.0.estimated_size()
    }
}

/// cardinality-estimator; its precision is a constant.
pub struct CardinalityEstimator<K: Hash + ?Sized, const P: usize>(
    cardinality_estimator::CardinalityEstimator<K, cardinality_estimator_hasher::Default, P>,
);

/// The crate's own default hasher.
mod cardinality_estimator_hasher {
    pub type Default = wyhash::WyHash;
}

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
    fn size_bytes(&self) -> usize {
        self.0.size_of()
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
    fn size_bytes(&self) -> usize {
        self.0.num_registers()
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
    fn size_bytes(&self) -> usize {
        0
    }
}
