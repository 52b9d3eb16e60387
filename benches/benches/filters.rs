//! Bloom filters: ours and each peer's, in cache and out of it.

use std::borrow::Borrow;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::filters::{
    Bloomfilter, Datasketches, Fastbloom, FastbloomPrehashed, Filter, Ours, OursPrehashed, SketchOxide, gate,
};
use pds_benches::report::Case;
use pds_benches::workload::{Workload, numbers, quick, texts};
use pds_bloom::{KeyHasher, WyHasher};
use pds_testkit::DistinctKeys;

/// Fits the second-level cache with room to spare: 120 to 180 kB of bits.
const IN_CACHE: u64 = 100_000;

fn structure(fpr: f64) -> &'static str {
    if fpr == 0.01 { "Bloom filter, 1 %" } else { "Bloom filter, 0.1 %" }
}

fn in_cache(c: &mut Criterion) {
    let (u64s, strings) = (numbers(IN_CACHE), texts(IN_CACHE));
    for fpr in [0.01, 0.001] {
        let case = Case { structure: structure(fpr), size: "100k u64".to_owned() };
        contend::<u64, Ours, _>(c, &case, &u64s, fpr);
        contend::<u64, Fastbloom<foldhash::fast::FixedState>, _>(c, &case, &u64s, fpr);
        contend::<u64, Fastbloom<fastbloom::DefaultHasher>, _>(c, &case, &u64s, fpr);
        contend::<u64, SketchOxide, _>(c, &case, &u64s, fpr);
        contend::<u64, Bloomfilter<u64>, _>(c, &case, &u64s, fpr);
        contend::<u64, Datasketches, _>(c, &case, &u64s, fpr);

        let hashed = |keys: &[u64]| keys.iter().map(|key| WyHasher::default().hash_u64(*key)).collect();
        let hashes = Workload {
            members: hashed(&u64s.members),
            strangers: hashed(&u64s.strangers),
            mixed: hashed(&u64s.mixed),
        };
        let case = Case { structure: structure(fpr), size: "100k hashes".to_owned() };
        contend::<u64, OursPrehashed, _>(c, &case, &hashes, fpr);
        contend::<u64, FastbloomPrehashed, _>(c, &case, &hashes, fpr);

        if quick() && fpr != 0.01 {
            continue;
        }
        let case = Case { structure: structure(fpr), size: "100k strings".to_owned() };
        contend::<str, Ours, _>(c, &case, &strings, fpr);
        contend::<str, Fastbloom<foldhash::fast::FixedState>, _>(c, &case, &strings, fpr);
        contend::<str, Fastbloom<fastbloom::DefaultHasher>, _>(c, &case, &strings, fpr);
        contend::<str, SketchOxide, _>(c, &case, &strings, fpr);
        contend::<str, Bloomfilter<str>, _>(c, &case, &strings, fpr);
        contend::<str, Datasketches, _>(c, &case, &strings, fpr);
    }
}

/// Gates a contender, then times every operation of it.
fn contend<K: ?Sized, F: Filter<K>, S: Borrow<K>>(
    c: &mut Criterion,
    case: &Case,
    load: &Workload<S>,
    fpr: f64,
) {
    let keys = load.members.len();
    let mut filter = F::new(keys, fpr);
    filter.insert_batch(&load.members);
    gate::<K, F, S>(&filter, &load.members, &load.strangers, keys as u64, fpr).report(case, F::NAME, F::OURS);

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
fn out_of_cache_keys() -> u64 {
    if quick() { 30_000_000 } else { 100_000_000 }
}

/// Asked for in one pass: their lines alone exceed every cache.
const ASKED: u64 = 1_000_000;

fn out_of_cache(c: &mut Criterion) {
    distant::<Ours>(c);
    distant::<Fastbloom<foldhash::fast::FixedState>>(c);
    if !quick() {
        distant::<Fastbloom<fastbloom::DefaultHasher>>(c);
    }
}

fn distant<F: Filter<u64>>(c: &mut Criterion) {
    const FPR: f64 = 0.01;
    let count = out_of_cache_keys();
    let case = Case { structure: structure(FPR), size: format!("{}M u64", count / 1_000_000) };
    let keys = DistinctKeys::new(1);
    let mut filter = F::new(count as usize, FPR);
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
    gate::<u64, F, u64>(&filter, &members, &strangers, count, FPR).report(&case, F::NAME, F::OURS);

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

criterion_group!(benches, in_cache, out_of_cache);
criterion_main!(benches);
