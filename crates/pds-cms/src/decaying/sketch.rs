//! Counting, asking and merging.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use super::{DecayingCountMinParams, DecayingCountMinView};
use crate::table::positions;
use crate::{CountMinParams, Error, Fingerprint, Key, KeyHasher, Merge, Sketch, WyHasher};

/// A count-min sketch whose counts fade exponentially: one of age a weighs 2^(-a / half-life).
///
/// Time is a number that its user gives, in a unit of their own, with every count and with every question; there is no clock
/// inside. Events may come in any order.
///
/// * Error: one-sided. [`DecayingCountMin::estimate`] is never below the faded count of a key, but for the rounding of sums
///   in double precision, at most 2^-53 of it for each time that a cell was counted into, and of times, at most 2^-52 of it
///   for each half-life that the farthest one is from 0: seconds since 1970 and half-lives of a minute make 1e-8. It exceeds the truth by more than
///   epsilon times the faded total with a chance of at most delta.
/// * Forward decay: a count at time t is added with the weight 2^((t - L) / half-life), which never changes; answers are
///   divided by that of their own time. The *landmark* L is a whole number of half-lives; as soon as a weight would
///   exceed 2^100 it moves forward, and the cells are multiplied by a power of two, which is exact.
/// * Merging takes sketches of any landmarks. It is not exact: sums of floating point numbers depend on their order, in
///   the last bits; so [`Merge`], not [`ExactMerge`](crate::ExactMerge).
///
/// # Source
///
/// `[CormodeShkapenyukSrivastavaXu09]`.
#[derive(Clone)]
pub struct DecayingCountMin<H = WyHasher> {
    pub(crate) params: DecayingCountMinParams,
    /// Row after row. Finite, and not below 0; nor -0.0.
    pub(crate) cells: Box<[f64]>,
    pub(crate) mass: Mass,
    pub(crate) hasher: H,
}

/// The landmark, and the total as it weighs there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mass {
    /// In half-lives; 0 as long as nothing was counted.
    pub(crate) landmark: i64,
    /// 0, or at least 1, since what moves the landmark weighs as much: at most [`MOST`].
    pub(crate) total: f64,
}

/// No total exceeds 2^1000: no sum of cells is infinite. Merging a sketch into its like a thousand times comes near it.
pub(crate) const MOST: f64 = f64::from_bits((1000 + 1023) << 52);

/// The greatest logarithm of a weight.
const MOST_HALF_LIVES: f64 = 100.0;

impl DecayingCountMin {
    /// An empty sketch with the default hasher.
    pub fn new(params: DecayingCountMinParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }

    /// Decodes a sketch made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a sketch made with the default hasher where its bytes lie: see [`DecayingCountMinView`].
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::view_with`].
    pub fn view(bytes: &[u8]) -> Result<DecayingCountMinView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> DecayingCountMin<H> {
    /// Counts a key once at `time`; true if the state changed.
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::insert_n`].
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K, time: f64) -> Result<bool, Error> {
        self.insert_hash_n(self.hasher.hash_key(key), 1, time)
    }

    /// Counts a key `n` times at `time`, in the time of one; 0 changes nothing. True if the state changed, which it does
    /// unless the event is so old that it vanishes beside later ones.
    ///
    /// # Errors
    ///
    /// [`Error::NonFinite`] if `time` is NaN or infinite, [`Error::Parameter`] if it is more than
    /// [`DecayingCountMinParams::MAX_HALF_LIVES`] from 0, [`Error::Overflow`] if the total would exceed 2^1000 times the
    /// weight of a count at the landmark. Nothing is changed.
    #[inline]
    pub fn insert_n<K: Key + ?Sized>(&mut self, key: &K, n: u64, time: f64) -> Result<bool, Error> {
        self.insert_hash_n(self.hasher.hash_key(key), n, time)
    }

    /// The faded count of a key, as it weighs at `now`.
    ///
    /// # Errors
    ///
    /// [`Error::NonFinite`] and [`Error::Parameter`] as [`DecayingCountMin::insert_n`], for `now`; [`Error::Overflow`] if
    /// `now` lies more than 1000 half-lives before the latest count: what is older has faded beyond telling by then, whatever
    /// the key. One stamp far in the future does this to all that was counted before.
    #[inline]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K, now: f64) -> Result<f64, Error> {
        self.estimate_hash(self.hasher.hash_key(key), now)
    }

    /// Lower and upper bound of the faded count of a key, as it weighs at `now`.
    ///
    /// The upper bound is the estimate. The lower one, the estimate less epsilon times the faded total and at least 0, holds
    /// with a chance of at least 1 - delta.
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::estimate`].
    pub fn bounds<K: Key + ?Sized>(&self, key: &K, now: f64) -> Result<(f64, f64), Error> {
        self.bounds_hash(self.hasher.hash_key(key), now)
    }
}

impl<H: Fingerprint> DecayingCountMin<H> {
    /// An empty sketch with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`DecayingCountMinParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: DecayingCountMinParams, hasher: H) -> Self {
        // In range: the parameters keep to the address space.
        let cells = vec![0.0; params.table().cells() as usize].into_boxed_slice();
        Self { params, cells, mass: Mass { landmark: 0, total: 0.0 }, hasher }
    }

    /// Opens a sketch where its bytes lie, in constant time: see [`DecayingCountMinView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`DecayingCountMinView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<DecayingCountMinView<'_, H>, Error> {
        DecayingCountMinView::open(bytes, hasher)
    }

    /// As [`DecayingCountMin::insert`], for a hash by this sketch's hasher.
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::insert_n`].
    #[inline]
    pub fn insert_hash(&mut self, hash: u64, time: f64) -> Result<bool, Error> {
        self.insert_hash_n(hash, 1, time)
    }

    /// As [`DecayingCountMin::insert_n`], for a hash by this sketch's hasher.
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::insert_n`].
    pub fn insert_hash_n(&mut self, hash: u64, n: u64, time: f64) -> Result<bool, Error> {
        let time = self.params.in_half_lives(time)?;
        if n == 0 {
            return Ok(false);
        }
        let Mass { landmark, total } = self.mass;
        let moved = total == 0.0 || time - landmark as f64 > MOST_HALF_LIVES;
        // Within 2^52 of 0.
        let landmark = if moved { libm::floor(time) as i64 } else { landmark };
        let weight = libm::exp2(time - landmark as f64) * n as f64;
        if moved && total > 0.0 {
            self.move_to(landmark);
        } else if total + weight > MOST {
            return Err(Error::Overflow);
        }
        let total = self.mass.total + weight;
        let mut changed = total > self.mass.total;
        self.mass = Mass { landmark, total };
        for position in positions(self.params.table(), hash) {
            let cell = &mut self.cells[position];
            changed |= *cell + weight > *cell;
            *cell += weight;
        }
        Ok(changed)
    }

    /// As [`DecayingCountMin::estimate`], for a hash by this sketch's hasher.
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::estimate`].
    #[inline]
    pub fn estimate_hash(&self, hash: u64, now: f64) -> Result<f64, Error> {
        self.mass.at(self.params, self.least(hash), now)
    }

    /// As [`DecayingCountMin::bounds`], for a hash by this sketch's hasher.
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::estimate`].
    pub fn bounds_hash(&self, hash: u64, now: f64) -> Result<(f64, f64), Error> {
        self.mass.bounds(self.params, self.least(hash), now)
    }

    /// The faded sum of all counts, as it weighs at `now`.
    ///
    /// # Errors
    ///
    /// As [`DecayingCountMin::estimate`].
    pub fn total(&self, now: f64) -> Result<f64, Error> {
        self.mass.at(self.params, self.mass.total, now)
    }

    /// The shape.
    pub fn params(&self) -> DecayingCountMinParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.mass.total == 0.0
    }

    /// Forgets every count.
    pub fn clear(&mut self) {
        self.cells.fill(0.0);
        self.mass = Mass { landmark: 0, total: 0.0 };
    }

    /// Bytes of the table.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.cells)
    }

    fn least(&self, hash: u64) -> f64 {
        least(self.params.table(), hash, |position| self.cells[position])
    }

    /// Moves the landmark forward to there.
    #[cold]
    fn move_to(&mut self, landmark: i64) {
        let by = landmark - self.mass.landmark;
        self.cells.iter_mut().for_each(|cell| *cell = faded(*cell, by));
        self.mass = Mass { landmark, total: faded(self.mass.total, by) };
    }
}

impl Mass {
    /// What weighs so much at the landmark, as it weighs at `now`.
    pub(crate) fn at(self, params: DecayingCountMinParams, weight: f64, now: f64) -> Result<f64, Error> {
        /// Half-lives before the landmark within which no weight has lost digits to the least numbers.
        const TELLS: f64 = 1000.0;

        let ahead = self.landmark as f64 - params.in_half_lives(now)?;
        if self.total > 0.0 && ahead > TELLS {
            return Err(Error::Overflow);
        }
        if weight == 0.0 {
            return Ok(0.0);
        }
        let weight = weight * libm::exp2(ahead);
        if weight.is_finite() { Ok(weight) } else { Err(Error::Overflow) }
    }

    /// The bounds of a key whose least cell is `least`.
    pub(crate) fn bounds(
        self,
        params: DecayingCountMinParams,
        least: f64,
        now: f64,
    ) -> Result<(f64, f64), Error> {
        let lower = (least - params.table().epsilon() * self.total).max(0.0);
        Ok((self.at(params, lower, now)?, self.at(params, least, now)?))
    }
}

/// The least of the cells of a hash.
#[inline]
pub(crate) fn least(params: CountMinParams, hash: u64, cell: impl Fn(usize) -> f64) -> f64 {
    positions(params, hash).fold(f64::INFINITY, |least, position| least.min(cell(position)))
}

/// A weight at a landmark that lies `by` half-lives later, `by` not being negative.
fn faded(weight: f64, by: i64) -> f64 {
    /// By so many, nothing is left of any weight.
    const ALL: i64 = 2200;
    libm::scalbn(weight, -(by.min(ALL) as i32))
}

/// The cells add up, at the later landmark.
///
/// Refused as [`Error::Incompatible`] in `half_life` where these differ, and as [`Error::Overflow`] where the total would
/// exceed 2^1000 times the weight of a count at the landmark.
impl<H: Fingerprint> Merge for DecayingCountMin<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.table().same_as(other.params.table())?;
        if self.params.half_life().to_bits() != other.params.half_life().to_bits() {
            return Err(Error::Incompatible { field: "half_life" });
        }
        if other.is_empty() {
            return Ok(());
        }
        if self.is_empty() {
            self.cells.copy_from_slice(&other.cells);
            self.mass = other.mass;
            return Ok(());
        }
        let landmark = self.mass.landmark.max(other.mass.landmark);
        let (mine, theirs) = (landmark - self.mass.landmark, landmark - other.mass.landmark);
        let total = faded(self.mass.total, mine) + faded(other.mass.total, theirs);
        if total > MOST {
            return Err(Error::Overflow);
        }
        for (cell, &other) in self.cells.iter_mut().zip(&other.cells) {
            *cell = faded(*cell, mine) + faded(other, theirs);
        }
        self.mass = Mass { landmark, total };
        Ok(())
    }
}

/// Equal shape, hasher, cells, landmark and total: the same bytes.
impl<H: Fingerprint> PartialEq for DecayingCountMin<H> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && self.hasher.fingerprint() == other.hasher.fingerprint()
            && self.mass == other.mass
            && self.cells == other.cells
    }
}

/// Shows shape, landmark and total, not the cells.
impl<H: fmt::Debug> fmt::Debug for DecayingCountMin<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecayingCountMin")
            .field("params", &self.params)
            .field("mass", &self.mass)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
