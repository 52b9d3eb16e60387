//! The sketch.

use core::fmt;

use crate::registers::Registers;
use crate::{
    Error, ExactMerge, Fingerprint, HllParams, HllView, Key, KeyHasher, Merge, Sketch, WyHasher, estimator,
    information,
};

/// A HyperLogLog sketch: the number of distinct keys, in one byte a register.
///
/// * Error: two-sided and unbiased, [`HllParams::std_error`] of the count for many keys and less for few.
/// * Merging is exact, between any two precisions: the merged sketch is that of the whole stream at the lower one.
/// * Inserting a key again changes nothing; a key cannot be removed or looked up.
///
/// The low p bits of a hash pick a register, which keeps the greatest number of leading zeros, and one, of the
/// hashes that it has seen.
///
/// # Source
///
/// `[FlajoletEtAl07]`; 64-bit hashes: `[HeuleEtAl13]`; estimator: `[Ertl17]`.
#[derive(Clone)]
pub struct HyperLogLog<H = WyHasher> {
    params: HllParams,
    registers: Registers,
    hasher: H,
}

impl HyperLogLog {
    /// An empty sketch with the default hasher.
    pub fn new(params: HllParams) -> Self {
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

    /// Opens a sketch made with the default hasher where its bytes lie: see [`HllView`].
    ///
    /// # Errors
    ///
    /// As [`HyperLogLog::view_with`].
    pub fn view(bytes: &[u8]) -> Result<HllView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> HyperLogLog<H> {
    /// Counts a key; true if a register changed. A key seen before never changes one; most new keys do not either
    /// once there are more keys than registers, and are counted all the same.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> HyperLogLog<H> {
    /// An empty sketch with a hasher of one's own.
    pub fn with_hasher(params: HllParams, hasher: H) -> Self {
        Self { params, registers: Registers::empty(params.registers()), hasher }
    }

    /// Opens a sketch where its bytes lie, in constant time: see [`HllView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`HllView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<HllView<'_, H>, Error> {
        HllView::open(bytes, hasher)
    }

    /// As [`HyperLogLog::insert`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.registers.insert(hash)
    }

    /// Counts many hashes.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        self.registers.insert_batch(hashes);
    }

    /// Estimated number of distinct keys: unbiased, at least 0. 0 for an empty sketch; infinite if every register is
    /// saturated, which takes more than 2^46 m keys (2^58 at precision 12).
    ///
    /// Depends on the set of keys alone, not on their order. Takes constant time, except after a merge, a decode or a
    /// long batch: until the next insert that changes a register, each call then counts the registers.
    pub fn estimate(&self) -> f64 {
        estimator::estimate(&self.registers.histogram())
    }

    /// Where the number of distinct keys lies: n e^(-kappa s) and n e^(kappa s) for the estimate n and its predicted
    /// relative error s, the lower bound not below the number of registers in use.
    ///
    /// * `kappa`: width in standard deviations. From as many keys as registers on, 1 covers the true count in 68 %, 2
    ///   in 95 %, 3 in 99.7 % of sketches, and slightly fewer at the lowest precisions (table `hll-bounds`). The errors of fewer keys are a few
    ///   whole keys: there the bounds cover as often once they are widened to whole numbers. A negative `kappa`
    ///   counts as its magnitude, NaN as infinity.
    ///
    /// (0, 0) for an empty sketch. The upper bound is infinite if every register is saturated.
    ///
    /// # Source
    ///
    /// Likelihood: `[Ertl17]`.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        information::bounds(&self.registers.histogram(), kappa)
    }

    /// Folds the registers to a lower precision: the sketch becomes the one that the same keys make there, to the
    /// byte.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `precision` is below 4 or above the sketch's own, which nothing can bring back.
    /// `self` is then unchanged.
    pub fn fold_to(&mut self, precision: u8) -> Result<(), Error> {
        let params = HllParams::with_precision(precision)?;
        if params > self.params {
            return Err(Error::Parameter {
                name: "precision",
                value: f64::from(precision),
                domain: "4 up to the precision of the sketch",
            });
        }
        self.registers.fold(params.registers());
        self.params = params;
        Ok(())
    }

    /// The precision.
    pub fn params(&self) -> HllParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.registers.values().iter().all(|&value| value == 0)
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.registers = Registers::empty(self.params.registers());
    }

    /// Bytes of the registers: see [`HllParams::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.params.size_bytes()
    }

    /// The registers: for each index the greatest value seen, 0 to 47. For other estimators, and for other formats.
    pub fn registers(&self) -> &[u8] {
        self.registers.values()
    }

    pub(crate) fn from_parts(params: HllParams, registers: Registers, hasher: H) -> Self {
        Self { params, registers, hasher }
    }
}

/// Any two precisions merge, to the lower one; the hashers must agree.
impl<H: Fingerprint> Merge for HyperLogLog<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.registers.merge(&other.registers);
        self.params = self.params.min(other.params);
        Ok(())
    }
}

/// With sketches of several precisions the law holds for the sketch of the whole stream at the lowest of them.
impl<H: Fingerprint> ExactMerge for HyperLogLog<H> {}

/// Equal precision, hasher and registers: the same bytes.
impl<H: Fingerprint> PartialEq for HyperLogLog<H> {
    fn eq(&self, other: &Self) -> bool {
        self.registers() == other.registers() && self.hasher.fingerprint() == other.hasher.fingerprint()
    }
}

impl<H: KeyHasher, K: Key> Extend<K> for HyperLogLog<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the precision, not the registers.
impl<H: fmt::Debug> fmt::Debug for HyperLogLog<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperLogLog")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
