//! Small cases in every order of execution that the memory model has, stale reads among them.

use alloc::vec::Vec;
use core::fmt::Debug;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::thread;
use pds_hash::Probes;
use pds_testkit::DistinctKeys;

use super::line::AtomicLine;
use super::words::{AtomicWord, AtomicWords};
use crate::arch::Simd;
use crate::blocked::line::Line;
use crate::blocked::probes;
use crate::classic::bits;

/// A word of the model.
///
/// The explorer misses executions where a thread reads a word before it writes it (tokio-rs/loom, issues 166 and 392): of
/// the accesses to a word it keeps the last, and a thread's own read hides another's. So each access takes a turn first,
/// a write to memory that is not otherwise used. Being relaxed it orders nothing; the tests assert which executions are
/// met, and some fail without it.
struct Word {
    turn: AtomicU64,
    word: AtomicU64,
}

impl Word {
    fn take_turn(&self) {
        self.turn.fetch_add(1, Ordering::Relaxed);
    }
}

impl AtomicWord for Word {
    fn new(value: u64) -> Self {
        Self { turn: AtomicU64::new(0), word: AtomicU64::new(value) }
    }

    fn load(&self) -> u64 {
        self.take_turn();
        self.word.load(Ordering::Relaxed)
    }

    fn fetch_or(&self, bits: u64) -> u64 {
        self.word.fetch_or(bits, Ordering::Relaxed)
    }
}

/// A word that is read, changed and written back: what the filters would be without an atomic "or".
struct WrittenBack(Word);

impl AtomicWord for WrittenBack {
    fn new(value: u64) -> Self {
        Self(Word::new(value))
    }

    fn load(&self) -> u64 {
        self.0.load()
    }

    fn fetch_or(&self, bits: u64) -> u64 {
        let before = self.load();
        self.0.word.store(before | bits, Ordering::Relaxed);
        before
    }
}

/// Both kinds of filter, as small as they come.
trait Filter: Send + Sync + Sized + 'static {
    fn empty() -> Self;
    fn insert(&self, hash: u64) -> bool;
    fn contains(&self, hash: u64) -> bool;
    fn words(&self) -> Vec<u64>;

    /// The words after these insertions, one after the other.
    fn words_of(hashes: &[u64]) -> Vec<u64>;
}

/// Bits of a key.
const K: u32 = 2;

/// Two words, of whatever kind.
impl<W: AtomicWord + Send + Sync + 'static> Filter for AtomicWords<W> {
    fn empty() -> Self {
        Self::new([0, 0].into_iter())
    }

    fn insert(&self, hash: u64) -> bool {
        self.insert(K, hash)
    }

    fn contains(&self, hash: u64) -> bool {
        bits::contains(self, K, hash)
    }

    fn words(&self) -> Vec<u64> {
        self.iter().collect()
    }

    fn words_of(hashes: &[u64]) -> Vec<u64> {
        let mut words = Vec::from([0; 2]);
        for &hash in hashes {
            let mut probes = Probes::new(hash);
            for _ in 0..K {
                let (word, bit) = probes.next(2);
                words[word as usize] |= 1 << bit;
            }
        }
        words
    }
}

/// One line.
impl Filter for AtomicLine<Word> {
    fn empty() -> Self {
        Self::new(&Line::EMPTY)
    }

    fn insert(&self, hash: u64) -> bool {
        self.insert(hash, K)
    }

    fn contains(&self, hash: u64) -> bool {
        self.contains(Simd::detect(), hash, K)
    }

    fn words(&self) -> Vec<u64> {
        self.load().0.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
    }

    fn words_of(hashes: &[u64]) -> Vec<u64> {
        let mut words = Vec::from([0; 8]);
        for &hash in hashes {
            probes::for_each(hash, K, |bit| words[(bit / 64) as usize] |= 1 << (bit % 64));
        }
        words
    }
}

type Words = AtomicWords<Word>;
type OneLine = AtomicLine<Word>;

/// Two keys that meet in two words without sharing a bit: all that they write they write side by side.
fn keys<F: Filter>() -> [u64; 2] {
    let touched = |hash: u64| F::words_of(&[hash]);
    let two_words = |hash: &u64| touched(*hash).iter().filter(|word| **word != 0).count() == 2;
    let mut candidates = DistinctKeys::new(1).range(0..10_000).filter(two_words);
    let first = candidates.next().expect("a key in two words");
    let meets = |hash: &u64| {
        touched(first)
            .iter()
            .zip(touched(*hash))
            .all(|(one, other)| (*one == 0) == (other == 0) && one & other == 0)
    };
    [first, candidates.find(meets).expect("a key in the same words")]
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

/// Two threads insert a key each. Whether the filter then is the one of both keys, and what the insertions said.
fn two_writers<F: Filter>([one, other]: [u64; 2]) -> (bool, [bool; 2]) {
    let filter = loom::sync::Arc::new(F::empty());
    let theirs = filter.clone();
    let writer = thread::spawn(move || theirs.insert(other));
    let mine = filter.insert(one);
    let changed = [mine, writer.join().expect("no panic")];
    let whole =
        filter.contains(one) && filter.contains(other) && filter.words() == F::words_of(&[one, other]);
    (whole, changed)
}

fn joined_threads_leave_the_sequential_words_in<F: Filter>() {
    let keys = keys::<F>();
    // Neither key has a bit of the other: both are new.
    assert_eq!(outcomes(move || two_writers::<F>(keys)), BTreeSet::from([(true, [true, true])]));
}

#[test]
fn joined_threads_leave_the_sequential_words() {
    joined_threads_leave_the_sequential_words_in::<Words>();
    joined_threads_leave_the_sequential_words_in::<OneLine>();
}

/// The control of the test above.
#[test]
fn without_an_atomic_or_a_bit_would_be_lost() {
    let keys = keys::<AtomicWords<WrittenBack>>();
    let outcomes = outcomes(move || two_writers::<AtomicWords<WrittenBack>>(keys).0);
    assert_eq!(outcomes, BTreeSet::from([false, true]));
}

fn racing_inserts_of_one_key_in<F: Filter>() {
    let [key, _] = keys::<F>();
    let seen = outcomes(move || two_writers::<F>([key, key]));
    // Each of the two may have set a bit, and then both are told.
    let changed = [[true, false], [false, true], [true, true]];
    assert_eq!(seen, BTreeSet::from(changed.map(|changed| (true, changed))));
}

#[test]
fn of_racing_inserts_of_one_key_at_least_one_changes_a_bit() {
    racing_inserts_of_one_key_in::<Words>();
    racing_inserts_of_one_key_in::<OneLine>();
}

/// A thread inserts and raises a flag; another looks at the flag and then at the filter. What it sees, each time with the
/// flag: whether the key is found.
fn published<F: Filter>(raise: Ordering, look: Ordering) -> BTreeSet<(bool, bool)> {
    let [key, _] = keys::<F>();
    outcomes(move || {
        let shared = loom::sync::Arc::new((F::empty(), AtomicBool::new(false)));
        let theirs = shared.clone();
        let writer = thread::spawn(move || {
            let (filter, flag) = &*theirs;
            filter.insert(key);
            flag.store(true, raise);
        });
        let (filter, flag) = &*shared;
        let seen = (flag.load(look), filter.contains(key));
        writer.join().expect("no panic");
        seen
    })
}

fn a_published_key_is_found_in<F: Filter>() {
    let seen = published::<F>(Ordering::Release, Ordering::Acquire);
    assert_eq!(seen, BTreeSet::from([(false, false), (false, true), (true, true)]));
    // The control: a flag that orders nothing publishes nothing.
    assert!(published::<F>(Ordering::Relaxed, Ordering::Relaxed).contains(&(true, false)));
}

#[test]
fn a_published_key_is_found() {
    a_published_key_is_found_in::<Words>();
    a_published_key_is_found_in::<OneLine>();
}

/// A thread inserts a key while another reads the words twice.
fn reads_of<F: Filter>(hash: u64) -> BTreeSet<[Vec<u64>; 2]> {
    outcomes(move || {
        let filter = loom::sync::Arc::new(F::empty());
        let theirs = filter.clone();
        let writer = thread::spawn(move || theirs.insert(hash));
        let reads = [filter.words(), filter.words()];
        writer.join().expect("no panic");
        reads
    })
}

/// Each of the two words is seen without its bit and then with it, whatever is seen of the other word: of the four reads of
/// a word that makes three, nine in all. So there is no bit that was not set and none that is lost again, and a reader
/// does meet a part of a key.
fn a_reader_sees_bits_that_were_set_and_keeps_them_in<F: Filter>() {
    let [key, _] = keys::<F>();
    let (seen, set) = (reads_of::<F>(key), F::words_of(&[key]));
    for [earlier, later] in &seen {
        for ((earlier, later), set) in earlier.iter().zip(later).zip(&set) {
            assert!(later == set || (*later == 0 && *earlier == 0), "{seen:x?}");
            assert!(earlier == set || *earlier == 0, "{seen:x?}");
        }
    }
    assert_eq!(seen.len(), 9, "{seen:x?}");
}

#[test]
fn a_reader_sees_bits_that_were_set_and_keeps_them() {
    a_reader_sees_bits_that_were_set_and_keeps_them_in::<Words>();
    a_reader_sees_bits_that_were_set_and_keeps_them_in::<OneLine>();
}
