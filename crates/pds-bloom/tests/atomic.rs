//! The shared filters have the bits of the owned ones, and real threads lose none.
#![cfg(target_has_atomic = "64")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pds_bloom::prelude::*;
use pds_bloom::{BlockedBloomFilter, BlockedBloomParams};
use pds_testkit::{DistinctKeys, fewer_interpreted};
use proptest::prelude::*;

/// One run for both kinds, in the words that they share.
trait Shared: From<Self::Owned> + Send + Sync {
    type Owned: Sketch + ExactMerge;

    fn insert(&self, hash: u64) -> bool;
    fn insert_batch(&self, hashes: &[u64]);
    fn contains(&self, hash: u64) -> bool;
    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize;
    fn union_with(&self, other: &Self::Owned) -> Result<(), Error>;
    fn snapshot(&self) -> Self::Owned;
    fn into_inner(self) -> Self::Owned;
    fn clear(&mut self);
    fn is_empty(&self) -> bool;
    /// Bytes, and everything that is made of the fill.
    fn metrics(&self) -> (usize, [u64; 3], bool);

    fn insert_owned(owned: &mut Self::Owned, hash: u64) -> bool;
    fn owned_metrics(owned: &Self::Owned) -> (usize, [u64; 3], bool);
}

/// Each method is the filter's own of that name.
macro_rules! shared {
    ($shared:ident, $owned:ident) => {
        impl Shared for $shared {
            type Owned = $owned;

            fn insert(&self, hash: u64) -> bool {
                self.insert_hash(hash)
            }
            fn insert_batch(&self, hashes: &[u64]) {
                self.insert_batch(hashes);
            }
            fn contains(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }
            fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
                self.contains_batch(hashes, found)
            }
            fn union_with(&self, other: &$owned) -> Result<(), Error> {
                self.union_with(other)
            }
            fn snapshot(&self) -> $owned {
                self.snapshot()
            }
            fn into_inner(self) -> $owned {
                self.into_inner()
            }
            fn clear(&mut self) {
                self.clear();
            }
            fn is_empty(&self) -> bool {
                self.is_empty()
            }
            fn metrics(&self) -> (usize, [u64; 3], bool) {
                let rates = [self.fill_ratio(), self.estimated_len(), self.estimated_fpr()];
                (self.size_bytes(), rates.map(f64::to_bits), self.is_saturated())
            }
            fn insert_owned(owned: &mut $owned, hash: u64) -> bool {
                owned.insert_hash(hash)
            }
            fn owned_metrics(owned: &$owned) -> (usize, [u64; 3], bool) {
                let rates = [owned.fill_ratio(), owned.estimated_len(), owned.estimated_fpr()];
                (owned.size_bytes(), rates.map(f64::to_bits), owned.is_saturated())
            }
        }
    };
}
shared!(AtomicBloomFilter, BloomFilter);
shared!(AtomicBlockedBloomFilter, BlockedBloomFilter);

fn classic(bits: u64, k: u32) -> BloomFilter {
    BloomFilter::new(BloomParams::with_shape(bits, k).expect("a valid shape"))
}

fn blocked(bits: u64, k: u32) -> BlockedBloomFilter {
    BlockedBloomFilter::new(BlockedBloomParams::with_shape(bits, k).expect("a valid shape"))
}

/// The same stream into both, alone and in batches; `empty` makes filters of one shape.
fn equals_the_owned_one<S: Shared>(empty: impl Fn() -> S::Owned, hashes: &[u64], others: &[u64]) {
    let (mut owned, shared) = (empty(), S::from(empty()));
    assert!(shared.is_empty());
    for &hash in hashes {
        let known = shared.contains(hash);
        assert_eq!(shared.insert(hash), S::insert_owned(&mut owned, hash));
        assert!(shared.contains(hash) && !shared.insert(hash) || known);
    }
    assert_eq!(shared.metrics(), S::owned_metrics(&owned));
    let bytes = owned.to_bytes();
    assert_eq!(shared.snapshot().to_bytes(), bytes);

    let batched = S::from(empty());
    batched.insert_batch(hashes);
    let mut found = vec![false; others.len() + 1];
    assert_eq!(batched.contains_batch(others, &mut found), others.len());
    for (&other, found) in others.iter().zip(&found) {
        assert_eq!(*found, shared.contains(other));
    }
    assert!(!found[others.len()]);
    assert_eq!(batched.contains_batch(hashes, &mut found), hashes.len().min(found.len()));
    assert!(found.iter().take(hashes.len()).all(|&found| found));
    assert_eq!(batched.into_inner().to_bytes(), bytes);

    // A shard, as merging the owned filters.
    let mut shard = empty();
    for &other in others {
        S::insert_owned(&mut shard, other);
    }
    shared.union_with(&shard).expect("the same shape");
    owned.merge(&shard).expect("the same shape");
    assert_eq!(S::from(shared.snapshot()).into_inner().to_bytes(), owned.to_bytes());

    let mut cleared = shared;
    cleared.clear();
    assert_eq!(cleared.into_inner().to_bytes(), empty().to_bytes());
}

proptest! {
    #[test]
    fn has_the_bits_and_the_answers_of_the_owned_filter(
        hashes: Vec<u64>, others: Vec<u64>, bits in 1..5000u64, k in 1..=64u32,
    ) {
        equals_the_owned_one::<AtomicBloomFilter>(|| classic(bits, k), &hashes, &others);
        equals_the_owned_one::<AtomicBlockedBloomFilter>(|| blocked(bits, k % 24 + 1), &hashes, &others);
    }
}

/// Above the sizes where memory is fetched ahead, and where queries stop at the first miss.
#[test]
fn large_filters_equal_the_owned_ones_too() {
    let hashes: Vec<u64> = DistinctKeys::new(1).range(0..40_000).collect();
    let (hashes, others) = hashes.split_at(20_000);
    for bits in [1 << 20, 1 << 22, (1 << 23) + 64, 1 << 24] {
        for k in [1, 2, 3, 7] {
            equals_the_owned_one::<AtomicBloomFilter>(|| classic(bits, k), hashes, others);
            equals_the_owned_one::<AtomicBlockedBloomFilter>(|| blocked(bits, k), hashes, others);
        }
    }
}

const THREADS: u64 = 4;
const KEYS: u64 = fewer_interpreted(200_000);

/// Threads insert overlapping streams.
fn threads_lose_no_key<S: Shared>(empty: impl Fn() -> S::Owned) {
    let (shared, keys) = (S::from(empty()), DistinctKeys::new(2));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let shared = &shared;
            scope.spawn(move || {
                // Each key comes from two threads, which go opposite ways.
                let share = KEYS / THREADS;
                for i in 0..share {
                    shared.insert(keys.key(thread * share + i));
                    let next = (thread + 1) % THREADS;
                    shared.insert(keys.key(next * share + share - 1 - i));
                }
            });
        }
    });
    let mut owned = empty();
    for key in keys.range(0..KEYS) {
        assert!(shared.contains(key));
        S::insert_owned(&mut owned, key);
    }
    assert_eq!(shared.into_inner().to_bytes(), owned.to_bytes());
}

#[test]
fn threads_lose_no_key_of_a_classic_filter() {
    let params = BloomParams::for_fpr(KEYS, 0.01).expect("valid targets");
    threads_lose_no_key::<AtomicBloomFilter>(|| BloomFilter::new(params));
}

#[test]
fn threads_lose_no_key_of_a_blocked_filter() {
    let params = BlockedBloomParams::for_fpr(KEYS, 0.01).expect("valid targets");
    threads_lose_no_key::<AtomicBlockedBloomFilter>(|| BlockedBloomFilter::new(params));
}

/// Half of the threads insert and say how far they are, the others ask for what is said to be there.
fn readers_miss_no_published_key<S: Shared>(empty: S::Owned) {
    const WRITERS: u64 = THREADS / 2;
    let (shared, keys) = (S::from(empty), DistinctKeys::new(3));
    let published = [const { AtomicUsize::new(0) }; WRITERS as usize];
    let each = KEYS / WRITERS;
    thread::scope(|scope| {
        for (writer, published) in (0..WRITERS).zip(&published) {
            let shared = &shared;
            scope.spawn(move || {
                for i in 0..each {
                    shared.insert(keys.key(writer * each + i));
                    published.store(i as usize + 1, Ordering::Release);
                }
            });
            scope.spawn(move || {
                let mut asked = 0;
                while asked < each {
                    let there = published.load(Ordering::Acquire) as u64;
                    // The newest first: their bits are the likeliest to be under way still.
                    assert!((asked..there).rev().all(|i| shared.contains(keys.key(writer * each + i))));
                    asked = there;
                    std::hint::spin_loop();
                }
            });
        }
    });
}

#[test]
fn readers_miss_no_published_key_of_a_classic_filter() {
    let params = BloomParams::for_fpr(KEYS, 0.01).expect("valid targets");
    readers_miss_no_published_key::<AtomicBloomFilter>(BloomFilter::new(params));
}

#[test]
fn readers_miss_no_published_key_of_a_blocked_filter() {
    let params = BlockedBloomParams::for_fpr(KEYS, 0.01).expect("valid targets");
    readers_miss_no_published_key::<AtomicBlockedBloomFilter>(BlockedBloomFilter::new(params));
}

#[test]
fn what_differs_is_refused_and_changes_nothing() {
    fn refused<S: Shared>(mine: S::Owned, other: &S::Owned) -> Error {
        let shared = S::from(mine);
        shared.insert(1);
        let before = shared.snapshot().to_bytes();
        let error = shared.union_with(other).expect_err("another shape");
        assert_eq!(shared.snapshot().to_bytes(), before);
        error
    }
    let incompatible = |field| Error::Incompatible { field };
    for (bits, k, field) in [(2048, 5, "bits"), (1024, 6, "k")] {
        let error = refused::<AtomicBloomFilter>(classic(1024, 5), &classic(bits, k));
        assert_eq!(error, incompatible(field));
        let error = refused::<AtomicBlockedBloomFilter>(blocked(1024, 5), &blocked(bits, k));
        assert_eq!(error, incompatible(field));
    }
    let targeted = BloomFilter::new(BloomParams::for_fpr(107, 0.01).expect("valid targets"));
    let raw = classic(targeted.params().bits(), targeted.params().k());
    assert_eq!(refused::<AtomicBloomFilter>(raw, &targeted), incompatible("design_fpr"));
    let targeted = BlockedBloomFilter::new(BlockedBloomParams::for_fpr(107, 0.01).expect("valid targets"));
    let raw = blocked(targeted.params().bits(), targeted.params().k());
    assert_eq!(refused::<AtomicBlockedBloomFilter>(raw, &targeted), incompatible("design_fpr"));

    let params = BloomParams::with_shape(1024, 5).expect("a valid shape");
    let keyed = |key| BloomFilter::with_hasher(params, SipHasher::new([key; 16]));
    let shared = AtomicBloomFilter::from(keyed(1));
    assert!(matches!(shared.union_with(&keyed(2)), Err(Error::Hasher { .. })));
    let params = BlockedBloomParams::with_shape(1024, 5).expect("a valid shape");
    let keyed = |key| BlockedBloomFilter::with_hasher(params, SipHasher::new([key; 16]));
    let shared = AtomicBlockedBloomFilter::from(keyed(1));
    assert!(matches!(shared.union_with(&keyed(2)), Err(Error::Hasher { .. })));
}

#[test]
fn keys_and_hashes_are_one() {
    let params = BloomParams::for_fpr(100, 0.01).expect("valid targets");
    let filter = AtomicBloomFilter::new(params);
    assert!(filter.insert("key") && !filter.insert("key"));
    assert!(filter.contains("key") && filter.contains_hash(filter.hasher().hash_key("key")));
    assert!(!filter.contains("other"));
    assert_eq!(filter.params(), params);

    let params = BlockedBloomParams::for_fpr(100, 0.01).expect("valid targets");
    let filter = AtomicBlockedBloomFilter::new(params);
    assert!(filter.insert("key") && !filter.insert("key"));
    assert!(filter.contains("key") && filter.contains_hash(filter.hasher().hash_key("key")));
    assert!(!filter.contains("other"));
    assert_eq!(filter.params(), params);
}

#[test]
fn extending_by_shared_reference_is_inserting() {
    let params = BloomParams::for_fpr(1000, 0.01).expect("valid targets");
    let (twin, mut owned) = (AtomicBloomFilter::new(params), BloomFilter::new(params));
    (&twin).extend(0..1000u32);
    owned.extend(0..1000u32);
    assert_eq!(twin.into_inner(), owned);
    let params = BlockedBloomParams::for_fpr(1000, 0.01).expect("valid targets");
    let (twin, mut owned) = (AtomicBlockedBloomFilter::new(params), BlockedBloomFilter::new(params));
    (&twin).extend(0..1000u32);
    owned.extend(0..1000u32);
    assert_eq!(twin.into_inner(), owned);
}
