//! What the parameters of a ribbon filter say before it is built, against what is built.

use pds_static_filters::prelude::*;
use pds_testkit::{DistinctKeys, laws};

/// Sets of each size.
const SETS: u64 = 32;

/// Up to so many keys, the number that a layer bumps deviates by less, as measured.
const MOST_KEYS: u64 = 10_000;
const DEVIATION: f64 = 30.0;

/// Rows for a key of the last layer.
const ROWS: f64 = 17.0 / 16.0;

/// Rows of a block, which layers are rounded to.
const BLOCK: f64 = 64.0;

fn sizes() -> impl Iterator<Item = u64> {
    (1..MOST_KEYS).step_by(97).chain([1024, 1025, 1026, 1055, 1056, 1100, 1187, 1188, 2000, MOST_KEYS])
}

fn sets(keys: u64) -> impl Iterator<Item = Vec<u64>> {
    (0..SETS).map(move |set| DistinctKeys::new(keys << 8 | set).range(0..keys).collect())
}

/// How far the mean of what is built may be from the prediction, in rows: one block, and the law's margin for the keys bumped.
fn rows_agree(difference: f64, rows_of_one: f64, claim: &str) {
    let unit = |rows: f64| rows * rows_of_one;
    laws::bias_is_zero(difference, unit(DEVIATION * ROWS), SETS, unit(BLOCK)).assert(claim);
}

#[test]
fn sizes_and_rates_are_those_that_were_predicted() {
    let params = RibbonParams::for_fpr(0.01).expect("a rate");
    for keys in sizes() {
        let built = sets(keys).map(|hashes| RibbonFilter::from_hashes(params, &hashes).expect("a seed"));
        let (bytes, rates): (Vec<f64>, Vec<f64>) =
            built.map(|filter| (filter.size_bytes() as f64, filter.estimated_fpr())).unzip();
        let predicted = params.size_bytes(keys).expect("a size") as f64;
        rows_agree(laws::mean(&bytes) - predicted, 7.0 / 8.0, &format!("bytes of {keys} keys"));
        let rate = params.fpr(keys);
        // The first buckets of a segment, which are the narrow ones of a small filter, bump fewer keys than the others: up
        // to 0.6% of the rate.
        let change = laws::mean(&rates) / rate - 1.0;
        assert!(change.abs() <= 0.01, "{keys} keys: {change} off {rate}");
        laws::at_most(laws::mean(&rates), 0.01 * 1.001).assert("the promise of what is built, in the mean");
        laws::at_most(rate, 0.01 * 1.001).assert("the promise, in the mean");
    }
}

#[test]
fn a_budget_buys_the_rate_that_was_predicted() {
    for keys in sizes() {
        for bits in [2.0, 9.3] {
            let Ok(params) = RibbonParams::for_bytes(keys, (keys as f64 * bits / 8.0) as u64 + 40) else {
                panic!("{keys} keys in {bits} bits each");
            };
            let built = sets(keys).map(|hashes| RibbonFilter::from_hashes(params, &hashes).expect("a seed"));
            let doublings: Vec<f64> =
                built.map(|filter| (filter.estimated_fpr() / params.fpr(keys)).log2()).collect();
            // A budget is divided by the rows.
            let columns = params.columns() + 1.0;
            rows_agree(laws::mean(&doublings), columns / keys as f64, &format!("rate of {keys} keys"));
        }
    }
}

#[test]
fn what_is_sold_is_built() {
    let sizes =
        (1..60).chain([64, 100, 1000, 1024, 1025, 1026, 1056, 1100, 1500, 5000, 28_000, 33_000, 70_000]);
    for keys in sizes {
        let least = (0..400).find_map(|bytes| RibbonParams::for_bytes(keys, bytes).ok().map(|_| bytes));
        let least = least.expect("400 bytes do");
        assert_eq!(RibbonParams::least_bytes(keys), Ok(least));
        for bytes in [least, least + 8, least + 24] {
            let params = RibbonParams::for_bytes(keys, bytes).expect("more than the least");
            for hashes in sets(keys).take(8) {
                let filter = RibbonFilter::from_hashes(params, &hashes);
                let filter = filter.unwrap_or_else(|error| panic!("{keys} keys in {bytes} bytes: {error}"));
                assert!(filter.contains_all(&hashes) && filter.size_bytes() as u64 <= bytes);
            }
        }
    }
}

/// 200,000 strangers: whole blocks are rounded up, and layers weigh by the hashes that come to them.
#[test]
fn a_built_filter_knows_its_rate() {
    const PROBES: u64 = 200_000;
    for keys in [1, 20, 50, 100, 700, 1025, 2000, 5000, 20_000, 140_000] {
        for fpr in [0.9, 0.7, 0.3, 0.1, 0.01] {
            let params = RibbonParams::for_fpr(fpr).expect("a rate");
            let source = DistinctKeys::new(keys);
            let hashes: Vec<u64> = source.range(0..keys).collect();
            let filter = RibbonFilter::from_hashes(params, &hashes).expect("a seed");
            let strangers = source.range(keys..keys + PROBES);
            let hits = strangers.filter(|&hash| filter.contains_hash(hash)).count() as u64;
            laws::rate_is(hits, PROBES, filter.estimated_fpr()).assert(&format!("{keys} keys at {fpr}"));
            laws::at_most(params.fpr(keys), fpr * 1.001).assert("the promise, in the mean");
        }
    }
    let small = RibbonFilter::from_hashes(RibbonParams::for_fpr(0.9).expect("a rate"), &[1, 2, 3]);
    let small = small.expect("a seed");
    laws::equals(small.estimated_fpr(), small.params().fpr(3)).assert("one block, one rate");
    laws::at_most(small.estimated_fpr(), 0.5 + 1e-12).assert("a block has whole columns");
}
