//! Exponential histograms, against a writer of them that follows OpenTelemetry's rule alone.

use std::collections::BTreeMap;

use pds_quantiles::prelude::*;
use pds_quantiles::{Buckets, ExponentialHistogram};
use pds_testkit::{SplitMix64, laws};

/// The bucket of a magnitude: above `base^i`, up to `base^(i + 1)`. By the logarithm, which is off at the edges that are
/// no floats by less than what the values here come near them; at powers of two by the exponent.
fn index(magnitude: f64, scale: i32) -> i32 {
    if magnitude.to_bits() << 12 == 0 {
        let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
        return if scale >= 0 { (exponent << scale) - 1 } else { (exponent - 1) >> -scale };
    }
    let position = libm::log2(magnitude) * libm::exp2(f64::from(scale));
    libm::ceil(position) as i32 - 1
}

fn buckets(magnitudes: impl Iterator<Item = f64>, scale: i32) -> Buckets {
    let mut counts = BTreeMap::new();
    magnitudes.for_each(|magnitude| *counts.entry(index(magnitude, scale)).or_insert(0) += 1);
    let Some((&first, _)) = counts.first_key_value() else { return Buckets::default() };
    let last = counts.last_key_value().map_or(first, |(&last, _)| last);
    Buckets { offset: first, counts: (first..=last).map(|i| counts.get(&i).copied().unwrap_or(0)).collect() }
}

fn histogram(values: &[f64], scale: i32) -> ExponentialHistogram {
    let extreme = |fold: fn(f64, f64) -> f64| values.iter().copied().reduce(fold);
    ExponentialHistogram {
        scale,
        zero_count: values.iter().filter(|&&value| value == 0.0).count() as u64,
        min: extreme(f64::min),
        max: extreme(f64::max),
        positive: buckets(values.iter().copied().filter(|&value| value > 0.0), scale),
        negative: buckets(values.iter().filter(|&&value| value < 0.0).map(|value| -value), scale),
        ..ExponentialHistogram::default()
    }
}

fn sketch(values: &[f64], scale: u8) -> DDSketch {
    let mut sketch = DDSketch::new(DDSketchParams::for_scale(scale).expect("a scale"));
    sketch.extend(values);
    sketch
}

fn mixed(seed: u64, n: usize) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let value = |_| match random.below(8) {
        0 => 0.0,
        1..4 => -libm::exp(3.0 * random.next_normal()),
        _ => libm::exp(3.0 * random.next_normal()),
    };
    (0..n).map(value).collect()
}

#[test]
fn the_buckets_are_those_of_opentelemetry() {
    for scale in 0..=10u8 {
        let values = mixed(scale.into(), 1000);
        let made = sketch(&values, scale).to_exponential_histogram().unwrap();
        let expected = histogram(&values, scale.into());
        assert_eq!((made.positive.clone(), made.negative.clone()), (expected.positive, expected.negative));
        assert_eq!((made.zero_count, made.min, made.max), (expected.zero_count, expected.min, expected.max));
        assert_eq!((made.scale, made.sum), (i32::from(scale), sketch(&values, scale).sum()));
        assert_eq!(DDSketch::from_exponential_histogram(&made), Ok(sketch(&values, scale)));
    }
}

#[test]
fn joined_pairs_are_a_coarser_scale() {
    for (scale, max_bins) in [(5, 100), (10, 64), (18, 50), (0, 8)] {
        let values: Vec<f64> = mixed(7, 2000).into_iter().map(|x| x * x * x).collect();
        let params = DDSketchParams::for_scale(scale).unwrap().with_max_bins(max_bins).unwrap();
        let mut sketch = DDSketch::new(params.with_collapse(Collapse::Uniform));
        sketch.extend(&values);
        let made = sketch.to_exponential_histogram().unwrap();
        assert!(made.scale < i32::from(scale));
        let expected = histogram(&values, made.scale);
        assert_eq!((made.positive, made.negative), (expected.positive, expected.negative));
    }
}

#[test]
fn powers_of_two_stand_one_bucket_higher_and_come_back_where_they_are_extremes() {
    for scale in [0, 3, 8] {
        for values in [
            &[8.0][..],
            &[8.0, 8.0, 8.0],
            &[-8.0, -8.0],
            &[8.0, 9.0, 64.0],
            &[7.9, 64.0, 63.99, 64.0],
            &[-64.0, -63.99, -9.0, -8.0, -8.0],
            &[-4.0, 0.0, 4.0],
            &[1.5 * f64::MIN_POSITIVE, 1.5, f64::MAX],
        ] {
            let theirs = histogram(values, scale);
            let read = DDSketch::from_exponential_histogram(&theirs).unwrap();
            let ours = sketch(values, scale as u8);
            assert_eq!((read.count(), read.min(), read.max()), (ours.count(), ours.min(), ours.max()));
            // Exact but for the second of two greatest powers of two.
            if values.len() != 4 {
                assert_eq!(read, ours, "{values:?}");
            }
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            for (k, &value) in (1..).zip(&sorted) {
                let found = read.quantile(f64::from(k) / sorted.len() as f64).unwrap();
                assert!((found - value).abs() <= read.alpha() * value.abs(), "{value} as {found}");
            }
        }
    }
}

#[test]
fn extremes_that_are_not_known_are_those_of_the_buckets() {
    let values = mixed(9, 500);
    let known = sketch(&values, 4);
    let unknown = ExponentialHistogram { min: None, max: None, ..histogram(&values, 4) };
    let read = DDSketch::from_exponential_histogram(&unknown).unwrap();
    let base = libm::exp2(1.0 / 16.0);
    let (min, max) = (read.min().unwrap() / known.min().unwrap(), read.max().unwrap() / known.max().unwrap());
    assert!((1.0..=base).contains(&min) && (1.0..=base).contains(&max), "{min} {max}");
    assert!(read.bins().map(|(_, n)| n).eq(known.bins().map(|(_, n)| n)));
    // They keep to the laws of bytes.
    assert_eq!(DDSketch::from_bytes(&read.to_bytes()), Ok(read));
}

#[test]
fn what_would_be_lost_is_named() {
    let lost = |field| Err(Error::Incompatible { field });
    let by_accuracy = DDSketch::new(DDSketchParams::for_accuracy(0.01).unwrap());
    assert_eq!(
        by_accuracy.to_exponential_histogram(),
        lost("base").map(|()| ExponentialHistogram::default())
    );

    let mut collapsed = DDSketch::new(DDSketchParams::for_scale(3).unwrap().with_max_bins(8).unwrap());
    collapsed.extend((0..20).map(|i| libm::exp2(f64::from(i))));
    assert_eq!(
        collapsed.to_exponential_histogram().unwrap_err(),
        Error::Incompatible { field: "collapsed bins" }
    );

    let far = sketch(&[1e-300, 1e300], 18).to_exponential_histogram();
    assert_eq!(far.unwrap_err(), Error::Incompatible { field: "span" });

    let read = |change: fn(&mut ExponentialHistogram)| {
        let mut changed = histogram(&[-3.0, 0.0, 1.5, 2.5], 2);
        change(&mut changed);
        DDSketch::from_exponential_histogram(&changed).map(|sketch| sketch.count())
    };
    assert_eq!(read(|_| ()), Ok(4));
    for (change, field) in [
        ((|h| h.scale = -1) as fn(&mut ExponentialHistogram), "scale"),
        (|h| h.scale = 19, "scale"),
        (|h| h.scale = i32::MAX, "scale"),
        (|h| h.zero_threshold = 1e-9, "zero_threshold"),
        (|h| h.zero_threshold = f64::NAN, "zero_threshold"),
        (|h| h.positive.offset = -4100, "subnormal numbers"),
        (|h| h.negative.offset = -4089, "subnormal numbers"),
    ] {
        assert_eq!(read(change), Err(Error::Incompatible { field }));
    }
    for (change, error) in [
        (
            (|h| h.positive.offset = i32::MAX) as fn(&mut ExponentialHistogram),
            Error::Malformed { field: "buckets" },
        ),
        (|h| h.negative.offset = i32::MIN, Error::Malformed { field: "buckets" }),
        (|h| h.positive.counts[0] = u64::MAX, Error::Overflow),
        (|h| h.max = Some(f64::NAN), Error::NonFinite),
        (|h| h.min = Some(f64::NEG_INFINITY), Error::NonFinite),
        (|h| h.max = Some(1.0), Error::Malformed { field: "extremes" }),
        (|h| h.max = Some(100.0), Error::Malformed { field: "extremes" }),
        (|h| h.min = Some(-1.0), Error::Malformed { field: "extremes" }),
    ] {
        assert_eq!(read(change), Err(error));
    }
    let many = Buckets { offset: 0, counts: vec![1; 100_000] };
    let many = ExponentialHistogram { scale: 10, positive: many, ..ExponentialHistogram::default() };
    assert_eq!(DDSketch::from_exponential_histogram(&many), lost("max_bins").map(|()| by_accuracy));
}

#[test]
fn nothing_is_nothing() {
    let empty = sketch(&[], 5);
    let made = empty.to_exponential_histogram().unwrap();
    assert_eq!((made.positive.counts.len(), made.zero_count, made.min), (0, 0, None));
    assert_eq!(DDSketch::from_exponential_histogram(&made), Ok(empty));
    assert!(DDSketch::from_exponential_histogram(&ExponentialHistogram::default()).unwrap().is_empty());
}

/// As reported: refused, where one extreme or both were left out.
#[test]
fn a_single_value_needs_no_extremes() {
    for value in [5.0, -5.0, 8.0, -8.0, 0.0, 1.5 * f64::MIN_POSITIVE, -f64::MAX] {
        for scale in [0, 3, 18] {
            let full = histogram(&[value], scale);
            let ours = sketch(&[value], scale as u8);
            for (min, max) in [(full.min, None), (None, full.max), (full.min, full.max)] {
                let read =
                    DDSketch::from_exponential_histogram(&ExponentialHistogram { min, max, ..full.clone() });
                assert_eq!(read.as_ref(), Ok(&ours), "{value} of {min:?} to {max:?}");
            }
            let unknown = ExponentialHistogram { min: None, max: None, ..full.clone() };
            let read = DDSketch::from_exponential_histogram(&unknown).expect("one value");
            let (min, max) = (read.min().expect("a value"), read.max().expect("a value"));
            assert_eq!((read.count(), min.to_bits()), (1, max.to_bits()));
            // A power of two is the edge of its bucket, which is as far off as can be: but for rounding.
            let bound = read.alpha() * value.abs() * (1.0 + 4.0 * f64::EPSILON);
            laws::at_most((min - value).abs(), bound).assert("what stands for the bin");
            assert_eq!(DDSketch::from_bytes(&read.to_bytes()), Ok(read));
            if value != 0.0 {
                let near = value * (1.0 - f64::EPSILON);
                let (min, max) = (Some(value.min(near)), Some(value.max(near)));
                let two = ExponentialHistogram { min, max, ..full };
                let refused = DDSketch::from_exponential_histogram(&two);
                assert_eq!(refused, Err(Error::Malformed { field: "extremes" }), "one value is not two");
            }
        }
    }
}

/// As reported: refused, for the computed edge was on the wrong side of the extreme that was known.
#[test]
fn an_extreme_next_to_the_edge_of_its_bucket_needs_no_other() {
    let (mut checked, mut beyond) = (0, 0);
    for scale in [1u8, 3, 8, 12] {
        let params = DDSketchParams::for_scale(scale).expect("a scale");
        for i in 1..400 {
            let edge = libm::exp2(f64::from(i) / libm::exp2(f64::from(scale)));
            for value in
                [-2i64, -1, 0, 1, 2].map(|ulps| f64::from_bits(edge.to_bits().wrapping_add_signed(ulps)))
            {
                for value in [value, -value] {
                    let mut ours = DDSketch::new(params);
                    ours.extend([value; 3]);
                    let full = ours.to_exponential_histogram().expect("one bin");
                    for (min, max) in [(full.min, None), (None, full.max)] {
                        let part = ExponentialHistogram { min, max, ..full.clone() };
                        let read = DDSketch::from_exponential_histogram(&part).expect("values of one bin");
                        let (low, high) = (read.min().expect("a value"), read.max().expect("a value"));
                        assert!(low <= value && value <= high, "{value} is not from {low} to {high}");
                        checked += 1;
                        beyond += u32::from(low.to_bits() == high.to_bits());
                        assert_eq!(DDSketch::from_bytes(&read.to_bytes()), Ok(read));
                    }
                }
            }
        }
    }
    assert!(beyond > 0, "of {checked} extremes none lies beyond its edge: nothing was tested");
}
