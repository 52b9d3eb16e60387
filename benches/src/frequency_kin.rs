//! Kin of count-min: conservative sketches, count-sketches, and tables beyond the caches.

use std::collections::HashMap;
use std::hash::Hash;

use pds_cms::{
    ConservativeCountMin, CountMinParams, CountMinSketch, CountSketch, CountSketchParams, Key, KeyHasher,
    Merge, WyHasher,
};
use pds_testkit::laws;
use sketch_oxide::Mergeable as _;

use crate::frequency::{Amadeus, CountMinSketchCrate, DEPTH, Frequency, WIDTH, asap, ours, oxide};
use crate::report::Gate;

/// Ours, conservative.
pub struct OursConservative(ConservativeCountMin);

ours!(OursConservative: ConservativeCountMin, CountMinParams, WIDTH, estimate);

/// `sketch_oxide`, conservative, 64-bit cells in a vector for each row.
pub struct OxideConservative(sketch_oxide::frequency::ConservativeCountMin);

oxide!(
    OxideConservative,
    "sketch_oxide (u64)",
    sketch_oxide::frequency::ConservativeCountMin::with_dimensions(WIDTH, DEPTH),
    |sketch, key| sketch.update(key),
    u64::from
);

/// count-min-sketch, whose update this is.
pub type ConservativeCrate<K> = CountMinSketchCrate<K, false>;

/// amadeus-streaming, whose update of integers this is too.
pub type ConservativeAmadeus<K> = Amadeus<K, false>;

/// Columns of a count-sketch: a power of two, for peers that choose one.
pub const SIGNED_WIDTH: usize = 4096;

/// Ours, a count-sketch. Estimates are cut off at 0, as those of its peers here.
pub struct OursSigned(CountSketch);

ours!(OursSigned: CountSketch, CountSketchParams, SIGNED_WIDTH, estimate_nonneg);

/// `asap_sketchlib`'s count-sketch, one hash for all rows, 32-bit cells.
pub struct AsapSigned(asap_sketchlib::CountSketch<asap_sketchlib::Vector2D<i32>, asap_sketchlib::FastPath>);

asap!(AsapSigned: CountSketch, SIGNED_WIDTH, |count: f64| count.max(0.0) as u64);

/// `sketch_oxide`'s count-sketch, 64-bit cells.
pub struct OxideSigned(sketch_oxide::frequency::CountSketch);

oxide!(
    OxideSigned,
    "sketch_oxide (i64)",
    // Its width is 3/eps^2, up to a power of two, and its depth ln(1/delta) at least.
    sketch_oxide::frequency::CountSketch::new((3.0 / SIGNED_WIDTH as f64).sqrt() * 1.0001, 0.01),
    |sketch, key| sketch.update(key, 1),
    |count: i64| count.max(0).cast_unsigned()
);

/// The gate of count-sketches: no more keys than delta off by more than eps sqrt(F2), by the law of our shape.
pub fn signed_gate<F: Frequency<u64>>(sketch: &F, exact: &HashMap<u64, u64>, _: u64) -> Gate {
    let params = CountSketchParams::with_shape(SIGNED_WIDTH as u64, DEPTH as u32).expect("a usual shape");
    let f2: f64 = exact.values().map(|&count| count as f64 * count as f64).sum();
    let bound = params.epsilon() * f2.sqrt();
    let (mut beyond, mut total) = (0, 0.0);
    for (key, &count) in exact {
        let error = sketch.estimate(key).abs_diff(count) as f64;
        beyond += u64::from(error > bound);
        total += error;
    }
    let keys = exact.len() as u64;
    let law = laws::rate_at_most(beyond, keys, params.delta());
    let gate = Gate::of(
        sketch.size_bytes() as f64,
        total / keys as f64,
        "more keys than delta beyond eps sqrt(F2)",
        law,
    );
    Gate { not_for: F::NOT_FOR, ..gate }
}

/// Columns and rows of 16 MiB of 4-byte cells.
pub const FAR: (usize, usize) = (1 << 20, 4);

/// A table beyond the caches, with a batch.
pub trait Far {
    /// The crate and the cells.
    const NAME: &'static str;
    /// Whether it is ours.
    const OURS: bool = false;

    /// Of 16 MiB.
    fn new() -> Self;
    /// Counts a key.
    fn add(&mut self, key: u64);
    /// The estimate of its count.
    fn estimate(&self, key: u64) -> u64;
    /// Counts each of many keys.
    fn add_batch(&mut self, keys: &[u64]) {
        keys.iter().for_each(|&key| self.add(key));
    }
    /// The sum of the estimates of many keys.
    fn estimate_batch(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| self.estimate(key)).sum()
    }
}

/// Keys hashed at a time for a batch.
const CHUNK: usize = 4096;

/// Ours.
pub struct OursFar(CountMinSketch);

impl Far for OursFar {
    const NAME: &'static str = "pds-cms";
    const OURS: bool = true;

    fn new() -> Self {
        Self(CountMinSketch::new(
            CountMinParams::with_shape(FAR.0 as u64, FAR.1 as u32).expect("a usual shape"),
        ))
    }
    #[inline]
    fn add(&mut self, key: u64) {
        self.0.insert(&key);
    }
    #[inline]
    fn estimate(&self, key: u64) -> u64 {
        self.0.estimate(&key)
    }
    fn add_batch(&mut self, keys: &[u64]) {
        let mut hashes = [0; CHUNK];
        for chunk in keys.chunks(CHUNK) {
            hash_all(chunk, &mut hashes);
            self.0.insert_batch(&hashes[..chunk.len()]);
        }
    }
    fn estimate_batch(&self, keys: &[u64]) -> u64 {
        let (mut hashes, mut estimates) = ([0; CHUNK], [0; CHUNK]);
        let mut sum = 0;
        for chunk in keys.chunks(CHUNK) {
            hash_all(chunk, &mut hashes);
            let answered = self.0.estimate_batch(&hashes[..chunk.len()], &mut estimates);
            sum += estimates[..answered].iter().sum::<u64>();
        }
        sum
    }
}

fn hash_all(keys: &[u64], hashes: &mut [u64; CHUNK]) {
    let hasher = WyHasher::default();
    keys.iter().zip(hashes).for_each(|(&key, hash)| *hash = hasher.hash_u64(key));
}

/// datasketches: half of the columns, of twice the bytes.
pub struct DatasketchesFar(datasketches::countmin::CountMinSketch<u64>);

impl Far for DatasketchesFar {
    const NAME: &'static str = "datasketches (u64)";

    fn new() -> Self {
        let sketch = datasketches::countmin::CountMinSketch::new(FAR.1 as u8, FAR.0 as u32 / 2);
        Self(sketch.expect("a usual shape"))
    }
    #[inline]
    fn add(&mut self, key: u64) {
        self.0.update(key);
    }
    #[inline]
    fn estimate(&self, key: u64) -> u64 {
        self.0.estimate(key)
    }
}

/// `asap_sketchlib`.
pub struct AsapFar(asap_sketchlib::CountMinSketch<asap_sketchlib::Vector2D<i32>, asap_sketchlib::FastPath>);

impl Far for AsapFar {
    const NAME: &'static str = "asap_sketchlib (i32)";

    fn new() -> Self {
        Self(asap_sketchlib::CountMinSketch::with_dimensions(FAR.1, FAR.0))
    }
    #[inline]
    fn add(&mut self, key: u64) {
        self.0.update(&asap_sketchlib::DataInput::U64(key));
    }
    #[inline]
    fn estimate(&self, key: u64) -> u64 {
        u64::try_from(self.0.estimate(&asap_sketchlib::DataInput::U64(key))).unwrap_or(0)
    }
}
