//! Shapes of the counting filter are API: pinned, and refused where they cannot be.

use pds_bloom::{BlockedBloomParams, CountingBloomParams, Error};

#[test]
fn twenty_shapes_stay() {
    for ((keys, fpr), shape) in PINNED {
        let params = match CountingBloomParams::for_fpr(keys, fpr) {
            // Where pointers have 32 bits, the largest are beyond them.
            Err(Error::Parameter { .. }) if usize::BITS < 64 && keys >= 1_000_000_000 => continue,
            params => params.unwrap(),
        };
        assert_eq!((params.bits(), params.k()), shape, "for {keys} keys at {fpr}");
        assert!(params.fpr(keys) <= fpr);
    }
}

const PINNED: [((u64, f64), (u64, u32)); 20] = [
    ((0, 0.01), (512, 3)),
    ((1, 0.01), (512, 3)),
    ((1, 0.5), (512, 1)),
    ((10, 0.1), (512, 1)),
    ((64, 0.03), (512, 4)),
    ((100, 0.01), (1024, 5)),
    ((1000, 0.1), (5120, 3)),
    ((1000, 0.01), (10_240, 5)),
    ((1000, 1e-4), (22_016, 11)),
    ((1234, 0.0123), (11_776, 5)),
    ((10_000, 0.1), (48_640, 3)),
    ((10_000, 0.01), (99_328, 6)),
    ((100_000, 0.001), (1_560_064, 8)),
    ((1_000_000, 0.01), (9_904_640, 6)),
    ((1_000_000, 1e-6), (38_686_208, 16)),
    ((50_000_000, 1e-7), (2_487_054_848, 18)),
    ((100_000_000, 0.01), (990_450_176, 6)),
    ((1_000_000_000, 0.02), (8_347_591_168, 5)),
    ((10_000_000_000, 0.001), (155_961_455_616, 8)),
    ((1_000_000_000_000, 1e-4), (21_990_078_073_856, 12)),
];

#[test]
fn the_price_is_five_times_that_of_the_bits() {
    // Pointers of 32 bits do not reach the largest.
    let largest = if usize::BITS < 64 { 50_000_000 } else { 1_000_000_000 };
    for (keys, fpr) in [(0, 0.01), (1000, 0.1), (1_000_000, 0.01), (largest, 1e-4)] {
        let counting = CountingBloomParams::for_fpr(keys, fpr).unwrap();
        let blocked = BlockedBloomParams::for_fpr(keys, fpr).unwrap();
        assert_eq!(counting.size_bytes(), blocked.size_bytes() * 5);
        assert_eq!((counting.bits(), counting.lines()), (blocked.bits(), blocked.lines()));
        assert_eq!((counting.k(), counting.design_fpr()), (blocked.k(), Some(fpr)));
        let rates = |keys| (counting.fpr(keys).to_bits(), counting.fill(keys).to_bits());
        assert_eq!(rates(keys / 2), (blocked.fpr(keys / 2).to_bits(), blocked.fill(keys / 2).to_bits()));
    }
}

#[test]
fn each_bad_argument_is_named() {
    let name = |result: Result<CountingBloomParams, Error>| match result {
        Err(Error::Parameter { name, domain, .. }) => {
            assert!(!domain.is_empty());
            name
        }
        other => panic!("{other:?}"),
    };
    for fpr in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 1.0, 1.5] {
        assert_eq!(name(CountingBloomParams::for_fpr(100, fpr)), "fpr");
    }
    assert_eq!(name(CountingBloomParams::with_shape(0, 1)), "bits");
    assert_eq!(name(CountingBloomParams::with_shape(u64::MAX, 1)), "bits");
    assert_eq!(name(CountingBloomParams::with_shape(BlockedBloomParams::MAX_BITS, 1)), "bits");
    assert_eq!(name(CountingBloomParams::with_shape(512, 0)), "k");
    assert_eq!(name(CountingBloomParams::with_shape(512, 25)), "k");
}
