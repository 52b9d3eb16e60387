//! Shapes are API: pinned, and refused where they cannot be.

use pds_bloom::{BloomParams, Error};

#[test]
fn twenty_shapes_stay() {
    for ((keys, fpr), shape) in PINNED {
        let params = match BloomParams::for_fpr(keys, fpr) {
            // Where pointers have 32 bits, the largest are beyond them.
            Err(Error::Parameter { .. }) if usize::BITS < 64 && keys >= 1_000_000_000 => continue,
            params => params.unwrap(),
        };
        assert_eq!((params.bits(), params.k()), shape, "for {keys} keys at {fpr}");
    }
}

const PINNED: [((u64, f64), (u64, u32)); 20] = [
    ((0, 0.01), (64, 6)),
    ((1, 0.01), (64, 6)),
    ((1, 0.5), (64, 1)),
    ((10, 0.1), (64, 2)),
    ((64, 0.03), (512, 4)),
    ((100, 0.01), (1024, 6)),
    ((1000, 0.1), (4864, 3)),
    ((1000, 0.01), (9600, 7)),
    ((1000, 0.0001), (19_200, 13)),
    ((1234, 0.0123), (11_328, 6)),
    ((10_000, 0.1), (48_128, 3)),
    ((10_000, 0.01), (95_936, 7)),
    ((100_000, 0.001), (1_437_824, 10)),
    ((1_000_000, 0.01), (9_592_960, 7)),
    ((1_000_000, 1e-6), (28_755_328, 20)),
    ((50_000_000, 1e-9), (2_156_927_808, 30)),
    ((100_000_000, 0.01), (959_295_488, 7)),
    ((1_000_000_000, 0.02), (8_151_551_424, 6)),
    ((10_000_000_000, 0.001), (143_776_404_672, 10)),
    ((1_000_000_000_000, 1e-5), (23_977_743_748_928, 17)),
];

#[test]
fn the_textbook_shape_is_the_published_one() {
    for (fpr, bits_per_key, k) in
        [(0.1, 4.79, 3), (0.01, 9.59, 7), (0.001, 14.38, 10), (1e-4, 19.17, 13), (1e-6, 28.76, 20)]
    {
        let params = BloomParams::textbook(100_000_000, fpr).unwrap();
        assert_eq!(params.k(), k);
        // Published to two decimals.
        assert!((params.bits() as f64 / 1e8 - bits_per_key).abs() <= 0.005, "{fpr}");
    }
}

#[test]
fn rounding_k_after_m_breaks_the_promise_and_ours_keeps_it() {
    let (ours, textbook) =
        (BloomParams::for_fpr(10_000, 0.1).unwrap(), BloomParams::textbook(10_000, 0.1).unwrap());
    assert!(ours.fpr(10_000) <= 0.1);
    assert!(textbook.fpr(10_000) > 0.1006 && textbook.fpr(10_000) < 0.1008);
    assert_eq!(ours.design_fpr(), Some(0.1));
    assert_eq!(textbook.design_fpr(), Some(textbook.fpr(10_000)));
}

#[test]
fn each_bad_argument_is_named() {
    let name = |result: Result<BloomParams, Error>| match result {
        Err(Error::Parameter { name, domain, .. }) => {
            assert!(!domain.is_empty());
            name
        }
        other => panic!("{other:?}"),
    };
    for fpr in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 1.0, 1.5] {
        assert_eq!(name(BloomParams::for_fpr(100, fpr)), "fpr");
        assert_eq!(name(BloomParams::textbook(100, fpr)), "fpr");
    }
    assert_eq!(name(BloomParams::with_shape(0, 1)), "bits");
    assert_eq!(name(BloomParams::with_shape(u64::MAX, 1)), "bits");
    assert_eq!(name(BloomParams::with_shape(64, 0)), "k");
    assert_eq!(name(BloomParams::with_shape(64, 65)), "k");
    assert_eq!(name(BloomParams::for_fpr(u64::MAX, 0.5)), "fpr", "64-bit hashes collide more often");
    // On a 64-bit platform hash collisions refuse a target before the address space does.
    if cfg!(target_pointer_width = "32") {
        assert_eq!(name(BloomParams::for_fpr(1 << 40, 0.2)), "bits");
        assert_eq!(name(BloomParams::textbook(1 << 40, 0.2)), "bits");
    }
}

#[test]
fn a_rate_below_what_64_bit_hashes_give_is_refused() {
    // 5e8 keys collide with a stranger at 2.7e-11: a filter that promises 1e-12 would break its word.
    for make in [BloomParams::for_fpr, BloomParams::textbook] {
        assert!(matches!(make(500_000_000, 1e-12), Err(Error::Parameter { name: "fpr", .. })));
        // Its bits are more than 32-bit pointers reach.
        assert_eq!(make(500_000_000, 1e-10).is_ok(), usize::BITS == 64);
        assert!(make(1, f64::MIN_POSITIVE).is_err());
        assert!(make(0, f64::MIN_POSITIVE).is_ok());
    }
}

/// A candidate number of probes that does not fit is passed over, not the end of the search.
#[test]
fn a_target_that_one_number_of_probes_meets_is_met() {
    if cfg!(target_pointer_width = "64") {
        let keys = 11_068_046_444_225_730_969;
        assert!(BloomParams::for_fpr(keys, 0.91).unwrap().fpr(keys) <= 0.91);
    }
}

#[test]
fn shapes_beyond_32_bits_are_priced_before_they_are_made() {
    let params = BloomParams::with_shape((1 << 32) + 1, 7).unwrap();
    assert_eq!((params.bits(), params.size_bytes()), ((1 << 32) + 64, (1 << 29) + 8));
    if usize::BITS == 64 {
        let large = BloomParams::for_fpr(10_000_000_000, 0.01).unwrap();
        assert!((11.9e9..12.1e9).contains(&(large.size_bytes() as f64)));
        assert!(large.fpr(10_000_000_000) <= 0.01);
    }
    assert_eq!(BloomParams::with_shape(1, 1).unwrap().bits(), 64);
    assert!(BloomParams::with_shape(BloomParams::MAX_BITS, 64).is_ok());
    assert!(BloomParams::with_shape(BloomParams::MAX_BITS + 1, 64).is_err());
}

#[test]
fn rates_are_probabilities_at_every_load() {
    let params = BloomParams::for_fpr(1000, 0.01).unwrap();
    let rates: Vec<f64> = [0, 1, 1000, 1_000_000, u64::MAX].map(|keys| params.fpr(keys)).into();
    assert!(rates.is_sorted() && rates[0] == 0.0 && rates[4] <= 1.0, "{rates:?}");
    assert!([0, 1, 1000, u64::MAX].map(|keys| params.fill(keys)).is_sorted());
}
