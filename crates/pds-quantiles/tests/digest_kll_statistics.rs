//! How large the errors are: the numbers that the crate promises or aims at, over fixed seeds.

// Helpers are tests too; what is exact is compared exactly.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use pds_quantiles::Quantiles;
use pds_quantiles::prelude::*;
use pds_testkit::{ExactQuantiles, Values, laws};

const N: usize = 100_000;
const SEEDS: u64 = 16;
const PPM: f64 = 1e-6;

const SMOOTH: [Values; 3] = [
    Values::Uniform { low: 0.0, high: 1.0 },
    Values::LogNormal { mu: 0.0, sigma: 1.0 },
    Values::Pareto { shape: 1.0, minimum: 1.0 },
];

const QS: [f64; 3] = [0.5, 0.99, 0.999];

/// Mean error of the rank at each of [`QS`], and mean bytes.
fn errors(values: Values, build: impl Fn(&[f64]) -> TDigest) -> ([f64; 3], f64) {
    let (mut errors, mut bytes) = ([0.0; 3], 0.0);
    for seed in 0..SEEDS {
        let stream: Vec<f64> = values.stream(seed).take(N).collect();
        let digest = build(&stream);
        let (exact, snapshot) = (ExactQuantiles::new(stream), digest.snapshot());
        for (error, q) in errors.iter_mut().zip(QS) {
            *error += exact.rank_error(q, snapshot.quantile(q).unwrap()) / SEEDS as f64;
        }
        bytes += digest.to_bytes().len() as f64 / SEEDS as f64;
    }
    (errors, bytes)
}

fn one_pass(values: &[f64]) -> TDigest {
    let mut digest = TDigest::default();
    digest.extend(values.iter().copied());
    digest
}

/// Of parts that went through their bytes.
fn merged(values: &[f64], parts: usize) -> TDigest {
    let mut merged = TDigest::default();
    for part in values.chunks(values.len() / parts) {
        merged.merge(&TDigest::from_bytes(&one_pass(part).to_bytes()).unwrap()).unwrap();
    }
    merged
}

#[test]
fn a_digest_is_as_precise_as_aimed_at_in_a_kilobyte_and_a_half() {
    for values in SMOOTH {
        let (errors, bytes) = errors(values, one_pass);
        laws::at_most(errors[2], 14.0 * PPM).assert(&format!("p99.9, {}", values.name()));
        laws::at_most(bytes, 1500.0).assert(&format!("bytes, {}", values.name()));
        if matches!(values, Values::LogNormal { .. }) {
            laws::at_most(errors[0], 750.0 * PPM).assert("p50, log-normal");
        }
    }
}

#[test]
fn five_hundred_merges_cost_at_most_three_tenths_more() {
    for values in SMOOTH {
        let (once, _) = errors(values, one_pass);
        for parts in [50, 500] {
            let (many, bytes) = errors(values, |stream| merged(stream, parts));
            for ((q, once), many) in QS.into_iter().zip(once).zip(many) {
                // The rank of one value, the resolution of a single error, is 10 parts per million.
                let resolution = 1.0 / (N as f64 * (SEEDS as f64).sqrt());
                laws::at_most(many, 1.3 * once + resolution)
                    .assert(&format!("{q}, {}, {parts} parts", values.name()));
            }
            laws::at_most(bytes, 1500.0).assert("bytes");
        }
    }
}

/// More centroids, less error: what the parameter is documented for.
#[test]
fn the_error_falls_with_the_compression() {
    let values = Values::LogNormal { mu: 0.0, sigma: 1.0 };
    let at = |compression| {
        let params = TDigestParams::with_compression(compression).unwrap();
        errors(values, |stream| {
            let mut digest = TDigest::new(params);
            digest.extend(stream.iter().copied());
            digest
        })
        .0
    };
    let (coarse, middle, fine) = (at(50), at(100), at(400));
    for i in 0..QS.len() {
        assert!(coarse[i] > middle[i] && middle[i] > fine[i], "{}", QS[i]);
    }
}

/// The greatest error of any rank of a sketch.
fn greatest_error(sketch: &KllSketch, exact: &ExactQuantiles) -> f64 {
    const STEPS: usize = 500;
    let (snapshot, n) = (sketch.snapshot(), exact.len() as f64);
    (0..=STEPS)
        .map(|i| {
            let value = exact.sorted()[i * (exact.sorted().len() - 1) / STEPS];
            let rank = Quantiles::rank_by(&snapshot, value, RankRule::Inclusive).unwrap();
            (rank - exact.rank(value) as f64 / n).abs()
        })
        .fold(0.0, f64::max)
}

#[test]
fn a_kll_sketch_errs_more_than_promised_no_more_often_than_promised() {
    const TRIALS: u64 = 300;
    for k in [20, 200] {
        for n in [1000usize, 30_000] {
            for values in [SMOOTH[0], Values::Sorted { first: 0.0, step: 1.0 }] {
                let params = KllParams::with_k(k).unwrap();
                let (mut beyond, mut merged_beyond) = (0, 0);
                for seed in 0..TRIALS {
                    let stream: Vec<f64> = values.stream(seed).take(n).collect();
                    let mut whole = KllSketch::with_seed(params, seed);
                    whole.extend(stream.iter().copied());
                    let mut merged = KllSketch::with_seed(params, seed);
                    for (i, part) in stream.chunks(n / 10).enumerate() {
                        let mut shard = KllSketch::with_seed(params, seed << 8 | i as u64);
                        shard.extend(part.iter().copied());
                        merged.merge(&shard).unwrap();
                    }
                    let exact = ExactQuantiles::new(stream);
                    beyond += u64::from(greatest_error(&whole, &exact) > params.rank_error());
                    merged_beyond += u64::from(greatest_error(&merged, &exact) > params.rank_error());
                }
                let rate = 1.0 - KllParams::CONFIDENCE;
                laws::rate_at_most(beyond, TRIALS, rate).assert(&format!("k {k}, n {n}"));
                laws::rate_at_most(merged_beyond, TRIALS, rate).assert(&format!("k {k}, n {n}, merged"));
            }
        }
    }
}

/// The coins are fair: ranks are neither too high nor too low on average.
#[test]
fn a_kll_sketch_is_unbiased() {
    const TRIALS: u64 = 400;
    const SIZE: u64 = 20_000;
    let params = KllParams::with_k(50).unwrap();
    let errors: Vec<f64> = (0..TRIALS)
        .map(|seed| {
            let mut sketch = KllSketch::with_seed(params, seed);
            sketch.extend(Values::Uniform { low: 0.0, high: 1.0 }.stream(seed).take(SIZE as usize));
            let below = Values::Uniform { low: 0.0, high: 1.0 }
                .stream(seed)
                .take(SIZE as usize)
                .filter(|&value| value <= 0.5)
                .count();
            Quantiles::cdf(&sketch, 0.5).unwrap() - below as f64 / SIZE as f64
        })
        .collect();
    let sigma = laws::rmse(&errors);
    laws::bias_is_zero(laws::mean(&errors), sigma, TRIALS, 0.0).assert("ranks at the median");
}

#[test]
fn weighted_values_err_as_repeated_ones() {
    const TRIALS: u64 = 100;
    let params = KllParams::with_k(100).unwrap();
    let mut beyond = 0;
    for seed in 0..TRIALS {
        let mut sketch = KllSketch::with_seed(params, seed);
        let mut all = Vec::new();
        for (i, value) in SMOOTH[0].stream(seed).take(2000).enumerate() {
            let n = 1 + i % 23;
            sketch.insert_n(value, n as u64).unwrap();
            all.extend(std::iter::repeat_n(value, n));
        }
        beyond += u64::from(greatest_error(&sketch, &ExactQuantiles::new(all)) > params.rank_error());
    }
    laws::rate_at_most(beyond, TRIALS, 1.0 - KllParams::CONFIDENCE).assert("weighted");
}
