//! Bloom filters: ours and each peer's, in cache and out of it.

use criterion::{Criterion, criterion_group, criterion_main};
use pds_benches::contest::{contend, distant, far_case};
use pds_benches::filters::{
    Bloomfilter, Datasketches, Fastbloom, FastbloomPrehashed, Ours, OursPrehashed, SketchOxide,
};
use pds_benches::report::Case;
use pds_benches::workload::{hashes, numbers, quick, texts};

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

        let hashes = hashes(&u64s);
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

/// The rate of the filters that exceed every cache.
const FAR_FPR: f64 = 0.01;

fn out_of_cache(c: &mut Criterion) {
    let case = far_case(structure(FAR_FPR));
    distant::<Ours>(c, &case, FAR_FPR);
    distant::<Fastbloom<foldhash::fast::FixedState>>(c, &case, FAR_FPR);
    if !quick() {
        distant::<Fastbloom<fastbloom::DefaultHasher>>(c, &case, FAR_FPR);
    }
}

criterion_group!(benches, in_cache, out_of_cache);
criterion_main!(benches);
