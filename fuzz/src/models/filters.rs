//! Filters of sets that only grow: no key is forgotten, and no bit depends on an order.

use std::collections::HashSet;

use arbitrary::{Result, Unstructured};
use pds_bloom::prelude::*;
use pds_static_filters::{
    BinaryFuseFilter8, BinaryFuseFilter8x4, BinaryFuseFilter16, RibbonFilter, RibbonParams, XorFilter8,
    XorFilter16,
};

use super::{assert_same, calls, hash, hashes, history, recode, sorted};

/// Keys of a filter that is built once: of a few thousand, it has several segments.
const KEYS: usize = 3000;

/// A filter, the set of what it holds, and whether its bits are exactly those of that set.
macro_rules! plain {
    ($(#[$doc:meta] $name:ident, $filter:ident, $params:expr;)*) => {$(
        #[$doc]
        pub fn $name(data: &[u8]) {
            history(data, |u| {
                let params = ($params)(u)?;
                let of = |hashes: &[u64]| {
                    let mut filter = $filter::new(params);
                    hashes.iter().for_each(|&hash| _ = filter.insert_hash(hash));
                    filter
                };
                let (mut filter, mut set, mut pure) = ($filter::new(params), HashSet::new(), true);
                calls(u, |u, call| {
                    match call % 16 {
                        0..8 => {
                            let hash = hash(u)?;
                            assert_ne!(filter.contains_hash(hash), filter.insert_hash(hash));
                            set.insert(hash);
                        }
                        8..11 => {
                            let hashes = hashes(u)?;
                            filter.insert_batch(&hashes);
                            set.extend(hashes);
                        }
                        11 => recode(&mut filter),
                        12 => {
                            let hashes = hashes(u)?;
                            assert_eq!(filter.merge(&of(&hashes)), Ok(()));
                            set.extend(hashes);
                        }
                        13 => {
                            let other: HashSet<u64> = hashes(u)?.into_iter().collect();
                            assert_eq!(filter.intersect(&of(&sorted(&other))), Ok(()));
                            set.retain(|hash| other.contains(hash));
                            pure = false;
                        }
                        14 => {
                            let bytes = filter.to_bytes();
                            let view = $filter::view(&bytes).expect("its own bytes");
                            assert!(set.iter().all(|&hash| view.contains_hash(hash)), "a view forgets a key");
                        }
                        _ => {
                            filter.clear();
                            set.clear();
                            pure = true;
                        }
                    }
                    Ok(())
                })?;
                let hashes = sorted(&set);
                let mut found = vec![false; hashes.len()];
                filter.contains_batch(&hashes, &mut found);
                assert!(found.iter().all(|&found| found), "a key is forgotten");
                if pure {
                    assert_same(&filter, &of(&hashes), "the bits depend on the order of keys");
                }
                Ok(())
            });
        }
    )*};
}
plain! {
    /// [`BloomFilter`].
    bloom, BloomFilter, |u: &mut Unstructured<'_>| -> Result<BloomParams> {
        Ok(BloomParams::with_shape(u.int_in_range(1..=5000)?, u.int_in_range(1..=64)?).expect("a shape"))
    };
    /// [`BlockedBloomFilter`].
    blocked, BlockedBloomFilter, |u: &mut Unstructured<'_>| -> Result<BlockedBloomParams> {
        Ok(BlockedBloomParams::with_shape(u.int_in_range(1..=5000)?, u.int_in_range(1..=24)?).expect("a shape"))
    };
    /// [`SplitBlockBloomFilter`].
    split_block, SplitBlockBloomFilter, |u: &mut Unstructured<'_>| -> Result<SplitBlockParams> {
        Ok(SplitBlockParams::with_shape(u.int_in_range(1..=40)?).expect("a shape"))
    };
}

/// [`ScalableBloomFilter`]: grows, is full where its memory ends, and merges within its rate.
pub fn scalable(data: &[u8]) {
    history(data, |u| {
        const RATES: [f64; 4] = [0.5, 0.1, 0.01, 1e-6];
        let params = ScalableBloomParams::for_fpr(u.int_in_range(0..=50)?, *u.choose(&RATES)?)
            .and_then(|params| params.with_growth(u.int_in_range(2..=8).unwrap_or(2)))
            .expect("a shape");
        // The first layer fits, more of them may not.
        let limited = params.with_max_bytes(1 << u.int_in_range(6..=16)?);
        let params = limited.unwrap_or(params);
        let (mut filter, mut set) = (ScalableBloomFilter::new(params), HashSet::new());
        calls(u, |u, call| {
            match call % 16 {
                0..8 => {
                    let hash = hash(u)?;
                    let known = filter.contains_hash(hash);
                    match filter.insert_hash(hash) {
                        Ok(changed) => {
                            assert_ne!(changed, known);
                            set.insert(hash);
                        }
                        Err(error) => assert_eq!((error, known), (Error::Full, false)),
                    }
                }
                8..12 => {
                    let hashes = hashes(u)?;
                    if filter.insert_batch(&hashes).is_ok() {
                        set.extend(hashes);
                    }
                }
                12 => recode(&mut filter),
                13 | 14 => {
                    let (mut other, hashes) = (ScalableBloomFilter::new(params), hashes(u)?);
                    let filled = other.insert_batch(&hashes).is_ok();
                    let before = filter.to_bytes();
                    match filter.merge(&other) {
                        Ok(()) if filled => set.extend(hashes),
                        Ok(()) => {}
                        Err(_) => assert!(filter.to_bytes() == before, "a refused merge changes something"),
                    }
                }
                _ => {
                    filter.clear();
                    set.clear();
                }
            }
            Ok(())
        })?;
        assert!(set.iter().all(|&hash| filter.contains_hash(hash)), "a key is forgotten");
        assert!(filter.size_bytes() as u64 <= params.max_bytes());
        Ok(())
    });
}

/// Binary fuse and xor filters: built of any hashes, in any order and number.
pub fn static_filter(data: &[u8]) {
    history(data, |u| {
        let mut keys = Vec::new();
        calls(u, |u, _| {
            if keys.len() < KEYS {
                keys.extend(hashes(u)?);
            }
            Ok(())
        })?;
        let set: HashSet<u64> = keys.iter().copied().collect();
        let sorted = sorted(&set);
        macro_rules! build {
            ($($filter:ty),*) => {$(
                match <$filter>::from_hashes(&keys) {
                    Ok(filter) => {
                        assert!(keys.iter().all(|&hash| filter.contains_hash(hash)), "a key is forgotten");
                        assert_eq!(filter.len(), set.len() as u64);
                        let same = <$filter>::from_hashes(&sorted).expect("the same keys");
                        assert_same(&filter, &same, "the slots depend on the order of keys");
                        crate::subject::recoded(&filter);
                    }
                    Err(error) => assert!(matches!(error, Error::Construction { .. }), "{error}"),
                }
            )*};
        }
        build!(BinaryFuseFilter8, BinaryFuseFilter16, BinaryFuseFilter8x4, XorFilter8, XorFilter16);
        Ok(())
    });
}

/// [`RibbonFilter`], built of any hashes.
pub fn ribbon(data: &[u8]) {
    history(data, |u| {
        let params = RibbonParams::with_columns(u.int_in_range(1..=32)?).expect("columns");
        let mut keys = Vec::new();
        calls(u, |u, _| {
            if keys.len() < KEYS {
                keys.extend(hashes(u)?);
            }
            Ok(())
        })?;
        let set: HashSet<u64> = keys.iter().copied().collect();
        match RibbonFilter::from_hashes(params, &keys) {
            Ok(filter) => {
                assert!(filter.contains_all(&keys), "a key is forgotten");
                assert!(keys.iter().all(|&hash| filter.contains_hash(hash)), "a key is forgotten");
                assert_eq!(filter.len(), set.len() as u64);
                let same = RibbonFilter::from_hashes(params, &sorted(&set)).expect("the same keys");
                assert_same(&filter, &same, "the bits depend on the order of keys");
                crate::subject::recoded(&filter);
            }
            Err(error) => assert!(matches!(error, Error::Construction { .. }), "{error}"),
        }
        Ok(())
    });
}
