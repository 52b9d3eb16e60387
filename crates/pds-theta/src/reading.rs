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

    /// The one of two that promises fewer keys.
    pub(crate) fn lesser(self, other: Self) -> Self {
        let key = |reading: Self| (reading.estimate(), reading.retained);
        if key(other) < key(self) { other } else { self }
    }
}
