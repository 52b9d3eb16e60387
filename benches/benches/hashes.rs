//! Hash functions: ours, portable ones whose outputs are promised, and, for orientation, ones without that promise.

use std::hash::{BuildHasher, Hash};
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::report::{Case, Gate, Role};
use pds_benches::workload::{numbers, texts};
use pds_hash::{Key, KeyHasher, SipHasher, SipHasher24, WyHasher};
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use xxhash_rust::{xxh3::xxh3_64_with_seed, xxh64::xxh64};

/// Few enough for the first-level cache.
const POOL: u64 = 1000;

/// Outputs that may change with a version are of no use to bytes that are stored.
const UNSTABLE: &str = "outputs are not promised to stay";

fn hashes(c: &mut Criterion) {
    let keys = numbers(POOL).members;
    let secrets = RapidSecrets::seed(7);
    let fold = foldhash::fast::FixedState::with_seed(7);

    let case = Case { structure: "hash", size: "u64".to_owned() };
    ours(c, &case, "pds-hash WyHasher", true, WyHasher::default(), &keys);
    ours(c, &case, "pds-hash SipHasher (keyed)", false, SipHasher::new([7; 16]), &keys);
    ours(c, &case, "pds-hash SipHasher24 (keyed)", false, SipHasher24::new([7; 16]), &keys);
    time(c, &case, "wyhash final3", None, &keys, |key| {
        wyhash::final3::wyhash(
            &key.to_le_bytes(),
            7,
            [0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3],
        )
    });
    time(c, &case, "rapidhash v3", None, &keys, |key| rapidhash_v3_seeded(&key.to_le_bytes(), &secrets));
    time(c, &case, "xxhash-rust xxh3", None, &keys, |key| xxh3_64_with_seed(&key.to_le_bytes(), 7));
    time(c, &case, "xxhash-rust xxh64", None, &keys, |key| xxh64(&key.to_le_bytes(), 7));
    time(c, &case, "foldhash", Some(UNSTABLE), &keys, |key| one(&fold, key));

    let keys = texts(POOL).members;
    let case = Case { structure: "hash", size: "strings of 16 to 32 bytes".to_owned() };
    ours(c, &case, "pds-hash WyHasher", true, WyHasher::default(), &keys);
    ours(c, &case, "pds-hash SipHasher (keyed)", false, SipHasher::new([7; 16]), &keys);
    ours(c, &case, "pds-hash SipHasher24 (keyed)", false, SipHasher24::new([7; 16]), &keys);
    time(c, &case, "rapidhash v3", None, &keys, |key| rapidhash_v3_seeded(key.as_bytes(), &secrets));
    time(c, &case, "xxhash-rust xxh3", None, &keys, |key| xxh3_64_with_seed(key.as_bytes(), 7));
    time(c, &case, "xxhash-rust xxh64", None, &keys, |key| xxh64(key.as_bytes(), 7));
    time(c, &case, "foldhash", Some(UNSTABLE), &keys, |key| one(&fold, key.as_str()));
}

fn one<T: Hash + ?Sized>(state: &impl BuildHasher, key: &T) -> u64 {
    state.hash_one(key)
}

/// Ours; only the default is compared, since a keyed hash does more.
fn ours<K: Key>(
    c: &mut Criterion,
    case: &Case,
    name: &str,
    compared: bool,
    hasher: impl KeyHasher,
    keys: &[K],
) {
    let role = if compared { Role::Ours } else { Role::Beside };
    Gate::open(0.0).report_as(case, name, role);
    run(c, case, name, keys, |key| hasher.hash_key(key));
}

fn time<K>(
    c: &mut Criterion,
    case: &Case,
    name: &str,
    fault: Option<&str>,
    keys: &[K],
    hash: impl Fn(&K) -> u64,
) {
    let kept = fault.map_or(Ok(()), |fault| Err(fault.to_owned()));
    Gate { kept, ..Gate::open(0.0) }.report(case, name, false);
    run(c, case, name, keys, hash);
}

fn run<K>(c: &mut Criterion, case: &Case, name: &str, keys: &[K], hash: impl Fn(&K) -> u64) {
    let mut group = c.benchmark_group(case.group("hash"));
    group.throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function(name, |b| {
        b.iter(|| {
            for key in keys {
                black_box(hash(key));
            }
        });
    });
}

criterion_group!(benches, hashes);
criterion_main!(benches);
