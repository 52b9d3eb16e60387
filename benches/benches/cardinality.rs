//! HyperLogLog: ours and each peer's.

use std::borrow::Borrow;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::cardinality::{
    Amadeus, CardinalityEstimator, Counter, Datasketches, Hyperloglockless, Hyperloglogplus,
    HyperlogocklessPrehashed, Ours, OursPrehashed, SketchOxide, gate,
};
use pds_benches::report::Case;
use pds_benches::workload::{numbers, texts};
use pds_hll::{KeyHasher, WyHasher};

/// From the empty sketch to so many keys: once the first thousands are in, hardly a key changes anything.
const KEYS: u64 = 1_000_000;

fn structure(p: u8) -> &'static str {
    if p == 12 { "HyperLogLog, p = 12" } else { "HyperLogLog, p = 14" }
}

fn cardinality(c: &mut Criterion) {
    let load = numbers(KEYS);
    let strings = texts(KEYS / 10).members;
    let hashes: Vec<u64> = load.members.iter().map(|key| WyHasher::default().hash_u64(*key)).collect();
    precision::<12>(c, &load.members, &load.strangers, &hashes, &strings);
    precision::<14>(c, &load.members, &load.strangers, &hashes, &strings);
}

fn precision<const P: usize>(
    c: &mut Criterion,
    keys: &[u64],
    others: &[u64],
    hashes: &[u64],
    strings: &[String],
) {
    let p = P as u8;
    contend::<Ours>(c, p, keys, others);
    contend::<Hyperloglockless>(c, p, keys, others);
    contend::<Hyperloglogplus<u64>>(c, p, keys, others);
    contend::<Datasketches>(c, p, keys, others);
    contend::<CardinalityEstimator<u64, P>>(c, p, keys, others);
    contend::<SketchOxide>(c, p, keys, others);
    contend::<Amadeus<u64>>(c, p, keys, others);

    insert::<u64, OursPrehashed, u64>(c, p, "1M hashes", hashes);
    insert::<u64, HyperlogocklessPrehashed, u64>(c, p, "1M hashes", hashes);
    gate::<OursPrehashed>(p).report(&case(p, "1M hashes"), <OursPrehashed as Counter<u64>>::NAME, true);
    gate::<HyperlogocklessPrehashed>(p).report(&case(p, "1M hashes"), HyperlogocklessPrehashed::NAME, false);

    insert::<str, Ours, String>(c, p, "100k strings", strings);
    insert::<str, Hyperloglockless, String>(c, p, "100k strings", strings);
    insert::<str, Hyperloglogplus<str>, String>(c, p, "100k strings", strings);
    insert::<str, Datasketches, String>(c, p, "100k strings", strings);
    insert::<str, CardinalityEstimator<str, P>, String>(c, p, "100k strings", strings);
    insert::<str, Amadeus<str>, String>(c, p, "100k strings", strings);
    same_gate::<Ours>(p);
    same_gate::<Hyperloglockless>(p);
    same_gate::<Hyperloglogplus<u64>>(p);
    same_gate::<Datasketches>(p);
    same_gate::<CardinalityEstimator<u64, P>>(p);
    same_gate::<Amadeus<u64>>(p);
}

fn case(p: u8, size: &str) -> Case {
    Case { structure: structure(p), size: size.to_owned() }
}

/// Strings go through the same registers and estimator.
fn same_gate<C: Counter<u64>>(p: u8) {
    gate::<C>(p).report(&case(p, "100k strings"), C::NAME, C::OURS);
}

fn contend<C: Counter<u64>>(c: &mut Criterion, p: u8, keys: &[u64], others: &[u64]) {
    gate::<C>(p).report(&case(p, "1M u64"), C::NAME, C::OURS);
    insert::<u64, C, u64>(c, p, "1M u64", keys);

    let filled = |keys: &[u64]| {
        let mut counter = C::new(p);
        keys.iter().for_each(|key| counter.insert(key));
        counter
    };
    let mut counter = filled(keys);
    let mut group = c.benchmark_group(case(p, "1M u64").group("estimate"));
    group.throughput(Throughput::Elements(1));
    group.bench_function(C::NAME, |b| b.iter(|| black_box(black_box(&mut counter).estimate())));
    group.finish();

    let other = filled(others);
    let mut group = c.benchmark_group(case(p, "1M u64").group("merge"));
    group.throughput(Throughput::Elements(1));
    group.bench_function(C::NAME, |b| b.iter(|| black_box(&mut counter).merge(black_box(&other))));
    group.finish();

    let mut group = c.benchmark_group(case(p, "1M u64").group("merge, then estimate"));
    group.throughput(Throughput::Elements(1));
    group.bench_function(C::NAME, |b| {
        b.iter(|| {
            black_box(&mut counter).merge(black_box(&other));
            black_box(counter.estimate())
        });
    });
}

fn insert<K: ?Sized, C: Counter<K>, S: Borrow<K>>(c: &mut Criterion, p: u8, size: &str, keys: &[S]) {
    let mut group = c.benchmark_group(case(p, size).group("insert"));
    group.throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function(C::NAME, |b| {
        let fill = |counter: &mut C| keys.iter().for_each(|key| counter.insert(key.borrow()));
        b.iter_batched_ref(|| C::new(p), fill, BatchSize::PerIteration);
    });
}

criterion_group!(benches, cardinality);
criterion_main!(benches);
