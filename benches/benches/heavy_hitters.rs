//! Frequent keys of Zipf streams: ours and each peer's.

use std::collections::HashMap;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::heap::{Counting, measured};
use pds_benches::heavy_hitters::{
    AmadeusTop, AsapSaving, DatasketchesItems, Filtered, Heavy, KeeperBucketed, KeeperCuckoo, KeeperTopK,
    OursKeeper, OursMisra, OursSaving, OursTopK, OxideItems, OxideSaving, gate,
};
use pds_benches::report::Case;
use pds_benches::workload::{quick, wanted};
use pds_testkit::{DistinctKeys, Zipf};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RANKS: u64 = 1_000_000;
const SKEWS: [f64; 3] = [0.8, 1.1, 1.3];

/// Keys counted in one pass.
const WINDOW: usize = 200_000;

const SAVING: &str = "SpaceSaving, 1024 counters";
const ITEMS: &str = "frequent items, 768 counters";
const TOP: &str = "top 100, 64 KiB of cells";

struct Stream {
    size: String,
    keys: Vec<u64>,
    exact: HashMap<u64, u64>,
}

impl Stream {
    fn new(skew: f64) -> Self {
        let events = if quick() { 1_000_000 } else { 5_000_000 };
        let ids = DistinctKeys::new(4);
        let keys: Vec<u64> = Zipf::new(RANKS, skew, 1).take(events).map(|rank| ids.key(rank)).collect();
        let mut exact = HashMap::new();
        for &key in &keys {
            *exact.entry(key).or_insert(0) += 1;
        }
        Self { size: format!("Zipf({skew}) u64"), keys, exact }
    }
}

fn contend<H: Heavy>(c: &mut Criterion, structure: &'static str, stream: &Stream) {
    let case = Case { structure, size: stream.size.clone() };
    if !wanted(&case, H::NAME, &["update"]) {
        return;
    }
    let fill = || {
        let mut heavy = H::new();
        stream.keys.iter().for_each(|&key| heavy.add(key));
        heavy
    };
    let (mut heavy, held, _) = measured(fill);
    gate(&heavy, held, &stream.exact).report_as(&case, H::NAME, H::ROLE);

    let window = &stream.keys[stream.keys.len() - WINDOW..];
    let mut group = c.benchmark_group(case.group("update"));
    group.throughput(Throughput::Elements(WINDOW as u64));
    group.bench_function(H::NAME, |b| b.iter(|| window.iter().for_each(|&key| heavy.add(key))));
}

fn heavy_hitters(c: &mut Criterion) {
    for skew in SKEWS {
        let stream = Stream::new(skew);
        contend::<OursSaving>(c, SAVING, &stream);
        contend::<AsapSaving>(c, SAVING, &stream);
        contend::<Filtered>(c, SAVING, &stream);
        contend::<OxideSaving>(c, SAVING, &stream);

        contend::<OursMisra>(c, ITEMS, &stream);
        contend::<DatasketchesItems>(c, ITEMS, &stream);
        contend::<OxideItems>(c, ITEMS, &stream);

        contend::<OursKeeper>(c, TOP, &stream);
        contend::<OursTopK>(c, TOP, &stream);
        contend::<KeeperTopK>(c, TOP, &stream);
        contend::<KeeperBucketed>(c, TOP, &stream);
        contend::<KeeperCuckoo>(c, TOP, &stream);
        contend::<AmadeusTop>(c, TOP, &stream);
    }
}

criterion_group!(benches, heavy_hitters);
criterion_main!(benches);
