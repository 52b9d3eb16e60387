//! What a threshold and the number of hashes below it say about the number of keys.

use crate::binomial::{self, Chance};

/// The threshold while nothing was rejected: it stands for 2^64. Hash `u64::MAX` counts as the one below it.
pub(crate) const EXACT: u64 = u64::MAX;

/// A threshold, and how many hashes lie below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) retained: u64,
    pub(crate) theta: u64,
}

impl Reading {
    /// No key.
    pub(crate) const EMPTY: Self = Self { retained: 0, theta: EXACT };

    pub(crate) fn is_exact(self) -> bool {
        self.theta == EXACT
    }

    /// Known to be of no key: not the same as having retained none below a threshold.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    /// The threshold as a share of all hashes.
    pub(crate) fn share(self) -> f64 {
        Chance::below(self.theta).p
    }

    pub(crate) fn estimate(self) -> f64 {
        self.retained as f64 / self.share()
    }

    pub(crate) fn bounds(self, kappa: f64) -> (f64, f64) {
        binomial::bounds_of_trials(self.retained, Chance::below(self.theta), kappa)
    }

    /// What a set of this reading allows to its subsets.
    pub(crate) fn limits(self) -> Limits {
        let estimate = self.estimate();
        if self.is_exact() {
            Limits { count: estimate, ..Limits::NONE }
        } else {
            Limits { estimate, ..Limits::NONE }
        }
    }
}

/// What the sources of an intersection or difference, all supersets of it, allow; infinite where they say nothing.
///
/// Minima of what sources say, so that their order and their repetition do not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// The least estimate of a source that is not exact. It limits the estimate, not the bounds: the least of several upper
    /// bounds would leave out the truth as often as all of them together.
    pub(crate) estimate: f64,
    /// The least count of an exact source, a whole number: certain, and therefore a limit of the bounds too.
    pub(crate) count: f64,
}

impl Limits {
    pub(crate) const NONE: Self = Self { estimate: f64::INFINITY, count: f64::INFINITY };

    /// Those of the intersection.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { estimate: self.estimate.min(other.estimate), count: self.count.min(other.count) }
    }

    /// Without what a result of this reading does not need: one state, one form.
    pub(crate) fn binding(self, reading: Reading) -> Self {
        if reading.is_exact() {
            return Self::NONE;
        }
        let binds = self.estimate < reading.estimate().min(self.count);
        Self { estimate: if binds { self.estimate } else { f64::INFINITY }, ..self }
    }

    /// The estimate of a result of this reading.
    pub(crate) fn limited_estimate(self, reading: Reading) -> f64 {
        reading.estimate().min(self.estimate).min(self.count)
    }

    /// The bounds of a result of this reading, around that estimate.
    pub(crate) fn limited_bounds(self, reading: Reading, kappa: f64) -> (f64, f64) {
        let (low, high) = reading.bounds(kappa);
        (low.min(self.limited_estimate(reading)), high.min(self.count))
    }
}
