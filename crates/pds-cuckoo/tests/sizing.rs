//! Shapes are API: pinned, and refused where they cannot be.

use pds_cuckoo::{CuckooParams, Error, GrowableCuckooParams};

/// None where pointers have 32 bits and the table is beyond them: it is refused, by name.
fn sized(keys: u64, fpr: f64) -> Option<CuckooParams> {
    match CuckooParams::for_fpr(keys, fpr) {
        Err(Error::Parameter { name: "keys", .. }) if usize::BITS < 64 => None,
        params => Some(params.expect("a shape that fits")),
    }
}

#[test]
fn twenty_shapes_stay() {
    for ((keys, fpr), shape) in PINNED {
        let Some(params) = sized(keys, fpr) else { continue };
        assert_eq!((params.buckets(), params.fingerprint_bits()), shape, "for {keys} keys at {fpr}");
    }
}

const PINNED: [((u64, f64), (u64, u32)); 20] = [
    ((0, 0.01), (2, 10)),
    ((1, 0.01), (2, 10)),
    ((1, 0.5), (2, 4)),
    ((8, 0.1), (4, 7)),
    ((9, 0.03), (8, 8)),
    ((64, 0.03), (24, 8)),
    ((100, 0.01), (32, 10)),
    ((1000, 0.1), (266, 7)),
    ((1000, 0.01), (266, 10)),
    ((1000, 0.0001), (266, 17)),
    ((1234, 0.0123), (326, 10)),
    ((10_000, 0.1), (2632, 7)),
    ((10_000, 0.001), (2632, 13)),
    ((100_000, 0.3), (26_316, 6)),
    ((1_000_000, 0.4), (263_158, 6)),
    ((1_000_000, 1e-6), (263_158, 23)),
    ((50_000_000, 2e-9), (13_157_896, 32)),
    ((100_000_000, 0.01), (26_315_790, 10)),
    ((10_000_000_000, 0.001), (2_631_578_948, 13)),
    ((1_000_000_000_000, 1e-5), (263_157_894_738, 20)),
];

#[test]
fn plans_stay() {
    let plan = |initial, most, fpr| {
        let params = GrowableCuckooParams::for_fpr(initial, most, fpr).unwrap();
        (params.first_buckets(), params.doublings(), params.fingerprint_bits())
    };
    assert_eq!(plan(0, 0, 0.01), (2, 0, 10));
    assert_eq!(plan(64, 1_000_000, 0.001), (34, 13, 13));
    assert_eq!(plan(1000, 1000, 0.01), (266, 0, 10));
    assert_eq!(plan(1, 1_000_000_000, 0.001), (502, 19, 13));
    assert_eq!(plan(1_000_000, 3_000_000, 0.01), (394_738, 1, 10));
}

#[test]
fn a_key_costs_a_hundredth_more_than_the_formula_at_most() {
    // 95% load; from 3,000 keys on.
    for keys in (0..=40).map(|step| (3000.0 * 2f64.powf(f64::from(step) / 2.0)) as u64) {
        for fpr in [0.03, 0.01, 0.001, 1e-4, 1e-6] {
            let Some(params) = sized(keys, fpr) else { continue };
            let bits = params.size_bytes() as f64 * 8.0 / keys as f64;
            let formula = f64::from(params.fingerprint_bits()) / CuckooParams::MAX_LOAD;
            assert!(bits <= 1.01 * formula, "{keys} keys at {fpr}: {bits} bits, {formula}");
            assert!(params.capacity() >= keys && params.fpr(keys) <= fpr);
        }
    }
}

#[test]
fn the_fingerprint_is_the_shortest_that_keeps_the_rate() {
    for (fpr, bits) in [(0.1, 7), (0.03, 8), (0.01, 10), (0.002, 12), (0.001, 13), (1e-4, 17), (1e-6, 23)] {
        let params = CuckooParams::for_fpr(100_000, fpr).unwrap();
        assert_eq!(params.fingerprint_bits(), bits, "{fpr}");
        let shorter = CuckooParams::with_shape(params.buckets(), bits - 1).unwrap();
        assert!(params.fpr(100_000) <= fpr && shorter.fpr(100_000) > fpr);
    }
}

#[test]
fn short_fingerprints_are_lengthened_where_they_would_not_take_the_keys() {
    // 15 fingerprints keep a rate of 0.4; but of a million keys more than eight would look the same.
    assert_eq!(CuckooParams::for_fpr(5, 0.4).unwrap().fingerprint_bits(), 4);
    assert_eq!(CuckooParams::for_fpr(1_000_000, 0.4).unwrap().fingerprint_bits(), 6);
    assert!(CuckooParams::with_shape(1 << 20, 4).unwrap().capacity() < 1 << 21);
}

#[test]
fn capacity_is_95_percent_in_large_tables_and_grows_with_the_table() {
    for bits in [8, 12, 16, 32] {
        let largest = if usize::BITS < 64 { 1 << 26 } else { (1 << 32) + 1 };
        for buckets in [400u64, 1000, 1 << 20, largest] {
            let params = CuckooParams::with_shape(buckets, bits).unwrap();
            assert_eq!(params.capacity(), (params.slots() as f64 * CuckooParams::MAX_LOAD) as u64);
        }
        let capacities: Vec<u64> =
            (1..500).map(|pairs| CuckooParams::with_shape(2 * pairs, bits).unwrap().capacity()).collect();
        assert!(capacities.is_sorted() && capacities[0] == 7);
    }
    assert_eq!(CuckooParams::with_shape(1, 12).unwrap().capacity(), 3);
}

#[test]
fn each_bad_argument_is_named() {
    fn name<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
        match result {
            Err(Error::Parameter { name, domain, .. }) => {
                assert!(!domain.is_empty());
                name
            }
            other => panic!("{other:?}"),
        }
    }
    for fpr in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 1.0, 1.5, 1e-9] {
        assert_eq!(name(CuckooParams::for_fpr(100, fpr)), "fpr");
        assert_eq!(name(GrowableCuckooParams::for_fpr(1, 100, fpr)), "fpr");
    }
    assert_eq!(name(CuckooParams::with_shape(0, 8)), "buckets");
    assert_eq!(name(CuckooParams::with_shape(u64::MAX, 8)), "buckets");
    assert_eq!(name(CuckooParams::with_shape(8, 3)), "fingerprint_bits");
    assert_eq!(name(CuckooParams::with_shape(8, 33)), "fingerprint_bits");
    assert_eq!(name(CuckooParams::with_shape(8, u32::MAX)), "fingerprint_bits");
    assert_eq!(name(CuckooParams::for_fpr(1 << 60, 0.5)), "keys");
    assert_eq!(name(CuckooParams::for_fpr(u64::MAX, 0.9)), "fpr", "64-bit hashes collide more often");
    assert_eq!(name(GrowableCuckooParams::for_fpr(2, 1, 0.01)), "initial_keys");
    assert_eq!(name(GrowableCuckooParams::with_shape(0, 1, 8)), "first_buckets");
    assert_eq!(name(GrowableCuckooParams::with_shape(3, 1, 8)), "first_buckets");
    assert_eq!(name(GrowableCuckooParams::with_shape(1 << 50, 20, 8)), "first_buckets");
    assert_eq!(name(GrowableCuckooParams::with_shape(2, 25, 8)), "doublings");
    assert_eq!(name(GrowableCuckooParams::with_shape(2, u32::MAX, 8)), "doublings");
    assert_eq!(name(GrowableCuckooParams::with_shape(2, 1, 3)), "fingerprint_bits");
    assert!(GrowableCuckooParams::with_shape(2, 24, 8).is_ok());
}

#[test]
fn a_rate_below_what_64_bit_hashes_give_is_refused() {
    // 2^56 keys collide with a stranger at 0.4%.
    assert!(matches!(CuckooParams::for_fpr(1 << 56, 0.005), Err(Error::Parameter { name: "fpr", .. })));
    // 2^33 keys at 4.7e-10, beside the 1.8e-9 of the longest fingerprint.
    assert!(matches!(CuckooParams::for_fpr(1 << 33, 2e-9), Err(Error::Parameter { name: "fpr", .. })));
    assert!(CuckooParams::for_fpr(1 << 20, 2e-9).is_ok());
}

#[test]
fn shapes_beyond_32_bits_are_priced_before_they_are_made() {
    if usize::BITS < 64 {
        let refused = CuckooParams::with_shape((1 << 32) + 1, 12);
        assert!(matches!(refused, Err(Error::Parameter { name: "buckets", .. })));
        assert!(sized(100_000_000_000, 0.01).is_none());
        return;
    }
    let params = CuckooParams::with_shape((1 << 32) + 1, 12).unwrap();
    assert_eq!((params.slots(), params.size_bytes()), ((1 << 34) + 4, 6 * (1 << 32) + 16));
    let large = CuckooParams::for_fpr(100_000_000_000, 0.01).unwrap();
    assert!(large.buckets() > 1 << 34 && large.fpr(100_000_000_000) <= 0.01);
    let plan = GrowableCuckooParams::for_fpr(1 << 20, 1 << 36, 0.01).unwrap();
    assert_eq!(plan.doublings(), 16);
    assert!(plan.size_bytes_after(0) < 1 << 23 && plan.size_bytes() > 1 << 36);
    assert_eq!(plan.size_bytes_after(16), plan.size_bytes());
    assert_eq!(plan.size_bytes_after(u32::MAX), plan.size_bytes());
}

#[test]
fn a_plan_ends_at_the_table_of_a_fixed_filter() {
    for (initial, most) in [(1, 10), (64, 1_000_000), (1000, 1_000_000), (1_000_000, 1_000_000)] {
        let plan = GrowableCuckooParams::for_fpr(initial, most, 0.001).unwrap();
        let fixed = CuckooParams::for_fpr(most, 0.001).unwrap();
        assert!(plan.capacity() >= most && plan.fpr(most) <= 0.001);
        // At first no more than a doubling above what the first keys need.
        let first = CuckooParams::for_fpr(initial, 0.001).unwrap();
        assert!(plan.first_buckets() <= 2 * first.buckets() + 2);
        // Rounded up to an even number at first: two buckets, doubled.
        assert!(plan.slots() <= fixed.slots() + (8 << plan.doublings()));
        let sizes: Vec<u64> = (0..=plan.doublings()).map(|done| plan.size_bytes_after(done)).collect();
        assert!(sizes.is_sorted());
    }
}

#[test]
fn rates_are_probabilities_at_every_load() {
    for buckets in [1, 2, 3, 250, 263_158] {
        let params = CuckooParams::with_shape(buckets, 4).unwrap();
        let rates: Vec<f64> = [0, 1, 1000, 1_000_000, u64::MAX].map(|keys| params.fpr(keys)).into();
        assert!(rates.is_sorted() && rates[0] == 0.0 && rates[1] > 0.0 && rates[4] <= 1.0, "{rates:?}");
    }
}
