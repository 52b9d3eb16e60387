//! Faults that were reported of t-digests and KLL sketches elsewhere, each with its right value.

// Helpers are tests too; what is exact is compared exactly.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use pds_quantiles::Quantiles;
use pds_quantiles::prelude::*;
use pds_testkit::{DistinctKeys, ExactQuantiles, Values};

fn digest(values: impl IntoIterator<Item = f64>) -> TDigest {
    let mut digest = TDigest::default();
    digest.extend(values);
    digest
}

fn kll(k: u16, values: impl IntoIterator<Item = f64>) -> KllSketch {
    let mut sketch = KllSketch::new(KllParams::with_k(k).unwrap());
    sketch.extend(values);
    sketch
}

const SHARES: u32 = 1000;

fn shares() -> impl Iterator<Item = f64> {
    (0..=SHARES).map(|i| f64::from(i) / f64::from(SHARES))
}

/// 26 times 1000, 11 times 3000, 2 times 9000: a digest that interpolates between single values answers 6300 or
/// 8123 for 0.95.
#[test]
fn few_distinct_values_are_not_interpolated() {
    let (mut weighted, mut repeated) = (TDigest::default(), TDigest::default());
    for (value, n) in [(1000.0, 26), (3000.0, 11), (9000.0, 2)] {
        weighted.insert_n(value, n).unwrap();
        repeated.extend(std::iter::repeat_n(value, n as usize));
    }
    for digest in [weighted, repeated] {
        assert_eq!(
            [0.5, 0.8, 0.94, 0.95, 0.99].map(|q| digest.quantile(q).unwrap()),
            [1000.0, 3000.0, 3000.0, 9000.0, 9000.0]
        );
        assert_eq!(digest.cdf(3000.0), Some(37.0 / 39.0));
        assert_eq!(digest.rank(1000.0), Some(13.0 / 39.0));
    }
}

/// 5000 log-normal values, 999 quantiles: nine of ten steps went down where the weights of an interpolation had been
/// interchanged.
#[test]
fn quantiles_never_go_down() {
    for seed in 0..20 {
        let values: Vec<f64> = Values::LogNormal { mu: 0.0, sigma: 1.0 }.stream(seed).take(5000).collect();
        let digest = digest(values.iter().copied()).snapshot();
        let quantiles: Vec<f64> = shares().map(|q| digest.quantile(q).unwrap()).collect();
        assert!(quantiles.is_sorted());
        let exact = ExactQuantiles::new(values);
        let (min, max) = (exact.sorted()[0], *exact.sorted().last().unwrap());
        assert!(quantiles.iter().all(|value| (min..=max).contains(value)), "beyond the extremes");
        let ranks: Vec<f64> = quantiles.iter().map(|&value| digest.cdf(value).unwrap()).collect();
        assert!(ranks.is_sorted() && ranks.iter().all(|rank| (0.0..=1.0).contains(rank)));
    }
}

/// The rank of 23 was below that of 22, and distribution function and quantile were not inverse.
#[test]
fn the_distribution_function_goes_up_and_is_the_inverse_of_the_quantiles() {
    let digest = digest((0..3000).map(|i| f64::from(i % 47))).snapshot();
    let ranks: Vec<f64> = (-10..500).map(|i| digest.cdf(f64::from(i) / 10.0).unwrap()).collect();
    assert!(ranks.is_sorted());
    let smooth = self::digest(Values::Uniform { low: 0.0, high: 1.0 }.stream(1).take(100_000)).snapshot();
    for q in shares().filter(|q| (0.01..=0.99).contains(q)) {
        let back = smooth.cdf(smooth.quantile(q).unwrap()).unwrap();
        assert!((back - q).abs() < 1e-9, "{q} comes back as {back}");
    }
}

/// Merging computed the extremes from means of centroids.
#[test]
fn extremes_survive_any_number_of_merges() {
    let mut merged = TDigest::new(TDigestParams::with_compression(20).unwrap());
    for i in 0..200u32 {
        let mut part = digest((0..1000).map(|j| f64::from(i * 1000 + j)));
        part = TDigest::from_bytes(&part.to_bytes()).unwrap();
        merged.merge(&part).unwrap();
        merged = TDigest::from_bytes(&merged.to_bytes()).unwrap();
        assert_eq!((merged.min(), merged.max()), (Some(0.0), Some(f64::from(i * 1000 + 999))));
    }
    assert_eq!(merged.count(), 200_000);
}

/// An empty side made the other one's extremes or counts wrong.
#[test]
fn an_empty_side_is_neutral() {
    let filled = digest((1..=1000).map(f64::from));
    let mut left = filled.clone();
    left.merge(&TDigest::default()).unwrap();
    let mut right = TDigest::default();
    right.merge(&filled).unwrap();
    assert_eq!((&left, &right), (&filled, &filled));
    let mut other = TDigest::new(TDigestParams::with_compression(100).unwrap());
    other.merge(&filled).unwrap();
    assert_eq!((other.count(), other.min(), other.max()), (1000, Some(1.0), Some(1000.0)));
    other.merge_many(&[]).unwrap();
    assert_eq!(other.count(), 1000);

    let filled = kll(200, (1..=1000).map(f64::from));
    let mut right = kll(200, []);
    right.merge(&filled).unwrap();
    assert_eq!(right.count(), 1000);
    let median = right.quantile(0.5).unwrap();
    assert!((median - 500.0).abs() <= 20.0, "the median of 1..=1000 is {median}");
}

/// NaN and infinities panicked, became zeros, or poisoned sums and extremes.
#[test]
fn what_is_not_finite_is_refused_and_counted() {
    fn refuses(mut sketch: impl QuantileSketch) {
        for value in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!sketch.insert(value));
            assert_eq!(sketch.try_insert(value), Err(Error::NonFinite));
        }
        assert_eq!((sketch.count(), sketch.rejected(), sketch.is_empty()), (0, 4, true));
        assert_eq!(
            (sketch.min(), sketch.max(), sketch.quantile(0.5), sketch.cdf(1.0)),
            (None, None, None, None)
        );
        assert!(sketch.insert(1.0) && !sketch.insert(f64::INFINITY));
        assert_eq!((sketch.count(), sketch.rejected(), sketch.max()), (1, 5, Some(1.0)));
        assert_eq!([0.0, 0.5, 1.0].map(|q| sketch.quantile(q)), [Some(1.0); 3]);
        for q in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!((sketch.quantile(q), sketch.bounds(q)), (None, None));
        }
        assert_eq!(sketch.rank(f64::NAN), None);
        sketch.clear();
        assert_eq!((sketch.count(), sketch.rejected(), sketch.quantile(0.5)), (0, 0, None));
    }
    refuses(TDigest::default());
    refuses(KllSketch::default());
}

/// -0.0 is 0.0, and the least numbers keep their sign.
#[test]
fn zeros_and_subnormal_numbers_are_numbers() {
    let tiny = f64::from_bits(1);
    for mut sketch in
        [Box::new(TDigest::default()) as Box<dyn QuantileSketch>, Box::new(KllSketch::default())]
    {
        for value in [-0.0, 0.0, tiny, -tiny, -0.0] {
            assert!(sketch.insert(value));
        }
        let quantiles = [0.2, 0.4, 0.6, 0.8, 1.0].map(|q| sketch.quantile(q).unwrap());
        assert_eq!(quantiles.map(f64::to_bits), [-tiny, 0.0, 0.0, 0.0, tiny].map(f64::to_bits));
        assert_eq!((sketch.cdf(0.0), sketch.cdf(-0.0), sketch.rank(0.0)), (Some(0.8), Some(0.8), Some(0.5)));
    }
}

/// A quantile of equal values was another value: 1.01 for 1.0.
#[test]
fn equal_values_are_exact() {
    for value in [1.0, -0.1, 1e-310, 1.7e308, 5e-10] {
        let digest = digest(std::iter::repeat_n(value, 100_000)).snapshot();
        assert!(digest.is_exact() && digest.centroids().len() == 1);
        let sketch = kll(200, std::iter::repeat_n(value, 100_000)).snapshot();
        for q in shares() {
            assert_eq!((digest.quantile(q), sketch.quantile(q)), (Some(value), Some(value)));
        }
        assert_eq!((digest.rank(value), Quantiles::rank(&sketch, value)), (Some(0.5), Some(0.5)));
        assert_eq!(digest.trimmed_mean(0.1, 0.9), Some(value));
    }
}

/// Two values: which one is the median is the rule's affair, documented and frozen here.
#[test]
fn two_values_have_the_quantiles_of_the_rules() {
    for sketch in [Box::new(digest([1.0, 2.0])) as Box<dyn Quantiles>, Box::new(kll(8, [1.0, 2.0]))] {
        let step = [0.0, 0.49, 0.5, 0.51, 1.0].map(|q| sketch.quantile(q).unwrap());
        assert_eq!(step, [1.0, 1.0, 1.0, 2.0, 2.0]);
        let linear = [0.0, 0.25, 0.5, 1.0].map(|q| sketch.quantile_by(q, QuantileRule::Linear).unwrap());
        assert_eq!(linear, [1.0, 1.25, 1.5, 2.0]);
        assert_eq!([1.0, 1.5, 2.0].map(|value| sketch.rank(value).unwrap()), [0.25, 0.5, 0.75]);
        let by = |rule| [1.0, 2.0].map(|value| sketch.rank_by(value, rule).unwrap());
        assert_eq!((by(RankRule::Exclusive), by(RankRule::Inclusive)), ([0.0, 0.5], [0.5, 1.0]));
    }
}

/// Dice: values that are each repeated often stay exact beside others that are not.
#[test]
fn repeated_values_stay_exact_among_others() {
    let noise = Values::Uniform { low: 1.0, high: 5.0 }.stream(3);
    let values: Vec<f64> = noise
        .take(100_000)
        .enumerate()
        .flat_map(|(i, x)| if i % 10 == 0 { vec![x] } else { vec![(1 + i % 4) as f64] })
        .collect();
    let exact = ExactQuantiles::new(values.clone());
    let snapshot = digest(values).snapshot();
    assert!(!snapshot.is_exact());
    for value in [1.0, 2.0, 3.0, 4.0] {
        let share = snapshot.cdf(value).unwrap() - snapshot.rank_by(value, RankRule::Exclusive).unwrap();
        let true_share = (exact.rank(value) - exact.rank_below(value)) as f64 / exact.len() as f64;
        // Some of them are in clusters that the first buffers left.
        assert!((share - true_share).abs() < 0.005, "{value} has a share of {share}, not of {true_share}");
        let middle = exact.rank_below(value) as f64 / exact.len() as f64 + true_share / 2.0;
        assert_eq!(snapshot.quantile(middle), Some(value));
    }
}

/// Distances and sums beyond the range of `f64` made infinities and NaN.
#[test]
fn the_greatest_numbers_do_not_overflow() {
    let values: Vec<f64> =
        (0..10_000).map(|i| if i % 2 == 0 { 1.7e308 } else { -1.7e308 * (f64::from(i) / 1e4) }).collect();
    let mut digest = digest(values);
    digest.merge(&digest.clone()).unwrap();
    let snapshot = digest.snapshot();
    let quantiles: Vec<f64> = shares().map(|q| snapshot.quantile(q).unwrap()).collect();
    assert!(quantiles.is_sorted() && quantiles.iter().all(|value| value.is_finite()));
    assert!(snapshot.centroids().iter().all(|centroid| centroid.mean().is_finite()));
    assert!(snapshot.cdf(0.0).is_some_and(|share| (share - 0.5).abs() < 0.05));
    assert!(snapshot.sum().is_some_and(|sum| !sum.is_nan()));
    assert!(self::digest([1.7e308, 1.7e308, -1.7e308]).sum().is_some_and(|sum| sum == 1.7e308));
    assert_eq!(self::digest([1.7e308, 1.7e308]).sum(), Some(f64::INFINITY));
    assert_eq!(self::digest([1.7e308, 1.7e308]).snapshot().trimmed_mean(0.0, 1.0), Some(1.7e308));
}

/// From 1e-300 to 1e300, of either sign: ranks of a KLL sketch do not know the scale. A t-digest, whose means are those of the
/// greatest magnitudes then, is right at the ends only, and keeps order and range.
#[test]
fn six_hundred_decades_are_no_matter() {
    let values: Vec<f64> = Values::Uniform { low: -300.0, high: 300.0 }
        .stream(9)
        .take(50_000)
        .enumerate()
        .map(|(i, exponent)| libm::pow(10.0, exponent) * if i % 2 == 0 { 1.0 } else { -1.0 })
        .collect();
    let exact = ExactQuantiles::new(values.clone());
    let (digest, sketch) =
        (digest(values.iter().copied()).snapshot(), kll(200, values.iter().copied()).snapshot());
    for q in shares() {
        let error = exact.rank_error(q, sketch.quantile(q).unwrap());
        assert!(error <= 2.0 * 0.0133, "KLL at {q}: {error}");
        if !(0.005..=0.995).contains(&q) {
            assert!(exact.rank_error(q, digest.quantile(q).unwrap()) < 0.001, "t-digest at {q}");
        }
    }
    assert!(shares().map(|q| digest.quantile(q).unwrap()).is_sorted());
    assert_eq!((digest.min(), digest.max()), (exact.quantile(0.0), exact.quantile(1.0)));
}

/// Order of insertion: sorted values made unbalanced trees, or errors of other sizes.
#[test]
fn sorted_streams_are_no_matter() {
    for step in [1.0, -1.0] {
        let values: Vec<f64> = Values::Sorted { first: 0.0, step }.stream(0).take(100_000).collect();
        let exact = ExactQuantiles::new(values.clone());
        let (digest, sketch) = (digest(values.iter().copied()).snapshot(), kll(200, values).snapshot());
        for q in shares() {
            assert!(exact.rank_error(q, digest.quantile(q).unwrap()) < 0.001, "t-digest at {q}, step {step}");
            assert!(exact.rank_error(q, sketch.quantile(q).unwrap()) < 0.0133, "KLL at {q}, step {step}");
        }
    }
}

/// A weight of 0 aborted.
#[test]
fn a_weight_of_zero_changes_nothing() {
    let (mut digest, mut sketch) = (TDigest::default(), kll(8, []));
    assert_eq!((digest.insert_n(1.0, 0), sketch.insert_n(1.0, 0)), (Ok(false), Ok(false)));
    assert!(digest.is_empty() && sketch.is_empty() && digest.min().is_none() && sketch.min().is_none());
    assert_eq!(digest.insert_n(f64::NAN, 0), Err(Error::NonFinite));
}

/// 999 values after 1000 insertions, 350 after a merge of 1000: weights were lost in compactions of odd size, and items
/// taken over with a weight of 1.
#[test]
fn a_kll_sketch_loses_no_weight() {
    let mut growing = kll(8, []);
    for n in 1..=5000u64 {
        growing.insert(n as f64);
        assert_eq!((growing.count(), growing.snapshot().count()), (n, n));
    }
    let mut merged = kll(200, []);
    for part in 0..50 {
        merged.merge(&kll(8 + part, (0..20 * i32::from(part)).map(f64::from))).unwrap();
        assert_eq!(merged.count(), merged.snapshot().count());
    }
    assert_eq!(merged.count(), (0..50u64).map(|part| 20 * part).sum());
}

/// `cdf` of the minimum was 0 where it is repeated.
#[test]
fn the_minimum_has_its_share() {
    let digest = digest([0.0; 90].into_iter().chain((1..=10).map(f64::from)));
    assert_eq!((digest.cdf(0.0), digest.rank(0.0), digest.cdf(-1e-300)), (Some(0.9), Some(0.45), Some(0.0)));
}

/// The number of centroids changed with questions.
#[test]
fn a_question_changes_nothing() {
    let mut asked = TDigest::default();
    let mut silent = TDigest::default();
    let values = Values::LogNormal { mu: 0.0, sigma: 1.0 };
    for (i, value) in values.stream(4).take(10_000).enumerate() {
        asked.insert(value);
        silent.insert(value);
        if i % 100 == 0 {
            let _ = (asked.quantile(0.5), asked.to_bytes(), asked.snapshot());
        }
    }
    assert_eq!(asked.to_bytes(), silent.to_bytes());
}

/// Counts beyond 2^53 are told apart.
#[test]
fn counts_are_integers_of_64_bits() {
    let mut digest = TDigest::default();
    digest.insert_n(1.0, 1 << 60).unwrap();
    digest.insert_n(2.0, 1).unwrap();
    digest.insert_n(3.0, 1 << 60).unwrap();
    assert_eq!(digest.count(), (1 << 61) + 1);
    assert_eq!(digest.quantile_by(0.5, QuantileRule::Linear), Some(2.0));
    let mut sketch = kll(8, []);
    sketch.insert_n(1.0, (1 << 60) + 1).unwrap();
    sketch.insert_n(2.0, 1 << 60).unwrap();
    assert_eq!(sketch.quantile(0.5), Some(1.0));
}

/// As reported: some per cent more than priced, where a merge has left little more room than there may be items, and the items
/// of a weight, one for each of its bits, then exceed that.
#[test]
fn a_kll_sketch_keeps_to_its_price_after_merges_and_weights() {
    for k in [8, 20, 50, 200] {
        for size in (0..8 * u64::from(k)).step_by(usize::from(k) / 8 + 1) {
            let with_numbers = |seed| {
                let mut sketch = kll(k, DistinctKeys::new(seed).range(0..size).map(|key| key as f64));
                sketch.insert_n(0.5, (1 << 40) - 1).unwrap();
                sketch
            };
            let mut sketch = with_numbers(1);
            sketch.merge(&with_numbers(2)).unwrap();
            for i in 1..200u32 {
                let weight = if i % 8 == 0 { (1 << 40) - 1 } else { 1 };
                assert_eq!(sketch.insert_n(f64::from(i), weight), Ok(true));
                let price = sketch.params().size_bytes::<f64>(sketch.count());
                assert!(
                    sketch.size_bytes() <= price,
                    "k {k}, twice {size} values, {i} weights: {} bytes, above {price}",
                    sketch.size_bytes()
                );
            }
        }
    }
}

/// As found: the heavy value alone, since 2^60 + 1 rounds to 2^60.
#[test]
fn a_trimmed_mean_loses_no_unit_at_great_counts() {
    const HEAVY: u64 = 1 << 60;
    for value in [1e30, -1e30] {
        let mut digest = TDigest::default();
        assert_eq!(digest.insert_n(0.0, HEAVY), Ok(true));
        assert!(digest.insert(value));
        let snapshot = digest.snapshot();
        assert_eq!(snapshot.trimmed_mean(0.0, 1.0), Some(value / HEAVY as f64));
        assert_eq!(snapshot.trimmed_mean(0.25, 0.75), Some(0.0));
    }
}
