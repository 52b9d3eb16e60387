//! Sketches of counts: never below the truth, or linear.

use std::collections::HashMap;

use arbitrary::Unstructured;
use pds_cms::prelude::*;
use pds_cms::{Cell, SignedCell};
use pds_hash::WyHasher;

use super::{assert_same, calls, hash, hashes, history, recode, weight};
use crate::probe::assert_within;
use crate::subject::Subject;

/// Exact counts, up to where counting ends.
#[derive(Default)]
struct Exact(HashMap<u64, u64>);

impl Exact {
    fn add(&mut self, hash: u64, n: u64) {
        let count = self.0.entry(hash).or_default();
        *count = count.saturating_add(n);
    }

    fn halve(&mut self) {
        self.0.values_mut().for_each(|count| *count /= 2);
    }
}

/// [`CountMinSketch`] of any cell.
pub fn count_min(data: &[u8]) {
    history(data, |u| match u.arbitrary::<u8>()? % 4 {
        0 => plain::<u8>(u),
        1 => plain::<u16>(u),
        2 => plain::<u32>(u),
        _ => plain::<u64>(u),
    });
}

fn plain<C: Cell>(u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let params =
        CountMinParams::with_shape(u.int_in_range(1..=64)?, u.int_in_range(1..=16)?).expect("a shape");
    let new = || CountMinSketch::<C>::with_hasher(params, WyHasher::default());
    let (mut sketch, mut exact) = (new(), Exact::default());
    let (mut halved, mut lost) = (false, false);
    calls(u, |u, call| {
        match call % 16 {
            0..4 => {
                let (hash, n) = (hash(u)?, weight(u)?);
                let before = (!lost).then(|| sketch.clone());
                let changed = sketch.insert_hash_n(hash, n);
                assert!(before.is_none_or(|before| changed != (before == sketch)));
                exact.add(hash, n);
            }
            4 | 5 => {
                let hashes = hashes(u)?;
                sketch.insert_batch(&hashes);
                hashes.into_iter().for_each(|hash| exact.add(hash, 1));
            }
            6 | 7 => {
                let (hash, n) = (hash(u)?, weight(u)?);
                let before = sketch.to_bytes();
                match sketch.try_insert_hash_n(hash, n) {
                    Ok(changed) => {
                        assert_eq!(changed, n > 0);
                        exact.add(hash, n);
                    }
                    Err(error) => {
                        assert_eq!(error, Error::Overflow);
                        assert!(sketch.to_bytes() == before, "a refused count changes something");
                    }
                }
            }
            8..11 => {
                // Of what was counted, up to all of it.
                let hash = hash(u)?;
                let count = exact.0.get(&hash).copied().unwrap_or(0);
                let n = weight(u)?.min(count);
                match sketch.try_remove_hash(hash, n) {
                    Ok(()) => _ = exact.0.insert(hash, count - n),
                    Err(error) => {
                        assert_eq!(error, Error::Overflow);
                        assert!(lost || sketch.is_saturated(), "what was counted cannot be taken back");
                    }
                }
            }
            11 => {
                let (hash, n) = (hash(u)?, weight(u)?);
                if n > sketch.estimate_hash(hash) && !sketch.is_saturated() {
                    let before = sketch.to_bytes();
                    assert!(sketch.try_remove_hash(hash, n).is_err());
                    assert!(sketch.to_bytes() == before, "a refused removal changes something");
                }
            }
            12 => recode(&mut sketch),
            13 => {
                let (mut other, hashes) = (new(), hashes(u)?);
                let n = weight(u)?;
                hashes.iter().for_each(|&hash| _ = other.insert_hash_n(hash, n));
                assert_eq!(sketch.merge(&other), Ok(()));
                hashes.into_iter().for_each(|hash| exact.add(hash, n));
            }
            14 => {
                sketch.halve();
                exact.halve();
                halved = true;
            }
            _ => {
                sketch.clear();
                (exact, halved, lost) = (Exact::default(), false, false);
            }
        }
        lost |= sketch.is_saturated();
        Ok(())
    })?;
    check(&exact, |hash| sketch.estimate_hash(hash), |hash| sketch.bounds_hash(hash));
    if !halved && !lost {
        assert_eq!(sketch.total(), exact.0.values().sum::<u64>());
        let mut fresh = new();
        exact.0.iter().for_each(|(&hash, &n)| _ = fresh.insert_hash_n(hash, n));
        assert_same(&sketch, &fresh, "the cells depend on the history");
    }
    Ok(())
}

/// No count is below the truth.
fn check(exact: &Exact, estimate: impl Fn(u64) -> u64, bounds: impl Fn(u64) -> (u64, u64)) {
    for (&hash, &count) in &exact.0 {
        assert!(estimate(hash) >= count, "{} of {count}", estimate(hash));
        assert_within(bounds(hash), estimate(hash));
    }
}

/// [`ConservativeCountMin`] of any cell.
pub fn conservative(data: &[u8]) {
    history(data, |u| match u.arbitrary::<u8>()? % 4 {
        0 => careful::<u8>(u),
        1 => careful::<u16>(u),
        2 => careful::<u32>(u),
        _ => careful::<u64>(u),
    });
}

fn careful<C: Cell>(u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let params =
        CountMinParams::with_shape(u.int_in_range(1..=64)?, u.int_in_range(1..=16)?).expect("a shape");
    let new = || ConservativeCountMin::<C>::with_hasher(params, WyHasher::default());
    let (mut sketch, mut exact) = (new(), Exact::default());
    // The plain sketch of the same counts, which is never closer.
    let mut plain = CountMinSketch::<C>::with_hasher(params, WyHasher::default());
    let mut merged = false;
    calls(u, |u, call| {
        match call % 16 {
            0..6 => {
                let (hash, n) = (hash(u)?, weight(u)?);
                sketch.insert_hash_n(hash, n);
                plain.insert_hash_n(hash, n);
                exact.add(hash, n);
            }
            6..8 => {
                let hashes = hashes(u)?;
                sketch.insert_batch(&hashes);
                plain.insert_batch(&hashes);
                hashes.into_iter().for_each(|hash| exact.add(hash, 1));
            }
            8..11 => {
                let (hash, n) = (hash(u)?, weight(u)?);
                let before = sketch.to_bytes();
                match sketch.try_insert_hash_n(hash, n) {
                    Ok(changed) => {
                        assert_eq!(changed, n > 0);
                        plain.insert_hash_n(hash, n);
                        exact.add(hash, n);
                    }
                    Err(error) => {
                        assert_eq!(error, Error::Overflow);
                        assert!(sketch.to_bytes() == before, "a refused count changes something");
                    }
                }
            }
            11 | 12 => recode(&mut sketch),
            13 => {
                let (mut other, hashes) = (new(), hashes(u)?);
                other.insert_batch(&hashes);
                assert_eq!(sketch.merge(&other), Ok(()));
                plain.insert_batch(&hashes);
                hashes.into_iter().for_each(|hash| exact.add(hash, 1));
            }
            14 => {
                sketch.halve();
                exact.halve();
                merged = true;
            }
            _ => {
                sketch.clear();
                plain.clear();
                (exact, merged) = (Exact::default(), false);
            }
        }
        Ok(())
    })?;
    check(&exact, |hash| sketch.estimate_hash(hash), |hash| sketch.bounds_hash(hash));
    if !merged {
        assert_eq!(sketch.total(), plain.total());
        for &hash in exact.0.keys() {
            assert!(
                sketch.estimate_hash(hash) <= plain.estimate_hash(hash),
                "less exact than the plain sketch"
            );
        }
    }
    Ok(())
}

/// [`CountSketch`] of any cell: linear.
pub fn count_sketch(data: &[u8]) {
    history(data, |u| if u.arbitrary()? { signed::<i32>(u) } else { signed::<i64>(u) });
}

fn signed<C: SignedCell>(u: &mut Unstructured<'_>) -> arbitrary::Result<()>
where
    CountSketch<C>: Subject,
{
    let depth = u.int_in_range(0..=7)? * 2 + 1;
    let params = CountSketchParams::with_shape(u.int_in_range(1..=64)?, depth).expect("a shape");
    let new = || CountSketch::<C>::with_hasher(params, WyHasher::default());
    let mut sketch = new();
    let mut events: Vec<(u64, i64)> = Vec::new();
    calls(u, |u, call| {
        match call % 16 {
            0..8 => {
                let hash = hash(u)?;
                let n = weight(u)?.cast_signed();
                let n = if u.arbitrary()? { n } else { n.wrapping_neg() };
                let before = sketch.to_bytes();
                match sketch.insert_hash_n(hash, n) {
                    Ok(changed) => {
                        assert_eq!(changed, n != 0);
                        events.push((hash, n));
                    }
                    Err(error) => {
                        assert_eq!(error, Error::Overflow);
                        assert!(sketch.to_bytes() == before, "a refused count changes something");
                    }
                }
            }
            8..10 => {
                let hashes = hashes(u)?;
                if sketch.insert_batch(&hashes).is_ok() {
                    events.extend(hashes.into_iter().map(|hash| (hash, 1)));
                } else {
                    // How far it came, the error does not say.
                    sketch.clear();
                    events.clear();
                }
            }
            10 | 11 => recode(&mut sketch),
            12..15 => {
                let (mut other, hashes) = (new(), hashes(u)?);
                let n = weight(u)?.cast_signed();
                let counted: Vec<_> =
                    hashes.into_iter().filter(|&hash| other.insert_hash_n(hash, n).is_ok()).collect();
                let before = sketch.to_bytes();
                let less = u.arbitrary()?;
                let outcome = if less { sketch.subtract(&other) } else { sketch.merge(&other) };
                match outcome {
                    Ok(()) => {
                        let n = if less { n.wrapping_neg() } else { n };
                        events.extend(counted.into_iter().map(|hash| (hash, n)));
                    }
                    Err(_) => assert!(sketch.to_bytes() == before, "a refused merge changes something"),
                }
            }
            _ => {
                sketch.clear();
                events.clear();
            }
        }
        Ok(())
    })?;
    let mut fresh = new();
    for &(hash, n) in events.iter().rev() {
        assert!(fresh.insert_hash_n(hash, n).is_ok(), "the order of counts decides what fits");
    }
    assert_same(&sketch, &fresh, "the cells depend on the order of counts");
    let weight: u64 = events.iter().map(|event| event.1.unsigned_abs()).sum();
    assert_eq!(sketch.weight(), weight);
    Ok(())
}
