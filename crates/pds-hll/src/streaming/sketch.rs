//! The sketch.

use core::fmt;

use libm::exp;

use super::error;
use crate::hll::state::State;
use crate::registers::Registers;
use crate::sparse::count;
use crate::state::{Mode, RegisterArray};
use crate::{Error, Fingerprint, HllParams, HyperLogLog, Key, KeyHasher, Sketch, WyHasher};

/// A HyperLogLog of a single stream, with a running estimate: 0.833 / sqrt(m) in place of 1.04 / sqrt(m), for the same
/// registers.
///
/// When a key changes a register, the sketch knows how probable that was for a new key, and counts as many keys as it takes
/// for one such change on average.
///
/// * Error: two-sided and unbiased, [`HllParams::streaming_std_error`] of the count for many keys and less for few; the first
///   keys, [`HllParams::sparse_limit`] of them, are counted almost exactly, and the count goes on from there without a jump.
/// * The estimate never falls. Inserting a key again changes nothing.
/// * **Not mergeable**: how much of one stream another repeats cannot be known from its estimate, and the estimate depends on
///   the order of the keys. [`StreamingHyperLogLog::into_hll`] gives the sketch that merges, with the error of that.
///
/// ```compile_fail
/// use pds_hll::prelude::*;
///
/// let params = HllParams::with_precision(12).unwrap();
/// let (mut monday, tuesday) = (StreamingHyperLogLog::new(params), StreamingHyperLogLog::new(params));
/// monday.merge(&tuesday).unwrap(); // no such method
/// ```
///
/// ```
/// use pds_hll::prelude::*;
///
/// # fn main() -> Result<(), Error> {
/// let params = HllParams::with_precision(12)?;
/// let (mut monday, mut tuesday) = (StreamingHyperLogLog::new(params), StreamingHyperLogLog::new(params));
/// monday.extend(0..5000u32);
/// tuesday.extend(4000..9000u32);
/// let mut both = monday.into_hll();
/// both.merge(&tuesday.into_hll())?;
/// assert!((both.estimate() / 9000.0 - 1.0).abs() < 4.0 * params.std_error());
/// # Ok(())
/// # }
/// ```
///
/// # Source
///
/// `[Ting14]`, `[Cohen15]`.
#[derive(Clone)]
pub struct StreamingHyperLogLog<H = WyHasher> {
    state: State,
    running: Running,
    hasher: H,
}

/// The running estimate; of no meaning while the state is sparse.
#[derive(Clone, Copy)]
pub(super) struct Running {
    /// Keys so far.
    pub(super) estimate: f64,
    /// The probability that a new key changes a register, times m 2^46: an integer, so that no history of updates leaves a
    /// trace in it. At precision 18 that of no key is 2^64.
    chances: u128,
}

impl Running {
    pub(super) const NONE: Self = Self { estimate: 0.0, chances: 0 };

    /// From this estimate on.
    pub(super) fn from(estimate: f64, registers: &Registers) -> Self {
        Self {
            estimate,
            chances: registers.counts().counts().map(|(value, count)| chance(value) * count).sum(),
        }
    }

    /// A register of m has changed.
    #[inline]
    fn changed(&mut self, m: usize, from: u8, to: u8) {
        /// 2^46: the unit of a single register's chances.
        const CERTAIN: f64 = (1u64 << 46) as f64;
        self.estimate += m as f64 * CERTAIN / self.chances as f64;
        self.chances -= chance(from) - chance(to);
    }
}

/// The probability that a key changes a register of this value, times 2^46.
fn chance(value: u8) -> u128 {
    // The last value is 47.
    if value > 46 { 0 } else { 1 << (46 - value) }
}

impl StreamingHyperLogLog {
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
}

impl<H: KeyHasher> StreamingHyperLogLog<H> {
    /// Counts a key; true if the sketch changed, and the estimate with it. A key seen before never changes it.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> StreamingHyperLogLog<H> {
    /// An empty sketch with a hasher of one's own.
    pub fn with_hasher(params: HllParams, hasher: H) -> Self {
        Self { state: State::empty(params), running: Running::NONE, hasher }
    }

    /// As [`StreamingHyperLogLog::insert`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let Some(registers) = self.state.registers_mut() else { return self.insert_early(hash) };
        let Some((from, to)) = registers.raise_by(hash) else { return false };
        self.running.changed(registers.values().len(), from, to);
        true
    }

    /// Counts many hashes.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.insert_hash(hash);
        }
    }

    /// While keys are counted one by one.
    #[inline(never)]
    fn insert_early(&mut self, hash: u64) -> bool {
        let changed = self.state.insert(hash);
        if let Mode::Dense(registers) = self.state.mode() {
            // One token more than there is room for.
            self.running = Running::from(first_estimate(self.state.params()), registers);
        }
        changed
    }

    /// Estimated number of distinct keys: unbiased, never falling, 0 for an empty sketch, always finite. Takes constant time.
    ///
    /// Depends on the order of the keys. Once every register is saturated, which takes more than 2^46 m keys, it stays as it
    /// is.
    pub fn estimate(&self) -> f64 {
        match self.state.mode() {
            Mode::Sparse(tokens) => count::estimate(tokens.len()),
            Mode::Dense(_) => self.running.estimate,
        }
    }

    /// Where the number of distinct keys lies: n e^(-kappa s) and n e^(kappa s) for the estimate n and its predicted relative
    /// error s, not below [`HllParams::sparse_limit`] once that was passed. Up to there as [`HyperLogLog::bounds`].
    ///
    /// * `kappa`: width in standard deviations. A negative `kappa` counts as its magnitude, NaN as infinity.
    ///
    /// The upper bound is infinite if every register is saturated.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        let Mode::Dense(registers) = self.state.mode() else { return self.state.bounds(kappa) };
        let (estimate, first) = (self.running.estimate, first_estimate(self.state.params()));
        let spread =
            kappa.abs() * error::deviation(registers.values().len() as f64, first, estimate) / estimate;
        if spread.is_nan() {
            return (first, f64::INFINITY);
        }
        let high = if self.running.chances == 0 { f64::INFINITY } else { estimate * exp(spread) };
        ((estimate * exp(-spread)).max(first), high)
    }

    /// The sketch of the same keys that merges: with the bytes of a [`HyperLogLog`] that they were inserted into.
    pub fn into_hll(self) -> HyperLogLog<H> {
        HyperLogLog::from_state(self.state, self.hasher)
    }

    /// The precision.
    pub fn params(&self) -> HllParams {
        self.state.params()
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// True while the keys are counted one by one, almost exactly: up to [`HllParams::sparse_limit`] of them.
    pub fn is_sparse(&self) -> bool {
        self.state.is_sparse()
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.state = State::empty(self.params());
        self.running = Running::NONE;
    }

    /// Bytes that the sketch has allocated now.
    pub fn size_bytes(&self) -> usize {
        self.state.size_bytes()
    }

    pub(super) fn from_parts(state: State, running: Running, hasher: H) -> Self {
        Self { state, running, hasher }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }
}

/// The estimate when the first registers are made.
pub(super) fn first_estimate(params: HllParams) -> f64 {
    count::estimate(params.sparse_limit() + 1)
}

/// Equal state, estimate and hasher: the same bytes.
impl<H: Fingerprint> PartialEq for StreamingHyperLogLog<H> {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
            && self.estimate().to_bits() == other.estimate().to_bits()
            && self.hasher.fingerprint() == other.hasher.fingerprint()
    }
}

impl<H: KeyHasher, K: Key> Extend<K> for StreamingHyperLogLog<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the precision, not the registers.
impl<H: fmt::Debug> fmt::Debug for StreamingHyperLogLog<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamingHyperLogLog")
            .field("params", &self.state.params())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
