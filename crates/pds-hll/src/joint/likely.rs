//! Bounds from the likelihood of the registers.

use alloc::boxed::Box;

use libm::{exp, sqrt};

use super::answer::Which;
use super::likelihood::{BOTH, LEFT, Likelihood, RIGHT};
use super::size::{Size, widened};
use super::solve;
use crate::information::deviation;

/// The rates of the greatest likelihood, and how well they are known.
#[derive(Clone, Debug)]
pub(super) struct Likely {
    likelihood: Box<Likelihood>,
    rates: [f64; 3],
    /// Of the logarithms of the parts.
    covariance: [[f64; 3]; 3],
    determined: bool,
}

impl Likely {
    pub(super) fn new(likelihood: Box<Likelihood>, rates: [f64; 3]) -> Self {
        /// The gain of one standard deviation in the logarithm of the likelihood.
        const ONE_SIGMA: f64 = 0.5;
        let covariance = solve::covariance(&likelihood, rates);
        let mut likely = Self { likelihood, rates, covariance, determined: true };
        let best = likely.along(rates[BOTH]);
        likely.determined = [0.0, likely.most()].iter().any(|&both| best - likely.along(both) >= ONE_SIGMA);
        likely
    }

    pub(super) fn is_determined(&self) -> bool {
        self.determined
    }

    /// Where a part lies. Around the likeliest value, also where an estimate of a size keeps the answer from that value: the
    /// bounds of the size allow it.
    pub(super) fn bounds(&self, which: Which, sizes: &[Size; 2], kappa: f64) -> (f64, f64) {
        match self.normal_error(which) {
            Some(error) => {
                let spread = widened(kappa, error);
                let [left, right, both] = self.rates;
                let union = left + right + both;
                let middle = match which {
                    Which::Alone(side) => self.rates[side],
                    Which::Both => both,
                    Which::Union => union,
                    Which::Jaccard => both / union,
                };
                (middle * exp(-spread), middle * exp(spread))
            }
            None => self.at_the_edges(which, sizes, kappa),
        }
    }

    /// The relative error of a part whose logarithm is near to normal.
    fn normal_error(&self, which: Which) -> Option<f64> {
        /// Relative error above which a logarithm is no longer near to normal.
        const WIDE: f64 = 0.4;
        let [left, right, both] = self.rates;
        let union = left + right + both;
        // Derivatives of the logarithm by those of the parts.
        let by = match which {
            Which::Alone(LEFT) => [1.0, 0.0, 0.0],
            Which::Alone(_) => [0.0, 1.0, 0.0],
            Which::Both => [0.0, 0.0, 1.0],
            Which::Jaccard => [-left / union, -right / union, 1.0 - both / union],
            // Registers know the union as they know any set.
            Which::Union if !self.likelihood.knows_a_size() => {
                return Some(deviation(self.likelihood.registers(), union) / union);
            }
            Which::Union => [left / union, right / union, both / union],
        };
        let error = self.error(by);
        let near = |part: usize| self.error_of(part) <= WIDE;
        // What one part of a set has, the other has not: none is known better than the logarithm of the least known.
        let normal = match which {
            Which::Alone(side) => error <= WIDE && near(BOTH) && near(side),
            _ => [LEFT, RIGHT, BOTH].into_iter().all(near),
        };
        normal.then_some(error)
    }

    /// The values possible for the shares of the smaller set that are not too unlikely, moved out by the errors of the sizes.
    ///
    /// Within the interval of a flat likelihood nothing is likelier than its edges: so these move, whatever the middle.
    fn at_the_edges(&self, which: Which, sizes: &[Size; 2], kappa: f64) -> (f64, f64) {
        let first = if let Which::Alone(side) = which { side } else { LEFT };
        let second = LEFT + RIGHT - first;
        // By the rates, between which the interval is: the sizes may be known in another order. Of sets of one size, either.
        let (smaller, larger) =
            if self.rates[first] <= self.rates[second] { (first, second) } else { (second, first) };
        let (small, large) = (&sizes[smaller], &sizes[larger]);
        let whole = self.rates[smaller] + self.rates[BOTH];
        let (low, high) = self.interval(kappa);
        let [low, high] = [low, high].map(|both| (both / whole).clamp(0.0, 1.0));
        // Of the smaller set: how far such a share of it may be off, down and up.
        let down = |share: f64| share * (small.estimate - small.lower(kappa));
        let up = |share: f64| if share == 0.0 { 0.0 } else { share * (small.upper(kappa) - small.estimate) };
        let (large_down, large_up) =
            (large.estimate - large.lower(kappa), large.upper(kappa) - large.estimate);
        match which {
            Which::Both => (low * small.lower(kappa), times(high, small.upper(kappa))),
            Which::Alone(side) if side == smaller => {
                ((1.0 - high) * small.lower(kappa), times(1.0 - low, small.upper(kappa)))
            }
            // The errors of two sizes: independent, or at worst alike, which then takes them out of the difference.
            Which::Alone(_) => (
                large.estimate - high * small.estimate - root_sum(large_down, up(high)),
                large.estimate - low * small.estimate + root_sum(large_up, down(low)),
            ),
            Which::Union => (
                large.estimate + (1.0 - high) * small.estimate - root_sum(large_down, down(1.0 - high)),
                large.estimate + (1.0 - low) * small.estimate + root_sum(large_up, up(1.0 - low)),
            ),
            Which::Jaccard => {
                let spread = widened(kappa, root_sum(small.error(), large.error()));
                let ratio = large.estimate / small.estimate;
                // The larger set holds that share of the smaller one, too.
                let similarity = |share: f64, ratio: f64| {
                    if share == 0.0 { 0.0 } else { share / (ratio.max(share) + (1.0 - share)) }
                };
                (similarity(low, ratio * exp(spread)), similarity(high, ratio * exp(-spread)))
            }
        }
    }

    /// The standard deviation of a logarithm, from its derivatives by those of the parts.
    fn error(&self, by: [f64; 3]) -> f64 {
        let mut variance = 0.0;
        for (i, &slope) in by.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
            for (j, &other) in by.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
                variance += slope * other * self.covariance[i][j];
            }
        }
        if variance.is_nan() { f64::INFINITY } else { sqrt(variance.max(0.0)) }
    }

    /// The standard deviation of the logarithm of a part.
    fn error_of(&self, part: usize) -> f64 {
        sqrt(self.covariance[part][part])
    }

    /// The largest intersection that there can be: all of the smaller set.
    fn most(&self) -> f64 {
        self.rates[LEFT].min(self.rates[RIGHT]) + self.rates[BOTH]
    }

    /// The logarithm of the likelihood of an intersection, each of the two sets being as large as it is: these each sketch
    /// knows by itself.
    fn along(&self, both: f64) -> f64 {
        let [left, right] = [LEFT, RIGHT].map(|side| (self.rates[side] + self.rates[BOTH] - both).max(0.0));
        self.likelihood.at([left, right, both]).value
    }

    /// The intersections that are not less likely than `kappa` standard deviations.
    fn interval(&self, kappa: f64) -> (f64, f64) {
        /// Halvings of what is possible: to a millionth of it.
        const HALVINGS: usize = 20;
        let best = self.rates[BOTH];
        let least = self.along(best) - 0.5 * kappa * kappa;
        let edge = |mut outside: f64| {
            if self.along(outside) >= least {
                return outside;
            }
            let mut inside = best;
            for _ in 0..HALVINGS {
                let middle = 0.5 * (inside + outside);
                if self.along(middle) >= least { inside = middle } else { outside = middle }
            }
            outside
        };
        (edge(0.0), edge(self.most()))
    }
}

fn root_sum(one: f64, two: f64) -> f64 {
    sqrt(one * one + two * two)
}

/// None of anything is nothing, even of what has no bound.
fn times(share: f64, size: f64) -> f64 {
    if share == 0.0 { 0.0 } else { share * size }
}
