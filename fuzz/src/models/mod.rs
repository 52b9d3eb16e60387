//! One history of calls to a structure and to an exact one beside it.
//!
//! Bytes choose a shape and then calls, until they are used up.

use std::collections::HashSet;

use arbitrary::{Result, Unstructured};

use crate::subject::{Subject, recoded};
use crate::subjects::hash_of;

pub mod cardinality;
pub mod counts;
pub mod filters;
pub mod lists;
pub mod quantiles;
pub mod removals;
pub mod windows;

/// Calls of a history at most: some are linear in what is held, and fuzzers like speed.
const CALLS: usize = 256;

/// Runs a history; the end of the bytes is its end.
fn history(data: &[u8], run: impl FnOnce(&mut Unstructured<'_>) -> Result<()>) {
    _ = run(&mut Unstructured::new(data));
}

/// Calls until the bytes are used up.
fn calls(
    u: &mut Unstructured<'_>,
    mut call: impl FnMut(&mut Unstructured<'_>, u8) -> Result<()>,
) -> Result<()> {
    for _ in 0..CALLS {
        if u.is_empty() {
            break;
        }
        let which = u.arbitrary()?;
        call(u, which)?;
    }
    Ok(())
}

/// A hash: mostly of one of few keys, so that keys repeat; else any, as somebody might choose it.
fn hash(u: &mut Unstructured<'_>) -> Result<u64> {
    const FEW: u8 = 200;
    match u.arbitrary()? {
        key if key < FEW => Ok(hash_of(&key)),
        255 => Ok(u64::MAX),
        254 => Ok(0),
        253 => Ok(1),
        _ => u.arbitrary(),
    }
}

/// Some hashes: few of any kind, or a run of many.
fn hashes(u: &mut Unstructured<'_>) -> Result<Vec<u64>> {
    if u.arbitrary()? {
        let start: u16 = u.arbitrary()?;
        let length = u64::from(u.arbitrary::<u8>()?) * 4;
        return Ok((u64::from(start)..u64::from(start) + length).map(|key| hash_of(&key)).collect());
    }
    (0..u.int_in_range(0..=8)?).map(|_| hash(u)).collect()
}

/// A number to count by: mostly small, and sometimes at a limit.
fn weight(u: &mut Unstructured<'_>) -> Result<u64> {
    match u.arbitrary::<u8>()? {
        small if small < 200 => Ok(u64::from(small)),
        255 => Ok(u64::MAX),
        254 => Ok(u64::from(u32::MAX)),
        253 => Ok(1 << 53),
        _ => u.arbitrary(),
    }
}

/// Replaces a sketch by what its bytes decode to.
fn recode<S: Subject>(sketch: &mut S) {
    *sketch = recoded(sketch);
}

/// Asserts that two sketches have the same bytes.
fn assert_same<S: Subject>(sketch: &S, expected: &S, claim: &str) {
    assert!(sketch.to_bytes() == expected.to_bytes(), "{:?}: {claim}", S::KIND);
}

/// A set in an order that has nothing to do with that of insertion.
fn sorted(set: &HashSet<u64>) -> Vec<u64> {
    let mut hashes: Vec<u64> = set.iter().copied().collect();
    hashes.sort_unstable();
    hashes
}
