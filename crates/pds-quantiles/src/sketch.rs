//! What the sketches have in common.

use alloc::vec::Vec;

use crate::{Contract, Error, Merge, QuantileRule, RankRule};

/// Answers questions about the values that were taken in: a sketch, a view of its bytes, a snapshot.
///
/// The same for all of them:
///
/// * `q` is a share, 0 to 1; 0 gives the minimum and 1 the maximum, exactly. Another `q`, or a NaN, gives `None`, and so
///   does everything while there are no values.
/// * Answers to ascending questions ascend: no quantile is below that of a lesser `q`, no rank below that of a lesser
///   value. Quantiles lie in `[min, max]`, ranks in [0, 1].
/// * No answer is NaN or -0.0.
/// * How far answers may be off, [`Quantiles::contract`] says.
pub trait Quantiles {
    /// How many values were taken in, by weight.
    fn count(&self) -> u64;

    /// How many values [`QuantileSketch::insert`] has refused since they were not finite, here and in whatever was merged
    /// in; stays at `u64::MAX`. They are no part of the count.
    fn rejected(&self) -> u64;

    /// The least value, exactly.
    fn min(&self) -> Option<f64>;

    /// The greatest value, exactly.
    fn max(&self) -> Option<f64>;

    /// The sum of all values within the sketch's error; `None` too where a sketch keeps none. May be infinite.
    fn sum(&self) -> Option<f64>;

    /// The quantile `q` by a rule of one's choice.
    fn quantile_by(&self, q: f64, rule: QuantileRule) -> Option<f64>;

    /// The share of values below `value`, by a rule of one's choice; `None` for NaN too. Infinite values have ranks.
    fn rank_by(&self, value: f64, rule: RankRule) -> Option<f64>;

    /// An interval that the true quantile `q` (by [`QuantileRule::Step`]) lies in: for certain or with the confidence of
    /// the contract; where there is no such promise, `[min, max]`.
    fn bounds(&self, q: f64) -> Option<(f64, f64)>;

    /// What is promised, as it stands now.
    fn contract(&self) -> Contract;

    /// True if no value was taken in.
    fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The quantile `q`: the least value with a share of at least `q` at or below it ([`QuantileRule::Step`]).
    fn quantile(&self, q: f64) -> Option<f64> {
        self.quantile_by(q, QuantileRule::Step)
    }

    /// The quantiles of many `q`, in any order, in one pass where that pays. As [`Quantiles::quantile`] one by one.
    fn quantiles(&self, qs: &[f64]) -> Vec<Option<f64>> {
        qs.iter().map(|&q| self.quantile(q)).collect()
    }

    /// The rank of a value as a share: of the values below it and half of those equal to it ([`RankRule::Middle`]).
    fn rank(&self, value: f64) -> Option<f64> {
        self.rank_by(value, RankRule::Middle)
    }

    /// The share of values at most `value` ([`RankRule::Inclusive`]): the distribution function, whose inverse
    /// [`Quantiles::quantile`] is.
    fn cdf(&self, value: f64) -> Option<f64> {
        self.rank_by(value, RankRule::Inclusive)
    }
}

/// Takes values in.
///
/// The same for all sketches: values are finite. Others are refused, by [`QuantileSketch::insert`] with a count of the
/// refusals, elsewhere as [`Error::NonFinite`]; a NaN or an infinity is never stored. -0.0 is taken as 0.0. Weights are
/// `u64`, and `n` insertions of a value are one of weight `n`, within the contract.
pub trait QuantileSketch: Quantiles {
    /// Takes in a value; true if it was taken. One that is not finite is counted in [`Quantiles::rejected`] instead; one
    /// beyond a count of `u64::MAX` is dropped.
    fn insert(&mut self, value: f64) -> bool;

    /// Takes in a value `n` times, in the time of one; true if the state changed, which 0 does not.
    ///
    /// # Errors
    ///
    /// [`Error::NonFinite`] (with a weight of 0 too), and [`Error::Overflow`] if the count would exceed `u64::MAX`.
    /// Nothing has changed then, [`Quantiles::rejected`] neither.
    fn insert_n(&mut self, value: f64, n: u64) -> Result<bool, Error>;

    /// Takes in a value, or says why not.
    ///
    /// # Errors
    ///
    /// As [`QuantileSketch::insert_n`].
    fn try_insert(&mut self, value: f64) -> Result<(), Error> {
        self.insert_n(value, 1).map(|_| ())
    }

    /// Forgets everything, the refusals too.
    fn clear(&mut self);

    /// Bytes of the bins, centroids or items that are allocated.
    fn size_bytes(&self) -> usize;
}

/// Merges all of the others or none: for sketches whose counts together are all that a merge can fail by.
pub(crate) fn merge_all<'a, S: Merge + 'a>(
    sketch: &mut S,
    others: impl IntoIterator<Item = &'a S> + Clone,
    count: impl Fn(&S) -> u64,
) -> Result<(), Error> {
    let add = |sum: u64, other| sum.checked_add(count(other));
    others.clone().into_iter().try_fold(count(sketch), add).ok_or(Error::Overflow)?;
    others.into_iter().try_for_each(|other| sketch.merge(other))
}
