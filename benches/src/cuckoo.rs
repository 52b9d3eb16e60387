//! Filters that delete: ours, and each peer's, of equal slots and equal bits of a fingerprint.

use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;

use pds_cuckoo::WyHasher;
use pds_cuckoo::prelude::*;
use pds_testkit::laws;

use crate::report::Gate;

/// A filter that deletes and is timed, over numbers.
pub trait Deleting: Sized {
    /// The crate, and the hasher it was given.
    const NAME: &'static str;
    /// Whether it is ours.
    const OURS: bool = false;

    /// Empty, of so many slots, a power of two.
    fn new(slots: u64) -> Self;
    /// Stores a key; false if it was refused.
    fn insert(&mut self, key: u64) -> bool;
    /// Asks for a key.
    fn contains(&self, key: u64) -> bool;
    /// Takes a key out; false if it was not found.
    fn remove(&mut self, key: u64) -> bool;
    /// Asks for many keys, and counts those found.
    fn count_batch(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|key| black_box(self.contains(**key))).count()
    }
    /// Bytes of the table.
    fn size_bytes(&self) -> usize;
}

/// The gate: no key refused, lost, or kept after its removal but by mistake; strangers are taken for members at most as
/// often as asked for, by Chernoff's law. Removes the second half of the members, and leaves the filter so.
pub fn gate<F: Deleting>(filter: &mut F, refused: u64, members: &[u64], strangers: &[u64], fpr: f64) -> Gate {
    let count = |filter: &F, keys: &[u64]| keys.iter().filter(|key| filter.contains(**key)).count() as u64;
    let found = count(filter, members);
    let hits = count(filter, strangers);
    let error = hits as f64 / strangers.len() as f64;
    let bytes = filter.size_bytes() as f64 / members.len() as f64;
    if (filter.count_batch(members) as u64, filter.count_batch(strangers) as u64) != (found, hits) {
        return Gate::of(bytes, error, "a batch answers otherwise than single calls", laws::all_hold(1, 1));
    }
    let of_members = |faults: u64| laws::all_hold(faults, members.len() as u64);
    let (kept, removed) = members.split_at(members.len() / 2);
    let unknown = removed.iter().filter(|key| !filter.remove(**key)).count() as u64;
    let lost = kept.len() as u64 - count(filter, kept);
    let left = count(filter, removed);
    for (promise, law) in [
        ("keys are refused", of_members(refused)),
        ("keys are lost", of_members(members.len() as u64 - found)),
        ("removals are refused", of_members(unknown)),
        ("removals lose other keys", of_members(lost)),
        ("removed keys stay", laws::rate_at_most(left, removed.len() as u64, fpr)),
    ] {
        if !law.pass {
            return Gate::of(bytes, error, promise, law);
        }
    }
    Gate::of(
        bytes,
        error,
        "the rate is above the target",
        laws::rate_at_most(hits, strangers.len() as u64, fpr),
    )
}

/// The published bound of the rate, for fingerprints of so many bits and buckets of four: 2b / 2^f.
pub fn target(bits: u32) -> f64 {
    8.0 / f64::from(bits).exp2()
}

fn table(slots: u64, bits: u32) -> CuckooFilter {
    let buckets = slots / u64::from(CuckooParams::SLOTS);
    CuckooFilter::new(CuckooParams::with_shape(buckets, bits).expect("a usual shape"))
}

/// Hashes made at a time for a batch of keys.
const CHUNK: usize = 1024;

fn count_batch(filter: &CuckooFilter, keys: &[u64], hash: impl Fn(u64) -> u64) -> usize {
    let (mut hashes, mut found) = ([0; CHUNK], [false; CHUNK]);
    let mut count = 0;
    for chunk in keys.chunks(CHUNK) {
        hashes.iter_mut().zip(chunk).for_each(|(to, key)| *to = hash(*key));
        let answered = filter.contains_batch(&hashes[..chunk.len()], &mut found);
        count += found[..answered].iter().filter(|&&found| found).count();
    }
    count
}

/// Ours with its default hasher.
pub struct Ours<const BITS: u32>(CuckooFilter);

impl<const BITS: u32> Deleting for Ours<BITS> {
    const NAME: &'static str = "pds-cuckoo";
    const OURS: bool = true;

    fn new(slots: u64) -> Self {
        Self(table(slots, BITS))
    }
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert(&key).is_ok()
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(&key).is_ok()
    }
    fn count_batch(&self, keys: &[u64]) -> usize {
        count_batch(&self.0, keys, |key| WyHasher::default().hash_key(&key))
    }
    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}

/// Ours with the hasher that the peers are given.
pub struct OursQuick<const BITS: u32>(CuckooFilter);

impl<const BITS: u32> Deleting for OursQuick<BITS> {
    const NAME: &'static str = "pds-cuckoo";
    const OURS: bool = true;

    fn new(slots: u64) -> Self {
        Self(table(slots, BITS))
    }
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert_hash(quick(key)).is_ok()
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains_hash(quick(key))
    }
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.0.remove_hash(quick(key)).is_ok()
    }
    fn count_batch(&self, keys: &[u64]) -> usize {
        count_batch(&self.0, keys, quick)
    }
    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}

/// A hasher of one folded multiplication for a number: as quick as any, and promising nothing.
#[derive(Clone, Copy, Default)]
pub struct Quick(u64);

impl Hasher for Quick {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }
    #[inline]
    fn write_u64(&mut self, value: u64) {
        // The first of the standard secrets of wyhash, and 2^64 over the golden ratio.
        let product = u128::from(self.0 ^ value ^ 0xa076_1d64_78bd_642f) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[inline]
fn quick(key: u64) -> u64 {
    let mut hasher = Quick::default();
    hasher.write_u64(key);
    hasher.finish()
}

/// cuckoofilter, whose fingerprints have eight bits.
pub struct Axiom(cuckoofilter::CuckooFilter<Quick>);

impl Deleting for Axiom {
    const NAME: &'static str = "cuckoofilter";

    fn new(slots: u64) -> Self {
        Self(cuckoofilter::CuckooFilter::with_capacity(slots as usize))
    }
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.add(&key).is_ok()
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.0.delete(&key)
    }
    fn size_bytes(&self) -> usize {
        self.0.memory_usage()
    }
}

/// The rate for which crates that halve it for their first table take so many bits; a little more, for the rounding.
fn halved(bits: u32) -> f64 {
    2.0 * target(bits) * 1.003
}

/// autoscale_cuckoo_filter.
pub struct Autoscale<const BITS: u32>(autoscale_cuckoo_filter::CuckooFilter<u64, Quick>);

impl<const BITS: u32> Deleting for Autoscale<BITS> {
    const NAME: &'static str = "autoscale_cuckoo_filter";

    fn new(slots: u64) -> Self {
        let builder = autoscale_cuckoo_filter::CuckooFilterBuilder::new()
            .initial_capacity(slots as usize)
            .false_positive_probability(halved(BITS))
            .entries_per_bucket(4)
            .hasher(Quick::default());
        Self(builder.finish())
    }
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.add(&key);
        true
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(&key)
    }
    fn count_batch(&self, keys: &[u64]) -> usize {
        let mut found = [false; CHUNK];
        let count = |chunk: &[u64]| {
            let found = &mut found[..chunk.len()];
            self.0.contains_batch_into::<u64, u64>(chunk, found);
            found.iter().filter(|&&found| found).count()
        };
        keys.chunks(CHUNK).map(count).sum()
    }
    fn size_bytes(&self) -> usize {
        (self.0.bits() / 8) as usize
    }
}

/// scalable_cuckoo_filter.
pub struct Scalable<const BITS: u32>(scalable_cuckoo_filter::ScalableCuckooFilter<u64, Quick>);

impl<const BITS: u32> Deleting for Scalable<BITS> {
    const NAME: &'static str = "scalable_cuckoo_filter";

    fn new(slots: u64) -> Self {
        let builder = scalable_cuckoo_filter::ScalableCuckooFilterBuilder::new()
            .initial_capacity(slots as usize)
            .false_positive_probability(halved(BITS))
            .entries_per_bucket(4)
            .hasher(Quick::default());
        Self(builder.finish())
    }
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert(&key);
        true
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(&key)
    }
    fn size_bytes(&self) -> usize {
        (self.0.bits() / 8) as usize
    }
}

/// qfilter: a quotient filter, of the remainder that gives the same rate.
pub struct Qfilter<const BITS: u32>(qfilter::Filter<Box<[u8]>, BuildHasherDefault<Quick>>);

impl<const BITS: u32> Deleting for Qfilter<BITS> {
    const NAME: &'static str = "qfilter";

    fn new(slots: u64) -> Self {
        let keys = slots / 20 * 19;
        let filter = qfilter::Filter::new_with_hasher(keys, target(BITS), BuildHasherDefault::default());
        Self(filter.expect("usual targets"))
    }
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert_duplicated(key).is_ok()
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(key)
    }
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(key)
    }
    fn size_bytes(&self) -> usize {
        self.0.memory_usage()
    }
}
