//! Count-min: ours and each peer's, on a Zipf stream.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::frequency::{
    Amadeus, Asap, CountMinSketchCrate, Datasketches, Frequency, Ours, SketchOxide, gate,
};
use pds_benches::report::Case;
use pds_benches::workload::quick;
use pds_testkit::{DistinctKeys, Zipf};

const RANKS: u64 = 1_000_000;
const SKEW: f64 = 1.1;

fn case(size: &str) -> Case {
    Case { structure: "count-min, 0.1 % at 99 %", size: size.to_owned() }
}

fn frequency(c: &mut Criterion) {
    let events = if quick() { 1_000_000 } else { 5_000_000 };
    let ids = DistinctKeys::new(4);
    let stream: Vec<u64> = Zipf::new(RANKS, SKEW, 1).take(events).map(|rank| ids.key(rank)).collect();
    let mut exact = HashMap::new();
    for &key in &stream {
        *exact.entry(key).or_insert(0u64) += 1;
    }
    contend::<Ours>(c, &stream, &exact);
    contend::<Datasketches>(c, &stream, &exact);
    contend::<Asap>(c, &stream, &exact);
    contend::<SketchOxide>(c, &stream, &exact);
    contend::<CountMinSketchCrate<u64>>(c, &stream, &exact);
    contend::<Amadeus<u64>>(c, &stream, &exact);

    let texts: Vec<String> =
        stream[..stream.len().min(200_000)].iter().map(|key| format!("user-{key:016x}")).collect();
    strings::<str, Ours, _>(c, &texts);
    strings::<str, Datasketches, _>(c, &texts);
    strings::<String, SketchOxide, _>(c, &texts);
    strings::<str, Amadeus<str>, _>(c, &texts);
    let events = stream.len() as u64;
    gate(&filled::<Ours>(&stream), &exact, events).report(&case(TEXTS), <Ours as Frequency<u64>>::NAME, true);
    gate(&filled::<Datasketches>(&stream), &exact, events).report(
        &case(TEXTS),
        <Datasketches as Frequency<u64>>::NAME,
        false,
    );
    gate(&filled::<SketchOxide>(&stream), &exact, events).report(
        &case(TEXTS),
        <SketchOxide as Frequency<u64>>::NAME,
        false,
    );
    gate(&filled::<Amadeus<u64>>(&stream), &exact, events).report(&case(TEXTS), Amadeus::<u64>::NAME, false);
}

const SIZE: &str = "Zipf(1.1) u64";
const TEXTS: &str = "Zipf(1.1) strings";

fn filled<F: Frequency<u64>>(stream: &[u64]) -> F {
    let mut sketch = F::new();
    stream.iter().for_each(|key| sketch.add(key));
    sketch
}

fn contend<F: Frequency<u64>>(c: &mut Criterion, stream: &[u64], exact: &HashMap<u64, u64>) {
    let mut sketch: F = filled(stream);
    gate(&sketch, exact, stream.len() as u64).report(&case(SIZE), F::NAME, F::OURS);

    // A window of the stream: a full pass would take the time of many samples.
    let window = &stream[..stream.len().min(500_000)];
    let mut group = c.benchmark_group(case(SIZE).group("estimate"));
    group.throughput(Throughput::Elements(window.len() as u64));
    group.bench_function(F::NAME, |b| {
        b.iter(|| {
            for key in window {
                black_box(sketch.estimate(key));
            }
        });
    });
    group.finish();
    let mut group = c.benchmark_group(case(SIZE).group("add"));
    group.throughput(Throughput::Elements(window.len() as u64));
    group.bench_function(F::NAME, |b| b.iter(|| window.iter().for_each(|key| sketch.add(key))));
    group.finish();

    let (mut target, other): (F, F) = (filled(&stream[..1000]), filled(&stream[1000..2000]));
    if target.merge(&other) {
        let mut group = c.benchmark_group(case(SIZE).group("merge"));
        group.throughput(Throughput::Elements(1));
        group.bench_function(F::NAME, |b| b.iter(|| black_box(&mut target).merge(black_box(&other))));
    }
}

/// Keys as text: the table is that of the numbers.
fn strings<K: ?Sized, F: Frequency<K>, S: Borrow<K>>(c: &mut Criterion, texts: &[S]) {
    let mut sketch = F::new();
    let mut group = c.benchmark_group(case(TEXTS).group("add"));
    group.throughput(Throughput::Elements(texts.len() as u64));
    group.bench_function(F::NAME, |b| b.iter(|| texts.iter().for_each(|key| sketch.add(key.borrow()))));
    group.finish();
    let mut group = c.benchmark_group(case(TEXTS).group("estimate"));
    group.throughput(Throughput::Elements(texts.len() as u64));
    group.bench_function(F::NAME, |b| {
        b.iter(|| {
            for key in texts {
                black_box(sketch.estimate(key.borrow()));
            }
        });
    });
}

criterion_group!(benches, frequency);
criterion_main!(benches);
