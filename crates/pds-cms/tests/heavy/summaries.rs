//! The structures with certain bounds, under one name, and what all of them promise.

use std::collections::BTreeMap;

use pds_cms::WyHasher;
use pds_cms::prelude::*;

/// A summary of `u64` keys that merges.
pub(crate) trait Summary: Sketch<Hasher = WyHasher> + Merge + PartialEq + Clone {
    /// Whether the lower bound is certain too.
    const CERTAIN_BELOW: bool;

    fn with_capacity(capacity: u32) -> Self;
    fn insert_n(&mut self, key: u64, n: u64) -> bool;
    fn estimate(&self, key: u64) -> u64;
    fn bounds(&self, key: u64) -> (u64, u64);
    fn contains(&self, key: u64) -> bool;
    fn top(&self, k: usize) -> Vec<HeavyHitter<u64>>;
    fn heavy_hitters(&self, phi: f64, guarantee: Guarantee) -> Result<Vec<HeavyHitter<u64>>, Error>;
    /// The most that a key which is not listed may have occurred.
    fn most_unlisted(&self) -> u64;
    /// What the most is promised to be, whatever the stream.
    fn promised(&self) -> u64;
    fn total(&self) -> u64;
    fn is_saturated(&self) -> bool;
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
}

macro_rules! summaries {
    ($($type:ty, $certain:literal, $params:expr, $most:ident, $promised:expr;)*) => {$(
        impl Summary for $type {
            const CERTAIN_BELOW: bool = $certain;

            fn with_capacity(capacity: u32) -> Self {
                Self::new($params(capacity).expect("a legal capacity"))
            }
            fn insert_n(&mut self, key: u64, n: u64) -> bool {
                self.insert_n(&key, n)
            }
            fn estimate(&self, key: u64) -> u64 {
                self.estimate(&key)
            }
            fn bounds(&self, key: u64) -> (u64, u64) {
                self.bounds(&key)
            }
            fn contains(&self, key: u64) -> bool {
                self.contains(&key)
            }
            fn top(&self, k: usize) -> Vec<HeavyHitter<u64>> {
                self.top(k).iter().map(HeavyHitter::cloned).collect()
            }
            fn heavy_hitters(&self, phi: f64, guarantee: Guarantee) -> Result<Vec<HeavyHitter<u64>>, Error> {
                Ok(self.heavy_hitters(phi, guarantee)?.iter().map(HeavyHitter::cloned).collect())
            }
            fn most_unlisted(&self) -> u64 {
                self.$most()
            }
            fn promised(&self) -> u64 {
                $promised(self)
            }
            fn total(&self) -> u64 {
                self.total()
            }
            fn is_saturated(&self) -> bool {
                self.is_saturated()
            }
            fn len(&self) -> usize {
                self.len()
            }
            fn is_empty(&self) -> bool {
                self.is_empty()
            }
        }
    )*};
}
summaries! {
    SpaceSaving<u64>, true, SpaceSavingParams::with_capacity, max_error,
        |it: &Self| it.params().error_bound(it.total());
    MisraGries<u64>, true, MisraGriesParams::with_capacity, max_error,
        |it: &Self| it.params().error_bound(it.total());
    TopK<u64>, false, |k| TopKParams::with_sketch(k, CountMinParams::with_shape(7, 2)?), max_unlisted,
        |it: &Self| it.total();
}

/// Exact counts, which no stream of weights overflows.
pub(crate) fn exact(stream: &[(u64, u64)]) -> BTreeMap<u64, u128> {
    let mut counts = BTreeMap::new();
    for &(key, n) in stream {
        *counts.entry(key).or_insert(0) += u128::from(n);
    }
    counts
}

pub(crate) fn counted<S: Summary>(capacity: u32, stream: &[(u64, u64)]) -> S {
    let mut summary = S::with_capacity(capacity);
    for &(key, n) in stream {
        summary.insert_n(key, n);
    }
    summary
}

fn clipped(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Everything that a summary says of these keys, against their exact counts.
pub(crate) fn check<S: Summary>(
    summary: &S,
    counts: &BTreeMap<u64, u128>,
    others: impl IntoIterator<Item = u64>,
) {
    let total: u128 = counts.values().sum();
    assert_eq!(summary.total(), clipped(total));
    assert_eq!(summary.is_empty(), total == 0);
    let total_saturated = total > u128::from(u64::MAX);
    assert!(summary.is_saturated() || !total_saturated);
    assert!(total_saturated || summary.most_unlisted() <= summary.promised(), "beyond the promised error");

    let truth = |key: u64| counts.get(&key).copied().unwrap_or(0);
    for key in counts.keys().copied().chain(others) {
        let ((lower, upper), estimate) = (summary.bounds(key), summary.estimate(key));
        assert!(lower <= estimate && estimate <= upper);
        assert!(clipped(truth(key)) <= upper, "key {key}: {} above {upper}", truth(key));
        if S::CERTAIN_BELOW {
            assert!(u128::from(lower) <= truth(key), "key {key}: {} below {lower}", truth(key));
            assert!(total_saturated || upper - lower <= summary.most_unlisted());
        }
        if !summary.contains(key) {
            assert!(upper <= summary.most_unlisted());
        }
    }

    let all = summary.top(usize::MAX);
    assert_eq!(all.len(), summary.len());
    assert!(all.is_sorted_by(|a, b| a.estimate >= b.estimate), "the greatest come first");
    for (at, hit) in all.iter().enumerate() {
        assert_eq!((hit.lower, hit.upper), summary.bounds(hit.key));
        assert_eq!(hit.estimate, summary.estimate(hit.key));
        assert!(all[..at].iter().all(|other| other.key != hit.key), "key {} is listed twice", hit.key);
    }
    assert_eq!(summary.top(2), all[..all.len().min(2)]);

    for phi in [1e-9, 0.05, 0.2, 0.5, 0.9] {
        let is_heavy = |count: u128| count as f64 > phi * total as f64;
        // Where the product of floats may be on the wrong side, nothing is claimed.
        let is_edge = |count: u128| (count as f64 - phi * total as f64).abs() <= total as f64 * 1e-12;
        if S::CERTAIN_BELOW {
            for hit in summary.heavy_hitters(phi, Guarantee::NoFalsePositives).expect("a share") {
                assert!(
                    is_heavy(truth(hit.key)) || is_edge(truth(hit.key)),
                    "{} is no heavy hitter",
                    hit.key
                );
            }
        }
        match summary.heavy_hitters(phi, Guarantee::NoFalseNegatives) {
            Ok(hits) => {
                for (key, &count) in counts.iter().filter(|&(_, &count)| is_heavy(count) && !is_edge(count)) {
                    assert!(
                        hits.iter().any(|hit| hit.key == *key),
                        "{key} is missed, which occurred {count} times"
                    );
                }
            }
            Err(error) => assert!(matches!(error, Error::Parameter { name: "phi", .. })),
        }
    }
}
