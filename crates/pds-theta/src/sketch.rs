//! The sketch.

use alloc::vec::Vec;
use core::fmt;

use crate::reading::{EXACT, Limits, Reading};
use crate::table::{self, Table};
use crate::{
    CompactTheta, Error, ExactMerge, Fingerprint, Key, KeyHasher, Merge, Sketch, ThetaParams, ThetaView,
    WyHasher,
};

/// A theta sketch: the k smallest hashes of the keys, and the threshold below which they lie.
///
/// * Error: two-sided and unbiased; none up to k keys, beyond at most [`ThetaParams::std_error`] of the count.
/// * Merging is exact, between any two sizes: the merged sketch is that of the whole stream at the lesser k.
/// * Inserting a key again changes nothing; a key cannot be removed.
/// * Unions, intersections and differences of sketches: [`union`](crate::union), [`intersection`](crate::intersection),
///   [`difference`](crate::difference), [`jaccard`](crate::jaccard).
///
/// Every answer depends on the set of keys alone: with more than k of them, on its k smallest hashes and the one next to
/// them, the threshold. In memory there are up to half as many hashes more, which are sorted out in lots; see
/// [`ThetaSketch::trim`]. The hashes 0 and `u64::MAX` count as 1 and `u64::MAX` - 1.
///
/// # Source
///
/// `[BarYossefEtAl02]`; threshold and set operations: `[DasguptaEtAl16]`; estimator: `[BeyerEtAl07]`.
#[derive(Clone)]
pub struct ThetaSketch<H = WyHasher> {
    params: ThetaParams,
    /// All hashes of the stream below this are in the table; if it is not [`EXACT`], it is a hash of the stream and there
    /// are k or more below it.
    theta: u64,
    table: Table,
    hasher: H,
}

impl ThetaSketch {
    /// An empty sketch with the default hasher.
    pub fn new(params: ThetaParams) -> Self {
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

    /// Opens a sketch made with the default hasher where its bytes lie: see [`ThetaView`].
    ///
    /// # Errors
    ///
    /// As [`ThetaSketch::view_with`].
    pub fn view(bytes: &[u8]) -> Result<ThetaView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> ThetaSketch<H> {
    /// Counts a key; true if its hash was taken in. A key seen before never is; a new one always is up to k keys, and seldom
    /// beyond: one that is rejected has been counted by the threshold.
    ///
    /// False says that the sketch, as merged or written, is as before. True may be followed by a trim that drops the hash
    /// again.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> ThetaSketch<H> {
    /// An empty sketch with a hasher of one's own.
    pub fn with_hasher(params: ThetaParams, hasher: H) -> Self {
        Self { params, theta: EXACT, table: Table::for_growth(params.k()), hasher }
    }

    /// Opens a sketch where its bytes lie, in constant time: see [`ThetaView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload, which [`ThetaView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<ThetaView<'_, H>, Error> {
        ThetaView::open(bytes, hasher)
    }

    /// As [`ThetaSketch::insert`], for a hash by this sketch's hasher.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        if hash >= self.theta {
            // Nothing is rejected yet: this is the hash u64::MAX.
            return self.theta == EXACT && self.keep(EXACT - 1);
        }
        self.keep(hash.max(1))
    }

    /// Counts many hashes.
    pub fn insert_batch(&mut self, hashes: &[u64]) {
        /// Hashes that are compared with the threshold before any of them is looked for.
        const CHUNK: usize = 16;
        let mut accepted = [0; CHUNK];
        for chunk in hashes.chunks(CHUNK) {
            let theta = self.theta;
            if theta == EXACT {
                for &hash in chunk {
                    self.insert_hash(hash);
                }
                continue;
            }
            // With many keys seldom one of them is below, with few nobody can foresee which.
            if chunk.iter().filter(|&&hash| hash < theta).count() == 0 {
                continue;
            }
            let mut len = 0;
            for &hash in chunk {
                accepted[len] = hash;
                len += usize::from(hash < theta);
            }
            for &hash in &accepted[..len] {
                self.insert_hash(hash);
            }
        }
    }

    /// Estimated number of distinct keys: the retained hashes, divided by the threshold. Unbiased; exact up to k keys.
    ///
    /// Depends on the set of keys alone, not on their order. Takes constant time up to k keys, and after
    /// [`ThetaSketch::trim`] until a key is taken in; otherwise time in k.
    pub fn estimate(&self) -> f64 {
        self.reading().estimate()
    }

    /// Where the number of distinct keys lies.
    ///
    /// * `kappa`: width in normal standard deviations. The bounds leave out the true count with at most the probability
    ///   that a normal variable is farther from its mean: 1 covers it in 68 % or more, 2 in 95 %, 3 in 99.7 % of
    ///   sketches (table `theta-bounds`). A negative `kappa` counts as its magnitude, NaN as infinity.
    ///
    /// Each is the count at which such a number of hashes below the threshold, or one further off, has half that
    /// probability: by the sum of the binomial distribution where up to 120 were kept or rejected, beyond by its expansion
    /// about the normal. Equal to the count up to k keys.
    ///
    /// # Source
    ///
    /// `[ClopperPearson34]`; expansion: `[Wilson27]` with the first term of `[CornishFisher38]`.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        self.reading().bounds(kappa)
    }

    /// The threshold, as a share of all hashes: 1 up to k keys; beyond, the least hash that is not retained, at most 1 (to
    /// which a share nearest to it is rounded: [`ThetaSketch::is_exact`] tells the two apart).
    pub fn theta(&self) -> f64 {
        self.reading().share()
    }

    /// The number of hashes that the estimate rests on: the number of keys up to k, then k.
    pub fn retained(&self) -> usize {
        self.table.len().min(self.params.k())
    }

    /// Whether every key is retained, so that the estimate is the count.
    pub fn is_exact(&self) -> bool {
        self.theta == EXACT && self.table.len() <= self.params.k()
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// Sorts out the hashes beyond the k smallest now, not later. Changes no answer and no byte; until the next hash is
    /// taken in, estimates and bounds no longer have to look for the threshold.
    pub fn trim(&mut self) {
        if self.table.len() > self.params.k() {
            self.rebuild();
        }
    }

    /// Goes over to a lesser size: the sketch becomes the one that the same keys make there, to the byte.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `lg_k` is below 5 or above the sketch's own, which nothing can bring back. `self` is then
    /// unchanged.
    pub fn fold_to(&mut self, lg_k: u8) -> Result<(), Error> {
        let params = ThetaParams::with_lg_k(lg_k)?;
        if params > self.params {
            return Err(Error::Parameter {
                name: "lg_k",
                value: f64::from(lg_k),
                domain: "5 up to the lg_k of the sketch",
            });
        }
        self.params = params;
        self.rebuild();
        Ok(())
    }

    /// The retained hashes in order, with the threshold: the form that set operations are quickest on.
    pub fn compact(&self) -> CompactTheta<H> {
        let (theta, hashes) = self.sorted();
        CompactTheta::from_parts(self.params, theta, hashes, Limits::NONE, self.hasher.clone())
    }

    /// The size.
    pub fn params(&self) -> ThetaParams {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Forgets every key, and gives back the table.
    pub fn clear(&mut self) {
        self.theta = EXACT;
        self.table = Table::for_growth(self.params.k());
    }

    /// Bytes of the table now: it grows with the keys, up to [`ThetaParams::size_bytes`]. Hashes that were chosen to meet
    /// in the table lie in a tree beside it and are counted as 20 bytes each, about what they take.
    pub fn size_bytes(&self) -> usize {
        self.table.size_bytes()
    }

    /// The sketch of these hashes, all below `theta`: k if that is not [`EXACT`], up to k if it is.
    pub(crate) fn from_parts(params: ThetaParams, theta: u64, table: Table, hasher: H) -> Self {
        Self { params, theta, table, hasher }
    }

    /// The threshold once trimmed, and how many hashes lie below it.
    pub(crate) fn reading(&self) -> Reading {
        let k = self.params.k();
        if self.table.len() <= k {
            return Reading { retained: self.table.len() as u64, theta: self.theta };
        }
        let (theta, _) = self.smallest();
        Reading { retained: k as u64, theta }
    }

    /// The hashes below a limit, in order.
    pub(crate) fn sorted_below(&self, limit: u64) -> Vec<u64> {
        let mut hashes = self.table.below(limit);
        hashes.sort_unstable();
        hashes
    }

    /// The threshold once trimmed, and the hashes below it in order.
    pub(crate) fn sorted(&self) -> (u64, Vec<u64>) {
        let (theta, mut hashes) = self.smallest();
        hashes.sort_unstable();
        (theta, hashes)
    }

    /// The threshold once trimmed, and the hashes below it.
    fn smallest(&self) -> (u64, Vec<u64>) {
        let k = self.params.k();
        let mut hashes = self.table.below(self.theta);
        if hashes.len() <= k {
            return (self.theta, hashes);
        }
        let (_, &mut theta, _) = hashes.select_nth_unstable(k);
        hashes.truncate(k);
        (theta, hashes)
    }

    #[inline]
    fn keep(&mut self, hash: u64) -> bool {
        let new = self.table.insert(hash);
        if new && !self.table.has_room() {
            self.make_room();
        }
        new
    }

    /// Grows the table, or trims it once it may not grow.
    #[cold]
    fn make_room(&mut self) {
        if self.table.is_greatest() {
            self.rebuild();
        } else {
            self.table.grow(self.params.k());
        }
    }

    /// Takes in the hashes, each once and below `theta`, of a sketch of this size and threshold.
    pub(crate) fn take(&mut self, params: ThetaParams, theta: u64, hashes: &[u64]) {
        self.lower_to(params, theta);
        table::scattered(hashes).for_each(|hashes| self.insert_batch(hashes));
    }

    /// The threshold, on a scale of 64 bits.
    pub(crate) fn threshold(&self) -> u64 {
        self.theta
    }

    /// Down to a lesser size and to a lower threshold.
    fn lower_to(&mut self, params: ThetaParams, theta: u64) {
        let params = self.params.min(params);
        if params != self.params || theta < self.theta {
            self.params = params;
            self.theta = self.theta.min(theta);
            self.rebuild();
        }
    }

    /// Drops what is not below the threshold, then all but the k smallest: for the k of now.
    fn rebuild(&mut self) {
        let (theta, hashes) = self.smallest();
        self.theta = theta;
        self.table.refill(&hashes, self.params.k());
    }
}

/// Any two sizes merge, to the lesser one; the hashers must agree.
impl<H: Fingerprint> Merge for ThetaSketch<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.lower_to(other.params, other.theta);
        let hashes = other.table.below(self.theta);
        table::scattered(&hashes).for_each(|hashes| self.insert_batch(hashes));
        Ok(())
    }
}

/// With sketches of several sizes the law holds for the sketch of the whole stream at the least of them.
impl<H: Fingerprint> ExactMerge for ThetaSketch<H> {}

/// Equal size, hasher, threshold and retained hashes: the same bytes.
impl<H: Fingerprint> PartialEq for ThetaSketch<H> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && self.hasher.fingerprint() == other.hasher.fingerprint()
            && self.retained() == other.retained()
            && self.sorted() == other.sorted()
    }
}

impl<H: KeyHasher, K: Key> Extend<K> for ThetaSketch<H> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(&key);
        }
    }
}

/// Shows the size, not the hashes.
impl<H: fmt::Debug> fmt::Debug for ThetaSketch<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThetaSketch")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prehashed;
    use crate::table::REFILLS;

    /// Distinct hashes, near uniform.
    fn hash(i: u64) -> u64 {
        pds_hash::mix(i)
    }

    fn of(lg_k: u8, keys: u64) -> ThetaSketch<Prehashed> {
        let params = ThetaParams::with_lg_k(lg_k).expect("5 to 26");
        let mut sketch = ThetaSketch::with_hasher(params, Prehashed(core::num::NonZeroU64::MIN));
        (0..keys).for_each(|i| _ = sketch.insert_hash(hash(i)));
        sketch
    }

    /// A table of another size's growth that had as many slots as its new size allows took each further hash for a reason to
    /// sort out again: quadratic time.
    #[test]
    fn a_sketch_of_any_past_is_trimmed_once_for_half_k_new_hashes() {
        const MOST: u8 = 12;
        for low in ThetaParams::MIN_LG_K..=MOST {
            for high in low..=MOST {
                let k = 1u64 << low;
                for before in [0, 1, k / 2 - 1, k / 2, k - 1, k, k + 1, 3 * k / 2, 2 * k] {
                    let mut folded = of(high, before);
                    let mut merged = folded.clone();
                    folded.fold_to(low).expect("5 to 26");
                    merged.merge(&of(low, 0)).expect("one hasher");
                    let mut united = of(low, 0);
                    united.merge(&of(high, before)).expect("one hasher");
                    let decoded = |sketch: &ThetaSketch<Prehashed>| {
                        ThetaSketch::from_bytes_with(&sketch.to_bytes(), *sketch.hasher())
                            .expect("as written")
                    };
                    let mut refolded = decoded(&of(high, before));
                    refolded.fold_to(low).expect("5 to 26");
                    for mut sketch in [decoded(&folded), folded, merged, united, refolded] {
                        let start = REFILLS.get();
                        let taken = (before..before + 4 * k).filter(|&i| sketch.insert_hash(hash(i))).count();
                        let (trims, most) = (REFILLS.get() - start, 1 + taken / (k as usize / 2));
                        assert!(trims <= most, "{trims} of {taken}: {before} keys, {high} to {low}");
                        assert!(sketch.size_bytes() <= sketch.params().size_bytes());
                        assert!(sketch == of(low, before + 4 * k));
                    }
                }
            }
        }
    }

    /// Hashes that meet lie in a tree beside the table: they count for what they take there.
    #[test]
    fn hashes_beside_the_table_are_counted() {
        /// Inverse of the multiplier that places hashes.
        const MEETING: u64 = 0xf1de_83e1_9937_733d;
        const COUNT: u64 = 1000;
        let mut sketch = of(12, 0);
        (1..=COUNT).for_each(|i| _ = sketch.insert_hash(i.wrapping_mul(MEETING)));
        let beside = sketch.size_bytes() - of(12, COUNT).size_bytes();
        assert!(beside >= 16 * (COUNT as usize - 128) && beside <= 24 * COUNT as usize, "{beside}");
    }
}
