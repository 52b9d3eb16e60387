//! The Bloom family: blocked, split-block, counting and scalable filters, and views, in cache and out of it.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::blocks::{
    BLOCKED_BITS, Blocked, BlockedBeside, BlockedBesidePrehashed, BlockedPrehashed, Counting,
    CountingPrehashed, Growable, Parquet, SPLIT_BLOCK_BITS, Sbbf, SbbfPrehashed, Scalable, SplitBlock,
    SplitBlockBeside, SplitBlockBesidePrehashed, SplitBlockPrehashed,
};
use pds_benches::contest::{contend, distant, far_case};
use pds_benches::filters::Fastbloom;
use pds_benches::report::{Case, Gate, Role};
use pds_benches::workload::{Workload, hashes, numbers, quick, texts};
use pds_bloom::prelude::*;
use pds_testkit::laws;

/// Fits the second-level cache with room to spare.
const IN_CACHE: u64 = 100_000;

/// What the filters of equal bits have to keep: the rate of the one that needs most bits for it.
const SPLIT_BLOCK_RATE: f64 = 0.01;
const BLOCKED_RATE: f64 = 0.0133;

const SPLIT_BLOCK_TITLE: &str = "split-block filter, 11 bits a key";
const BLOCKED_TITLE: &str = "blocked filter, 10 bits a key";
const COUNTING_TITLE: &str = "counting filter, 10 bits a key and counters";
const SCALABLE_TITLE: &str = "scalable filter, 1 %";
const VIEWS_TITLE: &str = "views";

fn case(structure: &'static str, size: &str) -> Case {
    Case { structure, size: size.to_owned() }
}

fn split_block(c: &mut Criterion) {
    let u64s = numbers(IN_CACHE);
    let prehashed = case(SPLIT_BLOCK_TITLE, "100k hashes");
    let hashed = hashes(&u64s);
    contend::<u64, SplitBlockPrehashed, _>(c, &prehashed, &hashed, SPLIT_BLOCK_RATE);
    contend::<u64, SbbfPrehashed<SPLIT_BLOCK_BITS>, _>(c, &prehashed, &hashed, SPLIT_BLOCK_RATE);
    let keyed = case(SPLIT_BLOCK_TITLE, "100k u64");
    contend::<u64, SplitBlock, _>(c, &keyed, &u64s, SPLIT_BLOCK_RATE);
    contend::<u64, Sbbf<SPLIT_BLOCK_BITS>, _>(c, &keyed, &u64s, SPLIT_BLOCK_RATE);
    contend::<u64, Parquet, _>(c, &keyed, &u64s, SPLIT_BLOCK_RATE);
    if !quick() {
        let (strings, text) = (texts(IN_CACHE), case(SPLIT_BLOCK_TITLE, "100k strings"));
        contend::<str, SplitBlock, _>(c, &text, &strings, SPLIT_BLOCK_RATE);
        contend::<str, Sbbf<SPLIT_BLOCK_BITS>, _>(c, &text, &strings, SPLIT_BLOCK_RATE);
        contend::<str, Parquet, _>(c, &text, &strings, SPLIT_BLOCK_RATE);
    }
    let far = far_case(SPLIT_BLOCK_TITLE);
    distant::<SplitBlock>(c, &far, SPLIT_BLOCK_RATE);
    distant::<Sbbf<SPLIT_BLOCK_BITS>>(c, &far, SPLIT_BLOCK_RATE);
}

fn blocked(c: &mut Criterion) {
    let u64s = numbers(IN_CACHE);
    let prehashed = case(BLOCKED_TITLE, "100k hashes");
    let hashed = hashes(&u64s);
    contend::<u64, BlockedPrehashed, _>(c, &prehashed, &hashed, BLOCKED_RATE);
    contend::<u64, SplitBlockBesidePrehashed, _>(c, &prehashed, &hashed, BLOCKED_RATE);
    contend::<u64, SbbfPrehashed<BLOCKED_BITS>, _>(c, &prehashed, &hashed, BLOCKED_RATE);
    let keyed = case(BLOCKED_TITLE, "100k u64");
    contend::<u64, Blocked, _>(c, &keyed, &u64s, BLOCKED_RATE);
    contend::<u64, SplitBlockBeside, _>(c, &keyed, &u64s, BLOCKED_RATE);
    contend::<u64, Sbbf<BLOCKED_BITS>, _>(c, &keyed, &u64s, BLOCKED_RATE);
    contend::<u64, Fastbloom<foldhash::fast::FixedState>, _>(c, &keyed, &u64s, BLOCKED_RATE);
    let far = far_case(BLOCKED_TITLE);
    distant::<Blocked>(c, &far, BLOCKED_RATE);
    distant::<Sbbf<BLOCKED_BITS>>(c, &far, BLOCKED_RATE);
}

fn counting(c: &mut Criterion) {
    let u64s = numbers(IN_CACHE);
    let prehashed = case(COUNTING_TITLE, "100k hashes");
    let hashed = hashes(&u64s);
    contend::<u64, CountingPrehashed, _>(c, &prehashed, &hashed, BLOCKED_RATE);
    contend::<u64, BlockedBesidePrehashed, _>(c, &prehashed, &hashed, BLOCKED_RATE);
    let keyed = case(COUNTING_TITLE, "100k u64");
    contend::<u64, Counting, _>(c, &keyed, &u64s, BLOCKED_RATE);
    contend::<u64, BlockedBeside, _>(c, &keyed, &u64s, BLOCKED_RATE);

    let params = CountingBloomParams::for_fpr(IN_CACHE, 0.01).expect("usual targets");
    let mut full = CountingBloomFilter::new(params);
    full.extend(&u64s.members);
    let mut group = c.benchmark_group(keyed.group("remove"));
    group.throughput(Throughput::Elements(IN_CACHE));
    group.bench_function("pds-bloom", |b| {
        let empty = |filter: &mut CountingBloomFilter| {
            for key in &u64s.members {
                black_box(filter.remove(key)).expect("it was inserted");
            }
        };
        b.iter_batched_ref(|| full.clone(), empty, BatchSize::PerIteration);
    });
}

fn scalable(c: &mut Criterion) {
    let u64s = numbers(IN_CACHE);
    let within = case(SCALABLE_TITLE, "100k u64, of the first size");
    contend::<u64, Scalable<1>, _>(c, &within, &u64s, 0.01);
    contend::<u64, Growable<1>, _>(c, &within, &u64s, 0.01);
    let grown = case(SCALABLE_TITLE, "100k u64, grown 100 times");
    contend::<u64, Scalable<100>, _>(c, &grown, &u64s, 0.01);
    contend::<u64, Growable<100>, _>(c, &grown, &u64s, 0.01);
}

/// Views beside the filters that wrote their bytes.
fn views(c: &mut Criterion) {
    let load = hashes(&numbers(IN_CACHE));
    let params = BloomParams::for_fpr(IN_CACHE, 0.01).expect("usual targets");
    let mut classic = BloomFilter::new(params);
    classic.insert_batch(&load.members);
    let bytes = classic.to_bytes();
    let view = BloomFilter::view(&bytes).expect("its own bytes");
    beside(c, "classic", &load, |hash| view.contains_hash(hash), |hash| classic.contains_hash(hash));

    let params = BlockedBloomParams::for_fpr(IN_CACHE, 0.01).expect("usual targets");
    let mut blocked = BlockedBloomFilter::new(params);
    blocked.insert_batch(&load.members);
    let bytes = blocked.to_bytes();
    let view = BlockedBloomFilter::view(&bytes).expect("its own bytes");
    beside(c, "blocked", &load, |hash| view.contains_hash(hash), |hash| blocked.contains_hash(hash));

    let params = SplitBlockParams::for_fpr(IN_CACHE, 0.01).expect("usual targets");
    let mut split_block = SplitBlockBloomFilter::new(params);
    split_block.insert_batch(&load.members);
    let bytes = split_block.to_bytes();
    let view = SplitBlockBloomFilter::view(&bytes).expect("its own bytes");
    beside(c, "split-block", &load, |hash| view.contains_hash(hash), |hash| split_block.contains_hash(hash));
}

fn beside(
    c: &mut Criterion,
    kind: &str,
    load: &Workload<u64>,
    view: impl Fn(u64) -> bool,
    owned: impl Fn(u64) -> bool,
) {
    let case = case(VIEWS_TITLE, &format!("{kind}, 100k hashes"));
    let asked = load.members.iter().chain(&load.strangers);
    let differ = asked.filter(|hash| view(**hash) != owned(**hash)).count() as u64;
    let hits = load.strangers.iter().filter(|hash| view(**hash)).count();
    // Both answer from the same bytes, which stand in the tables of the filters.
    let (bytes, error) = (0.0, hits as f64 / load.strangers.len() as f64);
    for (name, role) in [("view", Role::Ours), ("owned filter", Role::Reference)] {
        let same = laws::all_hold(differ, 2 * IN_CACHE);
        Gate::of(bytes, error, "view and filter differ", same).report_as(&case, name, role);
    }
    for (op, asked) in [("hit", &load.members), ("miss", &load.strangers), ("mixed", &load.mixed)] {
        let mut group = c.benchmark_group(case.group(op));
        group.throughput(Throughput::Elements(asked.len() as u64));
        group.bench_function("view", |b| b.iter(|| asked.iter().for_each(|hash| _ = black_box(view(*hash)))));
        group.bench_function("owned filter", |b| {
            b.iter(|| asked.iter().for_each(|hash| _ = black_box(owned(*hash))))
        });
    }
}

criterion_group!(benches, split_block, blocked, counting, scalable, views);
criterion_main!(benches);
