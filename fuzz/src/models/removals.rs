//! Filters of multisets: what is held is found, until it was removed as often as inserted.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use pds_bloom::{CountingBloomFilter, CountingBloomParams, Merge};
use pds_cuckoo::prelude::*;

use super::{assert_same, calls, hash, hashes, history, recode};

/// How often each hash is held.
#[derive(Default)]
struct Multiset(BTreeMap<u64, u32>);

impl Multiset {
    fn add(&mut self, hash: u64) {
        *self.0.entry(hash).or_default() += 1;
    }

    /// Takes one of what is held, chosen by the bytes; `None` if nothing is.
    fn take(&mut self, u: &mut Unstructured<'_>) -> Result<Option<u64>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let at = u.choose_index(self.0.len())?;
        let Some((&hash, count)) = self.0.iter_mut().nth(at) else { return Ok(None) };
        *count -= 1;
        if *count == 0 {
            self.0.remove(&hash);
        }
        Ok(Some(hash))
    }

    fn len(&self) -> u64 {
        self.0.values().map(|&count| u64::from(count)).sum()
    }
}

/// [`CountingBloomFilter`]: removals of what is held, and of what the filter denies.
pub fn counting(data: &[u8]) {
    history(data, |u| {
        let params = CountingBloomParams::with_shape(u.int_in_range(1..=5000)?, u.int_in_range(1..=24)?)
            .expect("a shape");
        let (mut filter, mut held, mut removed) =
            (CountingBloomFilter::new(params), Multiset::default(), false);
        calls(u, |u, call| {
            match call % 16 {
                0..6 => {
                    let hash = hash(u)?;
                    assert_ne!(filter.contains_hash(hash), filter.insert_hash(hash));
                    held.add(hash);
                }
                6 | 7 => {
                    let hashes = hashes(u)?;
                    filter.insert_batch(&hashes);
                    hashes.into_iter().for_each(|hash| held.add(hash));
                }
                8..12 => {
                    if let Some(hash) = held.take(u)? {
                        assert_eq!(filter.remove_hash(hash), Ok(()), "a key that is held is refused");
                        removed = true;
                    }
                }
                12 => {
                    let hash = hash(u)?;
                    if !filter.contains_hash(hash) {
                        let before = filter.to_bytes();
                        assert_eq!(filter.remove_hash(hash), Err(Error::NotPresent));
                        assert!(filter.to_bytes() == before, "a refused removal changes something");
                    }
                }
                13 => recode(&mut filter),
                14 => {
                    let (mut other, hashes) = (CountingBloomFilter::new(params), hashes(u)?);
                    other.insert_batch(&hashes);
                    assert_eq!(filter.merge(&other), Ok(()));
                    hashes.into_iter().for_each(|hash| held.add(hash));
                }
                _ => {
                    filter.clear();
                    (held, removed) = (Multiset::default(), false);
                }
            }
            Ok(())
        })?;
        assert!(held.0.keys().all(|&hash| filter.contains_hash(hash)), "a key is forgotten");
        let blocked = filter.to_blocked();
        assert!(held.0.keys().all(|&hash| blocked.contains_hash(hash)), "a key is forgotten");
        if !removed {
            let mut fresh = CountingBloomFilter::new(params);
            for (&hash, &count) in &held.0 {
                (0..count).for_each(|_| _ = fresh.insert_hash(hash));
            }
            assert_same(&filter, &fresh, "the counters depend on the order of keys");
        }
        Ok(())
    });
}

/// What both cuckoo filters have in common; `$resize` is called now and then.
macro_rules! cuckoo_filters {
    ($(#[$doc:meta] $name:ident, $filter:ident, $params:expr, $resize:expr;)*) => {$(
        #[$doc]
        pub fn $name(data: &[u8]) {
            history(data, |u| {
                let Ok(params) = ($params)(u)? else { return Ok(()) };
                let (mut filter, mut held) = ($filter::new(params), Multiset::default());
                calls(u, |u, call| {
                    match call % 16 {
                        0..5 => {
                            let hash = hash(u)?;
                            let before = filter.to_bytes();
                            match filter.insert_hash(hash) {
                                Ok(stored) => {
                                    assert!(stored);
                                    held.add(hash);
                                }
                                Err(error) => {
                                    assert!(matches!(error, Error::Full | Error::DuplicateLimit), "{error}");
                                    assert!(filter.to_bytes() == before, "a refusal changes something");
                                }
                            }
                        }
                        5 | 6 => {
                            let hashes = hashes(u)?;
                            let stored = filter.insert_batch(&hashes);
                            hashes[..stored].iter().for_each(|&hash| held.add(hash));
                            if let Some(&refused) = hashes.get(stored) {
                                assert!(filter.insert_hash(refused).is_err(), "a batch refuses what fits");
                            }
                        }
                        7 => {
                            let hash = hash(u)?;
                            let known = filter.contains_hash(hash);
                            if let Ok(stored) = filter.insert_unique_hash(hash) {
                                assert_ne!(stored, known);
                                if stored {
                                    held.add(hash);
                                }
                            }
                        }
                        8..12 => {
                            if let Some(hash) = held.take(u)? {
                                assert_eq!(filter.remove_hash(hash), Ok(()), "a key that is held is refused");
                            }
                        }
                        12 => {
                            let hash = hash(u)?;
                            if !filter.contains_hash(hash) {
                                let before = filter.to_bytes();
                                assert_eq!(filter.remove_hash(hash), Err(Error::NotPresent));
                                assert!(filter.to_bytes() == before, "a refused removal changes something");
                            }
                        }
                        13 => recode(&mut filter),
                        14 => {
                            let (mut other, hashes) = ($filter::new(params), hashes(u)?);
                            let stored = other.insert_batch(&hashes);
                            let before = filter.to_bytes();
                            match filter.absorb(&other) {
                                Ok(()) => hashes[..stored].iter().for_each(|&hash| held.add(hash)),
                                Err(_) => assert!(filter.to_bytes() == before, "a refusal changes something"),
                            }
                        }
                        _ => ($resize)(u, &mut filter)?,
                    }
                    assert_eq!(filter.len(), held.len());
                    Ok(())
                })?;
                let hashes: Vec<u64> = held.0.keys().copied().collect();
                let mut found = vec![false; hashes.len()];
                filter.contains_batch(&hashes, &mut found);
                assert!(found.iter().all(|&found| found), "a key is forgotten");
                Ok(())
            });
        }
    )*};
}
cuckoo_filters! {
    /// [`CuckooFilter`].
    cuckoo, CuckooFilter, |u: &mut Unstructured<'_>| {
        Ok(CuckooParams::with_shape(u.int_in_range(1..=40)?, u.int_in_range(2..=34)?))
    }, |_: &mut Unstructured<'_>, _: &mut CuckooFilter| Ok(());
    /// [`GrowableCuckooFilter`].
    growable, GrowableCuckooFilter, |u: &mut Unstructured<'_>| {
        let (buckets, doublings) = (1u64 << u.int_in_range(0..=4)?, u.int_in_range(0..=6)?);
        Ok(GrowableCuckooParams::with_shape(buckets, doublings, u.int_in_range(2..=34)?))
    }, |u: &mut Unstructured<'_>, filter: &mut GrowableCuckooFilter| {
        if u.arbitrary()? { _ = filter.grow() } else { _ = filter.shrink_to_fit() }
        Ok(())
    };
}
