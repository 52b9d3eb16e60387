//! The questions a KLL sketch answers: of any type, and as the common trait of numbers.

use super::snapshot::contract_of;
use super::{KllItem, KllSketch};
use crate::{Contract, Error, QuantileRule, QuantileSketch, Quantiles, RankRule};

/// A question takes the time of a [`KllSketch::snapshot`]; so do all but count, minimum, maximum and contract.
impl<T: KllItem> KllSketch<T> {
    /// How many values were taken in, by weight.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// True if no value was taken in.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many values [`KllSketch::insert`] has refused, here and in whatever was merged in; stays at `u64::MAX`.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// The least value, exactly.
    pub fn min(&self) -> Option<T> {
        self.ends.as_ref().map(|(min, _)| T::load(min))
    }

    /// The greatest value, exactly.
    pub fn max(&self) -> Option<T> {
        self.ends.as_ref().map(|(_, max)| T::load(max))
    }

    /// The quantile `q`: the least value with a share of at least `q` at or below it, a value that was taken in. `None` if
    /// there are no values, or if `q` is not in [0, 1].
    pub fn quantile(&self, q: f64) -> Option<T> {
        self.snapshot().quantile(q)
    }

    /// The rank of a value as a share: of the values below it and half of those equal to it. `None` if there are no
    /// values, or if this one has no place in the order.
    pub fn rank(&self, value: T) -> Option<f64> {
        self.snapshot().rank(value)
    }

    /// As [`KllSketch::rank`], by a rule of one's choice.
    pub fn rank_by(&self, value: T, rule: RankRule) -> Option<f64> {
        self.snapshot().rank_by(value, rule)
    }

    /// An interval that the true quantile `q` lies in, with the confidence of the contract.
    pub fn bounds(&self, q: f64) -> Option<(T, T)> {
        self.snapshot().bounds(q)
    }

    /// [`Contract::Rank`]: without error and for certain while the sketch is exact.
    pub fn contract(&self) -> Contract {
        contract_of(self.min_params(), self.is_exact())
    }
}

impl Quantiles for KllSketch {
    fn count(&self) -> u64 {
        self.count()
    }

    fn rejected(&self) -> u64 {
        self.rejected()
    }

    fn min(&self) -> Option<f64> {
        self.min()
    }

    fn max(&self) -> Option<f64> {
        self.max()
    }

    /// None: the error of a sum would have no bound.
    fn sum(&self) -> Option<f64> {
        None
    }

    fn quantile_by(&self, q: f64, rule: QuantileRule) -> Option<f64> {
        self.snapshot().quantile_by(q, rule)
    }

    fn rank_by(&self, value: f64, rule: RankRule) -> Option<f64> {
        Quantiles::rank_by(&self.snapshot(), value, rule)
    }

    fn bounds(&self, q: f64) -> Option<(f64, f64)> {
        self.bounds(q)
    }

    fn contract(&self) -> Contract {
        self.contract()
    }

    fn quantiles(&self, qs: &[f64]) -> alloc::vec::Vec<Option<f64>> {
        self.snapshot().quantiles(qs)
    }
}

impl QuantileSketch for KllSketch {
    fn insert(&mut self, value: f64) -> bool {
        self.insert(value)
    }

    fn insert_n(&mut self, value: f64, n: u64) -> Result<bool, Error> {
        self.insert_n(value, n)
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn size_bytes(&self) -> usize {
        self.size_bytes()
    }
}
