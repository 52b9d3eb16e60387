//! Putting hashes into the order in which memory lies.

use alloc::vec;
use alloc::vec::Vec;

/// Scatters items into `parts` ranges of `into`, by the part that each names, in order within a part; gives where each
/// part begins, and the end.
///
/// # Panics
///
/// If `into` is not as long as the items are many, or if a part is not below `parts`.
pub(crate) fn partition(
    items: impl Iterator<Item = u64> + Clone,
    into: &mut [u64],
    parts: usize,
    part: impl Fn(u64) -> usize,
) -> Vec<usize> {
    let mut bounds = vec![0; parts + 1];
    for item in items.clone() {
        bounds[part(item) + 1] += 1;
    }
    let mut sum = 0;
    for bound in &mut bounds {
        sum += *bound;
        *bound = sum;
    }
    let mut next = bounds.clone();
    for item in items {
        let place = &mut next[part(item)];
        into[*place] = item;
        *place += 1;
    }
    bounds
}
