//! The answers of a digest: one polyline, read in both directions.

use alloc::vec::Vec;

use super::Centroid;
use crate::order::{RANK_BITS, RANK_ONE, between, linear_position, scaled_rank, step_index};
use crate::{Contract, QuantileRule, Quantiles, RankRule};

/// A [`TDigest`](crate::TDigest) at rest, for many questions: each takes the logarithm of the number of centroids.
///
/// Values over ranks are a polyline. An atom of weight `w` behind `W` values is flat over the ranks `[W, W + w]`; any other
/// centroid is a point at the rank `W + w/2`; straight lines are between. Quantiles and ranks are the two
/// directions of this one line: they never fall, stay between minimum and maximum, and are inverses.
#[derive(Clone, Debug)]
pub struct TDigestSnapshot {
    centroids: Vec<Centroid>,
    /// The weight before each centroid.
    before: Vec<u64>,
    count: u64,
    rejected: u64,
    exact: bool,
}

impl TDigestSnapshot {
    pub(crate) fn new(centroids: Vec<Centroid>, rejected: u64) -> Self {
        let mut count = 0;
        let before = centroids
            .iter()
            .map(|centroid| {
                let before = count;
                // In range: the digest checks its count.
                count += centroid.weight();
                before
            })
            .collect();
        let exact = centroids.iter().all(Centroid::is_atom);
        Self { centroids, before, count, rejected, exact }
    }

    /// The centroids by ascending mean. First and last are the minimum and the maximum.
    pub fn centroids(&self) -> &[Centroid] {
        &self.centroids
    }

    /// Whether every value is kept as it is: all answers are exact then. So they are while no more values are distinct
    /// than the compression, and mostly not much longer.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The mean of the values between the quantiles `low` and `high`, each value by the share of its rank that lies in
    /// between: 0 and 1 give the mean, 0.25 and 0.75 the interquartile mean. `None` unless 0 <= `low` < `high` <= 1.
    pub fn trimmed_mean(&self, low: f64, high: f64) -> Option<f64> {
        if !(low >= 0.0 && low < high && high <= 1.0) || self.count == 0 {
            return None;
        }
        let (from, to) = scaled_rank(low, self.count).zip(scaled_rank(high, self.count))?;
        let parts = self.centroids.iter().zip(&self.before).map(|(centroid, &before)| {
            let begin = u128::from(before) << RANK_BITS;
            let end = begin + (u128::from(centroid.weight()) << RANK_BITS);
            (centroid.mean(), end.min(to).saturating_sub(begin.max(from)) as f64)
        });
        let weight: f64 = parts.clone().map(|(_, share)| share).sum();
        if weight <= 0.0 {
            // Nearer to one another than ranks are told apart: a part of one value.
            return Some(self.centroids[self.holder((from >> RANK_BITS) as u64)].mean());
        }
        // Shares of 1: the sum cannot overflow.
        let mean: f64 = parts.map(|(mean, share)| mean * (share / weight)).sum();
        // Rounding must not take it out of the range of the values.
        let (min, max) = self.min().zip(self.max())?;
        Some(mean.clamp(min, max) + 0.0)
    }

    /// The centroid that holds the value number `index`, counted from 0.
    fn holder(&self, index: u64) -> usize {
        self.before.partition_point(|&before| before <= index) - 1
    }

    /// The rank at which the polyline leaves the centroid `i` upwards, in halves of a value.
    fn right(&self, i: usize) -> u128 {
        let (centroid, before) = (&self.centroids[i], u128::from(self.before[i]));
        2 * before + u128::from(centroid.weight()) * if centroid.is_atom() { 2 } else { 1 }
    }

    /// The rank at which the polyline comes to the centroid `i` from below, in halves of a value.
    fn left(&self, i: usize) -> u128 {
        let (centroid, before) = (&self.centroids[i], u128::from(self.before[i]));
        2 * before + if centroid.is_atom() { 0 } else { u128::from(centroid.weight()) }
    }

    /// The polyline at a rank in units of 1 / [`RANK_ONE`], of which the centroid `i` holds the value.
    ///
    /// In each of its lines a share of integers, rounded: so answers ascend in a line and, since lines meet in means, from one to
    /// the next, at any count.
    fn value(&self, i: usize, rank: u128) -> f64 {
        let centroid = &self.centroids[i];
        if centroid.is_atom() {
            return centroid.mean();
        }
        let begin = u128::from(self.before[i]) << RANK_BITS;
        let weight = u128::from(centroid.weight()) << RANK_BITS;
        let rank = rank.clamp(begin, begin + weight);
        // There are neighbours: first and last are atoms.
        let from = if rank < begin + weight / 2 { i - 1 } else { i };
        let (start, stop) = (self.right(from), self.left(from + 1));
        let way = to_float(rank - (start << (RANK_BITS - 1)));
        let length = to_float(stop - start) * HALF;
        between(self.centroids[from].mean(), self.centroids[from + 1].mean(), way / length)
    }

    /// The value number `index`, as if the values of a centroid lay on the polyline.
    fn item(&self, index: u64) -> f64 {
        self.value(self.holder(index), (u128::from(index) << RANK_BITS) + RANK_ONE / 2)
    }
}

/// Half a value, as a rank.
const HALF: f64 = (RANK_ONE / 2) as f64;

/// A number below 2^117 as a float, in the order of the numbers: faster than the nearest one. The first part is exact, and the
/// second, rounded, at most one more of it.
#[inline]
fn to_float(number: u128) -> f64 {
    const LOW: f64 = (1u128 << 64) as f64;
    (number >> 64) as u64 as f64 * LOW + number as u64 as f64
}

impl Quantiles for TDigestSnapshot {
    fn count(&self) -> u64 {
        self.count
    }

    fn rejected(&self) -> u64 {
        self.rejected
    }

    fn min(&self) -> Option<f64> {
        self.centroids.first().map(Centroid::mean)
    }

    fn max(&self) -> Option<f64> {
        self.centroids.last().map(Centroid::mean)
    }

    /// From means and weights: exact but for rounding.
    fn sum(&self) -> Option<f64> {
        let parts = self.centroids.iter().map(|centroid| (centroid.mean(), centroid.weight() as f64));
        (self.count > 0).then(|| sum_of(parts))
    }

    /// A value of an atom is given as it is; between atoms the polyline at the rank `q n`
    /// ([`QuantileRule::Step`]), or between two values of it ([`QuantileRule::Linear`]).
    fn quantile_by(&self, q: f64, rule: QuantileRule) -> Option<f64> {
        match rule {
            QuantileRule::Step => {
                // The rank may lie next to the centroid of that value: shares are rounded.
                let i = self.holder(step_index(q, self.count)?);
                Some(self.value(i, scaled_rank(q, self.count)?))
            }
            QuantileRule::Linear => {
                let (index, part) = linear_position(q, self.count)?;
                let value = self.item(index);
                Some(if part == 0.0 { value } else { between(value, self.item(index + 1), part) })
            }
        }
    }

    fn rank_by(&self, value: f64, rule: RankRule) -> Option<f64> {
        if self.count == 0 || value.is_nan() {
            return None;
        }
        let halves = 2.0 * self.count as f64;
        // The centroids from `first` to before `end` have this mean.
        let first = self.centroids.partition_point(|centroid| centroid.mean() < value);
        let end = first + self.centroids[first..].partition_point(|centroid| centroid.mean() <= value);
        if first < end {
            let (low, high) = (self.left(first), self.right(end - 1));
            let rank = match rule {
                RankRule::Exclusive => 2 * low,
                RankRule::Middle => low + high,
                RankRule::Inclusive => 2 * high,
            };
            return Some(rank as f64 / (2.0 * halves));
        }
        if first == 0 || first == self.centroids.len() {
            return Some(if first == 0 { 0.0 } else { 1.0 });
        }
        let (low, high) = (self.right(first - 1), self.left(first));
        let (from, to) = (self.centroids[first - 1].mean(), self.centroids[first].mean());
        // In halves where the distance of two finite numbers overflows; else whole, since half of the least numbers is none.
        let distance = to - from;
        let part = if distance.is_finite() {
            (value - from) / distance
        } else {
            (0.5 * value - 0.5 * from) / (0.5 * to - 0.5 * from)
        };
        Some(between(low as f64 / halves, high as f64 / halves, part.clamp(0.0, 1.0)))
    }

    /// The quantile itself while the digest is exact, else minimum and maximum: a t-digest has no proved bound.
    fn bounds(&self, q: f64) -> Option<(f64, f64)> {
        let quantile = self.quantile(q)?;
        if self.exact { Some((quantile, quantile)) } else { self.min().zip(self.max()) }
    }

    /// [`Contract::Rank`] without error, for certain, while the digest is exact, else [`Contract::Empirical`].
    fn contract(&self) -> Contract {
        if self.exact { Contract::Rank { epsilon: 0.0, confidence: 1.0 } } else { Contract::Empirical }
    }
}

/// The sum of products. Infinite only if it exceeds the range of `f64` itself: that two parts of opposite sign do,
/// each of them, does not make it so.
fn sum_of(parts: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    /// Weights below 2^64 and as many parts as memory holds stay in range.
    const SCALE: f64 = 1.0 / (1u128 << 127) as f64;
    let sum: f64 = parts.clone().map(|(mean, weight)| mean * weight).sum();
    if sum.is_finite() {
        sum + 0.0
    } else {
        parts.map(|(mean, weight)| mean * SCALE * weight).sum::<f64>() / SCALE + 0.0
    }
}
