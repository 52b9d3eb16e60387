//! What the running estimate promises.

use pds_hll::prelude::*;
use pds_testkit::{DistinctKeys, WireLaws, key_lists, laws, seed_for, wire_laws};
use proptest::prelude::*;

fn empty(precision: u8) -> StreamingHyperLogLog {
    StreamingHyperLogLog::new(HllParams::with_precision(precision).expect("4 to 18"))
}

fn of(precision: u8, keys: &[u64]) -> StreamingHyperLogLog {
    let mut sketch = empty(precision);
    sketch.extend(keys);
    sketch
}

const WIRE: WireLaws<StreamingHyperLogLog> = WireLaws {
    exercise: |sketch| {
        let estimate = sketch.estimate();
        assert!(estimate.is_finite() && estimate >= 0.0);
        assert_eq!(estimate == 0.0, sketch.is_empty());
        for kappa in [-2.0, f64::INFINITY, f64::NAN] {
            let (low, high) = sketch.bounds(kappa);
            assert!(0.0 <= low && low <= estimate && estimate <= high && low.is_finite());
        }
        let mut more = sketch.clone();
        more.extend(0..100u64);
        assert!(more.estimate() >= estimate && more.estimate().is_finite());
    },
    ..WireLaws::new(StreamingHyperLogLog::from_bytes)
};

wire_laws! { four_bits, WIRE, |keys: &[u64]| of(4, keys) }
wire_laws! { eight_bits, WIRE, |keys: &[u64]| of(8, keys) }

proptest! {
    #[test]
    fn the_registers_are_those_of_the_mergeable_sketch(keys in key_lists(), precision in 4..=10u8) {
        let streaming = of(precision, &keys);
        let mut plain = HyperLogLog::new(streaming.params());
        plain.extend(&keys);
        let sparse = streaming.is_sparse();
        if sparse {
            prop_assert_eq!(streaming.estimate().to_bits(), plain.estimate().to_bits());
            prop_assert_eq!(streaming.bounds(2.0), plain.bounds(2.0));
        }
        prop_assert_eq!(sparse, plain.is_sparse());
        prop_assert!(streaming.into_hll().to_bytes() == plain.to_bytes());
    }

    #[test]
    fn the_estimate_rises_by_a_key_or_more_with_each_change_and_never_otherwise(
        keys in key_lists(), precision in 4..=6u8,
    ) {
        let mut sketch = empty(precision);
        for key in &keys {
            let before = sketch.estimate();
            if sketch.insert(key) {
                // Rounding takes less than this away.
                prop_assert!(sketch.estimate() >= before + 0.999);
            } else {
                prop_assert_eq!(sketch.estimate().to_bits(), before.to_bits());
            }
            prop_assert!(!sketch.insert(key));
        }
    }

    #[test]
    fn decoding_goes_on_where_encoding_stopped(keys in key_lists(), more in key_lists(), precision in 4..=8u8) {
        let mut sketch = of(precision, &keys);
        let mut decoded = StreamingHyperLogLog::from_bytes(&sketch.to_bytes()).unwrap();
        prop_assert!(decoded == sketch);
        sketch.extend(&more);
        decoded.extend(&more);
        prop_assert!(decoded == sketch && decoded.to_bytes() == sketch.to_bytes());
    }
}

#[test]
fn the_estimate_is_unbiased_as_precise_as_promised_and_within_its_bounds() {
    /// The change rate of few registers varies from stream to stream; the promise is for its mean.
    const SLACK: f64 = 0.05;
    /// Of a normal error within 1, 2 and 3 standard deviations, and what the log-normal shape may be off.
    const NOMINAL: [f64; 3] = [0.6827, 0.9545, 0.9973];
    const SHAPE: f64 = 0.03;
    for (precision, trials) in [(8, 1000), (11, 300)] {
        let params = HllParams::with_precision(precision).unwrap();
        let m = params.registers() as u64;
        let counts = [m / 10, m / 4, m / 2, m, 2 * m, 5 * m, 20 * m];
        let mut errors = vec![Vec::new(); counts.len()];
        let mut hits = vec![[0; 3]; counts.len()];
        for trial in 0..trials {
            let mut sketch = StreamingHyperLogLog::new(params);
            let keys = DistinctKeys::new(seed_for("streaming", precision.into(), trial));
            let mut done = 0;
            for (i, &n) in counts.iter().enumerate() {
                sketch.extend(keys.range(done..n));
                done = n;
                let truth = n as f64;
                errors[i].push(sketch.estimate() / truth - 1.0);
                for (hits, kappa) in hits[i].iter_mut().zip([1.0, 2.0, 3.0]) {
                    let (low, high) = sketch.bounds(kappa);
                    *hits += u64::from(low.floor() <= truth && truth <= high.ceil());
                }
            }
        }
        for (i, &n) in counts.iter().enumerate() {
            let case = format!("p = {precision}, n = {n}");
            let limit = params.streaming_std_error();
            laws::bias_is_zero(laws::mean(&errors[i]), limit, trials, 0.0).assert(&format!("{case}: bias"));
            laws::rmse_at_most(&errors[i], limit * (1.0 + SLACK)).assert(&format!("{case}: spread"));
            if n >= 20 * m {
                laws::rmse_is_within(&errors[i], limit, SLACK).assert(&format!("{case}: spread"));
            }
            for (hits, nominal) in hits[i].into_iter().zip(NOMINAL) {
                laws::rate_at_least(hits, trials, nominal - SHAPE).assert(&format!("{case}: {nominal}"));
                if n >= 2 * m {
                    laws::rate_at_most(hits, trials, nominal + SHAPE).assert(&format!("{case}: {nominal}"));
                }
            }
        }
    }
}

/// A count that jumps, or drops, where a sketch changes its form.
#[test]
fn there_is_no_jump_where_registers_begin() {
    for precision in HllParams::MIN_PRECISION..=14 {
        let mut sketch = empty(precision);
        let limit = sketch.params().sparse_limit() as u64;
        sketch.extend(DistinctKeys::new(precision.into()).range(0..limit));
        let before = sketch.estimate();
        assert!(sketch.is_sparse());
        let mut others = DistinctKeys::new(precision.into()).range(limit..limit + 1);
        assert!(sketch.insert(&others.next().unwrap()) && !sketch.is_sparse());
        laws::at_most((sketch.estimate() - before - 1.0).abs(), 1e-3).assert("one key more");
    }
}

#[test]
fn a_saturated_sketch_stays_as_it_is() {
    let mut sketch = empty(4);
    let mut last = 0.0;
    for register in 0..16u64 {
        assert!(sketch.insert_hash(register));
        assert!(sketch.estimate() > last && sketch.estimate().is_finite());
        last = sketch.estimate();
    }
    assert!(!sketch.insert_hash(0) && !sketch.insert_hash(77 << 20));
    assert!(sketch.bounds(1.0).1.is_infinite());
    WIRE.all(&sketch);
    sketch.clear();
    assert!(sketch == empty(4) && sketch.is_empty());
}

#[test]
fn an_estimate_that_no_stream_has_is_refused() {
    for (sketch, at) in [(of(4, &[1, 2]), 27), (of(4, &(0..20).collect::<Vec<_>>()), 26)] {
        let bytes = sketch.to_bytes();
        assert_eq!(bytes[at..at + 8], sketch.estimate().to_le_bytes());
        let start = pds_testkit::payload_start(&bytes).unwrap();
        for estimate in [f64::NAN, f64::INFINITY, -1.0, 0.0, -0.0, 1.0, 3.9] {
            let mut forged = bytes.clone();
            forged[at..at + 8].copy_from_slice(&estimate.to_le_bytes());
            pds_testkit::reseal(&mut forged, start);
            let refusal = StreamingHyperLogLog::from_bytes(&forged).err();
            assert_eq!(refusal, Some(Error::Malformed { field: "estimate" }), "{estimate}");
        }
    }
    let mut plain = HyperLogLog::new(HllParams::with_precision(4).unwrap());
    plain.insert(&1);
    assert!(matches!(StreamingHyperLogLog::from_bytes(&plain.to_bytes()), Err(Error::Kind { .. })));
}

#[test]
fn serde_carries_the_envelope() {
    let sketch = of(6, &[1, 2, 3]);
    let text = serde_json::to_string(&sketch).unwrap();
    assert!(serde_json::from_str::<StreamingHyperLogLog>(&text).unwrap() == sketch);
    assert!(format!("{sketch:?}").starts_with("StreamingHyperLogLog { params: HllParams { p: 6 }"));
}
