//! What a comparison of two sketches says.

use alloc::boxed::Box;

use libm::{exp, sqrt};

use super::likelihood::{BOTH, LEFT, Likelihood, RIGHT};
use super::solve;
use crate::information::deviation;

/// Two sets compared, by [`HyperLogLog::joint`](crate::HyperLogLog::joint): their intersection, what each has alone, their
/// union and their similarity, each with an estimate and with bounds.
///
/// * Error: two-sided. It depends on the share of the intersection: relative to it, the error grows as the share falls
///   (table `hll-intersection`), and [`Part::bounds`] say by how much.
/// * An intersection is never negative, and never above the estimate of either sketch.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Keys of the left set alone, of the right one alone, of both.
    parts: [f64; 3],
    /// The estimates of the two sketches, and their relative errors.
    sizes: [f64; 2],
    errors: [f64; 2],
    basis: Basis,
}

/// What the parts are known from.
#[derive(Clone, Debug)]
enum Basis {
    /// Tokens: one standard deviation, in keys, covers each part.
    Counted { deviation: f64 },
    /// One of the sets is empty, the other is the union.
    Apart,
    /// Registers that can rise no further.
    Unknown,
    /// Registers.
    Likely(Likely),
}

#[derive(Clone, Debug)]
struct Likely {
    likelihood: Box<Likelihood>,
    rates: [f64; 3],
    /// Of the logarithms of the parts.
    covariance: [[f64; 3]; 3],
    determined: bool,
}

/// One number of a [`Joint`].
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    joint: &'a Joint,
    which: Which,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Alone(usize),
    Both,
    Union,
    Jaccard,
}

impl Joint {
    /// The keys of both sets.
    pub fn intersection(&self) -> Part<'_> {
        Part { joint: self, which: Which::Both }
    }

    /// The keys of the first set that the second has not.
    pub fn left_only(&self) -> Part<'_> {
        Part { joint: self, which: Which::Alone(LEFT) }
    }

    /// The keys of the second set that the first has not.
    pub fn right_only(&self) -> Part<'_> {
        Part { joint: self, which: Which::Alone(RIGHT) }
    }

    /// The keys of either set.
    pub fn union(&self) -> Part<'_> {
        Part { joint: self, which: Which::Union }
    }

    /// The similarity of `[Jaccard12]`: the share of the union that is in both sets, 0 to 1; 0 for two empty sets.
    pub fn jaccard(&self) -> Part<'_> {
        Part { joint: self, which: Which::Jaccard }
    }

    /// Whether the sketches tell anything of the intersection: false if neither an empty one nor the largest possible one
    /// lies a standard deviation from the most likely. The estimate of the intersection is then no more than one of many
    /// possible numbers; the bounds say which.
    pub fn is_determined(&self) -> bool {
        match &self.basis {
            Basis::Counted { .. } | Basis::Apart => true,
            Basis::Unknown => false,
            Basis::Likely(likely) => likely.determined,
        }
    }

    pub(super) fn counted(sizes: [f64; 2], both: f64, deviation: f64) -> Self {
        let both = both.clamp(0.0, sizes[0].min(sizes[1]));
        let parts = [sizes[0] - both, sizes[1] - both, both];
        Self { parts, sizes, errors: [0.0; 2], basis: Basis::Counted { deviation } }
    }

    pub(super) fn apart(sizes: [f64; 2], errors: [f64; 2]) -> Self {
        Self { parts: [sizes[0], sizes[1], 0.0], sizes, errors, basis: Basis::Apart }
    }

    pub(super) fn unknown(sizes: [f64; 2]) -> Self {
        Self { parts: [sizes[0], sizes[1], 0.0], sizes, errors: [0.0; 2], basis: Basis::Unknown }
    }

    pub(super) fn most_likely(sizes: [f64; 2], errors: [f64; 2], likelihood: Box<Likelihood>) -> Self {
        /// The gain of one standard deviation in the logarithm of the likelihood.
        const ONE_SIGMA: f64 = 0.5;
        let [left, right] = sizes;
        // Half of the smaller set in common: from the middle the way is short to either side.
        let both = 0.5 * left.min(right);
        let rates = solve::maximize(&likelihood, [left - both, right - both, both]);
        let covariance = solve::covariance(&likelihood, rates);
        let mut likely = Likely { likelihood, rates, covariance, determined: true };
        let best = likely.along(rates[BOTH]);
        let drops = [0.0, likely.most()].map(|both| best - likely.along(both));
        likely.determined = drops.iter().any(|&drop| drop >= ONE_SIGMA);
        let both = rates[BOTH].min(left).min(right);
        let parts = [rates[LEFT], rates[RIGHT], both];
        Self { parts, sizes, errors, basis: Basis::Likely(likely) }
    }
}

impl Part<'_> {
    /// The most likely value, finite unless a sketch is saturated: then the part that is not in both is infinite with it.
    pub fn estimate(&self) -> f64 {
        let [left, right, both] = self.joint.parts;
        match self.which {
            Which::Alone(side) => self.joint.parts[side],
            Which::Both => both,
            Which::Union => left + right + both,
            Which::Jaccard => jaccard(both, left + right + both),
        }
    }

    /// Where the value lies, as far as it is possible at all: an intersection between 0 and the upper bound of the smaller
    /// set, a similarity between 0 and 1.
    ///
    /// The estimate n becomes n e^(-kappa s) to n e^(kappa s), s being its predicted relative error; where s is large, or
    /// the part may be empty, the values that are not less likely than kappa standard deviations of a normal distribution.
    /// While keys are counted one by one, n less and more `kappa` standard deviations.
    ///
    /// * `kappa`: width in standard deviations. A negative `kappa` counts as its magnitude, NaN as infinity.
    ///
    /// # Source
    ///
    /// Likelihood: `[Ertl17]`.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        let kappa = if kappa.is_nan() { f64::INFINITY } else { kappa.abs() };
        let (low, high) = match &self.joint.basis {
            Basis::Counted { deviation } => {
                self.counted(if *deviation == 0.0 { 0.0 } else { kappa * deviation })
            }
            Basis::Apart => self.apart(kappa),
            Basis::Unknown => self.unknown(),
            Basis::Likely(likely) => self.likely(likely, kappa),
        };
        let (least, most) = self.possible(kappa);
        // The estimates of the two sketches and those of the comparison come of different formulas.
        let estimate = self.estimate();
        (low.clamp(least, most).min(estimate), high.clamp(least, most).max(estimate))
    }

    /// What no bound may leave.
    fn possible(&self, kappa: f64) -> (f64, f64) {
        match self.which {
            Which::Alone(side) => (0.0, self.joint.upper(side, kappa)),
            Which::Both => (0.0, self.joint.upper(LEFT, kappa).min(self.joint.upper(RIGHT, kappa))),
            Which::Union => (0.0, f64::INFINITY),
            Which::Jaccard => (0.0, 1.0),
        }
    }

    fn counted(&self, spread: f64) -> (f64, f64) {
        let estimate = self.estimate();
        match self.which {
            // Keys alone on the left are those of the union less those of the right.
            Which::Alone(_) | Which::Both | Which::Union => (estimate - spread, estimate + spread),
            Which::Jaccard => {
                let both = self.joint.parts[BOTH];
                self.joint.jaccard_of((both - spread, both + spread))
            }
        }
    }

    fn apart(&self, kappa: f64) -> (f64, f64) {
        match self.which {
            Which::Alone(side) => (self.joint.lower(side, kappa), self.joint.upper(side, kappa)),
            Which::Both | Which::Jaccard => (0.0, 0.0),
            Which::Union => (
                self.joint.lower(LEFT, kappa) + self.joint.lower(RIGHT, kappa),
                self.joint.upper(LEFT, kappa) + self.joint.upper(RIGHT, kappa),
            ),
        }
    }

    fn unknown(&self) -> (f64, f64) {
        let [left, right] = self.joint.sizes;
        match self.which {
            Which::Alone(side) => (0.0, self.joint.sizes[side]),
            Which::Both => (0.0, left.min(right)),
            Which::Union => (left.min(right), f64::INFINITY),
            Which::Jaccard => (0.0, 1.0),
        }
    }

    fn likely(&self, likely: &Likely, kappa: f64) -> (f64, f64) {
        /// Relative error above which a logarithm is no longer near to normal.
        const WIDE: f64 = 0.4;
        let estimate = self.estimate();
        let [left, right, both] = self.joint.parts;
        let union = left + right + both;
        // Derivatives of the logarithm by those of the parts.
        let by = match self.which {
            Which::Alone(LEFT) => [1.0, 0.0, 0.0],
            Which::Alone(_) => [0.0, 1.0, 0.0],
            Which::Both => [0.0, 0.0, 1.0],
            Which::Jaccard => [-left / union, -right / union, 1.0 - both / union],
            Which::Union => {
                let error = deviation(likely.likelihood.registers(), union) / union;
                let spread = if error == 0.0 { 0.0 } else { kappa * error };
                return (estimate * exp(-spread), estimate * exp(spread));
            }
        };
        let error = likely.error(by);
        // What one part of a set has, the other has not: none is known better than the logarithm of the least known.
        let normal = match self.which {
            Which::Alone(side) => {
                error <= WIDE && likely.error_of(BOTH) <= WIDE && likely.error_of(side) <= WIDE
            }
            _ => [LEFT, RIGHT, BOTH].iter().all(|&part| likely.error_of(part) <= WIDE),
        };
        if normal {
            let spread = if error == 0.0 { 0.0 } else { kappa * error };
            return (estimate * exp(-spread), estimate * exp(spread));
        }
        let [one, two] = self.joint.errors;
        let sizes = self.joint.sizes;
        let (smaller, own) = if sizes[LEFT] <= sizes[RIGHT] { (LEFT, one) } else { (RIGHT, two) };
        // The sketch of the smaller set may know its size better than these registers: by its tokens, or at a precision of
        // its own.
        let scale = sizes[smaller] / (likely.rates[smaller] + likely.rates[BOTH]);
        let (low, high) = likely.interval(kappa);
        let [low, best, high] = [low, likely.rates[BOTH], high].map(|both| both * scale);
        // The interval is for sizes that are known: their own errors come on top.
        let widened = |center: f64, (below, above): (f64, f64), own: f64| {
            let own = if own == 0.0 { 0.0 } else { kappa * own };
            (center - sqrt(own * own + below * below), center + sqrt(own * own + above * above))
        };
        match self.which {
            Which::Alone(side) => {
                widened(sizes[side] - best, (high - best, best - low), self.joint.errors[side] * sizes[side])
            }
            Which::Jaccard => {
                let (low, high) = self.joint.jaccard_of((low, high));
                widened(estimate, (estimate - low, high - estimate), sqrt(one * one + two * two) * estimate)
            }
            Which::Both | Which::Union => widened(best, (best - low, high - best), own * best),
        }
    }
}

impl Joint {
    fn lower(&self, side: usize, kappa: f64) -> f64 {
        self.scaled(side, -kappa)
    }

    fn upper(&self, side: usize, kappa: f64) -> f64 {
        self.scaled(side, kappa)
    }

    /// The bound of a whole set; that of tokens, as good as exact, is left at the estimate.
    fn scaled(&self, side: usize, kappa: f64) -> f64 {
        let spread = if self.errors[side] == 0.0 { 0.0 } else { kappa * self.errors[side] };
        if self.sizes[side] == 0.0 { 0.0 } else { self.sizes[side] * exp(spread) }
    }

    /// The similarity for an intersection, the sizes of the two sets being given.
    fn jaccard_of(&self, (low, high): (f64, f64)) -> (f64, f64) {
        let [left, right, both] = self.parts;
        let sizes = left + right + 2.0 * both;
        let most = left.min(right) + both;
        let [low, high] = [low, high].map(|both| both.clamp(0.0, most));
        (jaccard(low, sizes - low), jaccard(high, sizes - high))
    }
}

fn jaccard(both: f64, union: f64) -> f64 {
    if both > 0.0 { (both / union).clamp(0.0, 1.0) } else { 0.0 }
}

impl Likely {
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
