//! Lists of frequent keys beside exact counts.

use std::collections::{HashMap, HashSet};

use arbitrary::{Result, Unstructured};
use pds_cms::prelude::*;

use super::{assert_same, calls, history, recode, weight};

/// Keys of histories: few, so that they repeat.
const KEYS: u8 = 60;

fn key(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(u64::from(u.arbitrary::<u8>()? % KEYS))
}

/// Some keys and how often each comes.
fn stream(u: &mut Unstructured<'_>) -> Result<Vec<(u64, u64)>> {
    (0..u.int_in_range(0..=20)?).map(|_| Ok((key(u)?, weight(u)?))).collect()
}

/// Exact counts, up to where counting ends.
#[derive(Default)]
struct Exact {
    counts: HashMap<u64, u64>,
    total: u64,
}

impl Exact {
    fn add(&mut self, key: u64, n: u64) {
        let count = self.counts.entry(key).or_default();
        *count = count.saturating_add(n);
        self.total = self.total.saturating_add(n);
    }

    fn count(&self, key: u64) -> u64 {
        self.counts.get(&key).copied().unwrap_or(0)
    }
}

/// What the three mergeable lists have in common. `$lower_is_certain`: a lower bound is one, not likely to be one.
macro_rules! lists {
    ($(#[$doc:meta] $name:ident, $list:ident, $params:expr, $unlisted:ident, $lower_is_certain:expr;)*) => {$(
        #[$doc]
        pub fn $name(data: &[u8]) {
            history(data, |u| {
                let params = ($params)(u)?;
                let (mut list, mut exact) = ($list::<u64>::new(params), Exact::default());
                calls(u, |u, call| {
                    match call % 16 {
                        0..10 => {
                            let (key, n) = (key(u)?, weight(u)?);
                            list.insert_n(&key, n);
                            exact.add(key, n);
                        }
                        10..12 => recode(&mut list),
                        12..15 => {
                            let (mut other, stream) = ($list::<u64>::new(($params)(u)?), stream(u)?);
                            stream.iter().for_each(|(key, n)| _ = other.insert_n(key, *n));
                            let before = list.to_bytes();
                            match list.merge(&other) {
                                Ok(()) => stream.into_iter().for_each(|(key, n)| exact.add(key, n)),
                                Err(_) => assert!(list.to_bytes() == before, "a refused merge changes something"),
                            }
                        }
                        _ => {
                            list.clear();
                            exact = Exact::default();
                        }
                    }
                    assert_eq!(list.total(), exact.total);
                    Ok(())
                })?;
                for key in 0..u64::from(KEYS) {
                    let (low, high) = list.bounds(&key);
                    let count = exact.count(key);
                    assert!(high >= count, "{key} came {count} times, which is above {high}");
                    assert!(!$lower_is_certain || low <= count, "{key} came {count} times, which is below {low}");
                    assert!(list.contains(&key) || list.$unlisted() >= count);
                }
                for phi in [0.001, 0.1, 0.5] {
                    let above = |key: u64| exact.count(key) as f64 > phi * exact.total as f64 * (1.0 + 1e-12);
                    if let Ok(hits) = list.heavy_hitters(phi, Guarantee::NoFalseNegatives) {
                        let listed: HashSet<u64> = hits.iter().map(|hit| *hit.key).collect();
                        let missing = (0..u64::from(KEYS)).find(|&key| above(key) && !listed.contains(&key));
                        assert!(list.is_saturated() || missing.is_none(), "{missing:?} is missing");
                    }
                    if let Ok(hits) = list.heavy_hitters(phi, Guarantee::NoFalsePositives) {
                        let below = |key: u64| (exact.count(key) as f64) < phi * exact.total as f64 * (1.0 - 1e-12);
                        assert!(!$lower_is_certain || !hits.iter().any(|hit| below(*hit.key)));
                    }
                }
                Ok(())
            });
        }
    )*};
}
lists! {
    /// [`SpaceSaving`].
    space_saving, SpaceSaving, |u: &mut Unstructured<'_>| -> Result<SpaceSavingParams> {
        Ok(SpaceSavingParams::with_capacity(u.int_in_range(1..=40)?).expect("a capacity"))
    }, max_error, true;
    /// [`MisraGries`].
    misra_gries, MisraGries, |u: &mut Unstructured<'_>| -> Result<MisraGriesParams> {
        Ok(MisraGriesParams::with_capacity(u.int_in_range(1..=40)?).expect("a capacity"))
    }, max_error, true;
    /// [`TopK`].
    top_k, TopK, |u: &mut Unstructured<'_>| -> Result<TopKParams> {
        let sketch = CountMinParams::with_shape(u.int_in_range(1..=64)?, u.int_in_range(1..=4)?).expect("a shape");
        Ok(TopKParams::with_sketch(u.int_in_range(1..=20)?, sketch).expect("a list"))
    }, max_unlisted, false;
}

/// [`HeavyKeeper`]: one stream and one seed, one result; never above the truth but for a shared fingerprint, which few keys
/// do not have, decoded meanwhile or not. (Which of equal least counts gives way is not in the bytes: a decoded keeper may go
/// on in another way.)
pub fn heavy_keeper(data: &[u8]) {
    history(data, |u| {
        let params = HeavyKeeperParams::with_shape(u.int_in_range(1..=20)?, u.int_in_range(1..=40)?)
            .expect("a shape")
            .with_seed(u.arbitrary()?);
        let (mut keeper, mut exact) = (HeavyKeeper::<u64>::new(params), Exact::default());
        let (mut again, mut recoded) = (keeper.clone(), keeper.clone());
        calls(u, |u, call| {
            match call % 8 {
                0..6 => {
                    let (key, n) = (key(u)?, weight(u)?);
                    keeper.insert_n(&key, n);
                    again.insert_n(&key, n);
                    recoded.insert_n(&key, n);
                    exact.add(key, n);
                }
                6 => recode(&mut recoded),
                _ => {
                    [&mut keeper, &mut again, &mut recoded].into_iter().for_each(HeavyKeeper::clear);
                    exact = Exact::default();
                }
            }
            assert_eq!(keeper.total(), exact.total);
            Ok(())
        })?;
        assert_same(&again, &keeper, "one stream has two results");
        for (key, keeper) in (0..u64::from(KEYS)).flat_map(|key| [(key, &keeper), (key, &recoded)]) {
            let (low, high) = keeper.bounds(&key);
            assert!(low <= exact.count(key) && exact.count(key) <= high);
        }
        Ok(())
    });
}
