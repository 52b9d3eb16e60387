//! How a filter is timed: in cache, and far beyond it.

use std::borrow::Borrow;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput};
use pds_testkit::DistinctKeys;

use crate::filters::{Filter, gate};
use crate::report::Case;
use crate::workload::{Workload, quick, wanted};

/// The operations of [`contend`].
const NEAR: [&str; 7] =
    ["hit", "miss", "mixed", "hit, batch", "miss, batch", "insert", "insert, answer used"];

/// The operations of [`distant`].
const FAR: [&str; 8] =
    ["hit", "miss", "mixed", "hit, batch", "miss, batch", "mixed, batch", "insert", "insert, batch"];

/// Gates a contender, then times every operation of it.
pub fn contend<K: ?Sized, F: Filter<K>, S: Borrow<K>>(
    c: &mut Criterion,
    case: &Case,
    load: &Workload<S>,
    fpr: f64,
) {
    if !wanted(case, F::NAME, &NEAR) {
        return;
    }
    let keys = load.members.len();
    let mut filter = F::new(keys, fpr);
    filter.insert_batch(&load.members);
    gate::<K, F, S>(&filter, &load.members, &load.strangers, keys as u64, fpr).report_as(
        case,
        F::NAME,
        F::ROLE,
    );

    let ask = |c: &mut Criterion, op, asked: &[S]| {
        let mut group = c.benchmark_group(case.group(op));
        group.throughput(Throughput::Elements(asked.len() as u64));
        group.bench_function(F::NAME, |b| {
            b.iter(|| {
                for key in asked {
                    black_box(filter.contains(key.borrow()));
                }
            });
        });
    };
    ask(c, "hit", &load.members);
    ask(c, "miss", &load.strangers);
    ask(c, "mixed", &load.mixed);
    // Peers have no batch: theirs is the loop over single keys.
    for (op, asked) in [("hit, batch", &load.members), ("miss, batch", &load.strangers)] {
        let mut group = c.benchmark_group(case.group(op));
        group.throughput(Throughput::Elements(asked.len() as u64));
        group.bench_function(F::NAME, |b| b.iter(|| black_box(filter.count_batch(asked))));
    }

    let mut group = c.benchmark_group(case.group("insert"));
    group.throughput(Throughput::Elements(keys as u64));
    group.bench_function(F::NAME, |b| {
        let fill = |filter: &mut F| load.members.iter().for_each(|key| filter.insert(key.borrow()));
        b.iter_batched_ref(|| F::new(keys, fpr), fill, BatchSize::PerIteration);
    });
    group.finish();
    let mut group = c.benchmark_group(case.group("insert, answer used"));
    group.throughput(Throughput::Elements(keys as u64));
    group.bench_function(F::NAME, |b| {
        let fill = |filter: &mut F| {
            for key in &load.members {
                black_box(filter.insert_new(key.borrow()));
            }
        };
        b.iter_batched_ref(|| F::new(keys, fpr), fill, BatchSize::PerIteration);
    });
}

/// Well above what the last-level cache holds; a virtual machine's share of it is a fraction of the nominal size.
fn far_keys() -> u64 {
    if quick() { 30_000_000 } else { 100_000_000 }
}

/// Asked for in one pass: their lines alone exceed every cache.
const ASKED: u64 = 1_000_000;

/// The case of [`distant`] filters of a structure.
pub fn far_case(structure: &'static str) -> Case {
    Case { structure, size: format!("{}M u64", far_keys() / 1_000_000) }
}

/// As [`contend`], for a filter that exceeds every cache.
pub fn distant<F: Filter<u64>>(c: &mut Criterion, case: &Case, fpr: f64) {
    if !wanted(case, F::NAME, &FAR) {
        return;
    }
    let count = far_keys();
    let keys = DistinctKeys::new(1);
    let mut filter = F::new(count as usize, fpr);
    let mut chunk = Vec::with_capacity(1 << 16);
    for start in (0..count).step_by(1 << 16) {
        chunk.clear();
        chunk.extend(keys.range(start..count.min(start + (1 << 16))));
        filter.insert_batch(&chunk);
    }
    let spread = count / ASKED;
    let members: Vec<u64> = (0..ASKED).map(|i| keys.key(i * spread)).collect();
    let strangers: Vec<u64> = keys.range(count..count + ASKED).collect();
    let mixed: Vec<u64> = (0..ASKED as usize)
        .map(|i| if keys.key(i as u64) >> 63 == 0 { members[i] } else { strangers[i] })
        .collect();
    gate::<u64, F, u64>(&filter, &members, &strangers, count, fpr).report_as(case, F::NAME, F::ROLE);

    for (op, asked) in [("hit", &members), ("miss", &strangers), ("mixed", &mixed)] {
        let mut group = c.benchmark_group(case.group(op));
        group.throughput(Throughput::Elements(ASKED));
        group.bench_function(F::NAME, |b| {
            b.iter(|| {
                for key in asked {
                    black_box(filter.contains(key));
                }
            });
        });
        group.finish();
        // Peers have no batch: theirs is the loop over single keys.
        let mut group = c.benchmark_group(case.group(&format!("{op}, batch")));
        group.throughput(Throughput::Elements(ASKED));
        group.bench_function(F::NAME, |b| b.iter(|| black_box(filter.count_batch(asked))));
    }
    let mut group = c.benchmark_group(case.group("insert"));
    group.throughput(Throughput::Elements(ASKED));
    group.bench_function(F::NAME, |b| b.iter(|| strangers.iter().for_each(|key| filter.insert(key))));
    group.finish();
    let mut group = c.benchmark_group(case.group("insert, batch"));
    group.throughput(Throughput::Elements(ASKED));
    group.bench_function(F::NAME, |b| b.iter(|| filter.insert_batch(&strangers)));
}
