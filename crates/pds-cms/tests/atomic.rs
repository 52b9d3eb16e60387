//! The shared sketch is the owned one, whoever fills it.

#![cfg(target_has_atomic = "64")]

use std::thread;

use pds_cms::prelude::*;
use pds_cms::{Cell, WyHasher};
use pds_testkit::fewer_interpreted;
use proptest::prelude::*;

fn shape(width: u64, depth: u32) -> CountMinParams {
    CountMinParams::with_shape(width, depth).expect("a legal shape")
}

fn streams() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let next_to = |edge: u64| edge - 2..=edge;
    let weights = prop_oneof![
        4 => 0..5u64, 1 => next_to(256), 1 => next_to(1 << 16), 1 => next_to(1 << 32), 1 => next_to(u64::MAX)
    ];
    prop::collection::vec((0..30u64, weights), 0..40)
}

fn owned<C: Cell>(params: CountMinParams, stream: &[(u64, u64)]) -> CountMinSketch<C> {
    let mut sketch = CountMinSketch::with_hasher(params, WyHasher::default());
    for (key, n) in stream {
        sketch.insert_n(key, *n);
    }
    sketch
}

fn check<C: Cell>(params: CountMinParams, left: &[(u64, u64)], right: &[(u64, u64)]) {
    let whole = owned::<C>(params, &[left, right].concat());
    let shared = AtomicCountMinSketch::<C>::with_hasher(params, WyHasher::default());
    for (key, n) in left {
        let before = shared.snapshot();
        let changed = shared.insert_n(key, *n);
        assert!(changed || shared.snapshot() == before);
    }
    // The rest by way of an owned sketch, in three ways.
    let mut resumed = AtomicCountMinSketch::from(shared.snapshot());
    let absorbed = AtomicCountMinSketch::from(shared.snapshot());
    absorbed.absorb(&owned(params, right)).expect("sketches of one shape");
    for (key, n) in right {
        shared.insert_n(key, *n);
        resumed.insert_n(key, *n);
    }
    for sketch in [&shared, &resumed, &absorbed] {
        assert!(sketch.snapshot() == whole);
        assert_eq!((sketch.total(), sketch.is_saturated()), (whole.total(), whole.is_saturated()));
        for key in 0..35u64 {
            assert_eq!(sketch.estimate(&key), whole.estimate(&key));
        }
    }
    assert_eq!(shared.into_inner().to_bytes(), whole.to_bytes());
    resumed.clear();
    assert!(resumed.into_inner() == owned(params, &[]));
}

proptest! {
    #[test]
    fn a_shared_sketch_has_the_bytes_of_an_owned_one(
        (width, depth) in (1..40u64, 1..6u32),
        left in streams(),
        right in streams(),
    ) {
        let params = shape(width, depth);
        check::<u8>(params, &left, &right);
        check::<u16>(params, &left, &right);
        check::<u32>(params, &left, &right);
        check::<u64>(params, &left, &right);
    }

    #[test]
    fn a_halved_sketch_is_shared_and_comes_back(stream in streams(), more in streams()) {
        let mut sketch = owned::<u8>(shape(9, 3), &stream);
        sketch.halve();
        let shared = AtomicCountMinSketch::from(sketch.clone());
        prop_assert!(shared.snapshot() == sketch);
        for (key, n) in &more {
            shared.insert_n(key, *n);
            sketch.insert_n(key, *n);
        }
        let shared = shared.into_inner();
        prop_assert!((0..30u64).all(|key| shared.estimate(&key) == sketch.estimate(&key)));
        prop_assert_eq!(shared.total(), sketch.total());
        prop_assert!(<CountMinSketch<u8> as Sketch>::from_bytes(&shared.to_bytes()).is_ok_and(|read| read == shared));
    }
}

/// Threads on the same few cells, over the edge of what these hold.
#[test]
fn threads_fill_it_as_one_would() {
    const THREADS: u64 = 4;
    const EACH: u64 = fewer_interpreted(40_000);
    fn run<C: Cell>(n: u64) {
        let params = shape(13, 3);
        let shared = AtomicCountMinSketch::<C>::with_hasher(params, WyHasher::default());
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let shared = &shared;
                scope.spawn(move || {
                    for i in 0..EACH {
                        shared.insert_n(&(i % 17 + thread), n);
                        // What happened before is seen.
                        assert!(shared.estimate(&(i % 17 + thread)) >= n * (i / 17));
                    }
                });
            }
        });
        let stream: Vec<_> =
            (0..THREADS).flat_map(|thread| (0..EACH).map(move |i| (i % 17 + thread, n))).collect();
        assert_eq!(shared.into_inner().to_bytes(), owned::<C>(params, &stream).to_bytes());
    }
    run::<u8>(1);
    run::<u16>(1);
    run::<u32>(1);
    run::<u32>(100_000);
    run::<u64>(1 << 47);
}

/// Counts under way are in some rows and not yet in others: the copy is a sketch all the same.
#[test]
fn a_copy_made_meanwhile_has_valid_bytes_and_never_under_counts() {
    let shared = AtomicCountMinSketch::<u16>::with_hasher(shape(50, 4), WyHasher::default());
    thread::scope(|scope| {
        for thread in 0..2u64 {
            let shared = &shared;
            scope.spawn(move || (0..200_000u64).for_each(|i| _ = shared.insert_n(&(i % 100 + thread), 3)));
        }
        let mut last = 0;
        for _ in 0..300 {
            shared.insert("mine");
            last += 1;
            let copy = shared.snapshot();
            let read = <CountMinSketch<u16> as Sketch>::from_bytes(&copy.to_bytes());
            assert!(read.is_ok_and(|read| read == copy));
            assert!(copy.estimate("mine") >= last && copy.total() >= last);
        }
    });
    assert_eq!(shared.total(), 2 * 200_000 * 3 + 300);
}

#[test]
fn what_does_not_fit_is_not_absorbed() {
    let shared = AtomicCountMinSketch::new(shape(50, 4));
    let refused = |other: &CountMinSketch| shared.absorb(other).unwrap_err();
    assert_eq!(refused(&CountMinSketch::new(shape(51, 4))), Error::Incompatible { field: "width" });
    let seeded = CountMinSketch::<u32>::with_hasher(shape(50, 4), WyHasher::with_seed(3));
    assert!(matches!(refused(&seeded), Error::Hasher { .. }));
    let mut halved = CountMinSketch::new(shape(50, 4));
    halved.insert_n("key", 3);
    halved.halve();
    assert_eq!(refused(&halved), Error::Incompatible { field: "rows" });
    assert_eq!(shared.total(), 0);
}
