//! Shapes are API: pinned, and refused where they cannot be.

use pds_bloom::{Error, SplitBlockParams};
use proptest::prelude::*;

#[test]
fn twenty_shapes_stay() {
    for ((keys, fpr), blocks) in PINNED {
        let params = match SplitBlockParams::for_fpr(keys, fpr) {
            // Where pointers have 32 bits, the largest are beyond them.
            Err(Error::Parameter { .. }) if usize::BITS < 64 && keys >= 1_000_000_000 => continue,
            params => params.unwrap(),
        };
        assert_eq!(params.blocks(), blocks, "for {keys} keys at {fpr}");
        assert_eq!(params.design_fpr(), Some(fpr));
    }
}

const PINNED: [((u64, f64), u64); 20] = [
    ((0, 0.01), 1),
    ((1, 0.01), 1),
    ((10, 0.1), 1),
    ((24, 0.01), 1),
    ((100, 0.01), 5),
    ((1000, 0.5), 13),
    ((1000, 0.1), 24),
    ((1000, 0.01), 42),
    ((1000, 0.001), 66),
    ((1000, 1e-4), 103),
    ((1234, 0.0123), 49),
    ((10_000, 0.03), 321),
    ((100_000, 0.005), 4768),
    ((1_000_000, 0.01), 41_130),
    ((1_000_000, 1e-5), 160_104),
    ((1_000_000, 1e-9), 1_311_354),
    ((50_000_000, 0.02), 1_761_303),
    ((1_000_000_000, 0.01), 41_132_249),
    ((10_000_000_000, 0.001), 671_411_845),
    ((50_000_000_000, 0.01), 2_114_225_980),
];

/// Bits per key of the mean over Poisson loads, to two decimals.
#[test]
fn bits_per_key_are_those_of_the_law() {
    for (fpr, bits_per_key) in [(0.1, "5.99"), (0.01, "10.53"), (0.001, "16.89"), (1e-4, "26.34")] {
        let params = SplitBlockParams::for_fpr(100_000_000, fpr).unwrap();
        assert_eq!(format!("{:.2}", params.size_bytes() as f64 * 8.0 / 1e8), bits_per_key, "{fpr}");
    }
}

proptest! {
    #[test]
    fn the_promised_rate_is_kept_and_no_block_is_wasted(keys in 0..1u64 << 36, exponent in 0.1..30.0f64) {
        let fpr = (-exponent).exp2();
        if let Ok(params) = SplitBlockParams::for_fpr(keys, fpr) {
            prop_assert!(params.fpr(keys) <= fpr);
            if let Ok(smaller) = SplitBlockParams::with_shape(params.blocks() - 1) {
                prop_assert!(smaller.fpr(keys) > fpr * (1.0 - 1e-11));
            }
        }
    }

    #[test]
    fn more_blocks_and_fewer_keys_have_lower_rates(keys in 0..1u64 << 36, blocks in 1..SplitBlockParams::MAX_BLOCKS) {
        let (params, larger) =
            (SplitBlockParams::with_shape(blocks).unwrap(), SplitBlockParams::with_shape(blocks + 1).unwrap());
        // To the rounding of a mean.
        let above = 1.0 + 1e-12;
        prop_assert!(larger.fpr(keys) <= params.fpr(keys) * above);
        prop_assert!(params.fpr(keys) <= params.fpr(keys + 1 + keys / 100) * above);
        prop_assert!(params.fill(keys) <= params.fill(keys + 1 + keys / 100) * above);
    }
}

/// Every upper half of a hash goes to some block; with 1.5 2^30 blocks some have three and some two.
#[test]
fn uneven_shares_of_a_large_filter_are_counted() {
    if SplitBlockParams::MAX_BLOCKS == 1 << 31 {
        let rate = |blocks: u64, load: f64| {
            SplitBlockParams::with_shape(blocks).unwrap().fpr((load * blocks as f64) as u64)
        };
        let even = rate(1 << 30, 24.0);
        assert!((rate(1 << 20, 24.0) / even - 1.0).abs() < 1e-6, "powers of two are even");
        assert!(rate(3 << 29, 24.0) > 1.2 * even, "{} {even}", rate(3 << 29, 24.0));
    }
}

#[test]
fn a_power_of_two_is_at_hand_for_older_readers() {
    for (blocks, power) in [(1, 1), (3, 4), (4, 4), (1000, 1024)] {
        let params = SplitBlockParams::with_shape(blocks).unwrap().to_power_of_two().unwrap();
        assert_eq!((params.blocks(), params.design_fpr()), (power, None));
    }
    let params = SplitBlockParams::for_fpr(1000, 0.01).unwrap();
    let power = params.to_power_of_two().unwrap();
    assert!(power.blocks().is_power_of_two() && power.blocks() >= params.blocks());
    assert_eq!(power.design_fpr(), Some(0.01));
    let largest = SplitBlockParams::with_shape(SplitBlockParams::MAX_BLOCKS).unwrap();
    assert_eq!(largest.to_power_of_two().is_ok(), SplitBlockParams::MAX_BLOCKS.is_power_of_two());
}

#[test]
fn each_bad_argument_is_named() {
    let name = |result: Result<SplitBlockParams, Error>| match result {
        Err(Error::Parameter { name, domain, .. }) => {
            assert!(!domain.is_empty());
            name
        }
        other => panic!("{other:?}"),
    };
    for fpr in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 1.0, 1.5] {
        assert_eq!(name(SplitBlockParams::for_fpr(100, fpr)), "fpr");
    }
    assert_eq!(name(SplitBlockParams::with_shape(0)), "blocks");
    assert_eq!(name(SplitBlockParams::with_shape(SplitBlockParams::MAX_BLOCKS + 1)), "blocks");
    assert_eq!(name(SplitBlockParams::with_shape(5).unwrap().fold(2)), "factor");
    assert_eq!(name(SplitBlockParams::with_shape(5).unwrap().fold(0)), "factor");
    assert!(SplitBlockParams::with_shape(SplitBlockParams::MAX_BLOCKS).is_ok());
}

#[test]
fn rates_are_probabilities_at_every_load() {
    for params in [
        SplitBlockParams::for_fpr(1000, 0.01).unwrap(),
        SplitBlockParams::with_shape(1).unwrap(),
        SplitBlockParams::with_shape(SplitBlockParams::MAX_BLOCKS).unwrap(),
    ] {
        let rates: Vec<f64> = [0, 1, 1000, 1_000_000, u64::MAX].map(|keys| params.fpr(keys)).into();
        assert!(rates.is_sorted() && rates[0] == 0.0 && rates[4] <= 1.0, "{rates:?}");
        assert!([0, 1, 1000, u64::MAX].map(|keys| params.fill(keys)).is_sorted());
    }
}

#[test]
fn parameters_go_through_the_gate_however_they_come() {
    let params = SplitBlockParams::for_fpr(1000, 0.01).unwrap();
    let text = serde_json::to_string(&params).unwrap();
    assert_eq!(serde_json::from_str::<SplitBlockParams>(&text).unwrap(), params);
    for bad in [
        r#"{"blocks":0,"target":null}"#,
        r#"{"blocks":2147483649,"target":null}"#,
        r#"{"blocks":1,"target":1.0}"#,
        r#"{"blocks":18446744073709551615,"target":null}"#,
    ] {
        assert!(serde_json::from_str::<SplitBlockParams>(bad).is_err(), "{bad}");
    }
}
