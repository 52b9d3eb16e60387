//! Bins with their sums, for many questions.

use alloc::vec::Vec;

use super::query::{self, Place, Summary};
use super::store::Slot;
use crate::{Contract, QuantileRule, Quantiles, RankRule};

/// What a [`DDSketch`](crate::DDSketch) or a view of one held when it was made, with sums: each question takes the
/// logarithm of the number of bins.
///
/// The same answers as the sketch's.
#[derive(Clone, Debug)]
pub struct DDSketchSnapshot {
    summary: Summary,
    places: Vec<Place>,
    /// What stands for each place.
    values: Vec<f64>,
    sum: Option<f64>,
}

impl DDSketchSnapshot {
    pub(super) fn new(summary: Summary, bins: impl Iterator<Item = (Slot, u64)>) -> Self {
        let places: Vec<Place> = query::places(bins).collect();
        let sum = summary.sum(places.iter().map(|place| (place.slot, place.count)));
        let values = places.iter().map(|place| summary.value(place.slot)).collect();
        Self { summary, places, values, sum }
    }

    fn find(&self, index: u64) -> Option<Place> {
        self.places.get(self.number(index)?).copied()
    }

    /// The number of the place of an order statistic.
    fn number(&self, index: u64) -> Option<usize> {
        self.places.partition_point(|place| place.below <= index).checked_sub(1)
    }
}

impl Quantiles for DDSketchSnapshot {
    fn count(&self) -> u64 {
        self.summary.count
    }

    fn rejected(&self) -> u64 {
        self.summary.rejected
    }

    fn min(&self) -> Option<f64> {
        self.summary.min()
    }

    fn max(&self) -> Option<f64> {
        self.summary.max()
    }

    fn sum(&self) -> Option<f64> {
        self.sum
    }

    fn quantile_by(&self, q: f64, rule: QuantileRule) -> Option<f64> {
        self.summary.quantile_of(q, rule, |index| self.values.get(self.number(index)?).copied())
    }

    fn rank_by(&self, value: f64, rule: RankRule) -> Option<f64> {
        self.summary.rank(value, rule, |slot| {
            // As `query::rank_of`.
            let at = self.places.partition_point(|place| place.slot < slot);
            match (self.places.get(at), self.places.last()) {
                (Some(place), _) if place.slot == slot || at == 0 => (place.below, place.count),
                (Some(place), _) => (place.below, 0),
                (None, last) => last.map_or((0, 0), |place| (place.below, place.count)),
            }
        })
    }

    fn bounds(&self, q: f64) -> Option<(f64, f64)> {
        self.summary.bounds(q, |index| self.find(index))
    }

    fn contract(&self) -> Contract {
        let end = |place: &Place| (place.slot, place.count);
        self.summary.contract(self.places.first().map(end).zip(self.places.last().map(end)))
    }
}
