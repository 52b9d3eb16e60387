//! What UltraLogLog promises on average: bias, spread, coverage and bytes, by laws with fixed seeds.

mod averages;

use averages::{Case, NOMINAL, estimates_are_as_predicted, large_counts_keep_their_precision, trials};
use pds_hll::prelude::*;
use pds_testkit::{DistinctKeys, SplitMix64, laws, seed_for};

fn params(precision: u8) -> UllParams {
    UllParams::with_precision(precision).expect("4 to 18")
}

/// Seconds of one core in all. So many trials still tell a spread that is a tenth to a fifth off, and a bias of a few tenths of
/// a per cent; the tables `ull-sweep`, `hll-loads` and `hll-large` have the trials that finer laws take.
const CASES: [Case; 5] = [
    Case { precision: 4, trials: 4000, bias: 0.003, slack: 0.05 },
    Case { precision: 6, trials: 4000, bias: 0.001, slack: 0.04 },
    Case { precision: 8, trials: 3000, bias: 0.0005, slack: 0.03 },
    Case { precision: 10, trials: 2000, bias: 0.0002, slack: 0.02 },
    Case { precision: 12, trials: 500, bias: 0.0002, slack: 0.02 },
];

/// Numbers of keys from a quarter of m to 6 m, so that no local bump can hide, then many.
fn counts(m: u64) -> Vec<u64> {
    let sweep = (1..=24).map(|quarters| quarters * m / 4);
    sweep.chain([8 * m, 20 * m]).collect()
}

#[test]
fn estimates_are_unbiased_as_precise_as_predicted_and_within_their_bounds() {
    /// What coverage may lose where errors are not normal yet, for few registers.
    const SKEW: f64 = 0.02;
    for case in CASES {
        let params = params(case.precision);
        let m = params.registers() as u64;
        let counts = counts(m);
        // Bounds at whole multiples of m, for the time that they take.
        let all = trials(
            "ull",
            &case,
            &counts,
            || UltraLogLog::new(params),
            |sketch, count| {
                let bounds = || [1.0, 2.0, 3.0].map(|kappa| sketch.bounds(kappa));
                (sketch.estimate(), (count % m == 0).then(bounds))
            },
        );
        for (i, &n) in counts.iter().enumerate() {
            // The errors of fewer keys than m are a few whole keys: far from normal.
            estimates_are_as_predicted(&case, &all, (i, n), params.predicted_error(n), m);
            let truth = n as f64;
            if n < m || n % m != 0 {
                continue;
            }
            for (kappa, nominal) in NOMINAL.into_iter().enumerate() {
                let bounds = all.iter().filter_map(|snapshots| Some(snapshots[i].1?[kappa]));
                let hits = bounds.filter(|&(low, high)| low <= truth && truth <= high).count() as u64;
                let name = format!("p = {}, n = {n}: coverage of {} sigma", case.precision, kappa + 1);
                if case.precision >= 8 {
                    laws::rate_is(hits, case.trials, nominal).assert(&name);
                } else {
                    laws::rate_at_least(hits, case.trials, nominal - SKEW).assert(&name);
                }
            }
        }
    }
}

/// A port of an estimator was 1.3 % too high at one key, 0.56 % at 100 and 0.17 % at 1000: there may be 0.02 %.
#[test]
fn the_first_keys_are_counted_without_bias() {
    const TOLERANCE: f64 = 0.0002;
    let params = params(12);
    for (n, trials) in [(1, 100), (10, 100), (100, 100), (768, 100), (1000, 10_000)] {
        let mean = (0..trials)
            .map(|t| {
                let mut sketch = UltraLogLog::new(params);
                sketch.extend(DistinctKeys::new(seed_for("ull-first", n, t)).range(0..n));
                assert_eq!(sketch.is_sparse(), n <= params.sparse_limit() as u64);
                sketch.estimate() / n as f64 - 1.0
            })
            .sum::<f64>()
            / trials as f64;
        laws::bias_is_zero(mean, params.predicted_error(n), trials, TOLERANCE).assert(&format!("n = {n}"));
    }
}

/// Registers drawn from the distribution that so many keys give them: counts that no test can insert.
fn drawn(params: UllParams, keys: f64, seed: u64) -> UltraLogLog {
    let mut random = SplitMix64::new(seed);
    let rate = keys / params.registers() as f64;
    // The probability that a register has seen each value, which Poisson arrivals see independently.
    let seen: Vec<f64> =
        (1..=47).map(|value| -libm::expm1(-rate * libm::exp2(-f64::from(value.min(46))))).collect();
    let mut sketch = UltraLogLog::new(params);
    for register in 0..params.registers() as u64 {
        for (value, &probability) in (1..=47).zip(&seen) {
            if random.next_f64() < probability {
                let leading = if value < 47 { 1 << (64 - value) } else { 0 };
                sketch.insert_hash(leading | register);
            }
        }
    }
    sketch
}

/// To the end of the range.
#[test]
fn counts_up_to_two_to_the_forty_fifth_a_register_keep_their_precision() {
    for (precision, trials) in [(8, 500), (12, 100)] {
        let params = params(precision);
        large_counts_keep_their_precision(
            "ull-large",
            (precision, trials),
            |keys| params.predicted_error(keys),
            |keys, seed| drawn(params, keys, seed).estimate(),
        );
    }
}

/// Half a byte a register: 3.994 bits by their distribution (see the tests of `ull/information.rs`), and what the
/// envelope and the counts at the front of the code take.
#[test]
fn many_keys_take_half_a_byte_a_register() {
    const ENTROPY_BITS: f64 = 3.994;
    for (precision, trials, most_beside) in [(10, 20, 75.0), (12, 20, 75.0), (14, 5, 100.0)] {
        let params = params(precision);
        let keys = 244 << precision;
        let total: usize = (0..trials)
            .map(|t| {
                let mut sketch = UltraLogLog::new(params);
                sketch.extend(DistinctKeys::new(seed_for("ull-bytes", precision.into(), t)).range(0..keys));
                sketch.to_bytes().len()
            })
            .sum();
        let mean = total as f64 / trials as f64;
        let least = ENTROPY_BITS / 8.0 * params.registers() as f64;
        laws::at_most(mean, least + most_beside).assert(&format!("p = {precision}: bytes"));
    }
}

#[test]
fn the_predicted_error_goes_to_the_asymptote() {
    /// Relative: the asymptote is rounded up, and the prediction oscillates.
    const TOLERANCE: f64 = 0.002;
    for precision in UllParams::MIN_PRECISION..=UllParams::MAX_PRECISION {
        let params = params(precision);
        let m = params.registers() as u64;
        assert_eq!(params.predicted_error(0).to_bits(), 0);
        for keys in [1000 * m, 1 << 30, 1 << 44] {
            let ratio = params.predicted_error(keys) / params.std_error();
            assert!((ratio - 1.0).abs() < TOLERANCE, "p = {precision}, n = {keys}: {ratio}");
        }
        let few = params.predicted_error(params.sparse_limit() as u64);
        assert!(few < params.predicted_error(m) && params.predicted_error(m) < params.std_error());
    }
}
