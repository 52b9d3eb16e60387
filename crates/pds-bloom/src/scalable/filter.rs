//! The scalable filter.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::layer::{Layer, LayerParams};
use super::params::ScalableBloomParams;
use crate::{Error, Fingerprint, Key, KeyHasher, ScalableBloomView, Sketch, WyHasher};

/// A Bloom filter for a number of keys that nobody knows: when its last layer is full, it adds a larger and stricter one.
///
/// * Error: one-sided. A key that was inserted is always found; a stranger is found with a probability of at most
///   [`ScalableBloomParams::design_fpr`], however much the filter has grown.
/// * Price: every layer is asked, and the strict ones take more bits. Where the number of keys is known, a filter of that
///   size is smaller and faster.
/// * Merging keeps the promise, or is refused; the bytes depend on the order.
/// * Keys cannot be removed, listed or counted exactly.
///
/// # Source
///
/// `[AlmeidaEtAl07]`.
#[derive(Clone)]
pub struct ScalableBloomFilter<H: Fingerprint = WyHasher> {
    pub(super) params: ScalableBloomParams,
    /// At least one, the smallest first; the last one takes new keys.
    pub(super) layers: Vec<Layer<H>>,
    /// No layer can follow: found out once, since finding out takes a thousand times as long as an insertion.
    pub(super) exhausted: bool,
    pub(super) hasher: H,
}

/// Hashes that are asked for together, layer by layer.
const CHUNK: usize = 256;

impl ScalableBloomFilter {
    /// An empty filter with the default hasher.
    pub fn new(params: ScalableBloomParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }

    /// Decodes a filter made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a filter made with the default hasher where its bytes lie: see [`ScalableBloomView`].
    ///
    /// # Errors
    ///
    /// As [`ScalableBloomFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<ScalableBloomView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> ScalableBloomFilter<H> {
    /// Adds a key; true if a bit changed, false if the filter would have said yes before: it then does not grow.
    ///
    /// Aborts, as every allocation does, if the memory of a layer that is added is not to be had: see
    /// [`ScalableBloomParams::with_max_bytes`].
    ///
    /// # Errors
    ///
    /// [`Error::Full`] if the last layer is full and no other can follow: the memory's limit, the most layers, or a rate
    /// that 64-bit hashes cannot meet. The filter is then unchanged, and says no to the key as before.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Adds keys until one does not fit.
    ///
    /// # Errors
    ///
    /// As [`ScalableBloomFilter::insert`]; the keys before that one are then in the filter.
    pub fn try_extend<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<(), Error> {
        keys.into_iter().try_for_each(|key| self.insert(&key).map(|_| ()))
    }

    /// False is certain: the key was not inserted. True is a hint: a stranger gets it with the filter's rate of
    /// false positives.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

impl<H: Fingerprint> ScalableBloomFilter<H> {
    /// An empty filter with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of the first layer is not to be had.
    pub fn with_hasher(params: ScalableBloomParams, hasher: H) -> Self {
        let first = Layer::new(params.first_layer(), hasher.clone());
        Self { params, layers: vec![first], exhausted: false, hasher }
    }

    /// Opens a filter where its bytes lie, in time of the number of its layers: see [`ScalableBloomView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`ScalableBloomView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<ScalableBloomView<'_, H>, Error> {
        ScalableBloomView::open(bytes, hasher)
    }

    /// As [`ScalableBloomFilter::insert`], for a hash by this filter's hasher.
    ///
    /// # Errors
    ///
    /// As [`ScalableBloomFilter::insert`].
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        // A key that an older layer takes for known is answered yes from there for ever: layers do not change.
        if self.contains_hash(hash) {
            return Ok(false);
        }
        if self.last().is_full() {
            self.grow()?;
        }
        self.last_mut().insert_hash(hash);
        Ok(true)
    }

    /// As [`ScalableBloomFilter::contains`], for a hash by this filter's hasher.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        // The last layers hold most keys.
        self.layers.iter().rev().any(|layer| layer.contains_hash(hash))
    }

    /// Adds many hashes, fetching the memory of later ones ahead.
    ///
    /// # Errors
    ///
    /// As [`ScalableBloomFilter::insert`]; the hashes before the one that did not fit are then in the filter, and those
    /// behind it are not.
    pub fn insert_batch(&mut self, hashes: &[u64]) -> Result<(), Error> {
        let mut found = [false; CHUNK];
        for chunk in hashes.chunks(CHUNK) {
            // Asking brings the lines into the cache; those of a layer that is made meanwhile are few.
            self.contains_batch(chunk, &mut found);
            for (&hash, &found) in chunk.iter().zip(&found) {
                if !found {
                    self.insert_hash(hash)?;
                }
            }
        }
        Ok(())
    }

    /// Answers [`ScalableBloomFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later
    /// ones ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        ask_layers(&self.layers.iter().rev(), hashes, found, |layer, hashes, found| {
            layer.contains_batch(hashes, found);
        })
    }

    /// How it began, and how it grows.
    pub fn params(&self) -> ScalableBloomParams {
        self.params
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Layers, at least one.
    pub fn layers(&self) -> usize {
        self.layers.len()
    }

    /// Distinct keys that the layers there are were made for.
    pub fn capacity(&self) -> u64 {
        self.layers.iter().fold(0, |sum, layer| sum.saturating_add(layer.params.keys()))
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.layers.iter().all(Layer::is_empty)
    }

    /// Forgets every key, and every layer but the first.
    pub fn clear(&mut self) {
        *self = Self::with_hasher(self.params, self.hasher.clone());
    }

    /// Bytes of all layers' bits.
    pub fn size_bytes(&self) -> usize {
        self.bytes() as usize
    }

    /// Share of the bits of all layers that are set, within 0..=1.
    pub fn fill_ratio(&self) -> f64 {
        let ones: u64 = self.layers.iter().map(Layer::ones).sum();
        let bits: u64 = self.layers.iter().map(|layer| layer.params.bits()).sum();
        ones as f64 / bits as f64
    }

    /// Estimated number of distinct keys: of each layer from its fill, and the share of keys that the layers before it
    /// took for known. After a merge, keys that are in layers of both sides count twice.
    pub fn estimated_len(&self) -> f64 {
        let (mut sum, mut unknown) = (0.0, 1.0);
        for layer in &self.layers {
            let (len, fpr) = layer.estimates();
            sum += len / unknown;
            unknown *= 1.0 - fpr;
        }
        sum
    }

    /// The rate of false positives of this very filter, a probability: one less the chance that no layer says yes.
    pub fn estimated_fpr(&self) -> f64 {
        any_of(self.layers.iter().map(|layer| layer.estimates().1))
    }

    /// Whether the filter cannot take another key: its last layer is full, and none can follow. Until then it keeps its
    /// rate, so that there is nothing else to alert on.
    pub fn is_saturated(&self) -> bool {
        self.last().is_full() && (self.exhausted || self.params.layer_after(&self.shapes()).is_err())
    }

    fn bytes(&self) -> u64 {
        self.layers.iter().map(|layer| layer.params.size_bytes()).sum()
    }

    fn last(&self) -> &Layer<H> {
        &self.layers[self.layers.len() - 1]
    }

    fn last_mut(&mut self) -> &mut Layer<H> {
        let last = self.layers.len() - 1;
        &mut self.layers[last]
    }

    fn shapes(&self) -> Vec<LayerParams> {
        self.layers.iter().map(|layer| layer.params).collect()
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Error> {
        if self.exhausted {
            return Err(Error::Full);
        }
        let next = self.params.layer_after(&self.shapes()).inspect_err(|_| self.exhausted = true)?;
        self.layers.push(Layer::new(next, self.hasher.clone()));
        Ok(())
    }
}

/// The chance that any of several filters says yes: without taking small rates from 1, where they would vanish.
pub(super) fn any_of(rates: impl Iterator<Item = f64>) -> f64 {
    rates.fold(0.0, |any, rate| any + (1.0 - any) * rate)
}

/// Asks each layer for the hashes that none has said yes to so far, some at a time; how many were answered.
pub(super) fn ask_layers<L>(
    layers: &(impl Iterator<Item = L> + Clone),
    hashes: &[u64],
    found: &mut [bool],
    ask: impl Fn(L, &[u64], &mut [bool]),
) -> usize {
    let count = hashes.len().min(found.len());
    let (mut open, mut places, mut answers) = ([0; CHUNK], [0; CHUNK], [false; CHUNK]);
    for (hashes, found) in hashes[..count].chunks(CHUNK).zip(found[..count].chunks_mut(CHUNK)) {
        let mut left = hashes.len();
        open[..left].copy_from_slice(hashes);
        (0..left).for_each(|i| places[i] = i);
        for layer in layers.clone() {
            ask(layer, &open[..left], &mut answers[..left]);
            let mut kept = 0;
            for i in 0..left {
                found[places[i]] = answers[i];
                (open[kept], places[kept]) = (open[i], places[i]);
                kept += usize::from(!answers[i]);
            }
            left = kept;
        }
    }
    count
}

/// Equal parameters, hasher and layers: the same bytes.
impl<H: Fingerprint> PartialEq for ScalableBloomFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.params == other.params && self.layers == other.layers
    }
}

/// Shows parameters and layers, not the bits.
impl<H: Fingerprint + fmt::Debug> fmt::Debug for ScalableBloomFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableBloomFilter")
            .field("params", &self.params)
            .field("layers", &self.layers.len())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
