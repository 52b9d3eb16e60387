//! Quantile sketches: ours and each peer's. Values by the same streams, one contract a structure.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::quantile_peers::{
    AsapDd, AsapKll, DsDigest, DsKll, DsReq, Hdr, SketchesDd, TdigestCrate, TdigestsCrate,
};
use pds_benches::quantiles::{
    Contender, OurDd, OurDigest, OurKll, TAIL, alpha_gate, filled, latencies, rank_gate, tail_gate,
};
use pds_benches::report::{Case, Gate};
use pds_benches::workload::{quick, wanted};
use pds_testkit::SplitMix64;

const OPS: [&str; 5] = ["insert", "quantile", "merge", "encode", "decode"];

/// Values of the gates, from which bytes and errors are.
const GATED: usize = 100_000;

fn inserted() -> usize {
    if quick() { 100_000 } else { 1_000_000 }
}

/// Times a contender that its gate has judged.
fn contend<C: Contender>(c: &mut Criterion, case: &Case, part: &[f64], gate: impl FnOnce() -> Gate) {
    if !wanted(case, C::NAME, &OPS) {
        return;
    }
    gate().report_as(case, C::NAME, C::ROLE);
    let values = latencies(1, inserted());

    let mut group = c.benchmark_group(case.group("insert"));
    group.throughput(Throughput::Elements(values.len() as u64));
    group.bench_function(C::NAME, |b| {
        b.iter_batched_ref(
            C::new,
            |sketch| values.iter().for_each(|&value| sketch.insert(value)),
            BatchSize::PerIteration,
        );
    });
    group.finish();

    let mut sketch: C = filled(&values);
    let view = sketch.view();
    let qs: Vec<f64> = (1..100).map(|i| f64::from(i) / 100.0).collect();
    let mut group = c.benchmark_group(case.group("quantile"));
    group.throughput(Throughput::Elements(qs.len() as u64));
    group.bench_function(C::NAME, |b| {
        b.iter(|| qs.iter().for_each(|&q| _ = black_box(C::quantile(&view, q))));
    });
    group.finish();

    let (mut target, other): (C, C) = (filled(part), filled(part));
    if target.merge(&other) {
        let mut group = c.benchmark_group(case.group("merge"));
        group.throughput(Throughput::Elements(1));
        group.bench_function(C::NAME, |b| b.iter(|| black_box(&mut target).merge(black_box(&other))));
    }

    let Some(bytes) = sketch.encode() else { return };
    let mut group = c.benchmark_group(case.group("encode"));
    group.throughput(Throughput::Elements(1));
    group.bench_function(C::NAME, |b| b.iter(|| black_box(sketch.encode())));
    group.finish();
    let mut group = c.benchmark_group(case.group("decode"));
    group.throughput(Throughput::Elements(1));
    group.bench_function(C::NAME, |b| b.iter(|| black_box(C::decode(black_box(&bytes)))));
}

fn case(structure: &'static str) -> Case {
    Case { structure, size: "log-normal f64".to_owned() }
}

/// What is merged: as many values as fill 512 bins of 2%.
fn bins_512() -> Vec<f64> {
    const SPAN: f64 = 512.0 * 0.02;
    let mut random = SplitMix64::new(5);
    (0..50_000).map(|_| (SPAN * random.next_f64()).exp()).collect()
}

fn ddsketch(c: &mut Criterion) {
    let (case, part, values) = (case("DDSketch, 1 %"), bins_512(), latencies(0, GATED));
    contend::<OurDd<false>>(c, &case, &part, || alpha_gate::<OurDd<false>>(&values));
    contend::<OurDd<true>>(c, &case, &part, || alpha_gate::<OurDd<true>>(&values));
    contend::<SketchesDd>(c, &case, &part, || alpha_gate::<SketchesDd>(&values));
    contend::<AsapDd>(c, &case, &part, || alpha_gate::<AsapDd>(&values));
    contend::<Hdr>(c, &case, &part, || alpha_gate::<Hdr>(&values));
}

/// Values of a small digest that is merged.
const PART: usize = 2000;

fn digests<const DELTA: u32>(c: &mut Criterion, case: &Case, target: Option<f64>) {
    let part = latencies(2, PART);
    contend::<OurDigest<DELTA>>(c, case, &part, || tail_gate::<OurDigest<DELTA>>(GATED, target));
    contend::<DsDigest<DELTA>>(c, case, &part, || tail_gate::<DsDigest<DELTA>>(GATED, target));
    contend::<TdigestCrate<DELTA>>(c, case, &part, || tail_gate::<TdigestCrate<DELTA>>(GATED, target));
    contend::<TdigestsCrate<DELTA>>(c, case, &part, || tail_gate::<TdigestsCrate<DELTA>>(GATED, target));
}

fn kll(c: &mut Criterion) {
    let (case, part) = (case("KLL, k = 200"), latencies(2, PART));
    contend::<OurKll>(c, &case, &part, || rank_gate::<OurKll>(GATED));
    contend::<DsKll>(c, &case, &part, || rank_gate::<DsKll>(GATED));
    contend::<AsapKll>(c, &case, &part, || rank_gate::<AsapKll>(GATED));
    contend::<DsReq>(c, &case, &part, || rank_gate::<DsReq>(GATED));
}

fn quantiles(c: &mut Criterion) {
    ddsketch(c);
    digests::<100>(c, &case("t-digest, compression 100"), None);
    digests::<200>(c, &case("t-digest, compression 200"), Some(TAIL));
    kll(c);
}

criterion_group!(benches, quantiles);
criterion_main!(benches);
