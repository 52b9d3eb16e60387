//! A layer of the chain: a filter for so many keys, and how full it is.

use serde::{Deserialize, Serialize};

use crate::{BlockedBloomFilter, BlockedBloomParams, BloomFilter, BloomParams, Error, Fingerprint, Merge};

/// Layers below this rate are classic: a blocked one would take over a seventh more memory.
const STRICT: f64 = 1e-4;

/// What a layer is: the keys that it is for, and its shape, which has a design rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LayerParams {
    keys: u64,
    shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Shape {
    Blocked(BlockedBloomParams),
    Classic(BloomParams),
}

impl LayerParams {
    pub(super) fn for_fpr(keys: u64, fpr: f64) -> Result<Self, Error> {
        let shape = if fpr < STRICT {
            Shape::Classic(BloomParams::for_fpr(keys, fpr)?)
        } else {
            Shape::Blocked(BlockedBloomParams::for_fpr(keys, fpr)?)
        };
        Ok(Self { keys, shape })
    }

    /// Keys that it is for.
    pub(super) fn keys(&self) -> u64 {
        self.keys
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// The rate that it keeps; 1 if it was made for none, which [`LayerParams::check`] refuses.
    pub(super) fn fpr(&self) -> f64 {
        match self.shape {
            Shape::Blocked(params) => params.design_fpr(),
            Shape::Classic(params) => params.design_fpr(),
        }
        .unwrap_or(1.0)
    }

    pub(super) fn bits(&self) -> u64 {
        match self.shape {
            Shape::Blocked(params) => params.bits(),
            Shape::Classic(params) => params.bits(),
        }
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.bits() / 8
    }

    /// Set bits of a layer that holds the keys that it is for, at the expectation.
    pub(super) fn full_ones(&self) -> u64 {
        let fill = match self.shape {
            Shape::Blocked(params) => params.fill(self.keys),
            Shape::Classic(params) => params.fill(self.keys),
        };
        libm::ceil(fill * self.bits() as f64) as u64
    }

    fn k(&self) -> u32 {
        match self.shape {
            Shape::Blocked(params) => params.k(),
            Shape::Classic(params) => params.k(),
        }
    }

    pub(super) fn is_full(&self, ones: u64, full_ones: u64) -> bool {
        ones > 0 && ones + u64::from(self.k()) > full_ones
    }

    /// Whether a layer that was read keeps the rate that it names.
    pub(super) fn check(&self) -> Result<(), Error> {
        /// For a last bit that differs between versions of the sizing.
        const SLACK: f64 = 1.01;
        let rate = match self.shape {
            Shape::Blocked(params) => params.fpr(self.keys),
            Shape::Classic(params) => params.fpr(self.keys),
        };
        let named = self.fpr();
        if rate <= (named * SLACK).min(f64::midpoint(named, 1.0)) && named < 1.0 {
            Ok(())
        } else {
            Err(Error::Malformed { field: "layer" })
        }
    }
}

/// A layer with its bits.
#[derive(Clone)]
pub(super) struct Layer<H: Fingerprint> {
    pub(super) params: LayerParams,
    pub(super) filter: Filter<H>,
    /// How many bits are set: kept, not stored.
    ones: u64,
    full_ones: u64,
}

#[derive(Clone)]
pub(super) enum Filter<H: Fingerprint> {
    Blocked(BlockedBloomFilter<H>),
    Classic(BloomFilter<H>),
}

impl<H: Fingerprint> Layer<H> {
    pub(super) fn new(params: LayerParams, hasher: H) -> Self {
        let filter = match params.shape {
            Shape::Blocked(shape) => Filter::Blocked(BlockedBloomFilter::with_hasher(shape, hasher)),
            Shape::Classic(shape) => Filter::Classic(BloomFilter::with_hasher(shape, hasher)),
        };
        Self { params, filter, ones: 0, full_ones: params.full_ones() }
    }

    /// A layer whose bits came from elsewhere: counts them.
    pub(super) fn of(params: LayerParams, filter: Filter<H>) -> Self {
        let ones = match &filter {
            Filter::Blocked(filter) => filter.ones(),
            Filter::Classic(filter) => filter.ones(),
        };
        Self { params, filter, ones, full_ones: params.full_ones() }
    }

    /// Whether another key might bring it above the bits that are expected of the keys that it is for. By set bits: not by
    /// a count of insertions, which misses the keys that were taken for known ones.
    pub(super) fn is_full(&self) -> bool {
        self.params.is_full(self.ones, self.full_ones)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ones == 0
    }

    pub(super) fn ones(&self) -> u64 {
        self.ones
    }

    #[inline]
    pub(super) fn insert_hash(&mut self, hash: u64) {
        self.ones += u64::from(match &mut self.filter {
            Filter::Blocked(filter) => filter.insert_counted(hash),
            Filter::Classic(filter) => filter.insert_counted(hash),
        });
    }

    #[inline]
    pub(super) fn contains_hash(&self, hash: u64) -> bool {
        match &self.filter {
            Filter::Blocked(filter) => filter.contains_hash(hash),
            Filter::Classic(filter) => filter.contains_hash(hash),
        }
    }

    pub(super) fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        _ = match &self.filter {
            Filter::Blocked(filter) => filter.contains_batch(hashes, found),
            Filter::Classic(filter) => filter.contains_batch(hashes, found),
        };
    }

    /// Estimated distinct keys, and the rate of this very layer.
    pub(super) fn estimates(&self) -> (f64, f64) {
        match &self.filter {
            Filter::Blocked(filter) => (filter.estimated_len(), filter.estimated_fpr()),
            Filter::Classic(filter) => (filter.estimated_len(), filter.estimated_fpr()),
        }
    }

    /// Takes the bits of another layer of the same shape if the two together are no fuller than the layer may be.
    pub(super) fn absorb(&mut self, other: &Self) -> bool {
        if self.params != other.params {
            return false;
        }
        let (ones, merged) = match (&self.filter, &other.filter) {
            (Filter::Blocked(mine), Filter::Blocked(theirs)) => {
                let mut both = mine.clone();
                let merged = both.merge(theirs).is_ok();
                (both.ones(), merged.then_some(Filter::Blocked(both)))
            }
            (Filter::Classic(mine), Filter::Classic(theirs)) => {
                let mut both = mine.clone();
                let merged = both.merge(theirs).is_ok();
                (both.ones(), merged.then_some(Filter::Classic(both)))
            }
            _ => return false,
        };
        let Some(filter) = merged.filter(|_| ones <= self.full_ones) else {
            return false;
        };
        (self.filter, self.ones) = (filter, ones);
        true
    }
}

impl<H: Fingerprint> PartialEq for Layer<H> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && match (&self.filter, &other.filter) {
                (Filter::Blocked(mine), Filter::Blocked(theirs)) => mine == theirs,
                (Filter::Classic(mine), Filter::Classic(theirs)) => mine == theirs,
                _ => false,
            }
    }
}
