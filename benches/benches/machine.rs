//! The machine's own limits, in the same run: how near to them a structure is.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::report::{Case, Gate};
use pds_benches::workload::quick;
use pds_hash::{mix, reduce};

const READS: u64 = 1 << 18;

fn machine(c: &mut Criterion) {
    // As large as the filters that are timed beyond the caches.
    let far: u64 = if quick() { 64 << 20 } else { 128 << 20 };
    for (name, bytes) in
        [("16 KiB", 16 << 10), ("512 KiB", 512 << 10), ("8 MiB", 8 << 20), ("beyond the caches", far)]
    {
        let words = bytes / 8;
        // One cycle through all lines, in an order that no prefetcher follows.
        let table = cycle(words / 8);
        let case = Case { structure: "machine", size: name.to_owned() };
        let time = |c: &mut Criterion, op: &str, elements: u64, mut run: Box<dyn FnMut() + '_>| {
            Gate::open(bytes as f64).report(&case, "machine", true);
            let mut group = c.benchmark_group(case.group(op));
            group.throughput(Throughput::Elements(elements));
            group.bench_function("machine", |b| b.iter(&mut run));
        };
        let hops = READS.min(1 << 14);
        let mut at = 0;
        time(
            c,
            "dependent read",
            hops,
            Box::new(|| {
                for _ in 0..hops {
                    at = table[at as usize];
                }
                black_box(at);
            }),
        );
        let mut from = 0;
        time(
            c,
            "independent read",
            READS,
            Box::new(|| {
                // Other lines in every pass: those of one would fit a cache.
                for i in from..from + READS {
                    black_box(table[reduce(mix(i), words) as usize]);
                }
                from += READS;
            }),
        );
        let mut from = 0;
        time(
            c,
            "independent read, prefetched",
            READS,
            Box::new(|| {
                for i in from..from + READS {
                    prefetch(&table, reduce(mix(i + 64), words));
                    black_box(table[reduce(mix(i), words) as usize]);
                }
                from += READS;
            }),
        );
        let streamed = words.min(1 << 24);
        time(
            c,
            "streamed word",
            streamed,
            Box::new(|| {
                black_box(table[..streamed as usize].iter().fold(0u64, |sum, word| sum.wrapping_add(*word)));
            }),
        );
    }
}

/// A table in which the first word of each line names the first word of the next line on a random tour.
fn cycle(lines: u64) -> Vec<u64> {
    let mut order: Vec<u64> = (0..lines).collect();
    pds_testkit::SplitMix64::new(1).shuffle(&mut order);
    let mut table = vec![0; lines as usize * 8];
    for pair in order.windows(2) {
        table[pair[0] as usize * 8] = pair[1] * 8;
    }
    table[order[lines as usize - 1] as usize * 8] = order[0] * 8;
    table
}

#[inline(always)]
#[allow(unsafe_code)]
fn prefetch(table: &[u64], index: u64) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint that reads nothing and faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(table.as_ptr().wrapping_add(index as usize).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}

criterion_group!(benches, machine);
criterion_main!(benches);
