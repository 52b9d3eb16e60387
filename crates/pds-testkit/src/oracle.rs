//! Exact answers, at the price of memory, to hold sketches against.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// How often each key occurred.
///
/// Nothing here depends on the order of a hash map: lists are sorted.
#[derive(Clone, Debug)]
pub struct ExactFrequencies<K> {
    counts: HashMap<K, u64>,
    total: u64,
}

impl<K> Default for ExactFrequencies<K> {
    fn default() -> Self {
        Self { counts: HashMap::new(), total: 0 }
    }
}

impl<K: Hash + Eq> ExactFrequencies<K> {
    /// No keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a key once.
    pub fn insert(&mut self, key: K) {
        self.insert_n(key, 1);
    }

    /// Counts a key `n` times; `n` = 0 changes nothing.
    ///
    /// # Panics
    ///
    /// If the total exceeds `u64::MAX`.
    pub fn insert_n(&mut self, key: K, n: u64) {
        if n > 0 {
            self.total = self.total.checked_add(n).expect("a total within u64");
            *self.counts.entry(key).or_default() += n;
        }
    }

    /// How often a key occurred.
    pub fn count<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> u64
    where
        K: Borrow<Q>,
    {
        self.counts.get(key).copied().unwrap_or(0)
    }

    /// Distinct keys.
    pub fn distinct(&self) -> u64 {
        self.counts.len() as u64
    }

    /// All occurrences.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// All keys with their counts, in the order of the keys.
    pub fn by_key(&self) -> Vec<(&K, u64)>
    where
        K: Ord,
    {
        let mut all: Vec<_> = self.counts.iter().map(|(key, &count)| (key, count)).collect();
        all.sort_unstable();
        all
    }

    /// The `k` most frequent keys with their counts, greatest first, equal counts in the order of the keys.
    pub fn top(&self, k: usize) -> Vec<(&K, u64)>
    where
        K: Ord,
    {
        let mut all: Vec<_> = self.counts.iter().map(|(key, &count)| (key, count)).collect();
        all.sort_unstable_by_key(|&(key, count)| (Reverse(count), key));
        all.truncate(k);
        all
    }
}

impl<K: Hash + Eq> Extend<K> for ExactFrequencies<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| self.insert(key));
    }
}

impl<K: Hash + Eq> FromIterator<K> for ExactFrequencies<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut counts = Self::new();
        counts.extend(keys);
        counts
    }
}

/// A set of keys, and the sizes of its combinations with another.
#[derive(Clone, Debug)]
pub struct ExactSet<K> {
    keys: HashSet<K>,
}

impl<K: Hash + Eq> ExactSet<K> {
    /// Whether a key is in the set.
    pub fn contains<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.keys.contains(key)
    }

    /// Keys in the set.
    pub fn len(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Keys in both sets.
    pub fn intersection_len(&self, other: &Self) -> u64 {
        self.keys.intersection(&other.keys).count() as u64
    }

    /// Keys in either set.
    pub fn union_len(&self, other: &Self) -> u64 {
        self.len() + other.difference_len(self)
    }

    /// Keys in this set and not in the other.
    pub fn difference_len(&self, other: &Self) -> u64 {
        self.len() - self.intersection_len(other)
    }
}

impl<K: Hash + Eq> FromIterator<K> for ExactSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        Self { keys: keys.into_iter().collect() }
    }
}

/// Ranks and quantiles of numbers, by nearest rank: every answer is one of the numbers.
#[derive(Clone, Debug)]
pub struct ExactQuantiles {
    sorted: Vec<f64>,
}

impl ExactQuantiles {
    /// Sorts the numbers. A NaN has no rank and is left out; -0.0 comes before 0.0.
    pub fn new(mut values: Vec<f64>) -> Self {
        values.retain(|value| !value.is_nan());
        values.sort_unstable_by(f64::total_cmp);
        Self { sorted: values }
    }

    /// How many numbers there are.
    pub fn len(&self) -> u64 {
        self.sorted.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The numbers, ascending.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The least number with at least `ceil(q n)` numbers at or below it; 0 gives the minimum.
    ///
    /// `q n` is the product in `f64`. None if there are no numbers, or if `q` is not in `[0, 1]`.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = libm::ceil(q * self.sorted.len() as f64) as usize;
        self.sorted.get(rank.saturating_sub(1)).copied()
    }

    /// How many numbers are at most `value`.
    pub fn rank(&self, value: f64) -> u64 {
        self.sorted.partition_point(|&number| number <= value) as u64
    }

    /// How many numbers are less than `value`.
    pub fn rank_below(&self, value: f64) -> u64 {
        self.sorted.partition_point(|&number| number < value) as u64
    }

    /// By how much `estimate` misses the quantile `q`, as a share of all numbers.
    ///
    /// The distance of `q` from `[rank_below/n, rank/n]` of the estimate, so that ties are not held against it;
    /// NaN if there are no numbers, or if an argument is NaN.
    pub fn rank_error(&self, q: f64, estimate: f64) -> f64 {
        let n = self.sorted.len() as f64;
        let (low, high) = (self.rank_below(estimate) as f64 / n, self.rank(estimate) as f64 / n);
        if self.is_empty() || estimate.is_nan() || q.is_nan() {
            return f64::NAN;
        }
        (low - q).max(q - high).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frequencies_count_and_rank_keys() {
        let mut counts: ExactFrequencies<String> =
            ["b", "a", "c", "a"].map(str::to_owned).into_iter().collect();
        counts.insert_n("d".to_owned(), 2);
        counts.insert_n("e".to_owned(), 0);
        assert_eq!((counts.count("a"), counts.count("e"), counts.distinct(), counts.total()), (2, 0, 4, 6));
        let names = |list: Vec<(&String, u64)>| {
            list.into_iter().map(|(key, count)| format!("{key}{count}")).collect::<Vec<_>>()
        };
        assert_eq!(names(counts.top(3)), ["a2", "d2", "b1"]);
        assert_eq!(counts.top(9).len(), 4);
        assert_eq!(names(counts.by_key()), ["a2", "b1", "c1", "d2"]);
    }

    #[test]
    fn sets_combine() {
        let (a, b): (ExactSet<u64>, ExactSet<u64>) = ((0..10).collect(), (7..12).collect());
        assert_eq!((a.len(), b.len(), a.union_len(&b), a.intersection_len(&b)), (10, 5, 12, 3));
        assert_eq!((a.difference_len(&b), b.difference_len(&a)), (7, 2));
        assert!(a.contains(&9) && !a.contains(&10) && !a.is_empty());
    }

    #[test]
    fn quantiles_are_of_the_nearest_rank() {
        let numbers = ExactQuantiles::new(vec![30.0, f64::NAN, 10.0, 40.0, 20.0]);
        let quantiles = [0.0, 0.25, 0.26, 0.5, 0.75, 0.76, 1.0].map(|q| numbers.quantile(q).unwrap());
        assert_eq!(quantiles.map(|quantile| quantile as u64), [10, 10, 20, 20, 30, 40, 40]);
        for q in [-0.1, 1.1, f64::NAN] {
            assert_eq!(numbers.quantile(q), None);
        }
        assert_eq!(ExactQuantiles::new(Vec::new()).quantile(0.5), None);
        assert!(ExactQuantiles::new(Vec::new()).rank_error(0.5, 1.0).is_nan());
        assert!(numbers.rank_error(f64::NAN, 1.0).is_nan() && numbers.rank_error(0.5, f64::NAN).is_nan());
    }

    #[test]
    fn a_rank_error_does_not_hold_ties_against_an_estimate() {
        let numbers = ExactQuantiles::new(vec![1.0, 2.0, 2.0, 2.0, 3.0]);
        assert_eq!((numbers.rank_below(2.0), numbers.rank(2.0)), (1, 4));
        let errors = [0.1, 0.2, 0.5, 0.8, 1.0].map(|q| numbers.rank_error(q, 2.0));
        let expected = [0.1, 0.0, 0.0, 0.0, 0.2];
        assert!(
            errors.iter().zip(expected).all(|(error, exact)| (error - exact).abs() < 1e-15),
            "{errors:?}"
        );
    }

    proptest! {
        #[test]
        fn a_quantile_is_the_least_number_of_its_rank(values: Vec<i8>, q in 0.0..=1.0f64) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            prop_assume!(!values.is_empty());
            let numbers = ExactQuantiles::new(values.clone());
            let needed = (q * values.len() as f64).ceil() as u64;
            let at_most = |limit: f64| values.iter().filter(|&&value| value <= limit).count() as u64;
            let least = values.iter().copied().filter(|&value| at_most(value) >= needed).min_by(f64::total_cmp);
            prop_assert_eq!(numbers.quantile(q), least);
            let quantile = least.unwrap();
            prop_assert_eq!(numbers.rank(quantile), at_most(quantile));
            prop_assert!(numbers.rank_error(q, quantile) <= f64::EPSILON);
        }
    }
}
