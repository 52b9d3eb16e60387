//! Sketches of sets: the bytes are those of the set, whatever its history.

use std::collections::HashSet;

use pds_hll::prelude::*;
use pds_theta::{CompactTheta, ThetaParams, ThetaSketch, difference, intersection, jaccard, union};

use super::{assert_same, calls, hash, hashes, history, recode, sorted};
use crate::probe::assert_within;

/// What HyperLogLog and UltraLogLog have in common.
macro_rules! registers {
    ($(#[$doc:meta] $name:ident, $sketch:ident, $params:ident;)*) => {$(
        #[$doc]
        pub fn $name(data: &[u8]) {
            history(data, |u| {
                let mut params = $params::with_precision(u.int_in_range(4..=18)?).expect("a precision");
                let of = |params, hashes: &[u64]| {
                    let mut sketch = $sketch::new(params);
                    sketch.insert_batch(hashes);
                    sketch
                };
                let (mut sketch, mut set) = ($sketch::new(params), HashSet::new());
                calls(u, |u, call| {
                    match call % 16 {
                        0..6 => {
                            let hash = hash(u)?;
                            let changed = sketch.insert_hash(hash);
                            assert!(set.insert(hash) || !changed, "a key changes the sketch twice");
                        }
                        6..9 => {
                            let hashes = hashes(u)?;
                            sketch.insert_batch(&hashes);
                            set.extend(hashes);
                        }
                        9 => recode(&mut sketch),
                        10 | 11 => {
                            let precision = u.int_in_range(4..=18)?;
                            let theirs = $params::with_precision(precision).expect("a precision");
                            let hashes = hashes(u)?;
                            assert_eq!(sketch.merge(&of(theirs, &hashes)), Ok(()));
                            set.extend(hashes);
                            params = if precision < params.precision() { theirs } else { params };
                        }
                        12 => {
                            let hashes = hashes(u)?;
                            let bytes = of(params, &hashes).to_bytes();
                            let view = $sketch::view(&bytes).expect("its own bytes");
                            assert_eq!(sketch.merge_view(&view), Ok(()));
                            set.extend(hashes);
                        }
                        13 => {
                            let precision = u.int_in_range(4..=18)?;
                            let folded = sketch.fold_to(precision).is_ok();
                            assert_eq!(folded, precision <= params.precision());
                            if folded {
                                params = $params::with_precision(precision).expect("a precision");
                            }
                        }
                        14 => assert_within(sketch.bounds(1.0), sketch.estimate()),
                        _ => {
                            sketch.clear();
                            set.clear();
                        }
                    }
                    assert_eq!(sketch.params(), params);
                    Ok(())
                })?;
                let fresh = of(params, &sorted(&set));
                assert_same(&sketch, &fresh, "the bytes depend on the history");
                assert_eq!(sketch.estimate().to_bits(), fresh.estimate().to_bits());
                assert_eq!(sketch.registers(), fresh.registers());
                assert_eq!(sketch.is_empty(), set.is_empty());
                let (low, high) = sketch.bounds(f64::INFINITY);
                assert!(low <= set.len() as f64 && high >= set.len() as f64);
                Ok(())
            });
        }
    )*};
}
registers! {
    /// [`HyperLogLog`].
    hyper_log_log, HyperLogLog, HllParams;
    /// [`UltraLogLog`].
    ultra_log_log, UltraLogLog, UllParams;
}

/// [`StreamingHyperLogLog`]: the registers are those of the set, and decoding changes nothing of what follows.
pub fn streaming(data: &[u8]) {
    history(data, |u| {
        let params = HllParams::with_precision(u.int_in_range(4..=14)?).expect("a precision");
        let (mut sketch, mut set) = (StreamingHyperLogLog::new(params), HashSet::new());
        let mut recoded = sketch.clone();
        let mut last = 0.0;
        calls(u, |u, call| {
            match call % 8 {
                0..4 => {
                    let hash = hash(u)?;
                    let changed = sketch.insert_hash(hash);
                    assert_eq!(recoded.insert_hash(hash), changed);
                    assert!(set.insert(hash) || !changed, "a key changes the sketch twice");
                }
                4..6 => {
                    let hashes = hashes(u)?;
                    sketch.insert_batch(&hashes);
                    recoded.insert_batch(&hashes);
                    set.extend(hashes);
                }
                6 => recode(&mut recoded),
                _ => {
                    sketch.clear();
                    recoded.clear();
                    set.clear();
                    last = 0.0;
                }
            }
            let estimate = sketch.estimate();
            assert!(estimate >= last, "the estimate falls from {last} to {estimate}");
            assert_within(sketch.bounds(1.0), estimate);
            last = estimate;
            Ok(())
        })?;
        assert_same(&recoded, &sketch, "decoding changes what follows");
        let mut plain = HyperLogLog::new(params);
        plain.insert_batch(&sorted(&set));
        assert_same(&sketch.into_hll(), &plain, "the registers depend on the history");
        Ok(())
    });
}

/// [`ThetaSketch`] and its set operations.
pub fn theta(data: &[u8]) {
    history(data, |u| {
        let mut params = ThetaParams::with_lg_k(u.int_in_range(5..=9)?).expect("a size");
        let of = |params, hashes: &[u64]| {
            let mut sketch = ThetaSketch::new(params);
            sketch.insert_batch(hashes);
            sketch
        };
        let (mut sketch, mut set) = (ThetaSketch::new(params), HashSet::new());
        calls(u, |u, call| {
            match call % 16 {
                0..6 => {
                    let hash = hash(u)?;
                    sketch.insert_hash(hash);
                    assert!(!sketch.insert_hash(hash), "a key changes the sketch twice");
                    set.insert(hash);
                }
                6..9 => {
                    let hashes = hashes(u)?;
                    sketch.insert_batch(&hashes);
                    set.extend(hashes);
                }
                9 => recode(&mut sketch),
                10 => sketch.trim(),
                11 | 12 => {
                    let lg_k = u.int_in_range(5..=9)?;
                    let theirs = ThetaParams::with_lg_k(lg_k).expect("a size");
                    let hashes = hashes(u)?;
                    if sketch.merge(&of(theirs, &hashes)).is_ok() {
                        set.extend(hashes);
                        params = params.min(theirs);
                    }
                }
                13 => {
                    let lg_k = u.int_in_range(5..=9)?;
                    if sketch.fold_to(lg_k).is_ok() {
                        params = ThetaParams::with_lg_k(lg_k).expect("a size");
                    }
                }
                14 => operate(&sketch, &set, &hashes(u)?, params),
                _ => {
                    sketch.clear();
                    set.clear();
                }
            }
            assert_eq!(sketch.params(), params);
            Ok(())
        })?;
        let hashes = sorted(&set);
        assert_same(&sketch, &of(params, &hashes), "the bytes depend on the history");
        // The hashes at both ends of their range stand for their neighbours too.
        let distinct = hashes.iter().map(|&hash| hash.clamp(1, u64::MAX - 1)).collect::<HashSet<_>>().len();
        assert_eq!(sketch.is_exact(), distinct <= params.k());
        if sketch.is_exact() {
            assert_eq!(sketch.estimate(), distinct as f64);
        }
        Ok(())
    });
}

/// Set operations on exact sketches are exact.
fn operate(sketch: &ThetaSketch, set: &HashSet<u64>, others: &[u64], params: ThetaParams) {
    let clamped = |hashes: &mut dyn Iterator<Item = u64>| -> HashSet<u64> {
        hashes.map(|hash| hash.clamp(1, u64::MAX - 1)).collect()
    };
    let (mine, theirs) = (clamped(&mut set.iter().copied()), clamped(&mut others.iter().copied()));
    let mut other = ThetaSketch::new(params);
    other.insert_batch(others);
    let check = |result: CompactTheta, exact: usize| {
        let result = crate::subject::recoded(&result);
        assert_within(result.bounds(1.0), result.estimate());
        if result.is_exact() {
            assert_eq!(result.estimate(), exact as f64);
        }
    };
    let of_one_hasher = "sketches of one hasher";
    check(union(&[sketch, &other]).expect(of_one_hasher), mine.union(&theirs).count());
    check(intersection(&[sketch, &other]).expect(of_one_hasher), mine.intersection(&theirs).count());
    check(difference(sketch, &[&other]).expect(of_one_hasher), mine.difference(&theirs).count());
    let share = jaccard(sketch, &other).expect(of_one_hasher);
    assert_within(share.bounds(1.0), share.estimate());
    let either = mine.union(&theirs).count();
    if share.is_exact() && either > 0 && sketch.is_exact() && other.is_exact() {
        assert_eq!(share.estimate(), mine.intersection(&theirs).count() as f64 / either as f64);
    }
}
