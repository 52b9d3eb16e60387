//! Small cases in every order of execution that the memory model has, stale reads among them.

use alloc::vec::Vec;
use core::fmt::Debug;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use loom::thread;

use super::cells::{Count, Register, Slot};
use super::shared::Shared;
use crate::HllParams;
use crate::hll::state::State;
use crate::sparse::{Token, search};
use crate::state::Mode;

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

struct ModelRegister(Turn, AtomicU8);
struct ModelSlot(Turn, AtomicU32);

/// Without order it would be what slots are.
struct ModelCount<const ORDERED: bool>(Turn, AtomicU32);

impl Register for ModelRegister {
    fn new(value: u8) -> Self {
        Self(Turn::new(), AtomicU8::new(value))
    }
    fn load(&self) -> u8 {
        self.0.take();
        self.1.load(Ordering::Relaxed)
    }
    fn fetch_max(&self, value: u8) -> u8 {
        self.1.fetch_max(value, Ordering::Relaxed)
    }
}

impl Slot for ModelSlot {
    fn new(bits: u32) -> Self {
        Self(Turn::new(), AtomicU32::new(bits))
    }
    fn load(&self) -> u32 {
        self.0.take();
        self.1.load(Ordering::Relaxed)
    }
    fn replace(&self, expected: u32, bits: u32) -> Result<(), u32> {
        self.1.compare_exchange(expected, bits, Ordering::Relaxed, Ordering::Relaxed).map(|_| ())
    }
}

impl<const ORDERED: bool> Count for ModelCount<ORDERED> {
    fn new(count: u32) -> Self {
        Self(Turn::new(), AtomicU32::new(count))
    }
    fn peek(&self) -> u32 {
        self.0.take();
        self.1.load(Ordering::Relaxed)
    }
    fn load(&self) -> u32 {
        self.0.take();
        self.1.load(if ORDERED { Ordering::Acquire } else { Ordering::Relaxed })
    }
    fn increment(&self) {
        self.1.fetch_add(1, if ORDERED { Ordering::Release } else { Ordering::Relaxed });
    }
    fn raise(&self, count: u32) {
        self.1.fetch_max(count, Ordering::Release);
    }
}

type Model<const ORDERED: bool = true> = Shared<ModelRegister, ModelSlot, ModelCount<ORDERED>>;

/// 16 registers, 4 slots, 3 tokens before registers count.
fn params() -> HllParams {
    HllParams::with_precision(4).expect("a valid precision")
}

/// Hashes that meet in a register, of which the second is the higher, and in a slot of the table.
fn pair() -> [u64; 2] {
    let first = 1 << 63 | 5;
    let slot = |hash: u64| search(Token::of(hash)).0 & 3;
    let meets = (1..1000).map(|i| 1 << 60 | i << 6 | 5).find(|&other| slot(other) == slot(first));
    [first, meets.expect("one in four")]
}

/// Others.
const MORE: [u64; 3] = [1 << 62 | 1, 1 << 61 | 2, 1 << 60 | 3];

/// A state in a form that can be compared and shown.
type Seen = (bool, Vec<u8>, usize);

fn seen(state: &State) -> Seen {
    let tokens = match state.mode() {
        Mode::Sparse(tokens) => tokens.len(),
        Mode::Dense(_) => 0,
    };
    (state.is_sparse(), state.values().into_owned(), tokens)
}

fn owned(hashes: &[u64]) -> Seen {
    let mut state = State::empty(params());
    state.insert_batch(hashes);
    seen(&state)
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

/// Two threads insert a key each into a sketch of some keys: the sketch when both are joined, and what they were told.
fn two_writers(before: &'static [u64], [one, other]: [u64; 2]) -> BTreeSet<(Seen, [bool; 2])> {
    outcomes(move || {
        let shared = loom::sync::Arc::new(Model::<true>::empty(params()));
        for &hash in before {
            shared.insert(hash);
        }
        let theirs = shared.clone();
        let writer = thread::spawn(move || theirs.insert(other));
        let mine = shared.insert(one);
        let changed = [mine, writer.join().expect("no panic")];
        (seen(&shared.state()), changed)
    })
}

#[test]
fn joined_threads_leave_the_sequential_sketch() {
    let [one, other] = pair();
    let expected = (owned(&[one, other]), [true, true]);
    assert_eq!(two_writers(&[], [one, other]), BTreeSet::from([expected]));
}

#[test]
fn of_racing_inserts_of_one_key_one_changes_the_sketch() {
    let [one, _] = pair();
    let changed = [[true, false], [false, true]];
    assert_eq!(two_writers(&[], [one, one]), BTreeSet::from(changed.map(|changed| (owned(&[one]), changed))));
}

/// One of the two is the key with which registers begin to count.
#[test]
fn the_form_is_the_sequential_one_at_the_limit() {
    let [one, other] = pair();
    for before in [&MORE[..2], &MORE] {
        let all = owned(&[before, &[one, other]].concat());
        assert!(!all.0);
        for (sketch, _) in two_writers(before, [one, other]) {
            assert_eq!(sketch, all);
        }
    }
}

/// One slot is looked at, and the keys meet in it: all but one of them go to the tree.
#[cfg(feature = "std")]
#[test]
fn keys_that_find_no_slot_are_kept_once() {
    let [first, second] = pair();
    for (before, keys) in [(None, [first, second]), (Some(first), [second, second])] {
        let seen = outcomes(move || {
            let shared = loom::sync::Arc::new(Model::<true>::with_probes(params(), 1));
            if let Some(hash) = before {
                shared.insert(hash);
            }
            let theirs = shared.clone();
            let writer = thread::spawn(move || theirs.insert(keys[1]));
            let mine = shared.insert(keys[0]);
            let changed = [mine, writer.join().expect("no panic")];
            (seen(&shared.state()), changed)
        });
        let told: &[[bool; 2]] =
            if keys[0] == keys[1] { &[[true, false], [false, true]] } else { &[[true; 2]] };
        let expected = told.iter().map(|&told| (owned(&[first, second]), told)).collect();
        assert_eq!(seen, expected);
    }
}

/// A thread inserts a key into a sketch of others and raises a flag; another looks at the flag and then at the sketch. What
/// it sees.
fn published<const ORDERED: bool>(before: &'static [u64], key: u64) -> BTreeSet<(bool, Seen)> {
    outcomes(move || {
        let shared = loom::sync::Arc::new((Model::<ORDERED>::empty(params()), AtomicBool::new(false)));
        for &hash in before {
            shared.0.insert(hash);
        }
        let theirs = shared.clone();
        let writer = thread::spawn(move || {
            theirs.0.insert(key);
            theirs.1.store(true, Ordering::Release);
        });
        let outcome = (shared.1.load(Ordering::Acquire), seen(&shared.0.state()));
        writer.join().expect("no panic");
        outcome
    })
}

#[test]
fn a_published_key_is_in_the_snapshot_and_no_snapshot_is_a_mixture() {
    let [_, key] = pair();
    for before in [&[][..], &MORE[..2], &MORE] {
        let (without, with) = (owned(before), owned(&[before, &[key]].concat()));
        for (published, sketch) in published::<true>(before, key) {
            assert!(sketch == with || (!published && sketch == without), "{published} {sketch:?}");
        }
    }
}

/// The control of the test above: registers of one set in the form of another.
#[test]
fn without_order_a_snapshot_would_be_a_mixture() {
    let [_, key] = pair();
    let (without, with) = (owned(&MORE), owned(&[&MORE[..], &[key]].concat()));
    let seen = published::<false>(&MORE, key);
    assert!(seen.iter().any(|(_, sketch)| *sketch != with && *sketch != without), "{seen:?}");
}

/// A sketch with registers is merged in while a key is inserted.
#[test]
fn merging_registers_closes_the_table_for_all() {
    let [one, _] = pair();
    let outcomes = outcomes(move || {
        let shared = loom::sync::Arc::new(Model::<true>::empty(params()));
        let theirs = shared.clone();
        let writer = thread::spawn(move || {
            let mut other = State::empty(params());
            other.insert_batch(&[MORE[0], 1 << 61 | 1, 1 << 60 | 1, 1 << 59 | 1]);
            assert!(!other.is_sparse());
            theirs.union_with(&other);
        });
        shared.insert(one);
        writer.join().expect("no panic");
        seen(&shared.state())
    });
    let expected = owned(&[MORE[0], 1 << 61 | 1, 1 << 60 | 1, 1 << 59 | 1, one]);
    assert_eq!(outcomes, BTreeSet::from([expected]));
}
