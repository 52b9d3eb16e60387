//! Keys to time with: distinct, uniform, and unrelated to every hash function here.

use pds_hash::{KeyHasher, WyHasher};
use pds_testkit::{DistinctKeys, SplitMix64};
use regex::Regex;

use crate::report::Case;

/// Whether to run in minutes what a full run takes longer for.
pub fn quick() -> bool {
    std::env::var_os("PDS_BENCH_QUICK").is_some()
}

/// Whether to build what takes tens of gigabytes or minutes for one number too: asked for by `PDS_BENCH_HUGE`.
pub fn huge() -> bool {
    std::env::var_os("PDS_BENCH_HUGE").is_some()
}

/// Whether any of a contender's operations is to be timed: by the regular expression in `PDS_BENCH_FILTER`, which
/// `cargo xtask bench` sets to its filter. What nobody asks for need not be built, gated or filled.
pub fn wanted(case: &Case, contender: &str, ops: &[&str]) -> bool {
    let Ok(filter) = std::env::var("PDS_BENCH_FILTER") else { return true };
    let Ok(filter) = Regex::new(&filter) else { return true };
    ops.iter().any(|op| filter.is_match(&format!("{}/{contender}", case.group(op))))
}

/// Members and strangers of a filter, in the order in which they are asked for.
pub struct Workload<K> {
    /// What the filter holds.
    pub members: Vec<K>,
    /// What it does not hold, as many.
    pub strangers: Vec<K>,
    /// A random half of each, in random order, so that no predictor learns the answer.
    pub mixed: Vec<K>,
}

impl<K: Clone> Workload<K> {
    fn of(count: u64, key: impl Fn(u64) -> K) -> Self {
        let members: Vec<K> = (0..count).map(&key).collect();
        let strangers: Vec<K> = (count..2 * count).map(&key).collect();
        let mut random = SplitMix64::new(3);
        let mixed = (0..members.len())
            .map(|i| if random.below(2) == 0 { members[i].clone() } else { strangers[i].clone() })
            .collect();
        Self { members, strangers, mixed }
    }
}

/// Numbers.
pub fn numbers(count: u64) -> Workload<u64> {
    let keys = DistinctKeys::new(1);
    Workload::of(count, |i| keys.key(i))
}

/// The default hashes of numbers.
pub fn hashes(numbers: &Workload<u64>) -> Workload<u64> {
    let hashed = |keys: &[u64]| keys.iter().map(|key| WyHasher::default().hash_u64(*key)).collect();
    Workload {
        members: hashed(&numbers.members),
        strangers: hashed(&numbers.strangers),
        mixed: hashed(&numbers.mixed),
    }
}

/// Text of 16 to 32 bytes.
pub fn texts(count: u64) -> Workload<String> {
    let keys = DistinctKeys::new(2);
    Workload::of(count, |i| {
        let key = keys.key(i);
        let tail = 16 + (key >> 60) as usize;
        format!("{key:016x}{:0>16}", i % 10_000)[..tail].to_owned()
    })
}
