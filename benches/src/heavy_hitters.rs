//! Structures that list frequent keys: ours, and each peer's.

use std::collections::HashMap;

use pds_cms::{
    CountMinParams, HeavyKeeper, HeavyKeeperParams, Merge, MisraGries, MisraGriesParams, SpaceSaving,
    SpaceSavingParams, TopK, TopKParams,
};
use pds_testkit::laws;

use crate::report::{Gate, Role};

/// Counters of those that count whole keys.
pub const COUNTERS: usize = 1024;

/// Keys that the others list.
pub const K: usize = 100;

/// Buckets of 64 bytes of those: 64 KiB.
const BUCKETS: usize = 1024;

/// The published base of HeavyKeeper's decay.
const DECAY: f64 = 1.0 / 1.08;

/// What the estimate of a listed key promises.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Never below the truth.
    Over,
    /// Never above it.
    Under,
    /// Either, mostly near it: gated by what is found.
    Found,
}

/// A structure that is timed, over numbers.
pub trait Heavy {
    /// The crate and the structure.
    const NAME: &'static str;
    /// Its part in the comparison.
    const ROLE: Role = Role::Peer;
    /// What it promises.
    const SIDE: Side;

    /// As large as its case says.
    fn new() -> Self;
    /// Counts a key.
    fn add(&mut self, key: u64);
    /// The `k` keys with the greatest estimates.
    fn top(&self, k: usize) -> Vec<(u64, u64)>;
    /// Takes in another; false if there is no such thing.
    fn merge(&mut self, _: &Self) -> bool {
        false
    }
}

/// The gate: its side of the truth for every key that is listed first; of those that promise none, 99% of the first hundred.
/// The error is the share of these that is not found.
pub fn gate<H: Heavy>(heavy: &H, bytes: usize, exact: &HashMap<u64, u64>) -> Gate {
    const RECALL: f64 = 0.99;
    let mut counts: Vec<u64> = exact.values().copied().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let least = counts[K.min(counts.len()) - 1];
    let count = |key: &u64| exact.get(key).copied().unwrap_or(0);
    let top = heavy.top(K);
    let found = top.iter().filter(|(key, _)| count(key) >= least).count() as f64 / K as f64;
    let wrong = |side: fn(u64, u64) -> bool| {
        top.iter().filter(|(key, estimate)| side(*estimate, count(key))).count() as u64
    };
    let listed = top.len() as u64;
    let (promise, law) = match H::SIDE {
        Side::Over => {
            ("keys are under-counted", laws::all_hold(wrong(|estimate, count| estimate < count), listed))
        }
        Side::Under => {
            ("keys are over-counted", laws::all_hold(wrong(|estimate, count| estimate > count), listed))
        }
        Side::Found => ("of the first hundred", laws::at_least(found, RECALL)),
    };
    Gate::of(bytes as f64, 1.0 - found, promise, law)
}

/// Implements [`Heavy`] for one of ours.
macro_rules! ours {
    ($type:ident, $inner:ty, $name:literal, $role:expr, $side:expr, $new:expr $(, $merge:ident)?) => {
        impl Heavy for $type {
            const NAME: &'static str = $name;
            const ROLE: Role = $role;
            const SIDE: Side = $side;

            fn new() -> Self {
                Self(<$inner>::new($new.expect("a usual shape")))
            }
            #[inline]
            fn add(&mut self, key: u64) {
                self.0.insert(&key);
            }
            fn top(&self, k: usize) -> Vec<(u64, u64)> {
                self.0.top(k).iter().map(|hit| (*hit.key, hit.estimate)).collect()
            }
            $(fn merge(&mut self, other: &Self) -> bool {
                self.0.$merge(&other.0).is_ok()
            })?
        }
    };
}

/// Ours.
#[derive(Clone)]
pub struct OursSaving(SpaceSaving<u64>);
ours!(
    OursSaving,
    SpaceSaving<u64>,
    "pds-cms SpaceSaving",
    Role::Ours,
    Side::Over,
    SpaceSavingParams::with_capacity(COUNTERS as u32),
    merge
);
/// Ours.
#[derive(Clone)]
pub struct OursMisra(MisraGries<u64>);
ours!(
    OursMisra,
    MisraGries<u64>,
    "pds-cms MisraGries",
    Role::Ours,
    Side::Under,
    // As many as the peer's map of a power of two holds.
    MisraGriesParams::with_capacity(COUNTERS as u32 * 3 / 4),
    merge
);
/// Ours.
pub struct OursKeeper(HeavyKeeper<u64>);
ours!(
    OursKeeper,
    HeavyKeeper<u64>,
    "pds-cms HeavyKeeper",
    Role::Ours,
    Side::Found,
    HeavyKeeperParams::with_shape(K as u32, BUCKETS as u32)
);
/// Ours.
#[derive(Clone)]
pub struct OursTopK(TopK<u64>);
ours!(
    OursTopK,
    TopK<u64>,
    "pds-cms TopK",
    Role::Variant,
    Side::Found,
    CountMinParams::with_shape(BUCKETS as u64 * 4, 4)
        .and_then(|sketch| TopKParams::with_sketch(K as u32, sketch)),
    merge
);

/// `asap_sketchlib`'s SpaceSaving.
#[derive(Clone)]
pub struct AsapSaving(asap_sketchlib::SpaceSaving);

impl Heavy for AsapSaving {
    const NAME: &'static str = "asap_sketchlib SpaceSaving";
    const SIDE: Side = Side::Over;

    fn new() -> Self {
        Self(asap_sketchlib::SpaceSaving::with_capacity(COUNTERS))
    }
    #[inline]
    fn add(&mut self, key: u64) {
        self.0.update(&asap_sketchlib::DataInput::U64(key));
    }
    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let key = |key: &asap_sketchlib::OwnedDataInput| match key {
            asap_sketchlib::OwnedDataInput::U64(key) => *key,
            _ => 0,
        };
        self.0.top_k(k).iter().map(|(listed, count, _)| (key(listed), *count)).collect()
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0);
        true
    }
}

/// topk's filtered SpaceSaving.
#[derive(Clone)]
pub struct Filtered(topk::FilteredSpaceSaving<u64>);

impl Heavy for Filtered {
    const NAME: &'static str = "topk FilteredSpaceSaving";
    const SIDE: Side = Side::Over;

    fn new() -> Self {
        Self(topk::FilteredSpaceSaving::new(COUNTERS))
    }
    #[inline]
    fn add(&mut self, key: u64) {
        self.0.insert(key, 1);
    }
    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let listed = self.0.iter().map(|(key, counter)| (*key, counter.estimated_count())).collect();
        first(listed, k)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
}

/// `sketch_oxide`'s SpaceSaving, which looks for the least counter among all.
#[derive(Clone)]
pub struct OxideSaving(sketch_oxide::frequency::SpaceSaving<u64>);

impl Heavy for OxideSaving {
    const NAME: &'static str = "sketch_oxide SpaceSaving";
    const SIDE: Side = Side::Over;

    fn new() -> Self {
        Self(sketch_oxide::frequency::SpaceSaving::with_capacity(COUNTERS).expect("a usual capacity"))
    }
    #[inline]
    fn add(&mut self, key: u64) {
        self.0.update(key);
    }
    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        self.0.top_k(k).into_iter().map(|(key, _, upper)| (key, upper)).collect()
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
}

/// datasketches' frequent items.
#[derive(Clone)]
pub struct DatasketchesItems(datasketches::frequencies::FrequentItemsSketch<u64>);

impl Heavy for DatasketchesItems {
    const NAME: &'static str = "datasketches FrequentItems";
    const SIDE: Side = Side::Under;

    fn new() -> Self {
        Self(datasketches::frequencies::FrequentItemsSketch::new(COUNTERS).expect("a power of two"))
    }
    #[inline]
    fn add(&mut self, key: u64) {
        self.0.update(key);
    }
    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let rows =
            self.0.frequent_items_with_threshold(datasketches::frequencies::ErrorType::NoFalseNegatives, 0);
        first(rows.iter().map(|row| (*row.item(), row.lower_bound())).collect(), k)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0);
        true
    }
}

/// `sketch_oxide`'s frequent items.
#[derive(Clone)]
pub struct OxideItems(sketch_oxide::frequency::FrequentItems<u64>);

impl Heavy for OxideItems {
    const NAME: &'static str = "sketch_oxide FrequentItems";
    const SIDE: Side = Side::Under;

    fn new() -> Self {
        Self(sketch_oxide::frequency::FrequentItems::new(COUNTERS * 3 / 4).expect("a usual capacity"))
    }
    #[inline]
    fn add(&mut self, key: u64) {
        self.0.update(key);
    }
    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let items = self.0.frequent_items(sketch_oxide::frequency::ErrorType::NoFalseNegatives);
        first(items.into_iter().map(|(key, lower, _)| (key, lower)).collect(), k)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
}

/// Implements [`Heavy`] for one of heavykeeper's.
macro_rules! keeper {
    ($type:ident, $inner:ty, $name:literal) => {
        impl Heavy for $type {
            const NAME: &'static str = $name;
            const SIDE: Side = Side::Found;

            fn new() -> Self {
                // Cells of 16 bytes: four to a bucket of 64.
                Self(<$inner>::new(K, BUCKETS, 4, DECAY))
            }
            #[inline]
            fn add(&mut self, key: u64) {
                self.0.add(&key, 1);
            }
            fn top(&self, k: usize) -> Vec<(u64, u64)> {
                first(self.0.list().into_iter().map(|node| (node.item, node.count)).collect(), k)
            }
            fn merge(&mut self, other: &Self) -> bool {
                self.0.merge(&other.0).is_ok()
            }
        }
    };
}

/// heavykeeper's.
#[derive(Clone)]
pub struct KeeperTopK(heavykeeper::TopK<u64>);
keeper!(KeeperTopK, heavykeeper::TopK<u64>, "heavykeeper TopK");

/// heavykeeper's, of buckets.
#[derive(Clone)]
pub struct KeeperBucketed(heavykeeper::BucketedTopK<u64>);
keeper!(KeeperBucketed, heavykeeper::BucketedTopK<u64>, "heavykeeper BucketedTopK");

/// heavykeeper's, of a cuckoo table.
#[derive(Clone)]
pub struct KeeperCuckoo(heavykeeper::CuckooTopK<u64>);
keeper!(KeeperCuckoo, heavykeeper::CuckooTopK<u64>, "heavykeeper CuckooTopK");

/// amadeus-streaming: a list and a count-min sketch of the other keys, of 2048 columns and 4 rows.
pub struct AmadeusTop(amadeus_streaming::Top<u64, u64>);

impl Heavy for AmadeusTop {
    const NAME: &'static str = "amadeus-streaming Top";
    const SIDE: Side = Side::Found;

    fn new() -> Self {
        Self(amadeus_streaming::Top::new(K, 0.99, 0.001, ()))
    }
    #[inline]
    fn add(&mut self, key: u64) {
        self.0.push(key, &1);
    }
    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        self.0.iter().take(k).map(|(key, count)| (*key, *count)).collect()
    }
}

/// The `k` greatest.
fn first(mut listed: Vec<(u64, u64)>, k: usize) -> Vec<(u64, u64)> {
    listed.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    listed.truncate(k);
    listed
}
