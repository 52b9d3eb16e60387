//! Shapes of the windowed filter are API: pinned, and refused where they cannot be.

use pds_bloom::{BlockedBloomParams, Error, WindowedBloomParams};

/// Nothing for the largest where pointers have 32 bits: they are beyond them.
fn sized(keys: u64, fpr: f64, generations: u32) -> Option<WindowedBloomParams> {
    match WindowedBloomParams::for_fpr(keys, fpr, generations) {
        Err(Error::Parameter { .. }) if usize::BITS < 64 && keys >= 100_000_000 => None,
        params => Some(params.expect("a shape")),
    }
}

#[test]
fn twenty_shapes_stay() {
    for ((keys, fpr, generations), shape) in PINNED {
        let Some(params) = sized(keys, fpr, generations) else { continue };
        let found = (params.bits_per_generation(), params.k());
        assert_eq!(found, shape, "for {keys} keys at {fpr} in {generations} generations");
    }
}

type Targets = (u64, f64, u32);

const PINNED: [(Targets, (u64, u32)); 20] = [
    ((0, 0.01, 2), (512, 4)),
    ((1, 0.01, 3), (512, 4)),
    ((1, 0.5, 4), (512, 1)),
    ((10, 0.1, 5), (512, 3)),
    ((64, 0.03, 6), (1024, 4)),
    ((100, 0.01, 7), (1536, 6)),
    ((1000, 0.1, 8), (9728, 5)),
    ((1000, 0.01, 2), (11_776, 6)),
    ((1000, 1e-4, 3), (25_600, 12)),
    ((1234, 0.0123, 4), (15_872, 7)),
    ((10_000, 0.1, 5), (82_944, 5)),
    ((10_000, 0.01, 64), (206_336, 11)),
    ((100_000, 0.001, 4), (1_929_728, 11)),
    ((1_000_000, 0.01, 8), (14_967_808, 8)),
    ((1_000_000, 1e-6, 3), (43_692_544, 17)),
    ((50_000_000, 1e-7, 2), (2_676_913_664, 18)),
    ((100_000_000, 0.01, 16), (1_694_688_768, 8)),
    ((1_000_000_000, 0.02, 4), (11_495_494_656, 7)),
    ((10_000_000_000, 0.001, 10), (219_871_164_416, 12)),
    ((1_000_000_000_000, 1e-4, 2), (24_149_108_795_904, 12)),
];

/// The share of the rate that sizing leaves to the bits' not being random subsets, and to rounding.
const LEFT_OVER: f64 = 0.006 + 1e-9;

#[test]
fn the_promise_of_the_whole_is_kept_with_every_generation_full() {
    for ((keys, fpr, generations), _) in PINNED {
        let Some(params) = sized(keys, fpr, generations) else { continue };
        assert!(params.fpr(keys) <= fpr && params.design_fpr() == Some(fpr));
        let bits = params.bits_per_generation();
        if bits > 512 {
            let smaller = WindowedBloomParams::with_shape(bits - 512, params.k(), generations).unwrap();
            assert!(
                smaller.fpr(keys) > fpr * (1.0 - LEFT_OVER),
                "a line is wasted: {keys} {fpr} {generations}"
            );
        }
        assert_eq!(params.bits(), bits * u64::from(generations));
        assert_eq!(params.size_bytes() * 8, params.bits());
    }
}

#[test]
fn the_rate_of_the_whole_is_that_of_independent_generations() {
    let params = WindowedBloomParams::with_shape(100_000, 6, 5).unwrap();
    let each = BlockedBloomParams::with_shape(100_000, 6).unwrap();
    for keys in [0, 1, 1000, 10_000, 100_000] {
        let expected = 1.0 - (1.0 - each.fpr(keys)).powi(5);
        assert!((params.fpr(keys) - expected).abs() <= 1e-12, "{keys}");
        assert_eq!(params.fill(keys).to_bits(), each.fill(keys).to_bits());
    }
    let rates: Vec<f64> = [0, 1, 1000, 1_000_000, u64::MAX].map(|keys| params.fpr(keys)).into();
    assert!(rates.is_sorted() && rates[0] == 0.0 && rates[4] >= 1.0, "{rates:?}");
}

#[test]
fn each_bad_argument_is_named() {
    let name = |result: Result<WindowedBloomParams, Error>| match result {
        Err(Error::Parameter { name, domain, .. }) => {
            assert!(!domain.is_empty());
            name
        }
        other => panic!("{other:?}"),
    };
    for fpr in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 1.0, 1.5] {
        assert_eq!(name(WindowedBloomParams::for_fpr(100, fpr, 4)), "fpr");
    }
    for generations in [0, 1, 65, u32::MAX] {
        assert_eq!(name(WindowedBloomParams::for_fpr(100, 0.01, generations)), "generations");
        assert_eq!(name(WindowedBloomParams::with_shape(512, 1, generations)), "generations");
    }
    assert_eq!(name(WindowedBloomParams::with_shape(0, 1, 2)), "bits");
    assert_eq!(name(WindowedBloomParams::with_shape(u64::MAX, 1, 2)), "bits");
    assert_eq!(name(WindowedBloomParams::with_shape(WindowedBloomParams::MAX_BITS, 1, 2)), "bits");
    assert_eq!(name(WindowedBloomParams::with_shape(512, 0, 2)), "k");
    assert_eq!(name(WindowedBloomParams::with_shape(512, 25, 2)), "k");
    assert_eq!(name(WindowedBloomParams::for_fpr(u64::MAX, 0.5, 2)), "fpr");
    assert_eq!(name(WindowedBloomParams::for_fpr(0, 5e-324, 64)), "fpr");
    let Err(Error::Parameter { value, .. }) = WindowedBloomParams::for_fpr(1 << 40, 1e-8, 2) else {
        panic!("64-bit hashes collide more often");
    };
    assert_eq!(value.to_bits(), 1e-8f64.to_bits(), "what was asked for, not a generation's share");
    let most = WindowedBloomParams::MAX_BITS / 64 / 512 * 512;
    assert!(WindowedBloomParams::with_shape(most, 24, 64).is_ok());
    assert!(WindowedBloomParams::with_shape(most + 1, 24, 64).is_err());
}
