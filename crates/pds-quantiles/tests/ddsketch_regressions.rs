//! Faults that were reported of other quantile sketches, each with its right answer.

use pds_quantiles::prelude::*;

fn sketch() -> DDSketch {
    DDSketch::new(DDSketchParams::for_accuracy(0.01).expect("an accuracy"))
}

fn of(values: impl IntoIterator<Item = f64>) -> DDSketch {
    let mut sketch = sketch();
    sketch.extend(values);
    sketch
}

/// An infinity after a value made another library panic.
#[test]
fn an_infinity_after_a_value_is_refused() {
    let mut sketch = of([1.0]);
    let before = sketch.clone();
    for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        assert_eq!(sketch.try_insert(value), Err(Error::NonFinite));
        assert_eq!(sketch.insert_n(value, 0), Err(Error::NonFinite));
        assert_eq!(sketch.insert_n(value, u64::MAX), Err(Error::NonFinite));
    }
    assert_eq!(sketch, before);
    assert!(!sketch.insert(f64::INFINITY));
    assert_eq!((sketch.count(), sketch.rejected(), sketch.max()), (1, 1, Some(1.0)));
}

/// A NaN was counted as a zero, and spoilt the sum.
#[test]
fn a_nan_is_counted_as_refused_and_as_nothing_else() {
    let sketch = of([f64::NAN, 2.0, f64::NAN, -f64::NAN, 2.0]);
    assert_eq!((sketch.count(), sketch.rejected()), (2, 3));
    assert_eq!((sketch.quantile(0.0), sketch.quantile(0.5), sketch.sum()), (Some(2.0), Some(2.0), Some(4.0)));
}

/// Refusals are per stream, as values are: they travel, and add up.
#[test]
fn refusals_are_part_of_the_bytes_and_of_a_merge() {
    let mut left = of([f64::NAN, 1.0]);
    let right = DDSketch::from_bytes(&of([f64::INFINITY, f64::NAN]).to_bytes()).unwrap();
    assert_eq!((right.count(), right.rejected(), right.is_empty()), (0, 2, true));
    left.merge(&right).unwrap();
    assert_eq!((left.count(), left.rejected()), (1, 3));
    assert_eq!(left.to_bytes(), of([f64::NAN, f64::NAN, 1.0, f64::INFINITY]).to_bytes());
    left.clear();
    assert_eq!(left, sketch());
}

/// Small values were given as 0, though the minimum was not.
#[test]
fn small_values_are_no_zeros() {
    for value in [5e-10, 1e-100, f64::MIN_POSITIVE] {
        let sketch = of([value; 10]);
        assert_eq!(sketch.quantile(0.5), Some(value));
        let sketch = of([-1.0, value, 1.0]);
        assert!((sketch.quantile(0.5).unwrap() / value - 1.0).abs() <= 0.01);
    }
}

/// The median of ones was 1.01, though minimum and maximum were 1.
#[test]
fn equal_values_are_exact() {
    for value in [1.0, 0.0, -7.25, 1e300, -f64::MIN_POSITIVE, 5e-324, f64::MAX] {
        let sketch = of([value; 10]);
        for q in [0.0, 0.1, 0.5, 0.99, 1.0] {
            assert_eq!(sketch.quantile(q), Some(value));
            assert_eq!(sketch.quantile_by(q, QuantileRule::Linear), Some(value));
            assert_eq!(sketch.bounds(q), Some((value, value)));
        }
        assert_eq!((sketch.rank(value), sketch.cdf(value)), (Some(0.5), Some(1.0)));
        assert_eq!((sketch.cdf(value.next_down()), sketch.cdf(value.next_up())), (Some(0.0), Some(1.0)));
    }
    // A single value, too.
    assert_eq!(of([42.0]).quantile(0.99), Some(42.0));
}

/// A thousand values between 1 and 2 and one great one, in few bins: the median was given as 8e7, without a word.
#[test]
fn a_collapse_says_where_the_accuracy_still_holds() {
    let params = DDSketchParams::for_accuracy(0.001).unwrap().with_max_bins(128).unwrap();
    let mut sketch = DDSketch::new(params);
    sketch.extend((0..1000).map(|i| 1.0 + f64::from(i) / 1000.0));
    sketch.insert(1e9);
    let Contract::RelativeValue { alpha, valid_from_q, valid_to_q } = sketch.contract() else {
        unreachable!()
    };
    assert!((alpha - 0.001).abs() < 1e-15);
    assert!(valid_from_q > 0.5 && valid_from_q < 0.8 && valid_to_q >= 1.0, "{valid_from_q}");
    // One outlier takes one bin, not all of them.
    let median = sketch.quantile(0.5).unwrap();
    let (low, high) = sketch.bounds(0.5).unwrap();
    assert!(low <= 1.0 && high < 2.0 && (low..=high).contains(&median) && (low..=high).contains(&1.5));
    let p90 = sketch.quantile(0.9).unwrap();
    assert!((p90 / 1.9 - 1.0).abs() <= 0.002);
    assert_eq!(sketch.quantile(1.0), Some(1e9));

    // From the other end.
    let mut sketch = DDSketch::new(params.with_collapse(Collapse::Highest));
    sketch.extend((0..1000).map(|i| 1.0 + f64::from(i) / 1000.0));
    let Contract::RelativeValue { valid_from_q, valid_to_q, .. } = sketch.contract() else { unreachable!() };
    assert!(valid_from_q <= 0.0 && valid_to_q < 0.5 && valid_to_q > 0.2, "{valid_to_q}");
    assert!((sketch.quantile(0.1).unwrap() / 1.1 - 1.0).abs() <= 0.002);
    let (_, high) = sketch.bounds(0.9).unwrap();
    assert!(high >= 1.999);
}

/// 26 of 1000, 11 of 3000, 2 of 9000: another library gave the 95 % quantile as 6300.
#[test]
fn few_distinct_values_are_not_interpolated() {
    let mut weighted = sketch();
    let mut repeated = sketch();
    for (value, n) in [(1000.0, 26), (3000.0, 11), (9000.0, 2)] {
        weighted.insert_n(value, n).unwrap();
        (0..n).for_each(|_| assert!(repeated.insert(value)));
    }
    assert_eq!(weighted.to_bytes(), repeated.to_bytes());
    for (q, value) in
        [(0.0, 1000.0), (0.5, 1000.0), (0.7, 3000.0), (0.94, 3000.0), (0.95, 9000.0), (1.0, 9000.0)]
    {
        assert!((weighted.quantile(q).unwrap() / value - 1.0).abs() <= 0.01, "{q}");
    }
}

/// 999 quantiles of log-normal values: nine of ten steps went down.
#[test]
fn quantiles_ascend() {
    let mut random = pds_testkit::SplitMix64::new(5000);
    let sketch = of((0..5000).map(|_| libm::exp(random.next_normal())));
    let qs: Vec<f64> = (1..1000).map(|k| f64::from(k) / 1000.0).collect();
    let quantiles: Vec<f64> = sketch.quantiles(&qs).into_iter().map(|answer| answer.unwrap()).collect();
    assert!(quantiles.is_sorted());
    assert!(quantiles.iter().all(|&x| sketch.min().unwrap() <= x && x <= sketch.max().unwrap()));
}

/// Two values 300 decades apart made another library allocate seven million bins.
#[test]
fn distant_values_take_no_memory_in_between() {
    for collapse in [Collapse::Lowest, Collapse::Highest, Collapse::Uniform] {
        for (alpha, max_bins) in [(1e-6, 1 << 24), (1e-4, 1 << 16), (0.01, 8)] {
            let params = DDSketchParams::for_accuracy(alpha).unwrap().with_collapse(collapse);
            let mut sketch = DDSketch::new(params.with_max_bins(max_bins).unwrap());
            sketch.extend([1e-300, 1e300, -1e-300, -1e300, 0.0]);
            assert!(sketch.size_bytes() <= 1 << 16, "{} bytes", sketch.size_bytes());
            assert_eq!((sketch.occupied_bins(), sketch.count()), (5, 5));
            assert!((sketch.quantile(0.7).unwrap() / 1e-300 - 1.0).abs() <= alpha);
            assert!(sketch.to_bytes().len() < 150);
        }
    }
}

/// Merging forgot negative values, extremes or zeros.
#[test]
fn values_of_both_signs_merge() {
    let mut left = of([-5.0, -0.0, 3.0]);
    left.merge(&of([-50.0, 0.0, 0.5, 300.0])).unwrap();
    assert_eq!((left.count(), left.min(), left.max()), (7, Some(-50.0), Some(300.0)));
    let exact = [-50.0, -5.0, 0.0, 0.0, 0.5, 3.0, 300.0];
    for (k, value) in (1..).zip(exact) {
        assert!((left.quantile(f64::from(k) / 7.0).unwrap() - value).abs() <= 0.01 * value.abs(), "{k}");
    }
    assert!((left.sum().unwrap() - 248.5).abs() <= 3.6);
    let mut empty = sketch();
    empty.merge(&left).unwrap();
    assert_eq!(empty, left);
}

/// Merging with bins far apart ran out of the bounds of an array, now and then.
#[test]
fn sketches_far_apart_merge_hundreds_of_times() {
    let params = DDSketchParams::for_accuracy(1e-4).unwrap().with_max_bins(32_768).unwrap();
    let mut random = pds_testkit::SplitMix64::new(4);
    let mut all = DDSketch::new(params);
    for round in 1..=300u64 {
        let mut part = DDSketch::new(params);
        let centre = random.next_f64() * 20.0 - 10.0;
        part.extend((0..100).map(|_| libm::exp(centre + random.next_normal())));
        all.merge(&part).unwrap();
        assert_eq!(all.count(), 100 * round);
        assert_eq!(all.bins().map(|(_, n)| n).sum::<u64>(), 100 * round);
    }
}

/// Counts that outgrow their range were lost.
#[test]
fn counts_up_to_the_greatest_are_kept_and_more_are_refused() {
    let mut sketch = sketch();
    assert_eq!(sketch.insert_n(1.0, u64::MAX - 1), Ok(true));
    let before = sketch.clone();
    assert_eq!(sketch.insert_n(2.0, 2), Err(Error::Overflow));
    assert_eq!(sketch.insert_n(1.0, u64::MAX), Err(Error::Overflow));
    assert_eq!(sketch.insert_n(3.0, 0), Ok(false));
    assert_eq!(sketch.merge(&of([2.0, 2.0])), Err(Error::Overflow));
    assert_eq!(sketch.merge_many([&of([2.0]), &of([2.0])]), Err(Error::Overflow));
    assert_eq!(sketch, before);
    assert!(sketch.insert(2.0));
    assert!(!sketch.insert(2.0) && !sketch.insert(1.0) && !sketch.insert(-1.0));
    assert_eq!((sketch.count(), sketch.rejected()), (u64::MAX, 0));
    // The last value of 2^64 - 1 is told from the others.
    assert_eq!((sketch.quantile(1.0), sketch.quantile(1.0f64.next_down())), (Some(2.0), Some(1.0)));
    assert_eq!(DDSketch::from_bytes(&sketch.to_bytes()), Ok(sketch));
}

/// An accuracy of 1e-17 makes bins of no width: every quantile was 1.
#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |value: f64| {
        let error = DDSketchParams::for_accuracy(value).unwrap_err();
        assert_eq!(error, Error::Parameter { name: "alpha", value, domain: "1e-6 to 0.5" });
    };
    for alpha in [1e-17, 0.0, -0.0, -0.01, 0.99e-6, 0.51, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        refused(alpha);
    }
    assert!(DDSketchParams::for_accuracy(1e-6).is_ok() && DDSketchParams::for_accuracy(0.5).is_ok());
    assert!(matches!(DDSketchParams::for_scale(19), Err(Error::Parameter { name: "scale", .. })));
    let params = DDSketchParams::for_accuracy(0.01).unwrap();
    for max_bins in [0, 1, 7, (1 << 24) + 1, u32::MAX] {
        assert!(matches!(params.with_max_bins(max_bins), Err(Error::Parameter { name: "max_bins", .. })));
    }
}

/// Two values: which of them is the median was a matter of the library.
#[test]
fn the_definitions_are_frozen() {
    let two = of([1.0, 2.0]);
    assert_eq!(
        (two.quantile(0.49), two.quantile(0.5), two.quantile(0.51)),
        (Some(1.0), Some(1.0), Some(2.0))
    );
    assert_eq!(two.quantile_by(0.5, QuantileRule::Linear), Some(1.5));
    assert_eq!((two.rank(1.0), two.rank(1.5), two.rank(2.0)), (Some(0.25), Some(0.5), Some(0.75)));
    assert_eq!(
        (two.cdf(0.5), two.cdf(1.0), two.cdf(1.5), two.cdf(2.0)),
        (Some(0.0), Some(0.5), Some(0.5), Some(1.0))
    );
    assert_eq!(two.rank_by(2.0, RankRule::Exclusive), Some(0.5));
}

/// Values that only differ in the sign of zero have one byte form.
#[test]
fn minus_zero_is_zero() {
    assert_eq!(of([-0.0]).to_bytes(), of([0.0]).to_bytes());
    assert_eq!(of([-0.0]).min().map(f64::to_bits), Some(0));
}

#[test]
fn serde_carries_the_bytes() {
    let sketch = of([1.0, -2.0, 0.0]);
    let json = serde_json::to_string(&sketch).unwrap();
    assert_eq!(serde_json::from_str::<DDSketch>(&json).unwrap(), sketch);
    assert!(serde_json::from_str::<DDSketch>("[1,2,3]").is_err());
}
