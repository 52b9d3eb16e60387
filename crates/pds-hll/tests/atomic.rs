//! The shared sketch has the bytes of the owned one, and real threads lose nothing.
#![cfg(all(target_has_atomic = "8", target_has_atomic = "32"))]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pds_hll::prelude::*;
use pds_testkit::{DistinctKeys, key_lists};
use proptest::prelude::*;

fn params(precision: u8) -> HllParams {
    HllParams::with_precision(precision).expect("4 to 18")
}

fn owned(precision: u8, keys: &[u64]) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(params(precision));
    sketch.extend(keys);
    sketch
}

proptest! {
    #[test]
    fn one_thread_makes_the_owned_sketch_step_by_step(keys in key_lists(), precision in 4..=10u8) {
        let shared = AtomicHyperLogLog::new(params(precision));
        let mut sketch = HyperLogLog::new(params(precision));
        for key in &keys {
            prop_assert_eq!(shared.insert(key), sketch.insert(key));
        }
        prop_assert!(shared.snapshot() == sketch);
        prop_assert_eq!(shared.estimate().to_bits(), sketch.estimate().to_bits());
        prop_assert_eq!(shared.bounds(2.0), sketch.bounds(2.0));
        prop_assert!(shared.into_inner().to_bytes() == sketch.to_bytes());
    }

    #[test]
    fn unions_are_those_of_the_owned_sketches(
        a in key_lists(), b in key_lists(), c in key_lists(), p in 4..=8u8, more in 0..=4u8,
    ) {
        let shared = AtomicHyperLogLog::from(owned(p, &a));
        prop_assert!(shared.snapshot() == owned(p, &a));
        shared.union_with(&owned(p + more, &b)).unwrap();
        prop_assert!(shared.snapshot() == owned(p, &[&a[..], &b].concat()));
        for key in &c {
            shared.insert(key);
        }
        prop_assert!(shared.snapshot() == owned(p, &[a, b, c].concat()));
    }
}

#[test]
fn many_threads_make_the_sketch_of_one() {
    const THREADS: u64 = 4;
    let cases = [(4, 100), (12, 700), (12, 900), (12, 20_000), (14, 3000)];
    for (precision, keys) in cases.into_iter().take(if cfg!(miri) { 1 } else { cases.len() }) {
        let shared = AtomicHyperLogLog::new(params(precision));
        let told = AtomicUsize::new(0);
        thread::scope(|scope| {
            for t in 0..THREADS {
                let (shared, told) = (&shared, &told);
                scope.spawn(move || {
                    // All threads insert all keys, from different places on.
                    let all: Vec<u64> = DistinctKeys::new(1).range(0..keys).collect();
                    let (late, early) = all.split_at((keys * t / THREADS) as usize);
                    for key in early.iter().chain(late) {
                        told.fetch_add(usize::from(shared.insert(key)), Ordering::Relaxed);
                        if key % 256 == 0 {
                            assert!(shared.estimate() <= 2.0 * keys as f64 + 10.0);
                        }
                    }
                });
            }
        });
        let alone = owned(precision, &DistinctKeys::new(1).range(0..keys).collect::<Vec<_>>());
        if alone.is_sparse() {
            assert_eq!(told.into_inner() as u64, keys);
        }
        assert!(shared.into_inner().to_bytes() == alone.to_bytes(), "p = {precision}, {keys} keys");
    }
}

#[test]
fn lower_precisions_and_other_hashers_are_refused() {
    let shared = AtomicHyperLogLog::new(params(8));
    let error = shared.union_with(&owned(7, &[1]));
    assert_eq!(error, Err(Error::Incompatible { field: "precision" }));
    assert!(shared.snapshot().is_empty());
    let keyed = AtomicHyperLogLog::with_hasher(params(8), SipHasher::new([1; 16]));
    let other = HyperLogLog::with_hasher(params(8), SipHasher::new([2; 16]));
    assert!(matches!(keyed.union_with(&other), Err(Error::Hasher { .. })));
}

#[test]
fn clearing_forgets_everything() {
    let mut shared = AtomicHyperLogLog::from(owned(8, &(0..5000).collect::<Vec<_>>()));
    assert_eq!(shared.size_bytes(), 2 * 256);
    shared.clear();
    assert!(shared.snapshot() == owned(8, &[]));
    shared.insert_batch(&[1, 2, 3]);
    assert!(shared.snapshot().is_sparse());
    assert!(format!("{shared:?}").starts_with("AtomicHyperLogLog { params: HllParams { p: 8 }"));
}
