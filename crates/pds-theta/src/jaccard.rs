//! How alike two sets are.

use crate::reading::EXACT;
use crate::source::Operand;
use crate::{Error, Fingerprint, ThetaSource, binomial, operations};

/// The Jaccard index of two sources: keys in both, as a share of the keys in either.
///
/// Of the hashes that either has below the lesser threshold, those that both have are a fair sample of this share.
///
/// # Errors
///
/// [`Error::Hasher`] if the hashers differ.
///
/// # Source
///
/// `[BarYossefEtAl02]`; threshold: `[DasguptaEtAl16]`.
pub fn jaccard<H: Fingerprint>(
    left: &dyn ThetaSource<H>,
    right: &dyn ThetaSource<H>,
) -> Result<Jaccard, Error> {
    let (operands, _) = Operand::all(&[left, right])?;
    let (left, right) = (&operands[0], &operands[1]);
    let theta = left.reading.theta.min(right.reading.theta);
    let known_disjoint = left.reading.is_empty() || right.reading.is_empty();
    let (both, either) = operations::overlap(left.below(theta), right.below(theta));
    // Beside an empty source, one of which nothing is retained may be empty or not: the share is 1 or 0.
    Ok(Jaccard { both, either, exact: theta == EXACT || known_disjoint && either > 0 })
}

/// What two sources say about the share of keys that they have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jaccard {
    both: u64,
    either: u64,
    exact: bool,
}

impl Jaccard {
    /// The share, from 0 to 1. 1 for two sources that are known to be empty: they are equal. 0 if nothing is known.
    pub fn estimate(&self) -> f64 {
        if self.either > 0 { self.both as f64 / self.either as f64 } else { f64::from(u8::from(self.exact)) }
    }

    /// Where the share lies, by the sum of the binomial distribution where up to 120 hashes are, or are not, in both, and by
    /// the score interval beyond.
    ///
    /// * `kappa`: as of [`ThetaSketch::bounds`](crate::ThetaSketch::bounds).
    ///
    /// Equal to the share if it is exact; (0, 1) if nothing is known.
    ///
    /// # Source
    ///
    /// `[ClopperPearson34]`, `[Wilson27]`.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        if self.exact {
            return (self.estimate(), self.estimate());
        }
        binomial::bounds_of_share(self.both, self.either, kappa)
    }

    /// Whether the share is known: both sources are exact, or one is known to be empty and the other known not to be.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Hashes below the threshold that both sources have.
    pub fn retained_in_both(&self) -> u64 {
        self.both
    }

    /// Hashes below the threshold that either source has.
    pub fn retained_in_either(&self) -> u64 {
        self.either
    }
}
