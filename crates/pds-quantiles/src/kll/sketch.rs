//! The sketch itself: taking in and merging.

use core::fmt;

use super::levels::Levels;
use super::{KllCodec, KllItem, KllParams, KllSnapshot};
use crate::sketch::merge_all;
use crate::{Error, Merge, Sketch};

/// A KLL sketch: quantiles of numbers, or of any ordered type, with a bound on the error of their ranks.
///
/// * Error: of any rank, in either direction, at most [`KllParams::rank_error`] of the count with a chance of
///   [`KllParams::CONFIDENCE`]. The same for every quantile: for extreme ones a [`TDigest`](crate::TDigest) is sharper.
/// * Answers are values that were taken in. Minimum and maximum are exact, and so is everything until the first
///   compaction, for which k values are needed at least.
/// * The weights of the items sum up to the count, whatever happens.
/// * Merging keeps the error of the smaller k. It is not exact: bytes depend on the order of values and
///   merges.
/// * Randomness comes from the seed alone: the same values in the same order give the same bytes. Sketches of one seed toss the
///   same coins; give the shards of a stream a seed each ([`KllSketch::with_seed`]), so that their errors level out
///   when they are merged.
///
/// `T` is `f64` for numbers, of which those that are not finite are refused, or any [`KllItem`].
///
/// # Source
///
/// `[KarninLangLiberty16]`, with the compaction of the lowest full level only, when all are full together.
#[derive(Clone)]
pub struct KllSketch<T: KllItem = f64> {
    params: KllParams,
    /// The smallest of those that were merged in, and of its own: what the error depends on.
    min_params: KllParams,
    pub(super) levels: Levels<T::Stored>,
    pub(super) count: u64,
    pub(super) rejected: u64,
    /// Least and greatest value.
    pub(super) ends: Option<(T::Stored, T::Stored)>,
    pub(super) coin: Coin,
}

impl<T: KllItem> KllSketch<T> {
    /// An empty sketch with the default seed. Allocates no room for items before the first value.
    pub fn new(params: KllParams) -> Self {
        Self::with_seed(params, 0)
    }

    /// An empty sketch whose coins come from a seed.
    pub fn with_seed(params: KllParams, seed: u64) -> Self {
        let levels = Levels::new(params.k());
        Self {
            params,
            min_params: params,
            levels,
            count: 0,
            rejected: 0,
            ends: None,
            coin: Coin { state: seed },
        }
    }

    /// Decodes a sketch.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error>
    where
        T: KllCodec,
    {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Takes in a value; true if it was taken. One that has no place in the order is counted as rejected instead, one
    /// beyond a count of `u64::MAX` is dropped.
    #[inline]
    pub fn insert(&mut self, value: T) -> bool {
        let Some(item) = value.store() else {
            self.rejected = self.rejected.saturating_add(1);
            return false;
        };
        let Some(count) = self.count.checked_add(1) else { return false };
        self.count = count;
        self.widen(&item, &item);
        self.levels.push(item);
        if self.levels.is_full() {
            self.compact();
        }
        true
    }

    /// Takes in a value `n` times: an item for each bit of `n`, and not more error than `n` insertions have. True if the state
    /// changed, which 0 does not.
    ///
    /// # Errors
    ///
    /// [`Error::NonFinite`] if the value has no place in the order, [`Error::Overflow`] if the count would exceed
    /// `u64::MAX`. Nothing has changed then.
    pub fn insert_n(&mut self, value: T, n: u64) -> Result<bool, Error> {
        let item = value.store().ok_or(Error::NonFinite)?;
        self.count = self.count.checked_add(n).ok_or(Error::Overflow)?;
        if n == 0 {
            return Ok(false);
        }
        self.widen(&item, &item);
        let mut bits = n;
        while bits != 0 {
            self.levels.add(self.params.k(), bits.trailing_zeros() as usize, item.clone());
            bits &= bits - 1;
        }
        self.compact();
        self.levels.shrink();
        Ok(true)
    }

    /// Takes in a value, or says why not.
    ///
    /// # Errors
    ///
    /// As [`KllSketch::insert_n`].
    pub fn try_insert(&mut self, value: T) -> Result<(), Error> {
        self.insert_n(value, 1).map(|_| ())
    }

    /// Takes in what each of the others has seen: as [`Merge::merge`] one by one, but all or nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the count would exceed `u64::MAX`. Nothing has changed then.
    pub fn merge_many<'a>(&mut self, others: impl IntoIterator<Item = &'a Self> + Clone) -> Result<(), Error>
    where
        T: 'a,
    {
        merge_all(self, others, |sketch| sketch.count)
    }

    /// Forgets everything, the refusals and the smaller k of what was merged in too; the coins go on.
    pub fn clear(&mut self) {
        *self = Self::with_seed(self.params, self.coin.state);
    }

    /// k.
    pub fn params(&self) -> KllParams {
        self.params
    }

    /// The smallest k of the sketches that this one was merged of: what its error depends on.
    pub fn min_params(&self) -> KllParams {
        self.min_params
    }

    /// How many items are held.
    pub fn items(&self) -> usize {
        self.levels.items().len()
    }

    /// Bytes of the items that are allocated, without what they own elsewhere.
    pub fn size_bytes(&self) -> usize {
        self.levels.size_bytes()
    }

    /// Whether every value is held: all answers are exact then.
    pub fn is_exact(&self) -> bool {
        // A compaction fills a level above, and nothing empties it. So does a weight, which is not told apart.
        self.levels.count() == 1
    }

    /// The answers as they stand, for many questions.
    pub fn snapshot(&self) -> KllSnapshot<T> {
        let exact = self.is_exact();
        KllSnapshot::new(&self.levels, self.ends.clone(), self.rejected, self.min_params, exact)
    }

    /// Of the parts that bytes hold.
    pub(super) fn from_parts(
        params: KllParams,
        min_params: KllParams,
        levels: Levels<T::Stored>,
        ends: Option<(T::Stored, T::Stored)>,
        [count, rejected, coin]: [u64; 3],
    ) -> Self {
        Self { params, min_params, levels, count, rejected, ends, coin: Coin { state: coin } }
    }

    fn compact(&mut self) {
        while self.levels.is_full() {
            self.levels.compact(self.params.k(), self.coin.toss());
        }
    }

    #[inline]
    fn widen(&mut self, low: &T::Stored, high: &T::Stored) {
        if let Some((min, max)) = &mut self.ends {
            if low < min {
                *min = low.clone();
            }
            if high > max {
                *max = high.clone();
            }
        } else {
            self.ends = Some((low.clone(), high.clone()));
        }
    }
}

/// Sketches of any k may be merged; the result has that of `self`, and the error of the smaller one.
///
/// # Errors
///
/// [`Error::Overflow`] if the count would exceed `u64::MAX`. Nothing has changed then.
impl<T: KllItem> Merge for KllSketch<T> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let count = self.count.checked_add(other.count).ok_or(Error::Overflow)?;
        self.rejected = self.rejected.saturating_add(other.rejected);
        let Some((low, high)) = &other.ends else { return Ok(()) };
        self.count = count;
        self.min_params = self.min_params.min(other.min_params);
        self.widen(low, high);
        self.levels.merge(self.params.k(), &other.levels);
        self.compact();
        self.levels.shrink();
        Ok(())
    }
}

/// Equal in all that bytes hold.
impl<T: KllItem> PartialEq for KllSketch<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.params, self.min_params, self.count, self.rejected, self.coin)
            == (other.params, other.min_params, other.count, other.rejected, other.coin)
            && self.ends == other.ends
            && self.levels.items() == other.levels.items()
            && (0..self.levels.count().max(other.levels.count())).all(|level| {
                level < self.levels.count().min(other.levels.count())
                    && self.levels.range(level) == other.levels.range(level)
            })
    }
}

/// An empty sketch of [`KllParams::default`].
impl<T: KllItem> Default for KllSketch<T> {
    fn default() -> Self {
        Self::new(KllParams::default())
    }
}

/// As [`KllSketch::insert`], one by one.
impl<T: KllItem> Extend<T> for KllSketch<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        for value in values {
            self.insert(value);
        }
    }
}

/// Shows parameters, count and number of items, not the items.
impl<T: KllItem> fmt::Debug for KllSketch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KllSketch")
            .field("params", &self.params)
            .field("count", &self.count)
            .field("items", &self.items())
            .finish_non_exhaustive()
    }
}

/// Random bits from a seed: SplitMix64, of which the top bit is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Coin {
    pub(super) state: u64,
}

impl Coin {
    fn toss(&mut self) -> bool {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) >> 63 == 1
    }
}
