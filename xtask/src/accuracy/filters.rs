//! Bloom filters of every layout under one name, and what all of them are held to.

use pds_bloom::{
    BlockedBloomFilter, BlockedBloomParams, BloomFilter, BloomParams, CountingBloomFilter, Error,
    SplitBlockBloomFilter, SplitBlockParams, WindowedBloomFilter,
};
use pds_hash::{KeyHasher, WyHasher};
use pds_testkit::{DistinctKeys, Row, laws};

/// Where a key's bits lie: anywhere, one in each word of a block of 256, anywhere in a line of 512.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Layout {
    Classic,
    SplitBlock,
    Blocked,
}

pub(super) const LAYOUTS: [Layout; 3] = [Layout::Classic, Layout::SplitBlock, Layout::Blocked];

impl Layout {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::SplitBlock => "split-block",
            Self::Blocked => "blocked",
        }
    }

    /// The shape that is sized for a rate.
    pub(super) fn for_fpr(self, keys: u64, fpr: f64) -> Result<Shape, Error> {
        Ok(match self {
            Self::Classic => Shape::Classic(BloomParams::for_fpr(keys, fpr)?),
            Self::SplitBlock => Shape::SplitBlock(SplitBlockParams::for_fpr(keys, fpr)?),
            Self::Blocked => Shape::Blocked(BlockedBloomParams::for_fpr(keys, fpr)?),
        })
    }

    /// The shape of at most so many bits, rounded up to whole blocks, with the lowest rate.
    pub(super) fn for_bits(self, keys: u64, bits: u64) -> Result<Shape, Error> {
        Ok(match self {
            Self::Classic => {
                let near = libm::round(bits as f64 / keys as f64 * std::f64::consts::LN_2) as u32;
                let mut best = BloomParams::with_shape(bits, near)?;
                for k in [near - 1, near + 1] {
                    let other = BloomParams::with_shape(bits, k)?;
                    if other.fpr(keys) < best.fpr(keys) {
                        best = other;
                    }
                }
                Shape::Classic(best)
            }
            Self::SplitBlock => {
                Shape::SplitBlock(SplitBlockParams::with_shape(bits.div_ceil(u64::from(WORDS * WORD)))?)
            }
            Self::Blocked => Shape::Blocked(BlockedBloomParams::for_bits(keys, bits)?),
        })
    }
}

/// A split-block filter's words of a block, and bits of a word.
pub(super) const WORDS: u32 = 8;
pub(super) const WORD: u32 = 32;

#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Classic(BloomParams),
    SplitBlock(SplitBlockParams),
    Blocked(BlockedBloomParams),
}

impl Shape {
    pub(super) fn bits(&self) -> u64 {
        match self {
            Self::Classic(params) => params.bits(),
            Self::SplitBlock(params) => params.size_bytes() * 8,
            Self::Blocked(params) => params.bits(),
        }
    }

    pub(super) fn k(&self) -> u32 {
        match self {
            Self::Classic(params) => params.k(),
            Self::SplitBlock(_) => WORDS,
            Self::Blocked(params) => params.k(),
        }
    }

    pub(super) fn fpr(&self, keys: u64) -> f64 {
        match self {
            Self::Classic(params) => params.fpr(keys),
            Self::SplitBlock(params) => params.fpr(keys),
            Self::Blocked(params) => params.fpr(keys),
        }
    }

    pub(super) fn fill(&self, keys: u64) -> f64 {
        match self {
            Self::Classic(params) => params.fill(keys),
            Self::SplitBlock(params) => params.fill(keys),
            Self::Blocked(params) => params.fill(keys),
        }
    }

    /// An empty filter.
    pub(super) fn filter(&self) -> Box<dyn Filter> {
        match *self {
            Self::Classic(params) => Box::new(BloomFilter::new(params)),
            Self::SplitBlock(params) => Box::new(SplitBlockBloomFilter::new(params)),
            Self::Blocked(params) => Box::new(BlockedBloomFilter::new(params)),
        }
    }
}

/// What all filters that cannot refuse a key have in common.
pub(super) trait Filter {
    fn insert_batch(&mut self, hashes: &[u64]);
    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize;
    fn contains_hash(&self, hash: u64) -> bool;
    fn fill_ratio(&self) -> f64;
    fn estimated_fpr(&self) -> f64;
    fn estimated_len(&self) -> f64;
    fn is_saturated(&self) -> bool;
}

macro_rules! filters {
    ($($filter:ty: $len:expr),*) => {$(
        impl Filter for $filter {
            fn insert_batch(&mut self, hashes: &[u64]) {
                <$filter>::insert_batch(self, hashes);
            }
            fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
                <$filter>::contains_batch(self, hashes, found)
            }
            fn contains_hash(&self, hash: u64) -> bool {
                <$filter>::contains_hash(self, hash)
            }
            fn fill_ratio(&self) -> f64 {
                <$filter>::fill_ratio(self)
            }
            fn estimated_fpr(&self) -> f64 {
                <$filter>::estimated_fpr(self)
            }
            fn estimated_len(&self) -> f64 {
                $len(self)
            }
            fn is_saturated(&self) -> bool {
                <$filter>::is_saturated(self)
            }
        }
    )*};
}

filters!(
    BloomFilter: BloomFilter::estimated_len,
    SplitBlockBloomFilter: SplitBlockBloomFilter::estimated_len,
    BlockedBloomFilter: BlockedBloomFilter::estimated_len,
    CountingBloomFilter: CountingBloomFilter::estimated_len,
    WindowedBloomFilter: |filter: &WindowedBloomFilter| filter.estimated_len_of(0).unwrap_or(f64::NAN)
);

/// Hashes that are made before they are used.
const CHUNK: usize = 1024;

/// Calls with the hashes of the keys, some at a time.
pub(super) fn each_chunk(keys: impl Iterator<Item = u64>, mut use_hashes: impl FnMut(&[u64])) {
    let hasher = WyHasher::default();
    let mut hashes = Vec::with_capacity(CHUNK);
    for key in keys {
        hashes.push(hasher.hash_key(&key));
        if hashes.len() == CHUNK {
            use_hashes(&hashes);
            hashes.clear();
        }
    }
    use_hashes(&hashes);
}

/// Puts the keys in.
pub(super) fn insert(filter: &mut (impl Filter + ?Sized), keys: impl Iterator<Item = u64>) {
    each_chunk(keys, |hashes| filter.insert_batch(hashes));
}

/// How many of the keys the filter says yes to.
pub(super) fn found(filter: &(impl Filter + ?Sized), keys: impl Iterator<Item = u64>) -> u64 {
    let mut answers = [false; CHUNK];
    let mut yes = 0;
    each_chunk(keys, |hashes| {
        let answered = filter.contains_batch(hashes, &mut answers);
        yes += answers[..answered].iter().filter(|&&answer| answer).count() as u64;
    });
    yes
}

/// Loads an empty filter and asks it: fill, its own rate, keys lost, wrong yeses to the strangers behind the keys.
pub(super) fn loaded(
    filter: &mut (impl Filter + ?Sized),
    stream: DistinctKeys,
    keys: u64,
    probes: u64,
) -> [f64; 4] {
    insert(filter, stream.range(0..keys));
    let lost = keys - found(filter, stream.range(0..keys));
    let hits = found(filter, stream.range(keys..keys + probes));
    [filter.fill_ratio(), filter.estimated_fpr(), lost as f64, hits as f64]
}

/// What the filters of one shape found together.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) filters: u64,
    pub(super) fill: f64,
    pub(super) own_rate: f64,
    pub(super) lost: u64,
    pub(super) hits: u64,
    pub(super) probes: u64,
}

impl Found {
    /// From outcomes with the sums of [`loaded`] at `column` and behind, over so many filters each.
    pub(super) fn of(outcomes: &[Vec<f64>], column: usize, filters_each: u64, probes_each: u64) -> Self {
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[column + i]).sum::<f64>();
        let filters = filters_each * outcomes.len() as u64;
        Self {
            filters,
            fill: sum(0) / filters as f64,
            own_rate: sum(1) / filters as f64,
            lost: sum(2) as u64,
            hits: sum(3) as u64,
            probes: probes_each * filters,
        }
    }

    pub(super) fn rate(&self) -> f64 {
        self.hits as f64 / self.probes as f64
    }

    pub(super) fn at_most(&self, promise: f64) -> laws::Verdict {
        laws::rate_at_most(self.hits, self.probes, promise)
    }

    /// As [`Found::at_most`] for a promise about the mean over filters, of which these few may lie above it.
    pub(super) fn at_most_on_average(&self, promise: f64, shape: &Shape, keys: u64) -> laws::Verdict {
        let spread = laws::Z * shape.rate_sigma(keys) / libm::sqrt(self.filters as f64);
        laws::rate_at_most(self.hits, self.probes, promise + spread)
    }

    /// Holds the filters to their own rate, and to losing nothing.
    pub(super) fn judged(&self, row: Row, keys: u64) -> Row {
        row.check("rate", laws::rate_is(self.hits, self.probes, self.own_rate))
            .check("no key lost", laws::all_hold(self.lost, keys * self.filters))
    }

    /// Holds the filters to the expected fill and rate too.
    pub(super) fn judged_by_shape(&self, row: Row, shape: &Shape, keys: u64) -> Row {
        let expected = shape.fill(keys);
        let fill = laws::bias_is_zero(self.fill - expected, shape.fill_sigma(keys), self.filters, 0.0);
        let row = self.judged(row, keys).check("fill", fill);
        let (predicted, sigma) = (shape.fpr(keys), shape.rate_sigma(keys));
        // Few probes of a small filter meet in a bit: `BloomParams::fpr` says so.
        let known = match shape {
            Shape::Classic(params) => params.bits() > u64::from(params.k() * params.k()),
            _ => true,
        };
        if known && sigma <= NORMAL * predicted * libm::sqrt(self.filters as f64) {
            let off = self.own_rate - predicted;
            row.check("predicted", laws::bias_is_zero(off, sigma, self.filters, TOLERANCE * predicted))
        } else {
            row
        }
    }
}

/// What the prediction may be off, relatively: bits of a line are not quite a random subset of it, and of a classic
/// filter's fluctuations the third order is neglected.
pub(super) const TOLERANCE: f64 = 0.005;

/// The relative standard error from which a mean of own rates is far from normal, and is not judged: few blocks then
/// hold most of the rate.
const NORMAL: f64 = 0.01;
