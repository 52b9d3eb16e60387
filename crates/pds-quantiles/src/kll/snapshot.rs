//! A KLL sketch at rest.

use alloc::vec::Vec;
use core::fmt;

use super::levels::Levels;
use super::{KllItem, KllParams};
use crate::order::{between, linear_position, step_index};
use crate::{Contract, Finite, QuantileRule, Quantiles, RankRule};

/// A [`KllSketch`](crate::KllSketch) at rest, for many questions: each takes the logarithm of the number of items.
#[derive(Clone)]
pub struct KllSnapshot<T: KllItem = f64> {
    items: Vec<T::Stored>,
    /// The weight up to each item, with it.
    up_to: Vec<u64>,
    ends: Option<(T::Stored, T::Stored)>,
    rejected: u64,
    /// The one whose error counts.
    params: KllParams,
    /// Whether nothing was compacted.
    exact: bool,
}

impl<T: KllItem> KllSnapshot<T> {
    pub(crate) fn new(
        levels: &Levels<T::Stored>,
        ends: Option<(T::Stored, T::Stored)>,
        rejected: u64,
        params: KllParams,
        exact: bool,
    ) -> Self {
        let weighted = |level| levels.level(level).iter().map(move |item| (item, 1u64 << level));
        let mut all: Vec<_> = (0..levels.count()).rev().flat_map(weighted).collect();
        // Stable, and fast on the sorted runs that levels are.
        all.sort_by(|a, b| a.0.cmp(b.0));
        let mut sum = 0;
        let up_to = all
            .iter()
            .map(|(_, weight)| {
                // In range: the weights sum up to the count.
                sum += weight;
                sum
            })
            .collect();
        let items = all.into_iter().map(|(item, _)| item.clone()).collect();
        Self { items, up_to, ends, rejected, params, exact }
    }

    /// How many values were taken in, by weight.
    pub fn count(&self) -> u64 {
        self.up_to.last().copied().unwrap_or(0)
    }

    /// As [`KllSketch::quantile`](crate::KllSketch::quantile).
    pub fn quantile(&self, q: f64) -> Option<T> {
        step_index(q, self.count()).and_then(|index| self.item(index)).map(T::load)
    }

    /// As [`KllSketch::rank`](crate::KllSketch::rank).
    pub fn rank(&self, value: T) -> Option<f64> {
        self.rank_by(value, RankRule::Middle)
    }

    /// As [`KllSketch::rank_by`](crate::KllSketch::rank_by).
    pub fn rank_by(&self, value: T, rule: RankRule) -> Option<f64> {
        let value = value.store()?;
        let below = self.weight_of(self.items.partition_point(|item| *item < value));
        let at_most = self.weight_of(self.items.partition_point(|item| *item <= value));
        (self.count() > 0).then(|| rule.share(below, at_most - below, self.count()))
    }

    /// As [`KllSketch::bounds`](crate::KllSketch::bounds).
    pub fn bounds(&self, q: f64) -> Option<(T, T)> {
        let epsilon = if self.exact { 0.0 } else { self.params.rank_error() };
        // Refuses what is no share before the ends are cut off.
        self.quantile(q)?;
        self.quantile((q - epsilon).max(0.0)).zip(self.quantile((q + epsilon).min(1.0)))
    }

    /// As [`Quantiles::contract`].
    pub fn contract(&self) -> Contract {
        contract_of(self.params, self.exact)
    }

    /// The weight of the first `n` items.
    fn weight_of(&self, n: usize) -> u64 {
        n.checked_sub(1).map_or(0, |last| self.up_to[last])
    }

    /// The value number `index` of all, as far as the sketch knows. The ends it knows exactly.
    fn item(&self, index: u64) -> Option<&T::Stored> {
        let (min, max) = self.ends.as_ref()?;
        Some(if index == 0 {
            min
        } else if index + 1 >= self.count() {
            max
        } else {
            self.items.get(self.up_to.partition_point(|&up_to| up_to <= index)).unwrap_or(max)
        })
    }
}

impl Quantiles for KllSnapshot {
    fn count(&self) -> u64 {
        self.count()
    }

    fn rejected(&self) -> u64 {
        self.rejected
    }

    fn min(&self) -> Option<f64> {
        self.ends.map(|(min, _)| min.get())
    }

    fn max(&self) -> Option<f64> {
        self.ends.map(|(_, max)| max.get())
    }

    /// None: the error of a sum would have no bound.
    fn sum(&self) -> Option<f64> {
        None
    }

    fn quantile_by(&self, q: f64, rule: QuantileRule) -> Option<f64> {
        match rule {
            QuantileRule::Step => self.quantile(q),
            QuantileRule::Linear => {
                let (index, part) = linear_position(q, self.count())?;
                let value = self.item(index)?.get();
                Some(if part == 0.0 { value } else { between(value, self.item(index + 1)?.get(), part) })
            }
        }
    }

    fn rank_by(&self, value: f64, rule: RankRule) -> Option<f64> {
        match Finite::new(value) {
            Some(_) => self.rank_by(value, rule),
            None if value.is_nan() || self.is_empty() => None,
            None => Some(if value < 0.0 { 0.0 } else { 1.0 }),
        }
    }

    fn bounds(&self, q: f64) -> Option<(f64, f64)> {
        self.bounds(q)
    }

    fn contract(&self) -> Contract {
        self.contract()
    }
}

/// What a sketch promises whose error is that of these parameters, unless it is exact.
pub(super) fn contract_of(params: KllParams, exact: bool) -> Contract {
    if exact {
        Contract::Rank { epsilon: 0.0, confidence: 1.0 }
    } else {
        Contract::Rank { epsilon: params.rank_error(), confidence: KllParams::CONFIDENCE }
    }
}

/// Shows count and number of items, not the items.
impl<T: KllItem> fmt::Debug for KllSnapshot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KllSnapshot")
            .field("count", &self.count())
            .field("items", &self.items.len())
            .finish_non_exhaustive()
    }
}
