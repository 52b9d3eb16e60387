//! Static filters: what a key costs and how often a stranger is taken for one, of every kind at every size.

use pds_bloom::BloomParams;
use pds_hash::{KeyHasher, WyHasher};
use pds_static_filters::{
    BinaryFuseFilter8, BinaryFuseFilter8x4, BinaryFuseParams8, BinaryFuseParams8x4, Error, Layout,
    RibbonFilter, RibbonParams, Slot, StaticParams, XorFilter8, XorParams8,
};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, laws};

use super::cuckoo::answers;

pub(super) const SIZES: Experiment = Experiment {
    id: "static-sizes",
    table: Some("T6"),
    claim: "A static filter of r bits takes a stranger for a member once in 2^r, at any size, and costs next to \
          r bits a key at large ones: ribbon 1.01 r, 4-wise binary fuse 1.08 r, 3-wise 1.13 r, xor 1.23 r, where a \
          Bloom filter of the same rate takes 1.44 r. The compact shape gets 4-wise binary fuse there from some thousand \
          keys on.",
    law: "wrong yeses against the prediction as an upper bound by Chernoff's law, and as a lower one where r is \
          whole; no member is denied. Bits a key: 3-wise binary fuse at most 9.05 and 4-wise 8.65 from a \
          million keys on, the compact shape at most 9.0 from 10,000 keys on, ribbon of 8 columns at most 8.1 and for 1% at most 6.81 from 100,000 keys on. The Bloom \
          filter is one that is sized for the predicted rate. Published: bits a key as printed.",
    cells: |scale| {
        let most = scale.pick(4, 5, 7, 8);
        let mut cells = Vec::new();
        for (i, _) in KINDS.iter().enumerate() {
            for exponent in 0..=most {
                let keys = libm::pow(10.0, f64::from(exponent));
                let few = exponent > 5;
                let trials = scale.pick(1, 2, if few { 1 } else { 4 }, if few { 2 } else { 40 });
                cells.push(Cell {
                    index: 10 * i as u64 + exponent as u64,
                    trials,
                    inputs: vec![i as f64, keys, scale.pick(50_000.0, 200_000.0, 1e6, 1e7)],
                });
            }
        }
        cells
    },
    trial: |cell, seed| {
        let [kind, keys, probes] = cell.inputs[..] else { return Vec::new() };
        let keys = keys as u64;
        let stream = DistinctKeys::new(seed);
        let Ok(filter) = KINDS[kind as usize].build(&hashes(stream, keys)) else {
            return vec![f64::NAN, keys as f64, 0.0];
        };
        let found =
            |range| answers(stream.range(range), |hashes, found| filter.contains_batch(hashes, found));
        let denied = keys - found(0..keys);
        let hits = found(keys..keys + probes as u64);
        vec![filter.size_bytes() as f64, denied as f64, hits as f64]
    },
    rows: |cell, outcomes| {
        let [index, keys, probes] = cell.inputs[..] else { return Vec::new() };
        let (kind, n) = (KINDS[index as usize], keys as u64);
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>();
        let (denied, hits, asked) = (sum(1) as u64, sum(2) as u64, probes as u64 * cell.trials);
        let Plan { bits_per_key: planned, fpr } = kind.plan(n);
        let measured = sum(0) * 8.0 / (keys * cell.trials as f64);
        let bloom = BloomParams::for_fpr(n, fpr).expect("a usual target").bits() as f64 / keys;
        let row = Row::new()
            .text("filter", kind.name())
            .count("keys", n)
            .real("predicted bits/key", planned, 4)
            .real("bits/key", measured, 4)
            .percent("predicted rate", fpr, 4)
            .percent("measured rate", hits as f64 / asked as f64, 4)
            .real("a Bloom filter's bits/key", bloom, 4)
            .real("limit log2(1/p)", -libm::log2(fpr), 4);
        let row = match kind.published() {
            Some(published) if n == MILLION => row.text("published", published),
            _ => row.missing("published"),
        };
        let row = row
            .check("rate", laws::rate_at_most(hits, asked, fpr))
            .check("no member denied", laws::all_hold(denied, n * cell.trials));
        let row = if kind.is_whole() {
            row.check("rate, from below", laws::rate_at_least(hits, asked, fpr))
        } else {
            row
        };
        vec![match kind.target() {
            Some((from, bits)) if n >= from => row.check("size", laws::at_most(measured, bits)),
            _ => row,
        }]
    },
    plot: None,
};

/// A filter that is built of all its keys at once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    Xor8,
    Fuse8,
    Fuse8x4,
    /// 4-wise, in the compact shape.
    Compact8,
    /// Of so many whole columns.
    Ribbon(u32),
    /// For a rate.
    RibbonFor(f64),
}

const KINDS: [Kind; 7] = [
    Kind::Xor8,
    Kind::Fuse8,
    Kind::Fuse8x4,
    Kind::Compact8,
    Kind::Ribbon(8),
    Kind::RibbonFor(0.01),
    Kind::RibbonFor(0.001),
];

/// Keys at which sizes were published.
const MILLION: u64 = 1_000_000;

/// Keys from which the compact shape is small.
const COMPACT_FROM: u64 = 10_000;

/// Keys from which a ribbon filter's small layers do not show.
const RIBBON_FROM: u64 = 100_000;

/// The price beforehand.
pub(super) struct Plan {
    pub(super) bits_per_key: f64,
    pub(super) fpr: f64,
}

impl Kind {
    pub(super) fn name(self) -> String {
        match self {
            Self::Xor8 => "xor, 8 bits".to_owned(),
            Self::Fuse8 => "binary fuse, 3-wise, 8 bits".to_owned(),
            Self::Fuse8x4 => "binary fuse, 4-wise, 8 bits".to_owned(),
            Self::Compact8 => "binary fuse, 4-wise, compact, 8 bits".to_owned(),
            Self::Ribbon(columns) => format!("ribbon, {columns} columns"),
            Self::RibbonFor(rate) => format!("ribbon, {} %", rate * 100.0),
        }
    }

    pub(super) fn build(self, hashes: &[u64]) -> Result<Box<dyn Filter>, Error> {
        Ok(match self {
            Self::Xor8 => Box::new(XorFilter8::from_hashes(hashes)?),
            Self::Fuse8 => Box::new(BinaryFuseFilter8::from_hashes(hashes)?),
            Self::Fuse8x4 => Box::new(BinaryFuseFilter8x4::from_hashes(hashes)?),
            Self::Compact8 => Box::new(BinaryFuseFilter8x4::compact_from_hashes(hashes)?),
            Self::Ribbon(_) | Self::RibbonFor(_) => {
                Box::new(RibbonFilter::from_hashes(self.columns().expect("a ribbon filter"), hashes)?)
            }
        })
    }

    pub(super) fn plan(self, keys: u64) -> Plan {
        let usual = "a usual number of keys";
        match self {
            Self::Xor8 => plan(XorParams8::for_keys(keys).expect(usual)),
            Self::Fuse8 => plan(BinaryFuseParams8::for_keys(keys).expect(usual)),
            Self::Fuse8x4 => plan(BinaryFuseParams8x4::for_keys(keys).expect(usual)),
            Self::Compact8 => plan(BinaryFuseParams8x4::compact(keys).expect(usual)),
            Self::Ribbon(_) | Self::RibbonFor(_) => {
                let params = self.columns().expect("a ribbon filter");
                Plan { bits_per_key: params.bits_per_key(keys).expect(usual), fpr: params.fpr(keys) }
            }
        }
    }

    fn columns(self) -> Option<RibbonParams> {
        match self {
            Self::Ribbon(columns) => RibbonParams::with_columns(columns).ok(),
            Self::RibbonFor(rate) => RibbonParams::for_fpr(rate).ok(),
            _ => None,
        }
    }

    /// Whether every slot or row has as many bits: the rate is then the predicted one at any size.
    fn is_whole(self) -> bool {
        !matches!(self, Self::RibbonFor(_))
    }

    /// The most bits a key, and from how many keys on.
    fn target(self) -> Option<(u64, f64)> {
        match self {
            Self::Fuse8 => Some((MILLION, 9.05)),
            Self::Fuse8x4 => Some((MILLION, 8.65)),
            Self::Compact8 => Some((COMPACT_FROM, 9.0)),
            Self::Ribbon(8) => Some((RIBBON_FROM, 8.1)),
            Self::RibbonFor(0.01) => Some((RIBBON_FROM, 6.81)),
            _ => None,
        }
    }

    fn published(self) -> Option<&'static str> {
        match self {
            Self::Xor8 => Some("9.84"),
            Self::Fuse8 => Some("~9.0"),
            Self::Fuse8x4 => Some("~8.6"),
            Self::RibbonFor(0.01) => Some("~7, Bloom ~10"),
            _ => None,
        }
    }
}

fn plan<L: Layout, S: Slot>(params: StaticParams<L, S>) -> Plan {
    Plan { bits_per_key: params.bits_per_key(), fpr: params.fpr() }
}

/// What static filters of every kind have in common.
pub(super) trait Filter {
    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize;
    fn size_bytes(&self) -> usize;
    /// Seeds that were tried, where that is known.
    fn attempts(&self) -> Option<u32>;
}

macro_rules! filters {
    ($($filter:ty: $attempts:expr),*) => {$(
        impl Filter for $filter {
            fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
                <$filter>::contains_batch(self, hashes, found)
            }
            fn size_bytes(&self) -> usize {
                <$filter>::size_bytes(self)
            }
            fn attempts(&self) -> Option<u32> {
                $attempts(self)
            }
        }
    )*};
}

filters!(
    XorFilter8: XorFilter8::attempts,
    BinaryFuseFilter8: BinaryFuseFilter8::attempts,
    BinaryFuseFilter8x4: BinaryFuseFilter8x4::attempts,
    // What does not fit is bumped; only its last layer has seeds to try.
    RibbonFilter: |_: &RibbonFilter| None
);

/// The hashes of the first keys of a stream.
pub(super) fn hashes(stream: DistinctKeys, keys: u64) -> Vec<u64> {
    let hasher = WyHasher::default();
    stream.range(0..keys).map(|key| hasher.hash_key(&key)).collect()
}
