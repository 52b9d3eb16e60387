//! The Bloom family beside its peers: one block or line for each key, counters, growth, and views.
//!
//! Filters of one table have equal bits, not equal rates: the measured rate stands beside the time.

use std::borrow::Borrow;
use std::hash::Hash;

use pds_bloom::WyHasher;
use pds_bloom::prelude::*;

use crate::filters::{AsBytes, Filter};
use crate::report::Role;

/// Hashes made at a time for a batch of keys.
const CHUNK: usize = 1024;

/// Bits a key of a split-block filter that keeps 1%: the whole number that sbbf-rs can be given.
pub const SPLIT_BLOCK_BITS: usize = 11;

/// Bits a key of a blocked filter that keeps 1%.
pub const BLOCKED_BITS: usize = 10;

/// Calls for each chunk of keys with their hashes.
fn hashed<K: Key + ?Sized, S: Borrow<K>>(keys: &[S], mut with: impl FnMut(&[u64])) {
    let (hasher, mut hashes) = (WyHasher::default(), [0; CHUNK]);
    for chunk in keys.chunks(CHUNK) {
        for (hash, key) in hashes.iter_mut().zip(chunk) {
            *hash = hasher.hash_key(key.borrow());
        }
        with(&hashes[..chunk.len()]);
    }
}

/// How many of the hashes a batch query finds.
fn found(hashes: &[u64], ask: impl Fn(&[u64], &mut [bool]) -> usize) -> usize {
    let mut found = [false; CHUNK];
    hashes
        .chunks(CHUNK)
        .map(|chunk| {
            let answered = ask(chunk, &mut found);
            found[..answered].iter().filter(|&&found| found).count()
        })
        .sum()
}

/// Implements [`Filter`] for one of our filters, keyed and over hashes made beforehand.
macro_rules! ours {
    ($keyed:ident, $prehashed:ident, $name:literal, $role:expr, $new:expr) => {
        impl<K: Key + ?Sized> Filter<K> for $keyed {
            const NAME: &'static str = $name;
            const ROLE: Role = $role;

            fn new(keys: usize, fpr: f64) -> Self {
                Self($new(keys as u64, fpr))
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
                let mut count = 0;
                hashed(keys, |hashes| {
                    count += found(hashes, |hashes, found| self.0.contains_batch(hashes, found))
                });
                count
            }
            fn insert_batch<S: Borrow<K>>(&mut self, keys: &[S]) {
                hashed(keys, |hashes| self.0.insert_batch(hashes));
            }
            fn merge(&mut self, other: &Self) -> bool {
                self.0.merge(&other.0).is_ok()
            }
            fn size_bytes(&self) -> usize {
                self.0.size_bytes()
            }
        }

        impl Filter<u64> for $prehashed {
            const NAME: &'static str = $name;
            const ROLE: Role = $role;

            fn new(keys: usize, fpr: f64) -> Self {
                Self($new(keys as u64, fpr))
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
            fn count_batch<S: Borrow<u64>>(&self, hashes: &[S]) -> usize {
                let (mut chunk, mut count) = ([0; CHUNK], 0);
                for hashes in hashes.chunks(CHUNK) {
                    chunk.iter_mut().zip(hashes).for_each(|(to, from)| *to = *from.borrow());
                    count +=
                        found(&chunk[..hashes.len()], |hashes, found| self.0.contains_batch(hashes, found));
                }
                count
            }
            fn size_bytes(&self) -> usize {
                self.0.size_bytes()
            }
        }
    };
}

fn split_block(keys: u64, bits: usize) -> SplitBlockBloomFilter {
    let blocks = (keys * bits as u64).div_ceil(256);
    SplitBlockBloomFilter::new(SplitBlockParams::with_shape(blocks).expect("a usual size"))
}

/// Our `SplitBlockBloomFilter`, keyed.
#[derive(Clone)]
pub struct SplitBlock(SplitBlockBloomFilter);
/// Our `SplitBlockBloomFilter`, over hashes made beforehand.
pub struct SplitBlockPrehashed(SplitBlockBloomFilter);
ours!(SplitBlock, SplitBlockPrehashed, "pds-bloom", Role::Ours, |keys, _| split_block(
    keys,
    SPLIT_BLOCK_BITS
));
/// Our `SplitBlockBloomFilter`, keyed.
pub struct SplitBlockBeside(SplitBlockBloomFilter);
/// Our `SplitBlockBloomFilter`, over hashes made beforehand.
pub struct SplitBlockBesidePrehashed(SplitBlockBloomFilter);
ours!(SplitBlockBeside, SplitBlockBesidePrehashed, "pds-bloom, split-block", Role::Peer, |keys, _| {
    split_block(keys, BLOCKED_BITS)
});
/// Our `BlockedBloomFilter`, keyed.
#[derive(Clone)]
pub struct Blocked(BlockedBloomFilter);
/// Our `BlockedBloomFilter`, over hashes made beforehand.
pub struct BlockedPrehashed(BlockedBloomFilter);
ours!(Blocked, BlockedPrehashed, "pds-bloom", Role::Ours, |keys, _| blocked(keys));
/// Our `BlockedBloomFilter`, keyed.
pub struct BlockedBeside(BlockedBloomFilter);
/// Our `BlockedBloomFilter`, over hashes made beforehand.
pub struct BlockedBesidePrehashed(BlockedBloomFilter);
ours!(BlockedBeside, BlockedBesidePrehashed, "pds-bloom, blocked", Role::Peer, |keys, _| { blocked(keys) });
/// Our `CountingBloomFilter`, keyed.
#[derive(Clone)]
pub struct Counting(CountingBloomFilter);
/// Our `CountingBloomFilter`, over hashes made beforehand.
pub struct CountingPrehashed(CountingBloomFilter);
ours!(Counting, CountingPrehashed, "pds-bloom", Role::Ours, |keys, _| {
    let shape = blocked(keys).params();
    CountingBloomFilter::new(CountingBloomParams::with_shape(shape.bits(), shape.k()).expect("a usual size"))
});

fn blocked(keys: u64) -> BlockedBloomFilter {
    let params = BlockedBloomParams::for_bits(keys, keys * BLOCKED_BITS as u64).expect("a usual size");
    BlockedBloomFilter::new(params)
}

/// sbbf-rs-safe over hashes made beforehand.
pub struct SbbfPrehashed<const BITS: usize>(sbbf_rs_safe::Filter);

impl<const BITS: usize> Filter<u64> for SbbfPrehashed<BITS> {
    const NAME: &'static str = "sbbf-rs-safe";

    fn new(keys: usize, _: f64) -> Self {
        Self(sbbf_rs_safe::Filter::new(BITS, keys))
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
        self.0.as_bytes().len()
    }
}

/// sbbf-rs-safe, which hashes nothing, with the finaliser of murmur for numbers and xxh3 for text.
pub struct Sbbf<const BITS: usize>(sbbf_rs_safe::Filter);

/// The hash that a filter without one is given.
pub trait Hashed {
    /// A 64-bit hash that is quick for the type.
    fn hashed(&self) -> u64;
}

impl Hashed for u64 {
    #[inline]
    fn hashed(&self) -> u64 {
        let x = (self ^ (self >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        x ^ (x >> 33)
    }
}

impl Hashed for str {
    #[inline]
    fn hashed(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.as_bytes())
    }
}

impl<K: Hashed + ?Sized, const BITS: usize> Filter<K> for Sbbf<BITS> {
    const NAME: &'static str = "sbbf-rs-safe + fmix64/xxh3";

    fn new(keys: usize, _: f64) -> Self {
        Self(sbbf_rs_safe::Filter::new(BITS, keys))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.insert_hash(key.hashed());
    }
    #[inline]
    fn insert_new(&mut self, key: &K) -> bool {
        !self.0.insert_hash(key.hashed())
    }
    #[inline]
    fn contains(&self, key: &K) -> bool {
        self.0.contains_hash(key.hashed())
    }
    fn size_bytes(&self) -> usize {
        self.0.as_bytes().len()
    }
}

/// parquet's filter, of the power of two that it makes of its targets.
pub struct Parquet(parquet::bloom_filter::Sbbf);

impl<K: AsBytes + ?Sized> Filter<K> for Parquet {
    const NAME: &'static str = "parquet";

    fn new(keys: usize, fpr: f64) -> Self {
        Self(parquet::bloom_filter::Sbbf::new_with_ndv_fpp(keys as u64, fpr).expect("usual targets"))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        key.with_bytes(|bytes| self.0.insert(bytes));
    }
    /// Has no such answer: asks first.
    #[inline]
    fn insert_new(&mut self, key: &K) -> bool {
        key.with_bytes(|bytes| {
            let known = self.0.check(bytes);
            self.0.insert(bytes);
            !known
        })
    }
    #[inline]
    fn contains(&self, key: &K) -> bool {
        key.with_bytes(|bytes| self.0.check(bytes))
    }
    fn size_bytes(&self) -> usize {
        self.0.num_blocks() * 32
    }
}

/// Ours, growing from its first layer: the const is the number of times that the keys exceed it.
#[derive(Clone)]
pub struct Scalable<const GROWTH: usize>(ScalableBloomFilter);

impl<K: Key + ?Sized, const GROWTH: usize> Filter<K> for Scalable<GROWTH> {
    const NAME: &'static str = "pds-bloom";
    const OURS: bool = true;

    fn new(keys: usize, fpr: f64) -> Self {
        let params = ScalableBloomParams::for_fpr((keys / GROWTH) as u64, fpr).expect("usual targets");
        Self(ScalableBloomFilter::new(params))
    }
    #[inline]
    fn insert(&mut self, key: &K) {
        self.0.insert(key).expect("memory without a limit");
    }
    #[inline]
    fn insert_new(&mut self, key: &K) -> bool {
        self.0.insert(key).expect("memory without a limit")
    }
    #[inline]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }
    fn count_batch<S: Borrow<K>>(&self, keys: &[S]) -> usize {
        let mut count = 0;
        hashed(keys, |hashes| count += found(hashes, |hashes, found| self.0.contains_batch(hashes, found)));
        count
    }
    fn insert_batch<S: Borrow<K>>(&mut self, keys: &[S]) {
        hashed(keys, |hashes| self.0.insert_batch(hashes).expect("memory without a limit"));
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}

/// growable-bloom-filter, growing from its first slice.
pub struct Growable<const GROWTH: usize>(growable_bloom_filter::GrowableBloom);

impl<K: Hash + ?Sized, const GROWTH: usize> Filter<K> for Growable<GROWTH> {
    const NAME: &'static str = "growable-bloom-filter";

    fn new(keys: usize, fpr: f64) -> Self {
        Self(growable_bloom_filter::GrowableBloom::new(fpr, keys / GROWTH))
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
    /// It does not say, but its serde form lists the bytes of each slice.
    fn size_bytes(&self) -> usize {
        let form = serde_json::to_value(&self.0).unwrap_or_default();
        let slices = form["b"].as_array();
        slices.into_iter().flatten().filter_map(|slice| slice["b"].as_array()).map(Vec::len).sum()
    }
}
