//! The one form of an answer.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::Error;
use crate::params::{floor_of_product, within_0_and_1};

/// A key that is listed as frequent, and what is known of its count.
///
/// `lower <= estimate <= upper`; how sure the bounds are, the structure that gives them says. Structures answer with
/// `HeavyHitter<&K>`, so that listing clones no key; [`HeavyHitter::cloned`] takes the key along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeavyHitter<K> {
    /// The key.
    pub key: K,
    /// The count that lists are ordered by.
    pub estimate: u64,
    /// The key occurred at least so often.
    pub lower: u64,
    /// The key occurred at most so often; `u64::MAX` stands for "that or more".
    pub upper: u64,
}

impl<K: Clone> HeavyHitter<&K> {
    /// The same, with the key cloned.
    pub fn cloned(&self) -> HeavyHitter<K> {
        let Self { key, estimate, lower, upper } = *self;
        HeavyHitter { key: key.clone(), estimate, lower, upper }
    }
}

impl<K> HeavyHitter<K> {
    /// Whether the bounds meet, below where counting ends: the count is then exact.
    pub const fn is_exact(&self) -> bool {
        self.lower == self.upper && self.upper < u64::MAX
    }
}

/// Which error a list of heavy hitters may have: a summary cannot rule out both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guarantee {
    /// Every key listed is above the threshold; some that are may be missing.
    NoFalsePositives,
    /// Every key above the threshold is listed; some that are not may be too.
    NoFalseNegatives,
}

/// The count above which a key has more than a share `phi` of the total.
///
/// A count is a whole number: it exceeds `phi` times the total exactly if it exceeds the floor of that.
pub(super) fn threshold(phi: f64, total: u64) -> Result<u64, Error> {
    within_0_and_1("phi", phi)?;
    Ok(floor_of_product(phi, total))
}

/// The least whole number whose product with a share within (0, 1) is at least 1, if it is at most `most`.
pub(super) fn reciprocal(share: f64, most: u32) -> Option<u32> {
    let quotient = libm::ceil(1.0 / share);
    if quotient > f64::from(most) {
        return None;
    }
    // The division rounds: of a share just below 1/n it may give n, whose product with it is below 1.
    let least = quotient as u32;
    let kept = |n: u32| floor_of_product(share, u64::from(n)) >= 1;
    [least.saturating_sub(1), least, least.saturating_add(1)]
        .into_iter()
        .find(|&n| kept(n))
        .filter(|&n| n <= most)
}

/// The hits that may or must exceed a threshold, by the guarantee asked for. `absent` is the most that a key which is
/// not among the hits may have occurred.
pub(super) fn above<K>(
    mut hits: Vec<HeavyHitter<K>>,
    threshold: u64,
    phi: f64,
    guarantee: Guarantee,
    absent: u64,
    total_saturated: bool,
) -> Result<Vec<HeavyHitter<K>>, Error> {
    match guarantee {
        // The true threshold is then unknown, and no lower bound is known to exceed it.
        Guarantee::NoFalsePositives if total_saturated => hits.clear(),
        Guarantee::NoFalsePositives => hits.retain(|hit| hit.lower > threshold),
        Guarantee::NoFalseNegatives if absent > threshold => {
            let domain = "a share of the total that no key which is not listed can exceed";
            return Err(Error::Parameter { name: "phi", value: phi, domain });
        }
        Guarantee::NoFalseNegatives => hits.retain(|hit| hit.upper > threshold),
    }
    Ok(hits)
}

/// Of hits in the order of their estimates, those that certainly belong to the first `k`: their lower bound is not
/// below what any other key may have. `absent` is the most that a key which is not among the hits may have occurred.
pub(super) fn certain<K>(mut hits: Vec<HeavyHitter<K>>, k: usize, absent: u64) -> Vec<HeavyHitter<K>> {
    let others = hits.iter().skip(k).map(|hit| hit.upper).max().unwrap_or(0).max(absent);
    hits.truncate(k);
    // A bound at the greatest number stands for "that or more", which no count is known to reach.
    hits.retain(|hit| hit.lower >= others && others < u64::MAX);
    hits
}

/// Puts counted hashes into the order of a list: by count, the greatest first; equal counts by their hashes, so that the
/// order depends on what is listed and on nothing else.
pub(super) fn rank<T>(items: &mut [T], count_and_hash: impl Fn(&T) -> (u64, u64)) {
    items.sort_unstable_by_key(|item| {
        let (count, hash) = count_and_hash(item);
        place(count, hash)
    });
}

/// Where a list has a count of a hash: as one number, whose comparison needs no branch.
pub(super) fn place(count: u64, hash: u64) -> Reverse<u128> {
    Reverse(u128::from(count) << 64 | u128::from(hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reciprocal_is_the_least_that_reaches_one() {
        let of = |share| reciprocal(share, 1 << 30);
        assert_eq!([0.5, 0.1, 0.01, 0.001].map(of), [2, 10, 100, 1000].map(Some));
        // The doubles next to a third and to a millionth are below them.
        assert_eq!([1.0 / 3.0, 1e-6].map(of), [4, 1_000_001].map(Some));
        assert_eq!([of(0.999), of(1e-9), of(1e-300)], [Some(2), Some(1_000_000_000), None]);
        assert_eq!(of(f64::from_bits(1)), None);
    }
}
