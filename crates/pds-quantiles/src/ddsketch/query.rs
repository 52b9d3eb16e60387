//! Answers from bins in the order of their values, wherever the bins come from.

use alloc::vec::Vec;

use super::mapping::joined_alpha;
use super::params::{Collapse, DDSketchParams};
use super::store::{Side, Slot};
use crate::order::{between, linear_position, step_index};
use crate::{Contract, QuantileRule, RankRule};

/// Above it, a sum of 2^64 values may overflow on the way to one that does not.
const GREAT: f64 = f64::from_bits((1023 + 900) << 52);

/// What is known besides the bins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    pub(super) params: DDSketchParams,
    /// How often all bins were joined in pairs.
    pub(super) shift: u32,
    pub(super) count: u64,
    pub(super) rejected: u64,
    /// Infinite while there are no values; above `max` then.
    pub(super) min: f64,
    pub(super) max: f64,
}

/// Where an order statistic lies: its bin, and how many values are in lower ones and in this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) slot: Slot,
    pub(super) below: u64,
    pub(super) count: u64,
}

impl Place {
    /// How many values are in this bin and in lower ones; saturating, since the bins of a view may hold anything.
    fn end(&self) -> u64 {
        self.below.saturating_add(self.count)
    }
}

impl Summary {
    /// The bin of a finite number.
    pub(super) fn slot(&self, value: f64) -> Slot {
        if value >= f64::MIN_POSITIVE {
            Slot::positive(self.params.grid.key(value) >> self.shift)
        } else if value <= -f64::MIN_POSITIVE {
            Slot::negative(self.params.grid.key(-value) >> self.shift)
        } else {
            Slot::ZERO
        }
    }

    /// The number that stands for all of a bin.
    pub(super) fn value(&self, slot: Slot) -> f64 {
        let value = match slot.side() {
            Side::Zero => 0.0,
            Side::Positive(key) => self.params.grid.centre(key, self.shift),
            Side::Negative(key) => -self.params.grid.centre(key, self.shift),
        };
        value.clamp(self.min, self.max)
    }

    pub(super) fn min(&self) -> Option<f64> {
        Some(self.min).filter(|_| self.count > 0)
    }

    pub(super) fn max(&self) -> Option<f64> {
        Some(self.max).filter(|_| self.count > 0)
    }

    pub(super) fn alpha(&self) -> f64 {
        joined_alpha(self.params.alpha(), self.shift)
    }

    /// The first or the last order statistic, which are known exactly.
    fn extreme(&self, index: u64) -> Option<f64> {
        match index {
            0 => Some(self.min),
            _ if index == self.count - 1 => Some(self.max),
            _ => None,
        }
    }

    pub(super) fn quantile(
        &self,
        q: f64,
        rule: QuantileRule,
        find: impl Fn(u64) -> Option<Place>,
    ) -> Option<f64> {
        self.quantile_of(q, rule, |index| find(index).map(|place| self.value(place.slot)))
    }

    /// `value` gives what stands for an order statistic, by its number from 0.
    pub(super) fn quantile_of(
        &self,
        q: f64,
        rule: QuantileRule,
        value: impl Fn(u64) -> Option<f64>,
    ) -> Option<f64> {
        let at = |index| match self.extreme(index) {
            Some(extreme) => Some(extreme),
            None => value(index),
        };
        match rule {
            QuantileRule::Step => at(step_index(q, self.count)?),
            QuantileRule::Linear => {
                let (index, share) = linear_position(q, self.count)?;
                let low = at(index)?;
                if share <= 0.0 { Some(low) } else { Some(between(low, at(index + 1)?, share)) }
            }
        }
    }

    /// As [`Summary::quantile`] by step for many `q`, in one pass over the bins.
    pub(super) fn quantiles(&self, qs: &[f64], bins: impl Iterator<Item = (Slot, u64)>) -> Vec<Option<f64>> {
        let mut answers = alloc::vec![None; qs.len()];
        let mut asked: Vec<(u64, usize)> =
            qs.iter().enumerate().filter_map(|(i, &q)| Some((step_index(q, self.count)?, i))).collect();
        asked.sort_unstable();
        let mut places = places(bins);
        let mut place = places.next();
        for (index, i) in asked {
            while place.is_some_and(|place| place.end() <= index) {
                place = places.next();
            }
            answers[i] = self.extreme(index).or_else(|| place.map(|place| self.value(place.slot)));
        }
        answers
    }

    /// `find` gives how many values lie in lower bins and in this one; of a bin beyond the kept ones, in the last kept.
    pub(super) fn rank(
        &self,
        value: f64,
        rule: RankRule,
        find: impl FnOnce(Slot) -> (u64, u64),
    ) -> Option<f64> {
        if value.is_nan() || self.count == 0 {
            return None;
        }
        let (below, equal) = if value < self.min {
            (0, 0)
        } else if value > self.max {
            (self.count, 0)
        } else if self.min >= self.max {
            (0, self.count)
        } else {
            find(self.slot(value))
        };
        // Bins of a view may hold anything.
        let below = below.min(self.count);
        Some(rule.share(below, equal.min(self.count - below), self.count))
    }

    pub(super) fn bounds(&self, q: f64, find: impl FnOnce(u64) -> Option<Place>) -> Option<(f64, f64)> {
        let index = step_index(q, self.count)?;
        if let Some(extreme) = self.extreme(index) {
            return Some((extreme, extreme));
        }
        let place = find(index)?;
        let (low, high) = match place.slot.side() {
            Side::Zero => (-f64::MIN_POSITIVE, f64::MIN_POSITIVE),
            Side::Positive(key) => self.params.grid.outer_edges(key, self.shift),
            Side::Negative(key) => {
                let (low, high) = self.params.grid.outer_edges(key, self.shift);
                (-high, -low)
            }
        };
        // The last bins reach to the extremes: less far than their edges, or farther if they have taken in others.
        let low = if place.below == 0 { self.min } else { low.max(self.min) };
        let high = if place.end() >= self.count { self.max } else { high.min(self.max) };
        Some((low, high.max(low)))
    }

    /// `ends`: the lowest and the highest bin with their counts.
    pub(super) fn contract(&self, ends: Option<((Slot, u64), (Slot, u64))>) -> Contract {
        let (mut valid_from_q, mut valid_to_q) = (0.0, 1.0);
        if let Some(((lowest, in_lowest), (highest, in_highest))) = ends {
            match self.params.collapse() {
                Collapse::Lowest if self.slot(self.min) < lowest => {
                    valid_from_q = (in_lowest as f64 / self.count as f64).min(1.0);
                    while valid_from_q < 1.0 && step_index(valid_from_q, self.count) < Some(in_lowest) {
                        valid_from_q = valid_from_q.next_up();
                    }
                }
                Collapse::Highest if self.slot(self.max) > highest => {
                    // The bins of a view may hold anything.
                    let others = self.count.saturating_sub(in_highest);
                    valid_to_q = others as f64 / self.count as f64;
                    while valid_to_q > 0.0 && step_index(valid_to_q, self.count) >= Some(others) {
                        valid_to_q = valid_to_q.next_down();
                    }
                }
                _ => (),
            }
        }
        Contract::RelativeValue { alpha: self.alpha(), valid_from_q, valid_to_q }
    }

    /// The sum of all values, each taken as its bin's.
    pub(super) fn sum(&self, bins: impl Iterator<Item = (Slot, u64)>) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let great = self.max.max(-self.min) > GREAT;
        let (down, up) = if great { (libm::scalbn(1.0, -64), libm::scalbn(1.0, 64)) } else { (1.0, 1.0) };
        let (mut low, mut high) = (0.0, 0.0);
        for (slot, count) in bins {
            let product = self.value(slot) * down * count as f64;
            if slot < Slot::ZERO { low += product } else { high += product }
        }
        Some((low + high) * up + 0.0)
    }
}

/// The places of bins in the order of their values.
pub(super) fn places(bins: impl Iterator<Item = (Slot, u64)>) -> impl Iterator<Item = Place> {
    bins.scan(0u64, |total, (slot, count)| {
        let place = Place { slot, below: *total, count };
        *total = place.end();
        Some(place)
    })
}

/// The place of an order statistic; of those beyond what bins hold, the last bin's.
pub(super) fn find(bins: impl Iterator<Item = (Slot, u64)>, index: u64) -> Option<Place> {
    let mut last = None;
    for place in places(bins) {
        last = Some(place);
        if index - place.below < place.count {
            break;
        }
    }
    last
}

/// How many values are in bins below one and in it. A bin below the lowest, or above the highest, of a value that is
/// neither below the minimum nor above the maximum has gone into that one.
pub(super) fn rank_of(bins: impl Iterator<Item = (Slot, u64)>, slot: Slot) -> (u64, u64) {
    let mut last = (0, 0);
    for place in places(bins) {
        if place.slot >= slot {
            let here = place.slot == slot || place.below == 0;
            return (place.below, if here { place.count } else { 0 });
        }
        last = (place.below, place.count);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_beyond_the_range_is_infinite_and_never_nan() {
        let params = DDSketchParams::for_accuracy(0.01).expect("an accuracy");
        let summary =
            Summary { params, shift: 0, count: u64::MAX, rejected: 0, min: -f64::MAX, max: f64::MAX };
        let [low, high] = [-f64::MAX, f64::MAX].map(|value| summary.slot(value));
        let sum = |bins: &[(Slot, u64)]| summary.sum(bins.iter().copied()).expect("values");
        let half = u64::MAX / 2;
        assert_eq!(sum(&[(low, half), (high, half)]).to_bits(), 0);
        assert!(sum(&[(low, 3), (high, 4)]) > 1.7e308);
        assert!(sum(&[(low, 1), (high, u64::MAX - 1)]).is_infinite());
    }
}
