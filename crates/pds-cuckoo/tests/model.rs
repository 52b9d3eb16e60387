//! Random legal histories beside an exact multiset: no key is ever forgotten.

use std::collections::HashMap;

use pds_cuckoo::prelude::*;
use pds_testkit::SplitMix64;

/// What both filters have.
trait Filter: Sized + Clone + PartialEq {
    fn insert(&mut self, hash: u64) -> Result<bool, Error>;
    fn insert_unique(&mut self, hash: u64) -> Result<bool, Error>;
    fn remove(&mut self, hash: u64) -> Result<(), Error>;
    fn contains(&self, hash: u64) -> bool;
    fn absorb(&mut self, other: &Self) -> Result<(), Error>;
    fn len(&self) -> u64;
    fn slots(&self) -> u64;
    fn resize(&mut self, larger: bool);
    fn empty_like(&self) -> Self;
    fn recoded(&self) -> Self;
}

macro_rules! filters {
    ($($filter:ident, $slots:expr, $resize:expr;)*) => {$(
        impl Filter for $filter {
            fn insert(&mut self, hash: u64) -> Result<bool, Error> {
                self.insert_hash(hash)
            }
            fn insert_unique(&mut self, hash: u64) -> Result<bool, Error> {
                self.insert_unique_hash(hash)
            }
            fn remove(&mut self, hash: u64) -> Result<(), Error> {
                self.remove_hash(hash)
            }
            fn contains(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }
            fn absorb(&mut self, other: &Self) -> Result<(), Error> {
                $filter::absorb(self, other)
            }
            fn len(&self) -> u64 {
                $filter::len(self)
            }
            fn slots(&self) -> u64 {
                $slots(self)
            }
            fn resize(&mut self, larger: bool) {
                $resize(self, larger);
            }
            fn empty_like(&self) -> Self {
                $filter::new(self.params())
            }
            fn recoded(&self) -> Self {
                $filter::from_bytes(&self.to_bytes()).expect("its own bytes")
            }
        }
    )*};
}
filters! {
    CuckooFilter, |filter: &CuckooFilter| filter.params().slots(), |_: &mut CuckooFilter, _| ();
    GrowableCuckooFilter, |filter: &GrowableCuckooFilter| filter.params().slots(),
        |filter: &mut GrowableCuckooFilter, larger| {
            if larger { _ = filter.grow() } else { _ = filter.shrink_to_fit() }
        };
}

/// The multiset, and the keys in it in an order to draw from.
#[derive(Default)]
struct Exact {
    counts: HashMap<u64, u32>,
    keys: Vec<u64>,
}

impl Exact {
    fn add(&mut self, hash: u64) {
        *self.counts.entry(hash).or_default() += 1;
        self.keys.push(hash);
    }

    fn take(&mut self, at: u64) -> u64 {
        let hash = self.keys.swap_remove(at as usize);
        let count = self.counts.get_mut(&hash).expect("a key of the list");
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&hash);
        }
        hash
    }
}

/// One history: fills and drains in turn, up to the last slot.
fn live<F: Filter>(mut filter: F, steps: u64, seed: u64) -> u64 {
    const CHECK: u64 = 500;
    let mut random = SplitMix64::new(seed);
    let mut exact = Exact::default();
    let (mut filling, mut refusals, mut fullest) = (true, 0, 0);
    for step in 0..steps {
        // Repetitions of a key in it, new keys, removals, and now and then a large change.
        let dice = random.below(1000);
        let known = |random: &mut SplitMix64, exact: &Exact| {
            let at = random.below(exact.keys.len() as u64);
            exact.keys.get(at as usize).copied()
        };
        if dice < if filling { 800 } else { 150 } {
            let repeated = if dice.is_multiple_of(16) { known(&mut random, &exact) } else { None };
            let hash = repeated.unwrap_or_else(|| random.next_u64());
            let before = (step % 64 == 0).then(|| filter.clone());
            match filter.insert(hash) {
                Ok(stored) => {
                    assert!(stored);
                    exact.add(hash);
                }
                Err(error) => {
                    assert!(matches!(error, Error::Full | Error::DuplicateLimit), "{error}");
                    assert!(before.is_none_or(|before| before == filter), "a refusal changes nothing");
                    refusals += 1;
                }
            }
        } else if dice < 850 {
            let hash = random.next_u64();
            let known = filter.contains(hash);
            match filter.insert_unique(hash) {
                Ok(stored) => {
                    assert_eq!(stored, !known);
                    if stored {
                        exact.add(hash);
                    }
                }
                Err(error) => assert_eq!(error, Error::Full),
            }
        } else if dice < 985 {
            if exact.keys.is_empty() {
                assert_eq!(filter.remove(random.next_u64()), Err(Error::NotPresent));
            } else {
                let hash = exact.take(random.below(exact.keys.len() as u64));
                assert!(filter.contains(hash));
                assert_eq!(filter.remove(hash), Ok(()), "step {step}");
            }
        } else if dice < 990 {
            filter = filter.recoded();
        } else if dice < 996 {
            filter.resize(dice.is_multiple_of(2));
        } else {
            let mut other = filter.empty_like();
            let hashes: Vec<u64> = (0..random.below(20)).map(|_| random.next_u64()).collect();
            let stored: Vec<u64> = hashes.into_iter().filter(|&hash| other.insert(hash).is_ok()).collect();
            let before = filter.clone();
            match filter.absorb(&other) {
                Ok(()) => stored.into_iter().for_each(|hash| exact.add(hash)),
                Err(_) => assert!(before == filter, "a refusal changes nothing"),
            }
        }
        assert_eq!(filter.len(), exact.keys.len() as u64, "step {step}");
        fullest = fullest.max(filter.len());
        if refusals > 200 || filter.len() == 0 {
            (filling, refusals) = (filter.len() == 0, 0);
        }
        if step % CHECK == 0 {
            assert!(exact.keys.iter().all(|&hash| filter.contains(hash)), "step {step}");
        }
    }
    let load_reached = fullest * 100 / filter.slots();
    // What is left goes out one by one; then nothing is there.
    while !exact.keys.is_empty() {
        let hash = exact.take(exact.keys.len() as u64 - 1);
        assert_eq!(filter.remove(hash), Ok(()));
        assert!(exact.keys.len() % 64 != 0 || exact.keys.iter().all(|&hash| filter.contains(hash)));
    }
    assert!(filter.len() == 0 && filter.recoded() == filter);
    load_reached
}

/// Half a million steps: every length of a fingerprint, numbers of buckets from 1 to 257.
#[test]
fn a_fixed_filter_never_forgets_a_key() {
    let buckets = [1, 2, 3, 5, 8, 13, 16, 64, 101, 257];
    let mut fullest = 0;
    for bits in 4..=32 {
        let buckets = buckets[bits as usize % buckets.len()];
        let filter = CuckooFilter::new(CuckooParams::with_shape(buckets, bits).expect("a valid shape"));
        fullest = fullest.max(live(filter, 18_000, u64::from(bits)));
    }
    assert_eq!(fullest, 100, "the last slot was filled");
}

/// Half a million steps: plans of no, of few and of many doublings.
#[test]
fn a_growable_filter_never_forgets_a_key() {
    let mut fullest = 0;
    for (i, (buckets, doublings, bits)) in [
        (2, 0, 8),
        (2, 1, 4),
        (2, 2, 5),
        (2, 3, 12),
        (2, 5, 16),
        (2, 7, 9),
        (4, 4, 28),
        (6, 3, 7),
        (10, 2, 6),
        (22, 1, 13),
        (34, 0, 32),
        (2, 24, 8),
        (6, 10, 22),
    ]
    .into_iter()
    .enumerate()
    {
        let params = GrowableCuckooParams::with_shape(buckets, doublings, bits).expect("a valid plan");
        // The long plans are not filled to their ends: that would be a test of patience.
        fullest = fullest.max(live(GrowableCuckooFilter::new(params), 40_000, 1000 + i as u64));
    }
    assert_eq!(fullest, 100, "the last slot was filled");
}
