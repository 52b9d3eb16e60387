//! Filters that merge and are in no other bench.

use pds_bloom::prelude::*;
use pds_bloom::{Key, Merge};

use crate::filters::{AsBytes, Filter};

/// Ours, of four generations with the keys in the current one.
#[derive(Clone)]
pub struct Windowed(WindowedBloomFilter);

/// Its generations.
const GENERATIONS: u32 = 4;

impl<K: Key + ?Sized> Filter<K> for Windowed {
    const NAME: &'static str = "pds-bloom";
    const OURS: bool = true;

    fn new(keys: usize, fpr: f64) -> Self {
        let params = WindowedBloomParams::for_fpr(keys as u64, fpr, GENERATIONS).expect("usual targets");
        Self(WindowedBloomFilter::new(params))
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
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}

/// Implements [`Filter`] for one of `sketch_oxide`'s behind a field, which takes bytes.
macro_rules! oxide {
    ($type:ident: $filter:ident, |$mine:ident, $theirs:ident| $merge:expr) => {
        impl<K: AsBytes + ?Sized> Filter<K> for $type {
            const NAME: &'static str = "sketch_oxide";

            fn new(keys: usize, fpr: f64) -> Self {
                Self(sketch_oxide::membership::$filter::new(keys, fpr))
            }
            #[inline]
            fn insert(&mut self, key: &K) {
                key.with_bytes(|bytes| self.0.insert(bytes));
            }
            /// Has no such answer: asks first.
            #[inline]
            fn insert_new(&mut self, key: &K) -> bool {
                let known = self.contains(key);
                self.insert(key);
                !known
            }
            #[inline]
            fn contains(&self, key: &K) -> bool {
                key.with_bytes(|bytes| self.0.contains(bytes))
            }
            fn merge(&mut self, other: &Self) -> bool {
                let ($mine, $theirs) = (&mut self.0, &other.0);
                $merge
            }
            fn size_bytes(&self) -> usize {
                self.0.memory_usage()
            }
        }
    };
}

/// `sketch_oxide`'s blocked filter.
#[derive(Clone)]
pub struct OxideBlocked(sketch_oxide::membership::BlockedBloomFilter);
oxide!(OxideBlocked: BlockedBloomFilter, |mine, theirs| {
    mine.merge(theirs);
    true
});

/// `sketch_oxide`'s counting filter, four bits a counter and no bits beside them.
#[derive(Clone)]
pub struct OxideCounting(sketch_oxide::membership::CountingBloomFilter);
oxide!(OxideCounting: CountingBloomFilter, |mine, theirs| mine.merge(theirs).is_ok());
