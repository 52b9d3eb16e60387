//! The sketch.

use alloc::borrow::Cow;
use core::fmt;

use pds_core::same_hasher;

use super::registers::Registers;
use crate::hll::state::State as HllState;
use crate::registers::Registers as HllRegisters;
use crate::state::{Mode, RegisterArray, State};
use crate::{
    Error, ExactMerge, Fingerprint, HyperLogLog, Key, KeyHasher, Merge, Sketch, UllParams, UllView, WyHasher,
};

/// An UltraLogLog sketch: the number of distinct keys, in one byte a register at most, with three quarters of the error
/// that [`HyperLogLog`] has with as many.
///
/// * Error: two-sided, [`UllParams::std_error`] of the count for many keys and less for few; the first
///   keys, [`UllParams::sparse_limit`] of them, are counted almost exactly. Unbiased (table `ull-sweep`, with the tolerance that it is held
///   to).
/// * Merging is exact, between any two precisions: the merged sketch is that of the whole stream at the lower one.
/// * It becomes the [`HyperLogLog`] of the same keys by `HyperLogLog::from`, to the byte; there is no way back.
/// * Inserting a key again changes nothing; a key cannot be removed or looked up.
///
/// The low p bits of a hash pick a register, which keeps the greatest number of leading zeros of the hashes that it has
/// seen, as that of a HyperLogLog does, and in the two bits that are left of its byte whether it has seen the two numbers
/// below. An estimate takes time linear in the registers, where that of a HyperLogLog mostly takes constant time.
///
/// Until registers take less memory, 32 bits of each hash are kept instead, as a HyperLogLog does, and up to as many keys.
///
/// # Source
///
/// `[Ertl23]`, with maximum likelihood as estimator.
#[derive(Clone)]
pub struct UltraLogLog<H = WyHasher> {
    state: State<Registers>,
    hasher: H,
}

impl UltraLogLog {
    /// An empty sketch with the default hasher.
    pub fn new(params: UllParams) -> Self {
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

    /// Opens a sketch made with the default hasher where its bytes lie: see [`UllView`].
    ///
    /// # Errors
    ///
    /// As [`UltraLogLog::view_with`].
    pub fn view(bytes: &[u8]) -> Result<UllView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> UltraLogLog<H> {
    /// Counts a key; true if the sketch changed. A key seen before never changes it; most new keys do not either
    /// once there are more keys than registers, and are counted all the same.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> UltraLogLog<H> {
    /// An empty sketch with a hasher of one's own.
    pub fn with_hasher(params: UllParams, hasher: H) -> Self {
        Self { state: State::empty(params.into()), hasher }
    }

    /// Opens a sketch where its bytes lie, in constant time: see [`UllView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`UllView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<UllView<'_, H>, Error> {
        UllView::open(bytes, hasher)
    }

    /// As [`UltraLogLog::insert`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.state.insert(hash)
    }

    /// Counts many hashes.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        self.state.insert_batch(hashes);
    }

    /// Estimated number of distinct keys: unbiased, at least 0. 0 for an empty sketch; infinite if every register is
    /// saturated, which takes more than 2^46 m keys (2^58 at precision 12).
    ///
    /// Up to [`UllParams::sparse_limit`] keys the count of different 32-bit parts of hashes, corrected for the few keys that
    /// share one, in constant time. Beyond, the number under which the registers are most likely, in time linear in them.
    ///
    /// Depends on the set of keys alone, not on their order.
    pub fn estimate(&self) -> f64 {
        self.state.estimate()
    }

    /// Where the number of distinct keys lies: n e^(-kappa s) and n e^(kappa s) for the estimate n and its predicted
    /// relative error s, the lower bound not below the number of registers in use, or the estimate where that is less.
    ///
    /// * `kappa`: width in standard deviations. From as many keys as registers on, 1 covers the true count in 68 %, 2
    ///   in 95 %, 3 in 99.7 % of sketches, and slightly fewer at the lowest precisions. A negative `kappa` counts as its
    ///   magnitude, NaN as infinity.
    ///
    /// Up to [`UllParams::sparse_limit`] keys: the estimate less and more `kappa` standard deviations of the number of keys
    /// that share their 32 bits with another, the lower bound not below the count of different ones, which is certain.
    ///
    /// (0, 0) for an empty sketch. The upper bound is infinite if every register is saturated.
    ///
    /// # Source
    ///
    /// Likelihood: `[Ertl23]`.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        self.state.bounds(kappa)
    }

    /// Folds to a lower precision: the sketch becomes the one that the same keys make there, to the byte.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `precision` is below 4 or above the sketch's own, which nothing can bring back.
    /// `self` is then unchanged.
    pub fn fold_to(&mut self, precision: u8) -> Result<(), Error> {
        self.state.fold_to(precision)
    }

    /// Merges a sketch from where its bytes lie, of any precision.
    ///
    /// # Errors
    ///
    /// [`Error::Hasher`] if the hashers differ; as [`UllView::to_owned`] if the bytes are not what was written. `self` is
    /// then unchanged.
    pub fn merge_view<G: Fingerprint>(&mut self, other: &UllView<'_, G>) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.fingerprint())?;
        other.verify()?;
        other.stored().merge_into(&mut self.state)
    }

    /// The precision.
    pub fn params(&self) -> UllParams {
        UllParams::of(self.state.params())
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// True while the keys are counted one by one, almost exactly: up to [`UllParams::sparse_limit`] of them.
    pub fn is_sparse(&self) -> bool {
        self.state.is_sparse()
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.state = State::empty(self.state.params());
    }

    /// Bytes that the sketch has allocated now: from none when empty up to [`UllParams::size_bytes`], and more only while it
    /// counts few hashes that somebody chose to meet in its table, of which it keeps some in a tree.
    pub fn size_bytes(&self) -> usize {
        self.state.size_bytes()
    }

    /// The registers, for other estimators and for other formats: for each index four times the greatest value seen, 0 to
    /// 47, and 2 more if the value below was seen, and 1 more if that below it was.
    ///
    /// Made anew while there are few keys and the sketch does not keep them.
    pub fn registers(&self) -> Cow<'_, [u8]> {
        self.state.values()
    }

    pub(super) fn from_state(state: State<Registers>, hasher: H) -> Self {
        Self { state, hasher }
    }

    pub(super) fn state(&self) -> &State<Registers> {
        &self.state
    }
}

/// Any two precisions merge, to the lower one; the hashers must agree.
impl<H: Fingerprint> Merge for UltraLogLog<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.state.merge(&other.state);
        Ok(())
    }
}

/// With sketches of several precisions the law holds for the sketch of the whole stream at the lowest of them.
impl<H: Fingerprint> ExactMerge for UltraLogLog<H> {}

/// The sketch of the same keys at the same precision, to the byte: a HyperLogLog knows less of them.
impl<H: Fingerprint> From<&UltraLogLog<H>> for HyperLogLog<H> {
    fn from(sketch: &UltraLogLog<H>) -> Self {
        let params = sketch.state.params();
        let state = match sketch.state.mode() {
            Mode::Sparse(tokens) => HllState::sparse(params, tokens.clone()),
            Mode::Dense(registers) => {
                let values = registers.values().iter().map(|&register| register >> 2).collect();
                HllState::dense(params, HllRegisters::from_values(values))
            }
        };
        Self::from_state(state, sketch.hasher.clone())
    }
}

/// Equal precision, hasher and state: the same bytes.
impl<H: Fingerprint> PartialEq for UltraLogLog<H> {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state && self.hasher.fingerprint() == other.hasher.fingerprint()
    }
}

impl<H: KeyHasher, K: Key> Extend<K> for UltraLogLog<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the precision, not the registers.
impl<H: fmt::Debug> fmt::Debug for UltraLogLog<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UltraLogLog")
            .field("params", &UllParams::of(self.state.params()))
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
