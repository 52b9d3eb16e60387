//! Count-min: ours and each peer's, on a Zipf stream.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::frequency::{
    Amadeus, Asap, CountMinSketchCrate, Datasketches, Frequency, Ours, SketchOxide, gate,
};
use pds_benches::frequency_kin::{
    AsapFar, AsapSigned, ConservativeAmadeus, ConservativeCrate, DatasketchesFar, Far, OursConservative,
    OursFar, OursSigned, OxideConservative, OxideSigned, signed_gate,
};
use pds_benches::report::{Case, Gate};
use pds_benches::workload::{quick, wanted};
use pds_testkit::{DistinctKeys, Zipf, laws};

const RANKS: u64 = 1_000_000;
const SKEW: f64 = 1.1;

const PLAIN: &str = "count-min, 0.1 % at 99 %";
const CONSERVATIVE: &str = "conservative count-min, 0.1 % at 99 %";
const SIGNED: &str = "count-sketch, 4096 x 5";
const FAR: &str = "count-min, 16 MiB";

fn case(structure: &'static str, size: &str) -> Case {
    Case { structure, size: size.to_owned() }
}

fn frequency(c: &mut Criterion) {
    let events = if quick() { 1_000_000 } else { 5_000_000 };
    let ids = DistinctKeys::new(4);
    let stream: Vec<u64> = Zipf::new(RANKS, SKEW, 1).take(events).map(|rank| ids.key(rank)).collect();
    let mut exact = HashMap::new();
    for &key in &stream {
        *exact.entry(key).or_insert(0u64) += 1;
    }
    contend::<Ours>(c, PLAIN, &stream, &exact, gate);
    contend::<Datasketches>(c, PLAIN, &stream, &exact, gate);
    contend::<Asap>(c, PLAIN, &stream, &exact, gate);
    contend::<SketchOxide>(c, PLAIN, &stream, &exact, gate);
    contend::<CountMinSketchCrate<u64>>(c, PLAIN, &stream, &exact, gate);
    contend::<Amadeus<u64>>(c, PLAIN, &stream, &exact, gate);

    contend::<OursConservative>(c, CONSERVATIVE, &stream, &exact, gate);
    contend::<ConservativeCrate<u64>>(c, CONSERVATIVE, &stream, &exact, gate);
    contend::<ConservativeAmadeus<u64>>(c, CONSERVATIVE, &stream, &exact, gate);
    contend::<OxideConservative>(c, CONSERVATIVE, &stream, &exact, gate);

    contend::<OursSigned>(c, SIGNED, &stream, &exact, signed_gate);
    contend::<AsapSigned>(c, SIGNED, &stream, &exact, signed_gate);
    contend::<OxideSigned>(c, SIGNED, &stream, &exact, signed_gate);

    let far: Vec<u64> = ids.range(0..FAR_KEYS).collect();
    distant::<OursFar>(c, &far);
    distant::<DatasketchesFar>(c, &far);
    distant::<AsapFar>(c, &far);

    let texts: Vec<String> =
        stream[..stream.len().min(200_000)].iter().map(|key| format!("user-{key:016x}")).collect();
    strings::<str, Ours, _>(c, &texts);
    strings::<str, Datasketches, _>(c, &texts);
    strings::<String, SketchOxide, _>(c, &texts);
    strings::<str, Amadeus<str>, _>(c, &texts);
    let events = stream.len() as u64;
    gate(&filled::<Ours>(&stream), &exact, events).report(
        &case(PLAIN, TEXTS),
        <Ours as Frequency<u64>>::NAME,
        true,
    );
    gate(&filled::<Datasketches>(&stream), &exact, events).report(
        &case(PLAIN, TEXTS),
        <Datasketches as Frequency<u64>>::NAME,
        false,
    );
    gate(&filled::<SketchOxide>(&stream), &exact, events).report(
        &case(PLAIN, TEXTS),
        <SketchOxide as Frequency<u64>>::NAME,
        false,
    );
    gate(&filled::<Amadeus<u64>>(&stream), &exact, events).report(
        &case(PLAIN, TEXTS),
        Amadeus::<u64>::NAME,
        false,
    );
}

const SIZE: &str = "Zipf(1.1) u64";
const TEXTS: &str = "Zipf(1.1) strings";

fn filled<F: Frequency<u64>>(stream: &[u64]) -> F {
    let mut sketch = F::new();
    stream.iter().for_each(|key| sketch.add(key));
    sketch
}

fn contend<F: Frequency<u64>>(
    c: &mut Criterion,
    structure: &'static str,
    stream: &[u64],
    exact: &HashMap<u64, u64>,
    gate: fn(&F, &HashMap<u64, u64>, u64) -> Gate,
) {
    let case = case(structure, SIZE);
    if !wanted(&case, F::NAME, &["add", "estimate", "merge"]) {
        return;
    }
    let mut sketch: F = filled(stream);
    gate(&sketch, exact, stream.len() as u64).report(&case, F::NAME, F::OURS);

    // A window of the stream: a full pass would take the time of many samples.
    let window = &stream[..stream.len().min(500_000)];
    let mut group = c.benchmark_group(case.group("estimate"));
    group.throughput(Throughput::Elements(window.len() as u64));
    group.bench_function(F::NAME, |b| {
        b.iter(|| {
            for key in window {
                black_box(sketch.estimate(key));
            }
        });
    });
    group.finish();
    let mut group = c.benchmark_group(case.group("add"));
    group.throughput(Throughput::Elements(window.len() as u64));
    group.bench_function(F::NAME, |b| b.iter(|| window.iter().for_each(|key| sketch.add(key))));
    group.finish();

    let (mut target, other): (F, F) = (filled(&stream[..1000]), filled(&stream[1000..2000]));
    if target.merge(&other) {
        let mut group = c.benchmark_group(case.group("merge"));
        group.throughput(Throughput::Elements(1));
        group.bench_function(F::NAME, |b| b.iter(|| black_box(&mut target).merge(black_box(&other))));
    }
}

/// Of a table beyond the second-level cache, counted in one pass: distinct, so that every line is a stranger's.
const FAR_KEYS: u64 = 1_000_000;

fn distant<F: Far>(c: &mut Criterion, keys: &[u64]) {
    let case = case(FAR, "1M distinct u64");
    if !wanted(&case, F::NAME, &["add", "add, batch", "estimate", "estimate, batch"]) {
        return;
    }
    let mut sketch = F::new();
    keys.iter().for_each(|&key| sketch.add(key));
    let under = keys.iter().filter(|&&key| sketch.estimate(key) < 1).count() as u64;
    let law = laws::all_hold(under, keys.len() as u64);
    Gate::of(16.0 * 1024.0 * 1024.0, 0.0, "keys are under-counted", law).report(&case, F::NAME, F::OURS);

    let mut time = |op: &str, pass: &mut dyn FnMut(&mut F)| {
        let mut group = c.benchmark_group(case.group(op));
        group.throughput(Throughput::Elements(keys.len() as u64));
        group.bench_function(F::NAME, |b| b.iter(|| pass(&mut sketch)));
    };
    // Peers have no batch: theirs is the loop over single keys.
    time("add", &mut |sketch| keys.iter().for_each(|&key| sketch.add(key)));
    time("add, batch", &mut |sketch| sketch.add_batch(keys));
    time("estimate", &mut |sketch| {
        for &key in keys {
            black_box(sketch.estimate(key));
        }
    });
    time("estimate, batch", &mut |sketch| _ = black_box(sketch.estimate_batch(keys)));
}

/// Keys as text: the table is that of the numbers.
fn strings<K: ?Sized, F: Frequency<K>, S: Borrow<K>>(c: &mut Criterion, texts: &[S]) {
    let mut sketch = F::new();
    let mut group = c.benchmark_group(case(PLAIN, TEXTS).group("add"));
    group.throughput(Throughput::Elements(texts.len() as u64));
    group.bench_function(F::NAME, |b| b.iter(|| texts.iter().for_each(|key| sketch.add(key.borrow()))));
    group.finish();
    let mut group = c.benchmark_group(case(PLAIN, TEXTS).group("estimate"));
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
