//! Theta sketches: taking keys in, set operations, bytes.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use datasketches::theta::CompactThetaSketch;
use pds_benches::report::{Case, Gate};
use pds_benches::theta::{
    Datasketches, Ours, OursBatch, OursHashes, Set, Stored, Update, gate_set, gate_update, pair, repeated,
    streams,
};
use pds_benches::workload::{quick, wanted};
use pds_theta::CompactTheta;

/// Far below k, below it, few k, and many: from the empty sketch on.
const COUNTS: [(u64, &str); 5] =
    [(100, "100 u64"), (1000, "1k u64"), (4000, "4k u64"), (16_000, "16k u64"), (1_000_000, "1M u64")];

/// Keys that come ten times each.
const REPEATED: (u64, &str) = (3000, "30k u64, 3k different");

/// Pairs that operations go round: their hashes are more coins than a predictor remembers.
const PAIRS: u64 = 32;

/// Keys of a set, of which the other has half.
const KEYS: u64 = 100_000;

const SETS: [&str; 7] = ["union", "union of 32", "intersection", "difference", "jaccard", "encode", "decode"];

fn case(lg_k: u8, size: &str) -> Case {
    let structure = if lg_k == 12 { "theta sketch, k = 4096" } else { "theta sketch, k = 16384" };
    Case { structure, size: size.to_owned() }
}

fn sizes() -> &'static [u8] {
    if quick() { &[12] } else { &[12, 14] }
}

/// The group of a case, for one benchmark.
fn time(c: &mut Criterion, case: &Case, op: &str, name: &str, elements: u64, mut run: impl FnMut()) {
    let mut group = c.benchmark_group(case.group(op));
    group.throughput(Throughput::Elements(elements));
    group.bench_function(name, |b| b.iter(&mut run));
}

/// Numbers that go round.
fn round(count: usize) -> impl FnMut() -> usize {
    let mut turn = 0;
    move || {
        turn = (turn + 1) % count;
        turn
    }
}

fn take_in<U: Update>(c: &mut Criterion, lg_k: u8) {
    let mut gate: Option<Gate> = None;
    let mut contend = |size: &str, streams: fn(u64) -> Vec<Vec<u64>>, keys: u64| {
        let case = case(lg_k, size);
        if !wanted(&case, U::NAME, &["update"]) {
            return;
        }
        let streams = streams(keys);
        let gate = gate.get_or_insert_with(|| gate_update::<U>(lg_k));
        let mut sketch = U::new(lg_k);
        sketch.extend(&streams[0]);
        gate.bytes = sketch.bytes().len() as f64;
        gate.report_as(&case, U::NAME, U::ROLE);
        let mut next = round(streams.len());
        time(c, &case, "update", U::NAME, streams[0].len() as u64, || {
            let mut sketch = U::new(lg_k);
            sketch.extend(black_box(&streams[next()]));
            black_box(sketch);
        });
    };
    for (keys, size) in COUNTS {
        contend(size, streams, keys);
    }
    contend(REPEATED.1, repeated, REPEATED.0);
}

fn combine<S: Set>(c: &mut Criterion, lg_k: u8, codes: bool) {
    let case = case(lg_k, "sets of 100k u64, half in common");
    if !wanted(&case, S::NAME, &SETS) {
        return;
    }
    gate_set::<S>(lg_k).report_as(&case, S::NAME, S::ROLE);
    let pairs: Vec<(S, S)> = (0..PAIRS).map(|stream| pair(lg_k, stream, KEYS / 2)).collect();
    let all: Vec<&S> = pairs.iter().map(|(left, _)| left).collect();
    let mut next = round(pairs.len());
    let mut next = move || next();
    time(c, &case, "union", S::NAME, 1, || {
        let (left, right) = &pairs[next()];
        black_box(S::union(lg_k, &[left, right]));
    });
    time(c, &case, "union of 32", S::NAME, 1, || _ = black_box(S::union(lg_k, &all)));
    time(c, &case, "intersection", S::NAME, 1, || {
        let (left, right) = &pairs[next()];
        black_box(left.intersection(right));
    });
    time(c, &case, "difference", S::NAME, 1, || {
        let (left, right) = &pairs[next()];
        black_box(left.difference(right));
    });
    time(c, &case, "jaccard", S::NAME, 1, || {
        let (left, right) = &pairs[next()];
        black_box(left.jaccard(right));
    });
    if !codes {
        return;
    }
    time(c, &case, "encode", S::NAME, 1, || _ = black_box(pairs[next()].0.encode()));
    let encoded: Vec<Vec<u8>> = all.iter().map(|set| set.encode()).collect();
    time(c, &case, "decode", S::NAME, 1, || _ = black_box(S::decode(&encoded[next()])));
}

fn theta(c: &mut Criterion) {
    for &lg_k in sizes() {
        take_in::<Ours>(c, lg_k);
        take_in::<OursHashes>(c, lg_k);
        take_in::<OursBatch>(c, lg_k);
        take_in::<Datasketches>(c, lg_k);
        combine::<CompactTheta>(c, lg_k, true);
        combine::<Stored>(c, lg_k, false);
        combine::<CompactThetaSketch>(c, lg_k, true);
    }
}

criterion_group!(benches, theta);
criterion_main!(benches);
