//! Distinct counters, ours and each peer's: new and full, counting, merging, and to bytes and back.

use std::borrow::Borrow;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::cardinality::{
    Amadeus, CardinalityEstimator, Counter, Cpc, Datasketches, Exaloglog, Hashed, Hyperloglockless,
    Hyperloglogplus, Ours, SketchOxide, Ultra, Ultraloglog, gate, gate_hashed,
};
use pds_benches::heap::{Counting, measured};
use pds_benches::report::Case;
use pds_benches::workload::{Workload, hashes, numbers, texts, wanted};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// From the empty sketch to so many keys: once the first thousands are in, hardly a key changes anything.
const KEYS: u64 = 1_000_000;

/// Keys of a sketch that stays small.
const FEW: usize = 1000;

fn structure(p: u8) -> &'static str {
    if p == 12 { "HyperLogLog, p = 12" } else { "HyperLogLog, p = 14" }
}

fn case(p: u8, size: &str) -> Case {
    Case { structure: structure(p), size: size.to_owned() }
}

fn cardinality(c: &mut Criterion) {
    let load = numbers(KEYS);
    let strings = texts(KEYS / 10).members;
    let hashes = hashes(&load);
    precision::<12>(c, &load, &hashes, &strings);
    precision::<14>(c, &load, &hashes, &strings);
}

fn precision<const P: usize>(
    c: &mut Criterion,
    load: &Workload<u64>,
    hashes: &Workload<u64>,
    strings: &[String],
) {
    let p = P as u8;
    contend::<Ours>(c, p, load);
    contend::<Ultra>(c, p, load);
    contend::<Hyperloglockless>(c, p, load);
    contend::<Hyperloglogplus<u64>>(c, p, load);
    contend::<Datasketches<8>>(c, p, load);
    contend::<Datasketches<4>>(c, p, load);
    contend::<Cpc>(c, p, load);
    contend::<CardinalityEstimator<u64, P>>(c, p, load);
    contend::<Ultraloglog>(c, p, load);
    contend::<Exaloglog>(c, p, load);
    contend::<SketchOxide>(c, p, load);
    contend::<Amadeus<u64>>(c, p, load);

    contend_hashed::<Ours>(c, p, hashes);
    contend_hashed::<Ultra>(c, p, hashes);
    contend_hashed::<Hyperloglockless>(c, p, hashes);
    contend_hashed::<Ultraloglog>(c, p, hashes);
    contend_hashed::<Exaloglog>(c, p, hashes);

    contend_texts::<Ours, Ours>(c, p, strings);
    contend_texts::<Ultra, Ultra>(c, p, strings);
    contend_texts::<Hyperloglockless, Hyperloglockless>(c, p, strings);
    contend_texts::<Hyperloglogplus<str>, Hyperloglogplus<u64>>(c, p, strings);
    contend_texts::<Datasketches<8>, Datasketches<8>>(c, p, strings);
    contend_texts::<Cpc, Cpc>(c, p, strings);
    contend_texts::<CardinalityEstimator<str, P>, CardinalityEstimator<u64, P>>(c, p, strings);
    contend_texts::<Ultraloglog, Ultraloglog>(c, p, strings);
    contend_texts::<Exaloglog, Exaloglog>(c, p, strings);
    contend_texts::<Amadeus<str>, Amadeus<u64>>(c, p, strings);
}

const OPS: [&str; 8] = [
    "insert",
    "insert, 1,000 keys",
    "insert, full",
    "estimate",
    "merge",
    "merge, then estimate",
    "encode",
    "decode",
];

/// Gates a contender, then times every operation of it.
fn contend<C: Counter<u64>>(c: &mut Criterion, p: u8, load: &Workload<u64>) {
    let case = case(p, "1M u64");
    if !wanted(&case, C::NAME, &OPS) {
        return;
    }
    let filled = |keys: &[u64]| {
        let mut counter = C::new(p);
        keys.iter().for_each(|key| counter.insert(key));
        counter
    };
    let (mut counter, held, _) = measured(|| filled(&load.members));
    let encoded = counter.encoded();
    let wire = encoded.as_ref().map_or(0, Vec::len);
    gate::<C>(p, held + size_of::<C>(), wire).report_as(&case, C::NAME, C::ROLE);

    fill::<u64, C, u64>(c, &case, "insert", p, &load.members);
    fill::<u64, C, u64>(c, &case, "insert, 1,000 keys", p, &load.members[..FEW]);
    time(c, &case, "insert, full", C::NAME, load.strangers.len(), || {
        load.strangers.iter().for_each(|key| counter.insert(key));
    });
    // As it was, for what follows.
    counter = filled(&load.members);
    time(c, &case, "estimate", C::NAME, 1, || black_box(black_box(&mut counter).estimate()));
    let other = filled(&load.strangers);
    time(c, &case, "merge", C::NAME, 1, || black_box(&mut counter).merge(black_box(&other)));
    time(c, &case, "merge, then estimate", C::NAME, 1, || {
        black_box(&mut counter).merge(black_box(&other));
        black_box(counter.estimate())
    });
    if let Some(bytes) = encoded {
        time(c, &case, "encode", C::NAME, 1, || black_box(black_box(&other).encoded()));
        time(c, &case, "decode", C::NAME, 1, || black_box(C::decoded(black_box(&bytes))));
    }
}

/// The same for hashes made beforehand: insertion alone, the rest being what it is with keys.
fn contend_hashed<C: Hashed>(c: &mut Criterion, p: u8, hashes: &Workload<u64>) {
    let case = case(p, "1M hashes");
    if !wanted(&case, C::CRATE, &["insert", "insert, batch", "insert, full"]) {
        return;
    }
    let filled = || {
        let mut counter = C::new(p);
        hashes.members.iter().for_each(|hash| counter.insert_hash(*hash));
        counter
    };
    let (mut counter, held, _) = measured(filled);
    gate_hashed::<C>(p, held + size_of::<C>()).report_as(&case, C::CRATE, C::ROLE);

    let all = hashes.members.len();
    let mut insert = |op, fill: &dyn Fn(&mut C)| {
        let mut group = c.benchmark_group(case.group(op));
        group.throughput(Throughput::Elements(all as u64));
        group.bench_function(C::CRATE, |b| b.iter_batched_ref(|| C::new(p), fill, BatchSize::PerIteration));
    };
    insert("insert", &|counter| hashes.members.iter().for_each(|hash| counter.insert_hash(*hash)));
    insert("insert, batch", &|counter| counter.insert_batch(&hashes.members));
    time(c, &case, "insert, full", C::CRATE, hashes.strangers.len(), || {
        hashes.strangers.iter().for_each(|hash| counter.insert_hash(*hash));
    });
}

/// Strings, which go through the registers and the estimator of the gated counter.
fn contend_texts<C: Counter<str>, Gated: Counter<u64>>(c: &mut Criterion, p: u8, strings: &[String]) {
    let case = case(p, "100k strings");
    if !wanted(&case, C::NAME, &["insert"]) {
        return;
    }
    let filled = || {
        let mut counter = C::new(p);
        strings.iter().for_each(|key| counter.insert(key));
        counter
    };
    let (_, held, _) = measured(filled);
    gate::<Gated>(p, held + size_of::<C>(), 0).report_as(&case, C::NAME, C::ROLE);
    fill::<str, C, String>(c, &case, "insert", p, strings);
}

/// Into a sketch made anew each time.
fn fill<K: ?Sized, C: Counter<K>, S: Borrow<K>>(c: &mut Criterion, case: &Case, op: &str, p: u8, keys: &[S]) {
    let mut group = c.benchmark_group(case.group(op));
    group.throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function(C::NAME, |b| {
        let fill = |counter: &mut C| keys.iter().for_each(|key| counter.insert(key.borrow()));
        b.iter_batched_ref(|| C::new(p), fill, BatchSize::PerIteration);
    });
}

fn time<T>(
    c: &mut Criterion,
    case: &Case,
    op: &str,
    name: &str,
    elements: usize,
    mut work: impl FnMut() -> T,
) {
    let mut group = c.benchmark_group(case.group(op));
    group.throughput(Throughput::Elements(elements as u64));
    group.bench_function(name, |b| b.iter(&mut work));
}

criterion_group!(benches, cardinality);
criterion_main!(benches);
