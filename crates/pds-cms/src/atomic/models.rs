//! Small cases in every order of execution that the memory model has, stale reads among them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use loom::thread;

use super::shared::{Flag, SharedTable};
use crate::cell::sealed::Shared;
use crate::{CountMinParams, CountMinSketch, Prehashed, table};

/// Taken before each read.
///
/// The explorer misses executions where a thread reads memory before it writes it (tokio-rs/loom, issues 166 and 392): of the
/// accesses to it, it keeps the last, and a thread's own read hides another's. So each read takes a turn first, a write to
/// memory that is not otherwise used. Being relaxed it orders nothing.
struct Turn(AtomicU64);

impl Turn {
    fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn take(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct ModelCell(Turn, AtomicU8);
struct ModelSpill(Turn, AtomicU64);
struct ModelFlag(Turn, AtomicBool);

impl Shared<u8> for ModelCell {
    fn new(count: u8) -> Self {
        Self(Turn::new(), AtomicU8::new(count))
    }
    fn load(&self) -> u8 {
        self.0.take();
        self.1.load(Ordering::Relaxed)
    }
    fn replace(&self, before: u8, after: u8) -> Result<(), u8> {
        self.1.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed).map(|_| ())
    }
}

impl Shared<u64> for ModelSpill {
    fn new(count: u64) -> Self {
        Self(Turn::new(), AtomicU64::new(count))
    }
    fn load(&self) -> u64 {
        self.0.take();
        self.1.load(Ordering::Relaxed)
    }
    fn replace(&self, before: u64, after: u64) -> Result<(), u64> {
        self.1.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed).map(|_| ())
    }
}

impl Flag for ModelFlag {
    fn new(raised: bool) -> Self {
        Self(Turn::new(), AtomicBool::new(raised))
    }
    fn load(&self) -> bool {
        self.0.take();
        self.1.load(Ordering::Relaxed)
    }
    fn raise(&self) {
        self.1.store(true, Ordering::Relaxed);
    }
}

/// A cell that is read, changed and written back: what the table would be without a compare-and-swap.
struct WrittenBack(ModelCell);

impl Shared<u8> for WrittenBack {
    fn new(count: u8) -> Self {
        Self(ModelCell::new(count))
    }
    fn load(&self) -> u8 {
        self.0.load()
    }
    fn replace(&self, _: u8, after: u8) -> Result<(), u8> {
        self.0.1.store(after, Ordering::Relaxed);
        Ok(())
    }
}

type Model<A = ModelCell> = SharedTable<u8, A, ModelSpill, ModelFlag>;

/// A key's hash, and how often it is counted.
type Count = (u64, u64);

/// Two rows of two cells.
fn params() -> CountMinParams {
    CountMinParams::with_shape(2, 2).expect("a valid shape")
}

/// Hashes that meet in the first row alone.
fn pair() -> [u64; 2] {
    let cells = |hash| table::positions(params(), hash).collect::<Vec<_>>();
    let first = 1 << 63 | 5;
    let meets = |&other: &u64| cells(other)[0] == cells(first)[0] && cells(other)[1] != cells(first)[1];
    let other = (0..1000).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).find(meets);
    [first, other.expect("one in four")]
}

/// Cells, total, and whether each of the two is saturated: a sketch in a form that can be compared and shown.
type Seen = (Vec<u8>, u64, [bool; 2]);

fn seen<A: Shared<u8>>(shared: &Model<A>) -> Seen {
    let (cells, tally) = shared.owned();
    (cells.into_vec(), tally.total, [tally.total_saturated, tally.cells_saturated])
}

fn owned(counts: &[Count]) -> CountMinSketch<u8, Prehashed> {
    let hasher = Prehashed(core::num::NonZeroU64::MIN);
    let mut sketch = CountMinSketch::with_hasher(params(), hasher);
    for &(hash, n) in counts {
        sketch.insert_hash_n(hash, n);
    }
    sketch
}

fn expected(counts: &[Count]) -> Seen {
    let CountMinSketch { cells, tally, .. } = owned(counts);
    (cells.into_vec(), tally.total, [tally.total_saturated, tally.cells_saturated])
}

fn shared<A: Shared<u8>>(before: &[Count]) -> Model<A> {
    let CountMinSketch { params, cells, tally, .. } = owned(before);
    Model::new(params, &cells, tally)
}

/// What is seen in all the executions together.
fn outcomes<T: Ord + Debug + Send + 'static>(
    execution: impl Fn() -> T + Send + Sync + 'static,
) -> BTreeSet<T> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let all = Arc::clone(&seen);
    loom::model(move || {
        let outcome = execution();
        all.lock().expect("no execution panicked").insert(outcome);
    });
    let mut seen = seen.lock().expect("no execution panicked");
    core::mem::take(&mut *seen)
}

/// Two threads count a key each, in a sketch of some: the sketch when both are joined, and what they were told.
fn two_writers<A: Shared<u8> + 'static>(
    before: &[Count],
    [one, other]: [Count; 2],
) -> BTreeSet<(Seen, [bool; 2])> {
    let before: Box<[Count]> = before.into();
    outcomes(move || {
        let table = loom::sync::Arc::new(shared::<A>(&before));
        let theirs = table.clone();
        let writer = thread::spawn(move || theirs.insert(other.0, other.1));
        let mine = table.insert(one.0, one.1);
        let changed = [mine, writer.join().expect("no panic")];
        (seen(&*table), changed)
    })
}

#[test]
fn joined_threads_leave_the_sequential_sketch() {
    let [one, other] = pair();
    // Apart in a row, together in both, and over the edge of a cell on either side.
    for counts in
        [[(one, 1), (other, 2)], [(one, 1), (one, 2)], [(one, 200), (other, 100)], [(one, 255), (one, 1)]]
    {
        let outcome = (expected(&counts), [true, true]);
        assert_eq!(two_writers::<ModelCell>(&[], counts), BTreeSet::from([outcome]));
    }
}

/// Full cells change no more, and the total still does, up to its own limit.
#[test]
fn what_full_cells_cannot_hold_is_in_the_total() {
    let [one, other] = pair();
    let counts = [(one, u64::MAX - 300), (other, 100)];
    let all = [&[(one, 255)][..], &counts].concat();
    for (sketch, _) in two_writers::<ModelCell>(&[(one, 255)], counts) {
        assert_eq!(sketch, expected(&all));
    }
}

/// The control of the tests above.
#[test]
fn without_a_compare_and_swap_a_count_would_be_lost() {
    let [one, _] = pair();
    let counts = [(one, 1), (one, 2)];
    let seen = two_writers::<WrittenBack>(&[], counts);
    assert!(seen.iter().any(|(sketch, _)| *sketch == expected(&counts)));
    assert!(seen.iter().any(|(sketch, _)| *sketch != expected(&counts)));
}

/// A thread counts a key and raises a flag; another looks at the flag and then asks. What it sees, each time with the flag.
fn published(before: &[Count], count: Count, raise: Ordering, look: Ordering) -> BTreeSet<(bool, u64)> {
    let before: Box<[Count]> = before.into();
    outcomes(move || {
        let shared = loom::sync::Arc::new((shared::<ModelCell>(&before), AtomicBool::new(false)));
        let theirs = shared.clone();
        let writer = thread::spawn(move || {
            theirs.0.insert(count.0, count.1);
            theirs.1.store(true, raise);
        });
        let outcome = (shared.1.load(look), shared.0.estimate(count.0));
        writer.join().expect("no panic");
        outcome
    })
}

/// Whether the cell has room, is filled by it, or was full.
#[test]
fn a_published_count_is_in_the_estimate() {
    let [one, _] = pair();
    for (before, n) in [(0, 7), (0, 255), (200, 100), (300, 7)] {
        let seen = published(&[(one, before)], (one, n), Ordering::Release, Ordering::Acquire);
        for &(published, estimate) in &seen {
            assert!(estimate >= before + if published { n } else { 0 }, "{before} + {n}: {seen:?}");
            assert!(estimate <= before + n, "{before} + {n}: {seen:?}");
        }
        // The control: a flag that orders nothing publishes nothing.
        let seen = published(&[(one, before)], (one, n), Ordering::Relaxed, Ordering::Relaxed);
        assert!(seen.iter().any(|&(published, estimate)| published && estimate < before + n), "{seen:?}");
    }
}

/// A copy that is made while a thread counts is a sketch with valid bytes, and has what happened before.
#[test]
fn a_copy_made_meanwhile_is_a_sketch_and_has_what_happened_before() {
    let [one, other] = pair();
    for n in [3, 255] {
        let seen = outcomes(move || {
            let table = loom::sync::Arc::new(shared::<ModelCell>(&[(one, 2)]));
            let theirs = table.clone();
            let writer = thread::spawn(move || theirs.insert(other, n));
            let (cells, tally) = table.owned();
            writer.join().expect("no panic");
            let rows = cells.chunks_exact(2).map(|row| crate::tally::sum_of(row.iter().copied()));
            assert!(tally.check(rows).is_ok(), "{cells:?} {tally:?}");
            let least = table::least(params(), one, |position| cells[position]);
            assert!(tally.upper(least) >= 2 && tally.total >= 2, "{cells:?} {tally:?}");
            cells.into_vec()
        });
        assert!(seen.len() > 2, "some see a part of it: {seen:?}");
    }
}
