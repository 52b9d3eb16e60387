//! Filters that are built once: building by size with its memory, queries in cache and out of it.

use std::cell::LazyCell;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::heap::{Counting, measured};
use pds_benches::report::Case;
use pds_benches::static_filters::{
    Bloom1, Bloom1Keyed, Bloom8, Bloom8Keyed, Compact, CompactKeyed, Fuse, Fuse4, Fuse4Keyed, FuseKeyed, Jdb,
    PeerRibbon, Ribbon, Ribbon8, Ribbon8Keyed, RibbonKeyed, Static, Sux, Sux7, Xor, XorKeyed, XorfFuse,
    XorfXor, XorfilterRs, gate,
};
use pds_benches::workload::{Workload, hashes, huge, numbers, quick, wanted};
use pds_testkit::{DistinctKeys, SplitMix64};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TITLE_8: &str = "static filter, 8 bits";
const TITLE_RIBBON: &str = "static filter, ribbon, 1 %";

/// The rates of eight bits, and of the ribbon filter.
const RATE_8: f64 = 1.0 / 256.0;
const RATE_1: f64 = 0.01;

/// At 8 bits and some, in the second-level cache, and in the last.
const IN_CACHE: [(u64, &str); 2] = [(100_000, "100k"), (1_000_000, "1M")];

/// Asked for in one pass of a filter out of cache.
const ASKED: u64 = 1_000_000;

/// Keys of a filter that is built only.
fn builds() -> Vec<(u64, &'static str)> {
    match (quick(), huge()) {
        (true, _) => vec![],
        (false, false) => vec![(10_000_000, "10M")],
        (false, true) => vec![(10_000_000, "10M"), (100_000_000, "100M")],
    }
}

/// Keys of a filter beyond the caches.
fn far() -> (u64, &'static str) {
    match (quick(), huge()) {
        (true, _) => (10_000_000, "10M"),
        (false, false) => (30_000_000, "30M"),
        (false, true) => (100_000_000, "100M"),
    }
}

fn case(structure: &'static str, size: String) -> Case {
    Case { structure, size }
}

/// Builds a contender, gates it and reports what it took.
fn gated<F: Static>(case: &Case, members: &[u64], asked: &[u64], strangers: &[u64], fpr: f64) -> Option<F> {
    let (filter, held, peak) = measured(|| F::build(members));
    let keys = members.len() as f64;
    let mut gate = gate(filter.as_ref(), held as f64 / keys, asked, strangers, fpr);
    gate.peak = peak as f64 / keys;
    gate.report_as(case, F::NAME, F::ROLE);
    filter
}

fn build<F: Static>(c: &mut Criterion, case: &Case, members: &[u64]) {
    let mut group = c.benchmark_group(case.group("build"));
    group.throughput(Throughput::Elements(members.len() as u64));
    group.bench_function(F::NAME, |b| b.iter(|| black_box(F::build(members))));
}

fn ask<F: Static>(c: &mut Criterion, case: &Case, filter: &F, op: &str, asked: &[u64]) {
    let mut group = c.benchmark_group(case.group(op));
    group.throughput(Throughput::Elements(asked.len() as u64));
    group.bench_function(F::NAME, |b| {
        b.iter(|| asked.iter().for_each(|key| _ = black_box(filter.contains(*key))))
    });
}

/// Peers without a batch have the loop over single keys.
fn ask_batch<F: Static>(c: &mut Criterion, case: &Case, filter: &F, op: &str, asked: &[u64]) {
    let mut group = c.benchmark_group(case.group(op));
    group.throughput(Throughput::Elements(asked.len() as u64));
    group.bench_function(F::NAME, |b| b.iter(|| black_box(filter.count_batch(asked))));
}

const QUERIES: [&str; 5] = ["hit", "miss", "mixed", "hit, batch", "miss, batch"];

fn contend<F: Static>(c: &mut Criterion, case: &Case, load: &Workload<u64>, fpr: f64) {
    if !wanted(case, F::NAME, &QUERIES) && !wanted(case, F::NAME, &["build"]) {
        return;
    }
    let Some(filter) = gated::<F>(case, &load.members, &load.members, &load.strangers, fpr) else { return };
    ask(c, case, &filter, "hit", &load.members);
    ask(c, case, &filter, "miss", &load.strangers);
    ask(c, case, &filter, "mixed", &load.mixed);
    ask_batch(c, case, &filter, "hit, batch", &load.members);
    ask_batch(c, case, &filter, "miss, batch", &load.strangers);
    build::<F>(c, case, &load.members);
}

/// A filter beyond the caches: some members, asked for in another order than they were built in, and strangers.
fn distant<F: Static>(c: &mut Criterion, case: &Case, keys: &Lazy, fpr: f64) {
    if !wanted(case, F::NAME, &QUERIES) {
        return;
    }
    let Far { members, asked, strangers, mixed } = &**keys;
    let Some(filter) = gated::<F>(case, members, asked, strangers, fpr) else { return };
    for (op, asked) in [("hit", asked), ("miss", strangers), ("mixed", mixed)] {
        ask(c, case, &filter, op, asked);
        if op != "mixed" {
            ask_batch(c, case, &filter, &format!("{op}, batch"), asked);
        }
    }
}

/// A build alone, gated on a sample of the keys.
fn large<F: Static>(c: &mut Criterion, case: &Case, keys: &Lazy, fpr: f64) {
    if !wanted(case, F::NAME, &["build"]) {
        return;
    }
    if gated::<F>(case, &keys.members, &keys.asked, &keys.strangers, fpr).is_some() {
        build::<F>(c, case, &keys.members);
    }
}

/// Made when a benchmark that needs them is wanted.
type Lazy = LazyCell<Far, Box<dyn FnOnce() -> Far>>;

/// Keys of a large filter, and what is asked of it.
struct Far {
    members: Vec<u64>,
    asked: Vec<u64>,
    strangers: Vec<u64>,
    mixed: Vec<u64>,
}

impl Far {
    /// As hashes.
    fn new(count: u64) -> Self {
        let keys = DistinctKeys::new(1);
        let hashed = |range| hash_all(keys.range(range));
        let members = hashed(0..count);
        let asked: Vec<u64> = members.iter().copied().step_by((count / ASKED) as usize).collect();
        let strangers = hashed(count..count + asked.len() as u64);
        let mut random = SplitMix64::new(3);
        let mut either = |(&a, &b)| if random.below(2) == 0 { a } else { b };
        let mixed = asked.iter().zip(&strangers).map(&mut either).collect();
        Self { members, asked, strangers, mixed }
    }
}

fn hash_all(keys: impl Iterator<Item = u64>) -> Vec<u64> {
    use pds_hash::KeyHasher;
    keys.map(|key| pds_hash::WyHasher::default().hash_u64(key)).collect()
}

fn in_cache(c: &mut Criterion) {
    for (count, name) in IN_CACHE {
        let load = numbers(count);
        let hashed = hashes(&load);
        let eight = case(TITLE_8, format!("{name} hashes"));
        contend::<Fuse>(c, &eight, &hashed, RATE_8);
        contend::<Fuse4>(c, &eight, &hashed, RATE_8);
        contend::<Compact>(c, &eight, &hashed, RATE_8);
        contend::<Xor>(c, &eight, &hashed, RATE_8);
        contend::<Ribbon8>(c, &eight, &hashed, RATE_8);
        contend::<Bloom8>(c, &eight, &hashed, RATE_8);
        peers(c, &eight, &hashed);
        let ribbon = case(TITLE_RIBBON, format!("{name} hashes"));
        contend::<Ribbon>(c, &ribbon, &hashed, RATE_1);
        contend::<Bloom1>(c, &ribbon, &hashed, RATE_1);
        contend::<Sux7>(c, &ribbon, &hashed, RATE_1);
        contend::<PeerRibbon>(c, &ribbon, &hashed, RATE_1);
        if quick() {
            continue;
        }
        let eight = case(TITLE_8, format!("{name} u64"));
        contend::<FuseKeyed>(c, &eight, &load, RATE_8);
        contend::<Fuse4Keyed>(c, &eight, &load, RATE_8);
        contend::<CompactKeyed>(c, &eight, &load, RATE_8);
        contend::<XorKeyed>(c, &eight, &load, RATE_8);
        contend::<Ribbon8Keyed>(c, &eight, &load, RATE_8);
        contend::<Bloom8Keyed>(c, &eight, &load, RATE_8);
        peers(c, &eight, &load);
        let ribbon = case(TITLE_RIBBON, format!("{name} u64"));
        contend::<RibbonKeyed>(c, &ribbon, &load, RATE_1);
        contend::<Bloom1Keyed>(c, &ribbon, &load, RATE_1);
        contend::<Sux7>(c, &ribbon, &load, RATE_1);
        contend::<PeerRibbon>(c, &ribbon, &load, RATE_1);
    }
}

fn peers(c: &mut Criterion, case: &Case, load: &Workload<u64>) {
    contend::<XorfFuse>(c, case, load, RATE_8);
    contend::<XorfXor>(c, case, load, RATE_8);
    contend::<XorfilterRs>(c, case, load, RATE_8);
    contend::<Jdb>(c, case, load, RATE_8);
    contend::<Sux>(c, case, load, RATE_8);
}

fn out_of_cache(c: &mut Criterion) {
    let (count, name) = far();
    let eight = case(TITLE_8, format!("{name} hashes"));
    let ribbon = case(TITLE_RIBBON, format!("{name} hashes"));
    let keys: Lazy = LazyCell::new(Box::new(move || Far::new(count)));
    distant::<Fuse>(c, &eight, &keys, RATE_8);
    distant::<Fuse4>(c, &eight, &keys, RATE_8);
    distant::<Compact>(c, &eight, &keys, RATE_8);
    distant::<Ribbon8>(c, &eight, &keys, RATE_8);
    distant::<Bloom8>(c, &eight, &keys, RATE_8);
    distant::<XorfFuse>(c, &eight, &keys, RATE_8);
    distant::<XorfilterRs>(c, &eight, &keys, RATE_8);
    distant::<Jdb>(c, &eight, &keys, RATE_8);
    distant::<Sux>(c, &eight, &keys, RATE_8);
    distant::<Ribbon>(c, &ribbon, &keys, RATE_1);
    distant::<Bloom1>(c, &ribbon, &keys, RATE_1);
    distant::<Sux7>(c, &ribbon, &keys, RATE_1);
}

fn large_builds(c: &mut Criterion) {
    for (count, name) in builds() {
        let eight = case(TITLE_8, format!("{name} hashes"));
        let ribbon = case(TITLE_RIBBON, format!("{name} hashes"));
        let keys: Lazy = LazyCell::new(Box::new(move || Far::new(count)));
        large::<Fuse>(c, &eight, &keys, RATE_8);
        large::<Fuse4>(c, &eight, &keys, RATE_8);
        large::<Compact>(c, &eight, &keys, RATE_8);
        large::<Ribbon8>(c, &eight, &keys, RATE_8);
        large::<Bloom8>(c, &eight, &keys, RATE_8);
        large::<XorfFuse>(c, &eight, &keys, RATE_8);
        large::<XorfilterRs>(c, &eight, &keys, RATE_8);
        large::<Jdb>(c, &eight, &keys, RATE_8);
        large::<Sux>(c, &eight, &keys, RATE_8);
        large::<Ribbon>(c, &ribbon, &keys, RATE_1);
        large::<Bloom1>(c, &ribbon, &keys, RATE_1);
        large::<Sux7>(c, &ribbon, &keys, RATE_1);
    }
}

criterion_group!(benches, in_cache, out_of_cache, large_builds);
criterion_main!(benches);
