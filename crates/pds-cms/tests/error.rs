//! The law of the error, and the independence of the rows that it rests on.

use pds_cms::WyHasher;
use pds_cms::prelude::*;
use pds_testkit::{DistinctKeys, ExactFrequencies, ParetoKeys, Zipf, laws};

/// The worst stream for Markov's inequality: as many equal heavy keys as can each exceed eps N alone.
///
/// An absent key errs by more than the bound if it meets one of them in every row.
#[test]
fn an_estimate_errs_beyond_the_bound_no_more_often_than_delta() {
    const TRIALS: u64 = 400_000;
    const WEIGHT: u64 = 1000;
    for (eps, delta) in [(0.05, 0.05), (0.05, 0.01), (0.1, 0.1), (0.02, 0.3)] {
        let params = CountMinParams::for_error(eps, delta).unwrap();
        let heavy = (1.0 / eps) as u64 - 1;
        let keys = DistinctKeys::new(17);
        let (mut sketch, mut beyond) = (CountMinSketch::new(params), 0);
        // Keys of its own in each trial, so that the trials are independent.
        for trial in 0..TRIALS {
            let first = trial * (heavy + 1);
            sketch.clear();
            for key in keys.range(first..first + heavy) {
                sketch.insert_n(&key, WEIGHT);
            }
            let (lower, upper) = sketch.bounds(&keys.key(first + heavy));
            assert!(WEIGHT > params.error_bound(sketch.total()));
            assert_eq!(lower > 0, upper > params.error_bound(sketch.total()));
            beyond += u64::from(lower > 0);
        }
        laws::rate_at_most(beyond, TRIALS, delta).assert("errors beyond the bound");
        let meets_one = 1.0 - (1.0 - 1.0 / params.width() as f64).powi(heavy as i32);
        laws::rate_is(beyond, TRIALS, meets_one.powf(f64::from(params.depth())))
            .assert("keys that meet a heavy one in all rows");
    }
}

#[test]
fn on_skewed_streams_the_bounds_contain_the_truth() {
    for (eps, delta) in [(0.01, 0.01), (0.002, 0.01), (0.05, 0.2)] {
        let params = CountMinParams::for_error(eps, delta).unwrap();
        let (mut keys, mut outside) = (0, 0);
        for seed in 0..5 {
            let pareto = ParetoKeys::new(0.6, 1.0, seed).take(50_000);
            let zipf = Zipf::new(5_000, 1.0, seed).take(50_000).map(|rank| rank << 40);
            let stream: Vec<u64> = pareto.chain(zipf).collect();
            let mut sketch = CountMinSketch::<u32>::with_hasher(params, WyHasher::with_seed(seed));
            sketch.extend(&stream);
            let exact: ExactFrequencies<u64> = stream.into_iter().collect();
            assert_eq!(sketch.total(), exact.total());
            for (key, count) in exact.by_key() {
                let (lower, upper) = sketch.bounds::<u64>(key);
                assert!(count <= upper, "key {key} is under-counted");
                keys += 1;
                outside += u64::from(count < lower);
            }
        }
        // Keys of one sketch share their neighbours, so this is no exact test; the law above is.
        laws::rate_at_most(outside, keys, delta).assert("keys outside their bounds");
    }
}

/// Columns in arithmetic progression (double hashing) meet in all rows as soon as they meet in two.
#[test]
fn a_hot_key_shadows_as_many_others_as_independent_rows_predict() {
    const OTHERS: u64 = 500_000;
    let keys = DistinctKeys::new(5);
    for (width, depth) in [(40, 2), (700, 2), (11, 3), (5, 4), (3, 8), (2, 16)] {
        let params = CountMinParams::with_shape(width, depth).unwrap();
        let (mut shadowed, mut pairs) = (0, 0);
        for hot in 0..8u64 {
            let mut sketch = CountMinSketch::new(params);
            sketch.insert_n(&keys.key(u64::MAX - hot), 1_000_000);
            for other in keys.range(hot * OTHERS..(hot + 1) * OTHERS) {
                pairs += 1;
                shadowed += u64::from(sketch.estimate(&other) > 0);
            }
        }
        let predicted = (width as f64).powf(-f64::from(depth));
        laws::rate_is(shadowed, pairs, predicted).assert(&format!("{width} x {depth}"));
    }
}

#[test]
fn two_keys_meet_in_two_rows_or_more_as_often_as_independent_rows_predict() {
    const PAIRS: u64 = 2_000_000;
    let (hot, others) = (DistinctKeys::new(6), DistinctKeys::new(7));
    for (width, depth) in [(64, 5), (272, 5), (2719, 5), (2719, 16), (1000, 4)] {
        let mut met = 0;
        for pair in 0..PAIRS {
            // A hot key for every thousand others.
            let (a, b) = (hot.key(pair / 1000), others.key(pair));
            let rows =
                (0..depth).filter(|&row| pds_hash::column(a, row, width) == pds_hash::column(b, row, width));
            met += u64::from(rows.count() >= 2);
        }
        let (p, d) = (1.0 / width as f64, depth as f64);
        let predicted = 1.0 - (1.0 - p).powf(d) - d * p * (1.0 - p).powf(d - 1.0);
        laws::rate_is(met, PAIRS, predicted).assert(&format!("{width} x {depth}"));
    }
}

/// The conservative sketch keeps the plain bound, and so do its shards, merged.
#[test]
fn conservative_sketches_keep_the_bound_merged_or_not() {
    let params = CountMinParams::for_error(0.01, 0.05).unwrap();
    let (mut keys, mut outside, mut outside_merged) = (0, 0, 0);
    for seed in 0..10 {
        let empty = || ConservativeCountMin::<u32>::with_hasher(params, WyHasher::with_seed(seed));
        let (mut whole, mut shards) = (empty(), [(); 8].map(|()| empty()));
        let mut exact = ExactFrequencies::new();
        for (i, rank) in Zipf::new(20_000, 0.7, seed).take(20_000).enumerate() {
            whole.insert(&rank);
            shards[i % 8].insert(&rank);
            exact.insert(rank);
        }
        let mut merged = empty();
        for shard in &shards {
            merged.merge(shard).unwrap();
        }
        for (key, count) in exact.by_key() {
            let ((lower, upper), (lower_merged, upper_merged)) = (whole.bounds(key), merged.bounds(key));
            assert!(count <= upper && count <= upper_merged);
            keys += 1;
            outside += u64::from(count < lower);
            outside_merged += u64::from(count < lower_merged);
        }
    }
    laws::rate_at_most(outside, keys, params.delta()).assert("keys outside their bounds");
    laws::rate_at_most(outside_merged, keys, params.delta()).assert("keys outside their bounds, merged");
}
