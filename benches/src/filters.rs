//! Filters: ours, and each peer's.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use pds_bloom::{BloomParams, Key, KeyHasher, Merge};
use pds_testkit::laws;

use crate::report::{Gate, Role};

/// A filter that is timed, over keys of one type.
pub trait Filter<K: ?Sized>: Sized {
    /// The crate, and the hasher it was given.
    const NAME: &'static str;
    /// Whether it is ours.
    const OURS: bool = false;
    /// Which part it has in a comparison.
    const ROLE: Role = Role::of(Self::OURS);

    /// Sized by its own means for so many keys at a rate.
    fn new(keys: usize, fpr: f64) -> Self;
    /// Adds a key; nobody looks at what it returns.
    fn insert(&mut self, key: &K);
    /// Adds a key; true if it was new, as far as the filter can tell.
    fn insert_new(&mut self, key: &K) -> bool;
    /// Asks for a key.
    fn contains(&self, key: &K) -> bool;
    /// Asks for many keys, and counts those found.
    fn count_batch<S: Borrow<K>>(&self, keys: &[S]) -> usize {
        keys.iter().filter(|key| std::hint::black_box(self.contains((*key).borrow()))).count()
    }
    /// Adds many keys.
    fn insert_batch<S: Borrow<K>>(&mut self, keys: &[S]) {
        keys.iter().for_each(|key| self.insert(key.borrow()));
    }
    /// Takes in another; false if there is no such thing, or if it does not fit.
    fn merge(&mut self, _: &Self) -> bool {
        false
    }
    /// Bytes of the bit array.
    fn size_bytes(&self) -> usize;
}

/// The gate: no key lost, and strangers taken for members at most as often as asked for, by Chernoff's law.
pub fn gate<K: ?Sized, F: Filter<K>, S: Borrow<K>>(
    filter: &F,
    members: &[S],
    strangers: &[S],
    keys: u64,
    fpr: f64,
) -> Gate {
    let lost = members.iter().filter(|key| !filter.contains((*key).borrow())).count() as u64;
    let hits = strangers.iter().filter(|key| filter.contains((*key).borrow())).count() as u64;
    let error = hits as f64 / strangers.len() as f64;
    let bytes = filter.size_bytes() as f64 / keys as f64;
    let batches = (filter.count_batch(members), filter.count_batch(strangers));
    if batches != (members.len() - lost as usize, hits as usize) {
        return Gate::of(bytes, error, "a batch answers otherwise than single calls", laws::all_hold(1, 1));
    }
    let lost = laws::all_hold(lost, members.len() as u64);
    if !lost.pass {
        return Gate::of(bytes, error, "keys are lost", lost);
    }
    // The textbook's shape, which peers use, is up to 1% above its target.
    let rate = laws::rate_at_most(hits, strangers.len() as u64, fpr * 1.01);
    Gate::of(bytes, error, "the rate is above the target", rate)
}

/// Ours: the classic filter with the default hasher.
#[derive(Clone)]
pub struct Ours(pds_bloom::BloomFilter);

/// Keys hashed at a time for a batch.
const CHUNK: usize = 1024;

impl<K: Key + ?Sized> Filter<K> for Ours {
    const NAME: &'static str = "pds-bloom";
    const OURS: bool = true;

    fn new(keys: usize, fpr: f64) -> Self {
        Self(pds_bloom::BloomFilter::new(BloomParams::for_fpr(keys as u64, fpr).expect("usual targets")))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.insert(key);
    }
    #[inline]
    fn insert_new(&mut self, key: &K) -> bool {
        self.0.insert(key)
    }
    #[inline]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }
    fn count_batch<S: Borrow<K>>(&self, keys: &[S]) -> usize {
        let mut hashes = [0; CHUNK];
        let mut found = [false; CHUNK];
        let mut count = 0;
        for chunk in keys.chunks(CHUNK) {
            for (hash, key) in hashes.iter_mut().zip(chunk) {
                *hash = self.0.hasher().hash_key(key.borrow());
            }
            let answered = self.0.contains_batch(&hashes[..chunk.len()], &mut found);
            count += found[..answered].iter().filter(|&&found| found).count();
        }
        count
    }
    fn insert_batch<S: Borrow<K>>(&mut self, keys: &[S]) {
        let mut hashes = [0; CHUNK];
        for chunk in keys.chunks(CHUNK) {
            for (hash, key) in hashes.iter_mut().zip(chunk) {
                *hash = self.0.hasher().hash_key(key.borrow());
            }
            self.0.insert_batch(&hashes[..chunk.len()]);
        }
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}

/// Ours over hashes made beforehand.
pub struct OursPrehashed(pds_bloom::BloomFilter);

impl Filter<u64> for OursPrehashed {
    const NAME: &'static str = "pds-bloom";
    const OURS: bool = true;

    fn new(keys: usize, fpr: f64) -> Self {
        Self(pds_bloom::BloomFilter::new(BloomParams::for_fpr(keys as u64, fpr).expect("usual targets")))
    }
    #[inline]
    fn insert(&mut self, hash: &u64) {
        self.0.insert_hash(*hash);
    }
    #[inline]
    fn insert_new(&mut self, hash: &u64) -> bool {
        self.0.insert_hash(*hash)
    }
    #[inline]
    fn contains(&self, hash: &u64) -> bool {
        self.0.contains_hash(*hash)
    }
    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}

/// fastbloom over hashes made beforehand.
pub struct FastbloomPrehashed(fastbloom::BloomFilter);

impl Filter<u64> for FastbloomPrehashed {
    const NAME: &'static str = "fastbloom";

    fn new(keys: usize, fpr: f64) -> Self {
        Self(fastbloom::BloomFilter::with_false_pos(fpr).expected_items(keys))
    }
    #[inline]
    fn insert(&mut self, hash: &u64) {
        self.0.insert_hash(*hash);
    }
    #[inline]
    fn insert_new(&mut self, hash: &u64) -> bool {
        !self.0.insert_hash(*hash)
    }
    #[inline]
    fn contains(&self, hash: &u64) -> bool {
        self.0.contains_hash(*hash)
    }
    fn size_bytes(&self) -> usize {
        self.0.num_bits() / 8
    }
}

/// fastbloom with a hasher of the standard library's kind.
#[derive(Clone)]
pub struct Fastbloom<B: BuildHasher>(fastbloom::BloomFilter<B>);

macro_rules! fastbloom_with {
    ($hasher:ty, $name:literal, $make:expr) => {
        impl<K: Hash + ?Sized> Filter<K> for Fastbloom<$hasher> {
            const NAME: &'static str = $name;

            fn new(keys: usize, fpr: f64) -> Self {
                Self(fastbloom::BloomFilter::with_false_pos(fpr).hasher($make).expected_items(keys))
            }
            #[inline]
            fn insert(&mut self, key: &K) {
                self.0.insert(key);
            }
            #[inline]
            fn insert_new(&mut self, key: &K) -> bool {
                !self.0.insert(key)
            }
            #[inline]
            fn contains(&self, key: &K) -> bool {
                self.0.contains(key)
            }
            fn merge(&mut self, other: &Self) -> bool {
                self.0.union(&other.0);
                true
            }
            fn size_bytes(&self) -> usize {
                self.0.num_bits() / 8
            }
        }
    };
}
fastbloom_with!(fastbloom::DefaultHasher, "fastbloom", fastbloom::DefaultHasher::seeded(&[7; 16]));
fastbloom_with!(foldhash::fast::FixedState, "fastbloom + foldhash", foldhash::fast::FixedState::with_seed(7));

/// bloomfilter, keyed `SipHash`.
pub struct Bloomfilter<K: ?Sized>(bloomfilter::Bloom<K>);

impl<K: Hash + ?Sized> Filter<K> for Bloomfilter<K> {
    const NAME: &'static str = "bloomfilter";

    fn new(keys: usize, fpr: f64) -> Self {
        // The halves are the keys of its two hash functions: they have to differ.
        let seed = std::array::from_fn(|i| i as u8);
        let filter = bloomfilter::Bloom::new_for_fp_rate_with_seed(keys, fpr, &seed);
        Self(filter.expect("usual targets"))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.set(key);
    }
    #[inline]
    fn insert_new(&mut self, key: &K) -> bool {
        !self.0.check_and_set(key)
    }
    #[inline]
    fn contains(&self, key: &K) -> bool {
        self.0.check(key)
    }
    fn size_bytes(&self) -> usize {
        self.0.len() as usize / 8
    }
}

/// datasketches.
#[derive(Clone)]
pub struct Datasketches(datasketches::bloom::BloomFilter);

impl<K: Hash + ?Sized> Filter<K> for Datasketches {
    const NAME: &'static str = "datasketches";

    fn new(keys: usize, fpr: f64) -> Self {
        let builder = datasketches::bloom::BloomFilterBuilder::with_accuracy(keys as u64, fpr);
        Self(builder.build().expect("usual targets"))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.insert(key);
    }
    #[inline]
    fn insert_new(&mut self, key: &K) -> bool {
        !self.0.contains_and_insert(&key)
    }
    #[inline]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(&key)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.union(&other.0).is_ok()
    }
    fn size_bytes(&self) -> usize {
        self.0.capacity() / 8
    }
}

/// `sketch_oxide`, which takes bytes.
#[derive(Clone)]
pub struct SketchOxide(sketch_oxide::membership::BloomFilter);

/// A key's bytes, for peers that take nothing else.
pub trait AsBytes {
    /// Calls with the bytes.
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R;
}

impl AsBytes for u64 {
    #[inline]
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        f(&self.to_le_bytes())
    }
}

impl AsBytes for str {
    #[inline]
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        f(self.as_bytes())
    }
}

impl<K: AsBytes + ?Sized> Filter<K> for SketchOxide {
    const NAME: &'static str = "sketch_oxide";

    fn new(keys: usize, fpr: f64) -> Self {
        Self(sketch_oxide::membership::BloomFilter::new(keys, fpr))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        key.with_bytes(|bytes| self.0.insert(bytes));
    }
    /// Has no such answer: asks first.
    #[inline]
    fn insert_new(&mut self, key: &K) -> bool {
        key.with_bytes(|bytes| {
            let known = self.0.contains(bytes);
            self.0.insert(bytes);
            !known
        })
    }
    #[inline]
    fn contains(&self, key: &K) -> bool {
        key.with_bytes(|bytes| self.0.contains(bytes))
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0);
        true
    }
    fn size_bytes(&self) -> usize {
        self.0.memory_usage()
    }
}
