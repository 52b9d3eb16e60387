//! Count-min sketches: ours, and each peer's.

use std::collections::HashMap;
use std::hash::Hash;

use pds_cms::{CountMinParams, CountMinSketch, Key, Merge};
use pds_testkit::laws;
use sketch_oxide::Mergeable as _;

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
    fn merge(&mut self, _: &Self) -> bool {
        false
    }
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

/// Implements [`Frequency`] for a sketch of ours behind a field, which differ in their parameters, and in how they are asked.
macro_rules! ours {
    ($type:ident: $sketch:ident, $params:ident, $width:expr, $estimate:ident) => {
        impl<K: Key + ?Sized> Frequency<K> for $type {
            const NAME: &'static str = "pds-cms";
            const OURS: bool = true;

            fn new() -> Self {
                let params = $params::with_shape($width as u64, DEPTH as u32).expect("a usual shape");
                Self($sketch::new(params))
            }
            #[inline]
            fn add(&mut self, key: &K) {
                _ = self.0.insert(key);
            }
            #[inline]
            fn estimate(&self, key: &K) -> u64 {
                self.0.$estimate(key)
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
pub(crate) use ours;

/// Implements [`Frequency`] for a sketch of `asap_sketchlib` behind a field, by its count as a `u64`.
macro_rules! asap {
    ($type:ident: $sketch:ident, $width:expr, $count:expr) => {
        impl Frequency<u64> for $type {
            const NAME: &'static str = "asap_sketchlib (i32)";

            fn new() -> Self {
                Self(asap_sketchlib::$sketch::with_dimensions(DEPTH, $width))
            }
            #[inline]
            fn add(&mut self, key: &u64) {
                self.0.update(&asap_sketchlib::DataInput::U64(*key));
            }
            #[inline]
            fn estimate(&self, key: &u64) -> u64 {
                $count(self.0.estimate(&asap_sketchlib::DataInput::U64(*key)))
            }
            fn merge(&mut self, other: &Self) -> bool {
                self.0.merge(&other.0);
                true
            }
            fn size_bytes(&self) -> usize {
                self.0.memory_bytes()
            }
        }
    };
}
pub(crate) use asap;

/// Implements [`Frequency`] for a sketch of `sketch_oxide` behind a field, of 64-bit cells.
macro_rules! oxide {
    ($type:ident, $name:literal, $new:expr, |$sketch:ident, $key:ident| $add:expr, $count:expr) => {
        impl<K: Hash> Frequency<K> for $type {
            const NAME: &'static str = $name;

            fn new() -> Self {
                Self($new.expect("a usual shape"))
            }
            #[inline]
            fn add(&mut self, $key: &K) {
                let $sketch = &mut self.0;
                $add;
            }
            #[inline]
            fn estimate(&self, key: &K) -> u64 {
                $count(self.0.estimate(key))
            }
            fn merge(&mut self, other: &Self) -> bool {
                self.0.merge(&other.0).is_ok()
            }
            fn size_bytes(&self) -> usize {
                self.0.width() * self.0.depth() * 8
            }
        }
    };
}
pub(crate) use oxide;

/// Ours, with the default hasher.
pub struct Ours(CountMinSketch<u32>);
ours!(Ours: CountMinSketch, CountMinParams, WIDTH, estimate);

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

asap!(Asap: CountMinSketch, WIDTH, |count| u64::try_from(count).unwrap_or(0));

/// The reason why a conservative update is not compared with a plain one.
const CONSERVATIVE: &[(&str, &str)] = &[("add", "updates conservatively, which costs more and errs less")];

/// Its width is twice this over the error: 1 gives 2048 columns, near the textbook's.
const CAPACITY: usize = 1;

/// count-min-sketch, conservative, 32-bit cells; beside plain sketches, or among its like.
pub struct CountMinSketchCrate<K, const BESIDE_PLAIN: bool = true>(count_min_sketch::CountMinSketch32<K>);

impl<K: Hash, const BESIDE_PLAIN: bool> Frequency<K> for CountMinSketchCrate<K, BESIDE_PLAIN> {
    const NAME: &'static str =
        if BESIDE_PLAIN { "count-min-sketch (u32, conservative)" } else { "count-min-sketch (u32)" };
    const NOT_FOR: &'static [(&'static str, &'static str)] = if BESIDE_PLAIN { CONSERVATIVE } else { &[] };

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
    fn size_bytes(&self) -> usize {
        let bytes = count_min_sketch::CountMinSketch32::<K>::estimate_memory(CAPACITY, 1.0 - DELTA, EPS);
        bytes.unwrap_or(0)
    }
}

/// amadeus-streaming, conservative (of integers at least), 64-bit cells; beside plain sketches, or among its like.
pub struct Amadeus<K: ?Sized, const BESIDE_PLAIN: bool = true>(amadeus_streaming::CountMinSketch<K, u64>);

impl<K: Hash + ?Sized, const BESIDE_PLAIN: bool> Frequency<K> for Amadeus<K, BESIDE_PLAIN> {
    const NAME: &'static str =
        if BESIDE_PLAIN { "amadeus-streaming (u64, conservative)" } else { "amadeus-streaming (u64)" };
    const NOT_FOR: &'static [(&'static str, &'static str)] = if BESIDE_PLAIN { CONSERVATIVE } else { &[] };

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
    fn size_bytes(&self) -> usize {
        0
    }
}

/// `sketch_oxide`, which picks its shape.
pub struct SketchOxide(sketch_oxide::frequency::CountMinSketch);

oxide!(
    SketchOxide,
    "sketch_oxide (u64)",
    sketch_oxide::frequency::CountMinSketch::new(EPS, DELTA),
    |sketch, key| sketch.update(key),
    u64::from
);
