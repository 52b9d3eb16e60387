//! Filters that delete: insertion at two loads, queries and removals in cache, queries out of it.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::cuckoo::{Autoscale, Axiom, Deleting, Ours, OursQuick, Qfilter, Scalable, gate, target};
use pds_benches::report::Case;
use pds_benches::workload::{Workload, numbers, quick, wanted};
use pds_testkit::DistinctKeys;

/// At 12 bits 200 kB: fits the second-level cache. A power of two, which peers round up to.
const SLOTS: u64 = 1 << 17;

/// At 12 bits 25 MB.
const FAR_SLOTS: u64 = 1 << 24;

/// Asked for in one pass of a table out of cache: their lines alone exceed every cache.
const ASKED: u64 = 1_000_000;

const TITLE_8: &str = "cuckoo filter, 8 bits, 95 % load";
const TITLE_12: &str = "cuckoo filter, 12 bits, 95 % load";
const TITLE_16: &str = "cuckoo filter, 16 bits, 95 % load";

fn case(structure: &'static str, size: &str) -> Case {
    Case { structure, size: size.to_owned() }
}

/// Keys at a load, in hundredths.
fn at(percent: u64, slots: u64) -> usize {
    (slots / 100 * percent) as usize
}

fn filled<F: Deleting>(slots: u64, keys: &[u64]) -> F {
    let mut filter = F::new(slots);
    for &key in keys {
        filter.insert(key);
    }
    filter
}

fn ask<F: Deleting>(c: &mut Criterion, case: &Case, filter: &F, op: &str, asked: &[u64]) {
    let mut group = c.benchmark_group(case.group(op));
    group.throughput(Throughput::Elements(asked.len() as u64));
    group.bench_function(F::NAME, |b| {
        b.iter(|| asked.iter().for_each(|key| _ = black_box(filter.contains(*key))))
    });
}

/// Peers without a batch have the loop over single keys.
fn ask_batch<F: Deleting>(c: &mut Criterion, case: &Case, filter: &F, op: &str, asked: &[u64]) {
    let mut group = c.benchmark_group(case.group(op));
    group.throughput(Throughput::Elements(asked.len() as u64));
    group.bench_function(F::NAME, |b| b.iter(|| black_box(filter.count_batch(asked))));
}

/// Fills a table, gates it, and gives it back filled.
fn gated<F: Deleting>(case: &Case, slots: u64, members: &[u64], strangers: &[u64], fpr: f64) -> F {
    let mut filter = F::new(slots);
    let refused = members.iter().filter(|key| !filter.insert(**key)).count() as u64;
    gate(&mut filter, refused, members, strangers, fpr).report(case, F::NAME, F::OURS);
    filled(slots, members)
}

/// The operations in cache.
const NEAR: [&str; 8] =
    ["hit", "miss", "mixed", "hit, batch", "miss, batch", "insert to 90 %", "insert 90 to 95 %", "remove"];

/// The operations out of cache.
const FAR: [&str; 4] = ["hit", "hit, batch", "miss", "miss, batch"];

fn contend<F: Deleting>(c: &mut Criterion, case: &Case, load: &Workload<u64>, fpr: f64) {
    if !wanted(case, F::NAME, &NEAR) {
        return;
    }
    let filter: F = gated(case, SLOTS, &load.members, &load.strangers, fpr);
    ask(c, case, &filter, "hit", &load.members);
    ask(c, case, &filter, "miss", &load.strangers);
    ask(c, case, &filter, "mixed", &load.mixed);
    ask_batch(c, case, &filter, "hit, batch", &load.members);
    ask_batch(c, case, &filter, "miss, batch", &load.strangers);

    let (most, last) = load.members.split_at(at(90, SLOTS));
    for (op, before, inserted) in [("insert to 90 %", &[][..], most), ("insert 90 to 95 %", most, last)] {
        let mut group = c.benchmark_group(case.group(op));
        group.throughput(Throughput::Elements(inserted.len() as u64));
        group.bench_function(F::NAME, |b| {
            let fill = |filter: &mut F| inserted.iter().for_each(|key| _ = black_box(filter.insert(*key)));
            b.iter_batched_ref(|| filled(SLOTS, before), fill, BatchSize::PerIteration);
        });
    }
    let mut group = c.benchmark_group(case.group("remove"));
    group.throughput(Throughput::Elements(load.members.len() as u64));
    group.bench_function(F::NAME, |b| {
        let empty = |filter: &mut F| load.members.iter().for_each(|key| _ = black_box(filter.remove(*key)));
        b.iter_batched_ref(|| filled(SLOTS, &load.members), empty, BatchSize::PerIteration);
    });
}

fn distant<F: Deleting>(c: &mut Criterion, case: &Case, fpr: f64) {
    if !wanted(case, F::NAME, &FAR) {
        return;
    }
    let count = at(95, FAR_SLOTS) as u64;
    let keys = DistinctKeys::new(1);
    let members: Vec<u64> = keys.range(0..count).collect();
    let strangers: Vec<u64> = keys.range(count..count + ASKED).collect();
    let filter: F = gated(case, FAR_SLOTS, &members, &strangers, fpr);
    let asked: Vec<u64> = members.iter().copied().step_by((count / ASKED) as usize).collect();
    for (op, asked) in [("hit", &asked), ("miss", &strangers)] {
        ask(c, case, &filter, op, asked);
        ask_batch(c, case, &filter, &format!("{op}, batch"), asked);
    }
}

fn twelve_bits(c: &mut Criterion) {
    let (load, fpr) = (numbers(at(95, SLOTS) as u64), target(12));
    let default = case(TITLE_12, "125k u64");
    contend::<Ours<12>>(c, &default, &load, fpr);
    peers::<12>(c, &default, &load, fpr);
    let equal = case(TITLE_12, "125k u64, equal hasher");
    contend::<OursQuick<12>>(c, &equal, &load, fpr);
    peers::<12>(c, &equal, &load, fpr);

    let far = case(TITLE_12, "16M u64");
    distant::<Ours<12>>(c, &far, fpr);
    distant::<Autoscale<12>>(c, &far, fpr);
    distant::<Scalable<12>>(c, &far, fpr);
    distant::<Qfilter<12>>(c, &far, fpr);
}

fn other_bits(c: &mut Criterion) {
    if quick() {
        return;
    }
    let load = numbers(at(95, SLOTS) as u64);
    let eight = case(TITLE_8, "125k u64, equal hasher");
    contend::<OursQuick<8>>(c, &eight, &load, target(8));
    contend::<Axiom>(c, &eight, &load, target(8));
    peers::<8>(c, &eight, &load, target(8));
    let sixteen = case(TITLE_16, "125k u64, equal hasher");
    contend::<OursQuick<16>>(c, &sixteen, &load, target(16));
    peers::<16>(c, &sixteen, &load, target(16));
}

fn peers<const BITS: u32>(c: &mut Criterion, case: &Case, load: &Workload<u64>, fpr: f64) {
    contend::<Autoscale<BITS>>(c, case, load, fpr);
    contend::<Scalable<BITS>>(c, case, load, fpr);
    contend::<Qfilter<BITS>>(c, case, load, fpr);
}

criterion_group!(benches, twelve_bits, other_bits);
criterion_main!(benches);
