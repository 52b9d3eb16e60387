//! Shapes are API: pinned, and refused where they cannot be.

use pds_static_filters::prelude::*;

#[test]
fn sizes_meet_what_is_said_of_them() {
    let bits = |keys| {
        (
            BinaryFuseParams8::for_keys(keys).unwrap().bits_per_key(),
            BinaryFuseParams8x4::for_keys(keys).unwrap().bits_per_key(),
        )
    };
    let (three, four) = bits(1_000_000);
    assert!(three <= 9.05 && four <= 8.65, "{three} {four}");
    let most = if usize::BITS < 64 { 1_000_000_000 } else { 10_000_000_000 };
    for keys in [2_000_000, 4_000_000, 5_000_000, 10_000_000, 100_000_000, most] {
        let (three, four) = bits(keys);
        assert!(three <= 9.05 && four <= 8.65, "{keys} keys: {three} {four}");
    }
    assert_eq!(
        BinaryFuseParams16::for_keys(1_000_000).unwrap().size_bytes(),
        2 * BinaryFuseParams8::for_keys(1_000_000).unwrap().size_bytes()
    );
    assert!((9.84..9.85).contains(&XorParams8::for_keys(1_000_000).unwrap().bits_per_key()));
}

#[test]
fn rates_include_shared_hashes() {
    let rate = |keys| BinaryFuseParams32::for_keys(keys).unwrap().fpr();
    assert!(rate(0) <= 0.0);
    assert!(rate(1) > 0.0 && rate(1) < 2.4e-10);
    let log2 = if usize::BITS < 64 { 28 } else { 40 };
    let collisions = rate(1 << log2) - 2f64.powi(-32);
    assert!((collisions / 2f64.powi(log2 - 64) - 1.0).abs() < 1e-6);
}

#[test]
fn shapes_beyond_32_bits_are_priced_and_what_cannot_be_is_refused() {
    if cfg!(target_pointer_width = "64") {
        let params = BinaryFuseParams8::for_keys(20_000_000_000).unwrap();
        assert!(params.size_bytes() > 1 << 34 && params.layout().shards() > 4000);
    }
    assert!(matches!(BinaryFuseParams32x4::for_keys(u64::MAX), Err(Error::Parameter { .. })));
    assert!(matches!(BinaryFuseParams8::for_keys(u64::MAX), Err(Error::Parameter { .. })));
    assert!(matches!(XorParams8::for_keys(u64::MAX), Err(Error::Parameter { .. })));
    assert!(matches!(XorParams8::for_keys(4_000_000_000), Err(Error::Parameter { .. })));
}

#[test]
fn parameters_go_through_the_gate_however_they_come() {
    let params = BinaryFuseParams8::for_keys(1000).unwrap();
    let text = serde_json::to_string(&params).unwrap();
    assert_eq!(serde_json::from_str::<BinaryFuseParams8>(&text).unwrap(), params);
    assert!(serde_json::from_str::<BinaryFuseParams16>(&text).is_err());
    assert!(serde_json::from_str::<BinaryFuseParams8>(&text.replace("1000", "100000")).is_err());
}

#[test]
fn twenty_shapes_stay() {
    for (keys, three, four) in PINNED {
        if usize::BITS < 64 && keys > 1_000_000_000 {
            let refused = BinaryFuseParams8::for_keys(keys);
            assert!(matches!(refused, Err(Error::Parameter { name: "bytes", .. })));
            continue;
        }
        let shape = |shards, segments, segment| (shards, segments, segment);
        let a = BinaryFuseParams8::for_keys(keys).unwrap().layout();
        let b = BinaryFuseParams8x4::for_keys(keys).unwrap().layout();
        assert_eq!(shape(a.shards(), a.segments(), a.segment()), three, "{keys} keys, 3 slots each");
        assert_eq!(shape(b.shards(), b.segments(), b.segment()), four, "{keys} keys, 4 slots each");
    }
}

type Shape = (u32, u64, u32);

const PINNED: [(u64, Shape, Shape); 20] = [
    (0, (0, 3, 1), (0, 4, 1)),
    (1, (1, 3, 4), (1, 14, 1)),
    (2, (1, 3, 4), (1, 14, 1)),
    (3, (1, 4, 4), (1, 14, 1)),
    (10, (1, 3, 8), (1, 13, 2)),
    (50, (1, 3, 32), (1, 12, 8)),
    (100, (1, 6, 32), (1, 21, 8)),
    (500, (1, 12, 64), (1, 23, 32)),
    (1000, (1, 11, 128), (1, 43, 32)),
    (2000, (1, 11, 256), (1, 41, 64)),
    (11_200, (1, 28, 512), (1, 53, 256)),
    (11_500, (1, 28, 512), (1, 55, 256)),
    (20_000, (1, 48, 512), (1, 93, 256)),
    (100_000, (1, 58, 2048), (1, 110, 1024)),
    (300_000, (1, 85, 4096), (1, 160, 2048)),
    (1_000_000, (1, 138, 8192), (1, 263, 4096)),
    (4_194_304, (1, 289, 16_384), (1, 551, 8192)),
    (4_194_305, (2, 289, 8192), (2, 276, 8192)),
    (100_000_000, (24, 287, 16_384), (24, 548, 8192)),
    (10_000_000_000, (2385, 289, 16_384), (2385, 551, 8192)),
];
