//! Count-min sketches: ours, and each peer's.

use std::collections::HashMap;
use std::hash::Hash;

use pds_cms::{CountMinParams, CountMinSketch, Key, Merge};
use pds_testkit::laws;

use crate::report::Gate;

/// The textbook's shape for an error of 0.1% with 99%.
pub const WIDTH: usize = 2719;
/// Its rows.
pub const DEPTH: usize = 5;
const EPS: f64 = 0.001;
const DELTA: f64 = 0.01;

/// A sketch of counts that is timed, over keys of one type.
pub trait Frequency<K: ?Sized>: Sized {
    /// The crate and the cells.
    const NAME: &'static str;
    /// Whether it is ours.
    const OURS: bool = false;
    /// Operations at which it does something else, with the reason.
    const NOT_FOR: &'static [(&'static str, &'static str)] = &[];

    /// For an error of 0.1% of all events at 99%, in the textbook's shape where the crate lets one choose.
    fn new() -> Self;
    /// Counts a key.
    fn add(&mut self, key: &K);
    /// The estimate of its count.
    fn estimate(&self, key: &K) -> u64;
    /// Takes in another; false if there is no such thing.
    fn merge(&mut self, other: &Self) -> bool;
    /// Bytes of the table.
    fn size_bytes(&self) -> usize;
}

/// The gate: no key under-counted, and at most 1% of the keys over by more than eps N, by Chernoff's law.
pub fn gate<F: Frequency<u64>>(sketch: &F, exact: &HashMap<u64, u64>, events: u64) -> Gate {
    let (mut under, mut beyond, mut total) = (0, 0, 0.0);
    for (key, &count) in exact {
        let estimate = sketch.estimate(key);
        under += u64::from(estimate < count);
        beyond += u64::from(estimate as f64 > count as f64 + EPS * events as f64);
        total += estimate as f64 - count as f64;
    }
    let keys = exact.len() as u64;
    let mean = total / keys as f64;
    let bytes = sketch.size_bytes() as f64;
    let never_under = laws::all_hold(under, keys);
    let gate = if never_under.pass {
        Gate::of(bytes, mean, "more keys than delta beyond eps N", laws::rate_at_most(beyond, keys, DELTA))
    } else {
        Gate::of(bytes, mean, "keys are under-counted", never_under)
    };
    Gate { not_for: F::NOT_FOR, ..gate }
}

macro_rules! ours {
    ($type:ident, $cell:ty, $name:literal) => {
        /// Ours, with the default hasher.
        pub struct $type(CountMinSketch<$cell>);

        impl<K: Key + ?Sized> Frequency<K> for $type {
            const NAME: &'static str = $name;
            const OURS: bool = true;

            fn new() -> Self {
                let params = CountMinParams::with_shape(WIDTH as u64, DEPTH as u32).expect("a usual shape");
                Self(CountMinSketch::new(params))
            }
            #[inline]
            fn add(&mut self, key: &K) {
                self.0.insert(key);
            }
            #[inline]
            fn estimate(&self, key: &K) -> u64 {
                self.0.estimate(key)
            }
            fn merge(&mut self, other: &Self) -> bool {
                self.0.merge(&other.0).is_ok()
            }
            fn size_bytes(&self) -> usize {
                self.0.size_bytes()
            }
        }
    };
}
ours!(Ours, u32, "pds-cms");

/// datasketches, 64-bit cells.
pub struct Datasketches(datasketches::countmin::CountMinSketch<u64>);

impl<K: Hash + ?Sized> Frequency<K> for Datasketches {
    const NAME: &'static str = "datasketches (u64)";

    fn new() -> Self {
        let sketch = datasketches::countmin::CountMinSketch::new(DEPTH as u8, WIDTH as u32);
        Self(sketch.expect("a usual shape"))
    }
    #[inline]
    fn add(&mut self, key: &K) {
        self.0.update(key);
    }
    #[inline]
    fn estimate(&self, key: &K) -> u64 {
        self.0.estimate(key)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn size_bytes(&self) -> usize {
        self.0.estimated_size()
    }
}

/// `asap_sketchlib`, one hash for all rows, 32-bit signed cells.
pub struct Asap(asap_sketchlib::CountMinSketch<asap_sketchlib::Vector2D<i32>, asap_sketchlib::FastPath>);

impl Frequency<u64> for Asap {
    const NAME: &'static str = "asap_sketchlib (i32)";

    fn new() -> Self {
        Self(asap_sketchlib::CountMinSketch::with_dimensions(DEPTH, WIDTH))
    }
    #[inline]
    fn add(&mut self, key: &u64) {
        self.0.update(&asap_sketchlib::DataInput::U64(*key));
    }
    #[inline]
    fn estimate(&self, key: &u64) -> u64 {
        u64::try_from(self.0.estimate(&asap_sketchlib::DataInput::U64(*key))).unwrap_or(0)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0);
        true
    }
    fn size_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

/// The reason why a conservative update is not compared with a plain one.
const CONSERVATIVE: &[(&str, &str)] = &[("add", "updates conservatively, which costs more and errs less")];

/// Its width is twice this over the error: 1 gives 2048 columns, near the textbook's.
const CAPACITY: usize = 1;

/// count-min-sketch, conservative, 32-bit cells.
pub struct CountMinSketchCrate<K>(count_min_sketch::CountMinSketch32<K>);

impl<K: Hash> Frequency<K> for CountMinSketchCrate<K> {
    const NAME: &'static str = "count-min-sketch (u32, conservative)";
    const NOT_FOR: &'static [(&'static str, &'static str)] = CONSERVATIVE;

    fn new() -> Self {
        Self(count_min_sketch::CountMinSketch32::new(CAPACITY, 1.0 - DELTA, EPS).expect("usual targets"))
    }
    #[inline]
    fn add(&mut self, key: &K) {
        self.0.increment(key);
    }
    #[inline]
    fn estimate(&self, key: &K) -> u64 {
        u64::from(self.0.estimate(key))
    }
    fn merge(&mut self, _: &Self) -> bool {
        false
    }
    fn size_bytes(&self) -> usize {
        let bytes = count_min_sketch::CountMinSketch32::<K>::estimate_memory(CAPACITY, 1.0 - DELTA, EPS);
        bytes.unwrap_or(0)
    }
}

/// amadeus-streaming, conservative, 64-bit cells.
pub struct Amadeus<K: ?Sized>(amadeus_streaming::CountMinSketch<K, u64>);

impl<K: Hash + ?Sized> Frequency<K> for Amadeus<K> {
    const NAME: &'static str = "amadeus-streaming (u64, conservative)";
    const NOT_FOR: &'static [(&'static str, &'static str)] = CONSERVATIVE;

    fn new() -> Self {
        Self(amadeus_streaming::CountMinSketch::new(1.0 - DELTA, EPS, ()))
    }
    #[inline]
    fn add(&mut self, key: &K) {
        self.0.push(key, &1);
    }
    #[inline]
    fn estimate(&self, key: &K) -> u64 {
        self.0.get(key)
    }
    fn merge(&mut self, _: &Self) -> bool {
        false
    }
    fn size_bytes(&self) -> usize {
        0
    }
}

/// `sketch_oxide`, which picks its shape.
pub struct SketchOxide(sketch_oxide::frequency::CountMinSketch);

impl<K: Hash> Frequency<K> for SketchOxide {
    const NAME: &'static str = "sketch_oxide (u64)";

    fn new() -> Self {
        Self(sketch_oxide::frequency::CountMinSketch::new(EPS, DELTA).expect("usual targets"))
    }
    #[inline]
    fn add(&mut self, key: &K) {
        self.0.update(key);
    }
    #[inline]
    fn estimate(&self, key: &K) -> u64 {
        self.0.estimate(key)
    }
    fn merge(&mut self, other: &Self) -> bool {
        sketch_oxide::Mergeable::merge(&mut self.0, &other.0).is_ok()
    }
    fn size_bytes(&self) -> usize {
        self.0.width() * self.0.depth() * 8
    }
}
