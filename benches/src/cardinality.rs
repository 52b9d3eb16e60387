//! Distinct counters: ours, and each peer's.

mod peers;

pub use peers::{
    Amadeus, CardinalityEstimator, Cpc, Datasketches, Exaloglog, Hyperloglockless, Hyperloglogplus,
    SketchOxide, Ultraloglog,
};

use pds_hll::{HllParams, HyperLogLog, Key, KeyHasher, Merge, Sketch, UllParams, UltraLogLog, WyHasher};
use pds_testkit::{DistinctKeys, laws};

use crate::report::{Gate, Role};

/// A distinct counter that is timed, over keys of one type.
pub trait Counter<K: ?Sized>: Sized {
    /// The crate, and the hasher it was given.
    const NAME: &'static str;
    /// Which part it has in a comparison.
    const ROLE: Role = Role::Peer;
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
    /// The crate's own byte form; none if it has none but serde's.
    fn encoded(&self) -> Option<Vec<u8>> {
        None
    }
    /// From that byte form.
    fn decoded(_bytes: &[u8]) -> Option<Self> {
        None
    }
}

/// A counter that takes hashes made beforehand.
pub trait Hashed: Counter<u64> {
    /// The crate.
    const CRATE: &'static str;
    /// Counts a hash.
    fn insert_hash(&mut self, hash: u64);
    /// Counts many; peers without a batch have the loop over single hashes.
    fn insert_batch(&mut self, hashes: &[u64]) {
        hashes.iter().for_each(|hash| self.insert_hash(*hash));
    }
}

/// Streams of the gate.
const STREAMS: u64 = 200;

/// The gate: the root mean square of the relative error at 2.5 m, where classic estimators switch, is at most
/// 1.04/sqrt(m), by the chi-square law over 200 streams. Bytes are those of a counter filled with as many keys as are timed.
pub fn gate<C: Counter<u64>>(p: u8, bytes: usize, wire: usize) -> Gate {
    gate_of(p, bytes, wire, C::insert)
}

/// As [`gate`], for hashes by our default hasher.
pub fn gate_hashed<C: Hashed>(p: u8, bytes: usize) -> Gate {
    gate_of(p, bytes, 0, |counter: &mut C, key| counter.insert_hash(WyHasher::default().hash_u64(*key)))
}

fn gate_of<C: Counter<u64>>(p: u8, bytes: usize, wire: usize, insert: impl Fn(&mut C, &u64)) -> Gate {
    let keys_each = (5u64 << p) / 2;
    let errors: Vec<f64> = (0..STREAMS)
        .map(|stream| {
            let mut counter = C::new(p);
            for key in DistinctKeys::new(stream).range(0..keys_each) {
                insert(&mut counter, &key);
            }
            counter.estimate() / keys_each as f64 - 1.0
        })
        .collect();
    let promise = 1.04 / f64::from(1u32 << p).sqrt();
    let verdict = laws::rmse_at_most(&errors, promise);
    let gate =
        Gate::of(bytes as f64, laws::rmse(&errors), "the error at 2.5 m is above 1.04/sqrt(m)", verdict);
    Gate { wire: wire as f64, not_for: C::NOT_FOR, ..gate }
}

/// Ours, with the default hasher.
pub struct Ours(HyperLogLog);

impl<K: Key + ?Sized> Counter<K> for Ours {
    const NAME: &'static str = "pds-hll";
    const ROLE: Role = Role::Ours;

    fn new(p: u8) -> Self {
        Self(HyperLogLog::new(HllParams::with_precision(p).expect("a usual precision")))
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
    fn encoded(&self) -> Option<Vec<u8>> {
        Some(self.0.to_bytes())
    }
    fn decoded(bytes: &[u8]) -> Option<Self> {
        HyperLogLog::from_bytes(bytes).ok().map(Self)
    }
}

impl Hashed for Ours {
    const CRATE: &'static str = "pds-hll";

    #[inline]
    fn insert_hash(&mut self, hash: u64) {
        self.0.insert_hash(hash);
    }
    fn insert_batch(&mut self, hashes: &[u64]) {
        self.0.insert_batch(hashes);
    }
}

/// Ours of the same registers and three quarters of the error.
pub struct Ultra(UltraLogLog);

impl<K: Key + ?Sized> Counter<K> for Ultra {
    const NAME: &'static str = "pds-hll, UltraLogLog";
    const ROLE: Role = Role::Variant;

    fn new(p: u8) -> Self {
        Self(UltraLogLog::new(UllParams::with_precision(p).expect("a usual precision")))
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
    fn encoded(&self) -> Option<Vec<u8>> {
        Some(self.0.to_bytes())
    }
    fn decoded(bytes: &[u8]) -> Option<Self> {
        UltraLogLog::from_bytes(bytes).ok().map(Self)
    }
}

impl Hashed for Ultra {
    const CRATE: &'static str = "pds-hll, UltraLogLog";

    #[inline]
    fn insert_hash(&mut self, hash: u64) {
        self.0.insert_hash(hash);
    }
    fn insert_batch(&mut self, hashes: &[u64]) {
        self.0.insert_batch(hashes);
    }
}
