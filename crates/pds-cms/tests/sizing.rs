//! From targets to shapes: what is promised, what is pinned, what is refused.

use std::f64::consts::E;

use pds_cms::{CountMinParams, Error};
use proptest::prelude::*;

fn shape(params: CountMinParams) -> (u64, u32) {
    (params.width(), params.depth())
}

#[test]
fn the_published_shapes() {
    let minimal = CountMinParams::for_error(0.001, 0.01).unwrap();
    assert_eq!((shape(minimal), minimal.cells()), ((3163, 4), 12_652));
    let published = CountMinParams::textbook(0.001, 0.01).unwrap();
    assert_eq!((shape(published), published.cells()), ((2719, 5), 13_595));
    assert_eq!(published.size_bytes::<u32>(), 54_380);
    assert_eq!(CountMinParams::with_shape(2048, 5).unwrap().size_bytes::<u32>(), 40_960);
    assert_eq!(shape(CountMinParams::textbook(0.01, 0.01).unwrap()), (272, 5));
    assert_eq!(shape(CountMinParams::textbook(0.002, 0.01).unwrap()), (1360, 5));
    // A raw shape and the published shape agree on what the shape promises.
    let raw = CountMinParams::with_shape(2719, 5).unwrap();
    assert!((raw.epsilon() * 2719.0 / E - 1.0).abs() < 1e-15);
    assert_eq!(raw.error_bound(1_000_000_000), 999_735);
}

/// Shapes are API: sketches of one target merge whatever release made them. A change is value-breaking.
#[test]
fn shapes_are_the_same_in_every_release() {
    let minimal = [
        ((0.1, 0.1), (32, 2)),
        ((0.1, 0.01), (32, 4)),
        ((0.05, 0.5), (41, 1)),
        ((0.01, 0.1), (317, 2)),
        ((0.01, 0.01), (317, 4)),
        ((0.01, 0.001), (317, 6)),
        ((0.002, 0.01), (1582, 4)),
        ((2.0 / 256.0, 0.01), (405, 4)),
        ((0.001, 0.25), (4001, 1)),
        ((0.001, 0.01), (3163, 4)),
        ((0.001, 1e-4), (3163, 8)),
        ((0.001, 1e-6), (3512, 11)),
        ((1e-4, 1e-3), (31_623, 6)),
        ((1e-5, 0.01), (316_228, 4)),
        ((1e-6, 1e-9), (3_981_087, 15)),
        ((1e-9, 0.5), (2_000_000_001, 1)),
        ((0.9, 0.9), (2, 1)),
    ];
    for ((eps, delta), expected) in minimal {
        if usize::BITS < 64 && expected.0 * u64::from(expected.1) > CountMinParams::MAX_CELLS {
            let refused = CountMinParams::for_error(eps, delta);
            assert!(matches!(refused, Err(Error::Parameter { name: "eps", .. })));
            continue;
        }
        assert_eq!(
            shape(CountMinParams::for_error(eps, delta).unwrap()),
            expected,
            "eps {eps}, delta {delta}"
        );
    }
    let published = [
        ((0.001, 0.01), (2719, 5)),
        ((0.1, 0.5), (28, 1)),
        ((E / 2000.0, (-5.0f64).exp()), (2000, 5)),
        ((E / 256.0, 0.01), (256, 5)),
        ((1e-6, 1.2e-7), (2_718_282, 16)),
    ];
    for ((eps, delta), expected) in published {
        assert_eq!(
            shape(CountMinParams::textbook(eps, delta).unwrap()),
            expected,
            "eps {eps}, delta {delta}"
        );
    }
}

#[test]
fn what_is_out_of_range_is_refused_by_name() {
    let name = |result: Result<CountMinParams, Error>| match result {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for sizing in [CountMinParams::for_error, CountMinParams::textbook] {
        for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY, -0.1, -0.0, 0.0, 1.0, 1.5] {
            assert_eq!((name(sizing(bad, 0.01)), name(sizing(0.01, bad))), ("eps", "delta"), "{bad}");
        }
        for tiny in [1e-19, 1e-300, f64::from_bits(1)] {
            assert_eq!(name(sizing(tiny, 0.01)), "eps", "{tiny}");
        }
        // Two keys share a 64-bit hash more often than that.
        for tiny in [1e-17, 1e-300, f64::from_bits(1)] {
            assert_eq!(name(sizing(0.01, tiny)), "delta", "{tiny}");
        }
    }
    assert_eq!(name(CountMinParams::textbook(0.01, 1e-7)), "delta");
    assert_eq!(name(CountMinParams::with_shape(0, 5)), "width");
    assert_eq!(name(CountMinParams::with_shape(5, 0)), "depth");
    assert_eq!(name(CountMinParams::with_shape(5, CountMinParams::MAX_DEPTH + 1)), "depth");
    assert_eq!(name(CountMinParams::with_shape(5, u32::MAX)), "depth");
    assert_eq!(name(CountMinParams::with_shape(CountMinParams::MAX_CELLS + 1, 1)), "width");
    assert_eq!(name(CountMinParams::with_shape(u64::MAX, 16)), "width");
    let largest = CountMinParams::with_shape(CountMinParams::MAX_CELLS / 16, 16).unwrap();
    assert!(isize::try_from(largest.size_bytes::<u64>()).is_ok());
}

#[test]
fn the_error_in_counts_is_rounded_down_and_saturates() {
    let params = CountMinParams::with_shape(8, 3).unwrap();
    assert_eq!([0, 1, 2, 3, 100].map(|total| params.error_bound(total)), [0, 0, 0, 1, 33]);
    let narrow = CountMinParams::with_shape(1, 1).unwrap();
    assert_eq!(narrow.error_bound(u64::MAX), u64::MAX);
}

/// Targets at which the chance of a shared hash moves a width by no more than a millionth.
fn targets() -> impl Strategy<Value = (f64, f64)> {
    (1e-4..0.99f64, 0.02..30.0f64).prop_map(|(eps, exponent)| (eps, (-exponent).exp2()))
}

const A_MILLIONTH: f64 = 1e-6;

proptest! {
    #[test]
    fn the_promise_is_kept_and_no_column_is_wasted((eps, delta) in targets()) {
        let params = CountMinParams::for_error(eps, delta).unwrap();
        let failure = |width: u64| (1.0 / (width as f64 * eps)).powf(f64::from(params.depth()));
        prop_assert!(failure(params.width()) <= delta);
        prop_assert!(failure(params.width() - 1) > delta * (1.0 - A_MILLIONTH));
        prop_assert!(params.epsilon() <= eps);
        prop_assert_eq!(params.delta().to_bits(), delta.to_bits());
    }

    #[test]
    fn fewer_cells_take_more_rows_and_save_less_than_three_per_cent((eps, delta) in targets()) {
        let params = CountMinParams::for_error(eps, delta).unwrap();
        let cells = |depth: u32| (delta.powf(-1.0 / f64::from(depth)) / eps).ceil() * f64::from(depth);
        // Rounding, and shared hashes, may cost a column in each row.
        let at_most = |depth: u32| cells(depth) * (1.0 + A_MILLIONTH) + f64::from(depth);
        let depths = 1..=CountMinParams::MAX_DEPTH;
        let fewest = depths.clone().map(cells).fold(f64::INFINITY, f64::min);
        let fewest_at_most = depths.map(at_most).fold(f64::INFINITY, f64::min);
        prop_assert!(params.cells() as f64 <= 1.03 * fewest_at_most);
        prop_assert!((1..params.depth()).all(|fewer| at_most(fewer) > 1.03 * fewest));
    }

    #[test]
    fn the_published_shape_keeps_its_promise(eps in 1e-7..0.99f64, exponent in 0.02..23.0f64) {
        let delta = (-exponent).exp2();
        let params = CountMinParams::textbook(eps, delta).unwrap();
        prop_assert!(params.epsilon() <= eps * (1.0 + 1e-11));
        prop_assert!((-f64::from(params.depth())).exp() <= delta * (1.0 + 1e-10));
    }
}
