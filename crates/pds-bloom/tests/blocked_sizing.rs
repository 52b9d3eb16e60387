//! Shapes are API: pinned, and refused where they cannot be.

use pds_bloom::{BlockedBloomParams, BloomParams, Error};

#[test]
fn twenty_shapes_stay() {
    for ((keys, fpr), shape) in PINNED {
        let params = match BlockedBloomParams::for_fpr(keys, fpr) {
            // Where pointers have 32 bits, the largest are beyond them.
            Err(Error::Parameter { .. }) if usize::BITS < 64 && keys >= 1_000_000_000 => continue,
            params => params.unwrap(),
        };
        assert_eq!((params.lines(), params.k()), shape, "for {keys} keys at {fpr}");
    }
}

const PINNED: [((u64, f64), (u64, u32)); 20] = [
    ((0, 0.01), (1, 3)),
    ((1, 0.01), (1, 3)),
    ((1, 0.5), (1, 1)),
    ((10, 0.1), (1, 1)),
    ((64, 0.03), (1, 4)),
    ((100, 0.01), (2, 5)),
    ((1000, 0.1), (10, 3)),
    ((1000, 0.01), (20, 5)),
    ((1000, 0.0001), (43, 11)),
    ((1234, 0.0123), (23, 5)),
    ((10_000, 0.1), (95, 3)),
    ((10_000, 0.01), (194, 6)),
    ((100_000, 0.001), (3047, 8)),
    ((1_000_000, 0.01), (19_345, 6)),
    ((1_000_000, 1e-6), (75_559, 16)),
    ((50_000_000, 1e-9), (7_802_149, 22)),
    ((100_000_000, 0.01), (1_934_473, 6)),
    ((1_000_000_000, 0.02), (16_303_889, 5)),
    ((10_000_000_000, 0.001), (304_612_218, 8)),
    ((1_000_000_000_000, 1e-5), (57_832_707_710, 14)),
];

#[test]
fn the_best_number_of_bits_per_key_stays() {
    let best = |bits_per_key: u64| {
        let keys = 1_000_000;
        BlockedBloomParams::for_bits(keys, bits_per_key * keys).unwrap().k()
    };
    assert_eq!([1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 64].map(best), BEST);
}

const BEST: [u32; 12] = [1, 1, 3, 4, 5, 6, 7, 8, 11, 12, 15, 20];

/// Uneven lines cost little down to 1e-4, and more and more below.
#[test]
fn locality_has_its_price() {
    for (fpr, most) in [(0.1, 1.01), (0.01, 1.04), (0.001, 1.09), (1e-4, 1.16), (1e-5, 1.25)] {
        let keys = 10_000_000;
        let blocked = BlockedBloomParams::for_fpr(keys, fpr).unwrap().bits() as f64;
        let classic = BloomParams::for_fpr(keys, fpr).unwrap().bits() as f64;
        assert!(blocked / classic > 1.0 && blocked / classic < most, "{fpr}: {}", blocked / classic);
    }
}

#[test]
fn each_bad_argument_is_named() {
    let name = |result: Result<BlockedBloomParams, Error>| match result {
        Err(Error::Parameter { name, domain, .. }) => {
            assert!(!domain.is_empty());
            name
        }
        other => panic!("{other:?}"),
    };
    for fpr in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 1.0, 1.5] {
        assert_eq!(name(BlockedBloomParams::for_fpr(100, fpr)), "fpr");
    }
    for bits in [0, u64::MAX] {
        assert_eq!(name(BlockedBloomParams::with_shape(bits, 1)), "bits");
        assert_eq!(name(BlockedBloomParams::for_bits(100, bits)), "bits");
    }
    assert_eq!(name(BlockedBloomParams::with_shape(64, 0)), "k");
    assert_eq!(name(BlockedBloomParams::with_shape(64, 25)), "k");
    assert_eq!(name(BlockedBloomParams::for_fpr(u64::MAX, 0.5)), "fpr", "64-bit hashes collide more often");
    assert_eq!(name(BlockedBloomParams::for_fpr(500_000_000, 1e-12)), "fpr");
}

#[test]
fn shapes_beyond_32_bits_are_priced_before_they_are_made() {
    let params = BlockedBloomParams::with_shape((1 << 32) + 1, 7).unwrap();
    assert_eq!((params.bits(), params.size_bytes()), ((1 << 32) + 512, (1 << 29) + 64));
    if usize::BITS == 64 {
        let large = BlockedBloomParams::for_fpr(10_000_000_000, 0.01).unwrap();
        assert!((12.3e9..12.5e9).contains(&(large.size_bytes() as f64)));
        assert!(large.fpr(10_000_000_000) <= 0.01);
    }
    assert_eq!(BlockedBloomParams::with_shape(1, 1).unwrap().bits(), 512);
    assert!(BlockedBloomParams::with_shape(BlockedBloomParams::MAX_BITS, 24).is_ok());
    assert!(BlockedBloomParams::with_shape(BlockedBloomParams::MAX_BITS + 1, 24).is_err());
}

#[test]
fn rates_are_probabilities_at_every_load() {
    let shapes = [(1u64, 1), (512, 24), (9_600, 6), (BlockedBloomParams::MAX_BITS.min(1 << 40), 9)];
    for params in shapes.map(|(bits, k)| BlockedBloomParams::with_shape(bits, k).unwrap()) {
        let rates: Vec<f64> = [0, 1, 1000, 1_000_000, u64::MAX].map(|keys| params.fpr(keys)).into();
        assert!(rates.is_sorted() && rates[0] == 0.0 && rates[4] <= 1.0, "{rates:?}");
        assert!([0, 1, 1000, u64::MAX].map(|keys| params.fill(keys)).is_sorted());
    }
}
