//! A chain over borrowed bytes.

use alloc::vec::Vec;
use core::fmt;

use pds_core::same_hasher;
use pds_core::wire::Header;
use pds_hash::reduce;

use super::filter::{any_of, ask_layers};
use super::layer::{LayerParams, Shape};
use super::params::ScalableBloomParams;
use super::wire;
use crate::arch::{self, BorrowedWords, Simd};
use crate::blocked::filter::Counted;
use crate::blocked::line::LINE_BYTES;
use crate::classic::{batch, bits, bits::Bits, metrics};
use crate::{
    BlockedBloomParams, BloomParams, Error, Fingerprint, Key, KeyHasher, ScalableBloomFilter, Sketch,
    WyHasher,
};

/// A scalable filter answering from borrowed bytes, memory-mapped ones perhaps, at any address; where the envelope starts
/// at a multiple of 64, a line of the filter is one of the cache, and queries beyond the caches take least time.
///
/// Opening checks the header, its checksum and the lengths, in time of the number of layers. Any payload is safe to
/// query; that it is the payload that was written is what [`ScalableBloomView::verify`] checks, in time linear in it.
#[derive(Clone)]
pub struct ScalableBloomView<'a, H = WyHasher> {
    header: Header,
    params: ScalableBloomParams,
    /// The last layer first.
    layers: Vec<LayerView<'a>>,
    /// Their shapes, in the order of the bytes.
    shapes: Vec<LayerParams>,
    payload: &'a [u8],
    bytes: &'a [u8],
    hasher: H,
}

#[derive(Clone, Copy)]
enum LayerView<'a> {
    Blocked(BlockedBloomParams, &'a [[u8; LINE_BYTES]], Simd),
    Classic(BloomParams, BorrowedWords<'a>),
}

impl<'a> LayerView<'a> {
    fn new(params: LayerParams, payload: &'a [u8]) -> Self {
        match params.shape() {
            Shape::Blocked(shape) => Self::Blocked(shape, payload.as_chunks().0, Simd::detect()),
            Shape::Classic(shape) => Self::Classic(shape, BorrowedWords::new(payload)),
        }
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        match self {
            Self::Blocked(params, lines, simd) => {
                let at = reduce(hash, lines.len() as u64) as usize;
                arch::line::contains(*simd, &lines[at], hash, params.k())
            }
            Self::Classic(params, words) => bits::contains(words, params.k(), hash),
        }
    }

    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        match self {
            Self::Blocked(params, lines, simd) => {
                arch::line::contains_batch(*simd, lines, params.k(), hashes, found);
            }
            Self::Classic(params, words) => _ = batch::contains(words, params.k(), hashes, found),
        }
    }

    /// Share of set bits, number of bits, estimated keys, rate.
    fn counted(&self) -> (f64, u64, f64, f64) {
        match self {
            Self::Blocked(params, lines, _) => {
                let counted = Counted::of(lines, *params);
                (counted.fill, params.bits(), counted.len(*params), counted.fpr)
            }
            Self::Classic(params, words) => {
                let fill = words.ones() as f64 / params.bits() as f64;
                let len = metrics::estimated_len(*params, fill);
                (fill, params.bits(), len, metrics::estimated_fpr(*params, fill))
            }
        }
    }
}

impl<'a, H: Fingerprint> ScalableBloomView<'a, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let opened = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        let (header, params, payload) = (opened.header, opened.params, opened.payload);
        let shapes = opened.layers.iter().map(|(shape, _)| *shape).collect();
        let layers =
            opened.layers.into_iter().rev().map(|(shape, bits)| LayerView::new(shape, bits)).collect();
        Ok(Self { header, params, layers, shapes, payload, bytes, hasher })
    }

    /// As [`ScalableBloomFilter::contains_hash`].
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.layers.iter().any(|layer| layer.contains_hash(hash))
    }

    /// As [`ScalableBloomFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        ask_layers(&self.layers.iter(), hashes, found, |layer, hashes, found| {
            layer.contains_batch(hashes, found);
        })
    }

    /// As [`ScalableBloomFilter::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.fill_ratio() == 0.0
    }

    /// As [`ScalableBloomFilter::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.payload.len()
    }

    /// As [`ScalableBloomFilter::fill_ratio`].
    pub fn fill_ratio(&self) -> f64 {
        let (ones, bits) =
            self.layers.iter().map(LayerView::counted).fold((0.0, 0.0), |(ones, bits), layer| {
                let layer_bits = layer.1 as f64;
                (ones + layer.0 * layer_bits, bits + layer_bits)
            });
        ones / bits
    }

    /// As [`ScalableBloomFilter::estimated_len`].
    pub fn estimated_len(&self) -> f64 {
        let (mut sum, mut unknown) = (0.0, 1.0);
        for layer in self.layers.iter().rev() {
            let (_, _, len, fpr) = layer.counted();
            sum += len / unknown;
            unknown *= 1.0 - fpr;
        }
        sum
    }

    /// As [`ScalableBloomFilter::estimated_fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        any_of(self.layers.iter().rev().map(|layer| layer.counted().3))
    }

    /// As [`ScalableBloomFilter::is_saturated`].
    pub fn is_saturated(&self) -> bool {
        let last = self.shapes[self.shapes.len() - 1];
        let (fill, bits, ..) = self.layers[0].counted();
        last.is_full((fill * bits as f64) as u64, last.full_ones())
            && self.params.layer_after(&self.shapes).is_err()
    }

    /// As [`ScalableBloomFilter::capacity`].
    pub fn capacity(&self) -> u64 {
        self.shapes.iter().fold(0, |sum, layer| sum.saturating_add(layer.keys()))
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Layers, at least one.
    pub fn layers(&self) -> usize {
        self.layers.len()
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.payload)
    }

    /// How the filter began, and how it grows.
    pub fn params(&self) -> ScalableBloomParams {
        self.params
    }

    /// An owned filter with the same bits.
    ///
    /// # Errors
    ///
    /// As [`ScalableBloomView::verify`], and [`Error::Malformed`] if the layers do not keep the rates that they name.
    pub fn to_owned(&self) -> Result<ScalableBloomFilter<H>, Error> {
        ScalableBloomFilter::from_bytes_with(self.bytes, self.hasher.clone())
    }
}

impl<H: KeyHasher> ScalableBloomView<'_, H> {
    /// As [`ScalableBloomFilter::contains`].
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

/// Shows parameters and layers, not the bits.
impl<H: fmt::Debug> fmt::Debug for ScalableBloomView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableBloomView")
            .field("params", &self.params)
            .field("layers", &self.layers.len())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
