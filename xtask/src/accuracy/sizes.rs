//! What filters cost, from their parameters alone: the price list of the book.

use pds_bloom::{
    BlockedBloomFilter, BlockedBloomParams, BloomFilter, BloomParams, CountingBloomFilter,
    CountingBloomParams, ScalableBloomFilter, ScalableBloomParams, SplitBlockBloomFilter, SplitBlockParams,
    WindowedBloomFilter, WindowedBloomParams,
};
use pds_cuckoo::{CuckooFilter, CuckooParams, GrowableCuckooFilter, GrowableCuckooParams};
use pds_static_filters::{
    BinaryFuseFilter8, BinaryFuseFilter8x4, BinaryFuseFilter16, BinaryFuseFilter16x4, BinaryFuseParams8,
    BinaryFuseParams8x4, BinaryFuseParams16, BinaryFuseParams16x4, RibbonFilter, RibbonParams,
};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, laws};

use super::static_filters::hashes;

pub(super) const FILTERS: Experiment = Experiment {
    id: "sizes-filters",
    table: None,
    claim: "What a filter takes is known before it is made: bits a key and megabytes, by structure, number of keys and rate.",
    law: "computed, from the parameters alone. The rate that they state at so many keys is at most the rate that was asked for; a \
          filter that is built for 20,000 keys takes the bytes that its parameters state (ribbon: within 2% of those expected). \
          Scalable and growable filters begin with a hundredth of the keys; the growable one is priced at its last size, the \
          windowed one has its keys in 25 generations. Binary fuse filters have 8 bits down to 0.39%, 16 below.",
    cells: |_| {
        let points = [1e6, 1e8].into_iter().flat_map(|keys| (0..PRICES.len()).map(move |i| [i as f64, keys]));
        Cell::numbered(1, points)
    },
    trial: |cell, seed| {
        let price = &PRICES[cell.inputs[0] as usize];
        RATES.map(|rate| (price.built)(rate, seed) as f64).into()
    },
    rows: |cell, outcomes| {
        let (price, keys) = (&PRICES[cell.inputs[0] as usize], cell.inputs[1] as u64);
        let mut row = Row::new().text("filter", price.name).count("keys", keys);
        for (rate, [bits_per_key, megabytes]) in RATES.into_iter().zip(COLUMNS) {
            let bytes = (price.stated)(keys, rate).0 as f64;
            row = row.real(bits_per_key, 8.0 * bytes / keys as f64, 4).real(megabytes, bytes / 1e6, 4);
        }
        for (rate, built) in RATES.into_iter().zip(outcomes.iter().flatten()) {
            row = row.check("rate", laws::at_most((price.stated)(keys, rate).1, rate));
            let (stated, _) = (price.stated)(BUILT, rate);
            row = if price.expected {
                row.check("bytes", laws::at_most((built / stated as f64 - 1.0).abs(), EXPECTED_WITHIN))
            } else {
                row.check("bytes", laws::equals(*built, stated as f64))
            };
        }
        vec![row]
    },
    plot: None,
};

const RATES: [f64; 4] = [0.1, 0.01, 0.001, 0.0001];

const COLUMNS: [[&str; 2]; 4] = [
    ["10 %: bits/key", "10 %: MB"],
    ["1 %: bits/key", "1 %: MB"],
    ["0.1 %: bits/key", "0.1 %: MB"],
    ["0.01 %: bits/key", "0.01 %: MB"],
];

/// Keys of the filters that are built: any number that is quick to build.
const BUILT: u64 = 20_000;

/// How far a ribbon filter of so many keys may be from the bytes that are expected of it.
const EXPECTED_WITHIN: f64 = 0.02;

/// Keys that growing filters begin with, as a share of those that will come: one in so many.
const GROWTH: u64 = 100;

/// A day of hours, and the one that is running.
const GENERATIONS: u32 = 25;

/// The rate that fingerprints of eight bits keep.
const EIGHT_BITS: f64 = 1.0 / 256.0;

/// A structure with the bytes and the rate that its parameters state, and the bytes of one that was built.
struct Price {
    name: &'static str,
    stated: fn(u64, f64) -> (u64, f64),
    built: fn(f64, u64) -> u64,
    /// Whether the stated bytes are an expectation.
    expected: bool,
}

const PRICES: [Price; 11] = [
    Price {
        name: "Bloom",
        stated: |keys, rate| {
            let params = bloom(keys, rate);
            (params.size_bytes(), params.fpr(keys))
        },
        built: |rate, _| BloomFilter::new(bloom(BUILT, rate)).size_bytes() as u64,
        expected: false,
    },
    Price {
        name: "blocked Bloom",
        stated: |keys, rate| {
            let params = blocked(keys, rate);
            (params.size_bytes(), params.fpr(keys))
        },
        built: |rate, _| BlockedBloomFilter::new(blocked(BUILT, rate)).size_bytes() as u64,
        expected: false,
    },
    Price {
        name: "split-block Bloom",
        stated: |keys, rate| {
            let params = split_block(keys, rate);
            (params.size_bytes(), params.fpr(keys))
        },
        built: |rate, _| SplitBlockBloomFilter::new(split_block(BUILT, rate)).size_bytes() as u64,
        expected: false,
    },
    Price {
        name: "counting Bloom",
        stated: |keys, rate| {
            let params = counting(keys, rate);
            (params.size_bytes(), params.fpr(keys))
        },
        built: |rate, _| CountingBloomFilter::new(counting(BUILT, rate)).size_bytes() as u64,
        expected: false,
    },
    Price {
        name: "windowed Bloom",
        stated: |keys, rate| {
            let params = windowed(keys, rate);
            (params.size_bytes(), params.fpr(keys.div_ceil(GENERATIONS.into())))
        },
        built: |rate, _| WindowedBloomFilter::new(windowed(BUILT, rate)).size_bytes() as u64,
        expected: false,
    },
    Price {
        name: "scalable Bloom",
        stated: |keys, rate| {
            let params = scalable(keys, rate);
            (params.size_bytes(keys).expect("it can grow so far"), params.design_fpr())
        },
        built: |rate, seed| {
            let mut filter = ScalableBloomFilter::new(scalable(BUILT, rate));
            for key in DistinctKeys::new(seed).range(0..BUILT) {
                filter.insert(&key).expect("room");
            }
            filter.size_bytes() as u64
        },
        expected: false,
    },
    Price {
        name: "cuckoo",
        stated: |keys, rate| {
            let params = cuckoo(keys, rate);
            (params.size_bytes(), params.fpr(keys))
        },
        built: |rate, _| CuckooFilter::new(cuckoo(BUILT, rate)).size_bytes() as u64,
        expected: false,
    },
    Price {
        name: "growable cuckoo",
        stated: |keys, rate| {
            let params = growable(keys, rate);
            (params.size_bytes(), params.fpr(keys))
        },
        built: |rate, seed| {
            let mut filter = GrowableCuckooFilter::new(growable(BUILT, rate));
            for key in DistinctKeys::new(seed).range(0..BUILT) {
                filter.insert(&key).expect("room");
            }
            filter.size_bytes() as u64
        },
        expected: false,
    },
    Price {
        name: "binary fuse, 3-wise",
        stated: |keys, rate| {
            if rate >= EIGHT_BITS {
                let params = BinaryFuseParams8::for_keys(keys).expect("a usual number");
                (params.size_bytes(), params.fpr())
            } else {
                let params = BinaryFuseParams16::for_keys(keys).expect("a usual number");
                (params.size_bytes(), params.fpr())
            }
        },
        built: |rate, seed| {
            let keys = hashes(DistinctKeys::new(seed), BUILT);
            if rate >= EIGHT_BITS {
                BinaryFuseFilter8::from_hashes(&keys).expect("distinct keys").size_bytes() as u64
            } else {
                BinaryFuseFilter16::from_hashes(&keys).expect("distinct keys").size_bytes() as u64
            }
        },
        expected: false,
    },
    Price {
        name: "binary fuse, 4-wise",
        stated: |keys, rate| {
            if rate >= EIGHT_BITS {
                let params = BinaryFuseParams8x4::for_keys(keys).expect("a usual number");
                (params.size_bytes(), params.fpr())
            } else {
                let params = BinaryFuseParams16x4::for_keys(keys).expect("a usual number");
                (params.size_bytes(), params.fpr())
            }
        },
        built: |rate, seed| {
            let keys = hashes(DistinctKeys::new(seed), BUILT);
            if rate >= EIGHT_BITS {
                BinaryFuseFilter8x4::from_hashes(&keys).expect("distinct keys").size_bytes() as u64
            } else {
                BinaryFuseFilter16x4::from_hashes(&keys).expect("distinct keys").size_bytes() as u64
            }
        },
        expected: false,
    },
    Price {
        name: "ribbon",
        stated: |keys, rate| {
            let params = ribbon(rate);
            (params.size_bytes(keys).expect("a usual number"), params.fpr(keys))
        },
        built: |rate, seed| {
            let keys = hashes(DistinctKeys::new(seed), BUILT);
            RibbonFilter::from_hashes(ribbon(rate), &keys).expect("distinct keys").size_bytes() as u64
        },
        expected: true,
    },
];

fn bloom(keys: u64, rate: f64) -> BloomParams {
    BloomParams::for_fpr(keys, rate).expect("a usual target")
}

fn blocked(keys: u64, rate: f64) -> BlockedBloomParams {
    BlockedBloomParams::for_fpr(keys, rate).expect("a usual target")
}

fn split_block(keys: u64, rate: f64) -> SplitBlockParams {
    SplitBlockParams::for_fpr(keys, rate).expect("a usual target")
}

fn counting(keys: u64, rate: f64) -> CountingBloomParams {
    CountingBloomParams::for_fpr(keys, rate).expect("a usual target")
}

fn windowed(keys: u64, rate: f64) -> WindowedBloomParams {
    let in_each = keys.div_ceil(GENERATIONS.into());
    WindowedBloomParams::for_fpr(in_each, rate, GENERATIONS).expect("a usual target")
}

fn scalable(keys: u64, rate: f64) -> ScalableBloomParams {
    ScalableBloomParams::for_fpr(keys / GROWTH, rate).expect("a usual target")
}

fn cuckoo(keys: u64, rate: f64) -> CuckooParams {
    CuckooParams::for_fpr(keys, rate).expect("a usual target")
}

fn growable(keys: u64, rate: f64) -> GrowableCuckooParams {
    GrowableCuckooParams::for_fpr(keys / GROWTH, keys, rate).expect("a usual target")
}

fn ribbon(rate: f64) -> RibbonParams {
    RibbonParams::for_fpr(rate).expect("a usual rate")
}
