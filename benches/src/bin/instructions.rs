//! One hot operation, so many times: what callgrind counts. Without arguments it names the operations.

use std::hint::black_box;

use pds_bloom::{BloomFilter, BloomParams};
use pds_cms::{CountMinParams, CountMinSketch};
use pds_hash::{KeyHasher, SipHasher, WyHasher};
use pds_hll::{HllParams, HyperLogLog, Merge};
use pds_testkit::DistinctKeys;

const KEYS: u64 = 10_000;

type Operation = (&'static str, fn(u64));

const OPERATIONS: [Operation; 12] = [
    ("hash u64, WyHasher", |n| repeat(n, |key| WyHasher::default().hash_u64(key))),
    ("hash u64, SipHasher", |n| {
        let hasher = SipHasher::new([7; 16]);
        repeat(n, |key| hasher.hash_u64(key))
    }),
    ("Bloom 1 %, insert", |n| {
        let mut filter = bloom();
        repeat(n, |key| filter.insert(&key));
    }),
    ("Bloom 1 %, hit", |n| {
        let filter = bloom();
        let keys = DistinctKeys::new(1);
        for i in 0..n {
            black_box(filter.contains(&keys.key(i % KEYS)));
        }
    }),
    ("Bloom 1 %, miss", |n| {
        let filter = bloom();
        let keys = DistinctKeys::new(1);
        for i in 0..n {
            black_box(filter.contains(&keys.key(KEYS + i)));
        }
    }),
    ("HyperLogLog p = 12, insert hash", |n| {
        let mut sketch = hll(12);
        let keys = DistinctKeys::new(1);
        for i in 0..n {
            black_box(sketch.insert_hash(keys.key(i)));
        }
    }),
    ("HyperLogLog p = 12, insert u64", |n| {
        let mut sketch = hll(12);
        repeat(n, |key| sketch.insert(&key));
    }),
    ("HyperLogLog p = 12, merge", |n| {
        let (mut left, right) = (hll(12), hll(12));
        (0..n).for_each(|_| black_box(&mut left).merge(black_box(&right)).expect("equal hashers"));
    }),
    ("HyperLogLog p = 12, estimate", |n| {
        let sketch = hll(12);
        for _ in 0..n {
            black_box(black_box(&sketch).estimate());
        }
    }),
    ("count-min 2719 x 5, add", |n| {
        let mut sketch = count_min();
        repeat(n, |key| sketch.insert(&key));
    }),
    ("count-min 2719 x 5, estimate", |n| {
        let sketch = count_min();
        repeat(n, |key| sketch.estimate(&key));
    }),
    ("keys alone (to subtract)", |n| repeat(n, |key| key)),
];

fn repeat<T>(n: u64, mut operation: impl FnMut(u64) -> T) {
    for key in DistinctKeys::new(1).range(0..n) {
        black_box(operation(key));
    }
}

fn bloom() -> BloomFilter {
    let mut filter = BloomFilter::new(BloomParams::for_fpr(KEYS, 0.01).expect("usual targets"));
    filter.extend(DistinctKeys::new(1).range(0..KEYS));
    filter
}

fn hll(p: u8) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(HllParams::with_precision(p).expect("a usual precision"));
    for key in DistinctKeys::new(1).range(0..100 * KEYS) {
        sketch.insert(&key);
    }
    sketch
}

fn count_min() -> CountMinSketch {
    CountMinSketch::new(CountMinParams::with_shape(2719, 5).expect("a usual shape"))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [wanted, repetitions] = &arguments[..] else {
        OPERATIONS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let repetitions = repetitions.parse().expect("a number of repetitions");
    let (_, operation) =
        OPERATIONS.iter().find(|(name, _)| name == wanted).expect("an operation of the list");
    operation(repetitions);
}
