//! Laws of the t-digest: what holds for every stream.

// Helpers are tests too; what is exact is compared exactly.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use pds_quantiles::prelude::*;
use pds_quantiles::{Centroid, Quantiles};
use pds_testkit::{ExactQuantiles, SplitMix64, Values};
use proptest::prelude::*;

const SMALL: u32 = TDigestParams::MIN_COMPRESSION;

fn empty(compression: u32) -> TDigest {
    TDigest::new(TDigestParams::with_compression(compression).unwrap())
}

fn digest(compression: u32, values: &[f64]) -> TDigest {
    let mut digest = empty(compression);
    digest.extend(values.iter().copied());
    digest
}

/// Finite numbers of every kind: of any bits, few distinct ones, near one another, the least and the greatest.
fn numbers() -> BoxedStrategy<f64> {
    let edge = prop_oneof![Just(0.0), Just(-0.0), Just(f64::MAX), Just(f64::MIN), Just(f64::from_bits(1))];
    prop_oneof![
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        (-8..8i32).prop_map(f64::from),
        (0..1u64 << 20).prop_map(|i| 1.0 + i as f64 * f64::EPSILON),
        edge,
    ]
    .boxed()
}

fn streams() -> BoxedStrategy<Vec<f64>> {
    prop_oneof![
        proptest::collection::vec(numbers(), 0..40),
        proptest::collection::vec(numbers(), 0..1500),
        (any::<u64>(), 1..3000usize).prop_map(|(seed, n)| {
            Values::LogNormal { mu: 0.0, sigma: 3.0 }.stream(seed).take(n).collect()
        }),
    ]
    .boxed()
}

/// Shares, and the ends.
fn shares() -> Vec<f64> {
    let mut shares: Vec<f64> = (0..=400).map(|i| f64::from(i) / 400.0).collect();
    shares.extend([1e-300, 1e-9, 1e-4, 0.9999, 1.0 - 1e-9, 1.0f64.next_down()]);
    shares.sort_by(f64::total_cmp);
    shares
}

/// Everything that is promised of answers alone.
fn check(digest: &TDigest) {
    let snapshot = digest.snapshot();
    let centroids = snapshot.centroids();
    assert!(centroids.len() <= digest.params().compression() as usize);
    assert_eq!(centroids.iter().map(Centroid::weight).sum::<u64>(), digest.count());
    assert!(centroids.is_sorted_by(|a, b| a.mean() <= b.mean()));
    assert_eq!((snapshot.min(), snapshot.max()), (digest.min(), digest.max()));
    assert_eq!(snapshot.count(), digest.count());
    let Some((min, max)) = digest.min().zip(digest.max()) else {
        assert!(digest.is_empty() && snapshot.quantile(0.5).is_none() && snapshot.rank(0.0).is_none());
        assert!(snapshot.sum().is_none() && snapshot.bounds(0.5).is_none());
        return;
    };
    assert_eq!((snapshot.quantile(0.0), snapshot.quantile(1.0)), (Some(min), Some(max)));
    let shares = shares();
    for rule in [QuantileRule::Step, QuantileRule::Linear] {
        let quantiles: Vec<f64> = shares.iter().map(|&q| snapshot.quantile_by(q, rule).unwrap()).collect();
        assert!(quantiles.is_sorted(), "{rule:?}");
        assert!(quantiles.iter().all(|value| (min..=max).contains(value) && value.to_bits() != 1 << 63));
        for rank_rule in [RankRule::Exclusive, RankRule::Middle, RankRule::Inclusive] {
            let ranks: Vec<f64> =
                quantiles.iter().map(|&value| snapshot.rank_by(value, rank_rule).unwrap()).collect();
            assert!(ranks.is_sorted() && ranks.iter().all(|rank| (0.0..=1.0).contains(rank)));
        }
    }
    // The distribution function is the inverse of the quantiles, up to the value that an answer is, repeated as it is.
    for q in shares {
        let value = snapshot.quantile(q).unwrap();
        let [low, high] =
            [RankRule::Exclusive, RankRule::Inclusive].map(|rule| snapshot.rank_by(value, rule).unwrap());
        let tied = centroids.iter().filter(|centroid| centroid.mean() == value).count() > 1;
        // Where neighbours are one or few units of the last place apart, the share between them is not resolved.
        let resolved = high - low > 0.0 || {
            let next = centroids.iter().map(Centroid::mean).find(|&mean| mean > value).unwrap_or(value);
            let last = centroids.iter().map(Centroid::mean).rfind(|&mean| mean < value).unwrap_or(value);
            next - last > 1e9 * f64::EPSILON * value.abs() && next - last > 1e-300
        };
        if resolved && !tied {
            let error = (low - q).max(q - high);
            assert!(error <= 1e-6, "{q}: {value} has the ranks {low} to {high}");
        }
    }
    assert_eq!(snapshot.rank(f64::NEG_INFINITY), Some(0.0));
    if min > f64::MIN {
        assert_eq!(snapshot.rank(min.next_down()), Some(0.0));
    }
    if max < f64::MAX {
        assert_eq!(snapshot.rank(max.next_up()), Some(1.0));
    }
    assert!(snapshot.sum().is_some_and(|sum| !sum.is_nan()));
    assert!(snapshot.trimmed_mean(0.0, 1.0).is_some_and(|mean| (min..=max).contains(&mean)));
    let bounds = snapshot.bounds(0.5).unwrap();
    assert!(bounds.0 <= bounds.1 && (min..=max).contains(&bounds.0) && (min..=max).contains(&bounds.1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn quantiles_and_ranks_are_monotone_in_range_and_inverse(values in streams(), compression in SMALL..120) {
        let digest = digest(compression, &values);
        prop_assert_eq!(digest.count(), values.len() as u64);
        check(&digest);
    }

    #[test]
    fn few_distinct_values_are_exact(
        pool in proptest::collection::vec(numbers(), 1..20),
        picks in proptest::collection::vec((any::<usize>(), 1..5u64), 1..1200),
        weighted: bool,
    ) {
        let (mut all, mut sketch) = (Vec::new(), empty(SMALL));
        for (pick, n) in picks {
            let value = pool[pick % pool.len()];
            all.extend(vec![value + 0.0; n as usize]);
            if weighted {
                prop_assert_eq!(sketch.insert_n(value, n), Ok(true));
            } else {
                (0..n).for_each(|_| { sketch.insert(value); });
            }
        }
        let exact = ExactQuantiles::new(all);
        let snapshot = sketch.snapshot();
        prop_assert!(snapshot.is_exact());
        prop_assert_eq!(snapshot.contract(), Contract::Rank { epsilon: 0.0, confidence: 1.0 });
        for k in 0..=exact.len() {
            let q = k as f64 / exact.len() as f64;
            let expected = exact.sorted()[(k.max(1) - 1) as usize];
            prop_assert_eq!(snapshot.quantile(q), Some(expected));
            prop_assert_eq!(snapshot.bounds(q), Some((expected, expected)));
        }
        for value in pool {
            let n = exact.len() as f64;
            prop_assert_eq!(snapshot.cdf(value), Some(exact.rank(value + 0.0) as f64 / n));
            prop_assert_eq!(snapshot.rank_by(value, RankRule::Exclusive), Some(exact.rank_below(value + 0.0) as f64 / n));
        }
    }

    #[test]
    fn a_weight_is_as_many_insertions(values in proptest::collection::vec((numbers(), 0..20u64), 0..60)) {
        let (mut weighted, mut repeated) = (empty(SMALL), empty(SMALL));
        for (value, n) in values {
            prop_assert_eq!(weighted.insert_n(value, n), Ok(n > 0));
            (0..n).for_each(|_| { repeated.insert(value); });
        }
        // As long as the buffers take all of it, to the byte; the sums of weights differ by nothing then.
        if repeated.count() < 160 {
            prop_assert_eq!(weighted.to_bytes(), repeated.to_bytes());
        }
        prop_assert_eq!(weighted.count(), repeated.count());
        check(&weighted);
    }

    #[test]
    fn merging_keeps_count_ends_and_order(a in streams(), b in streams(), compression in SMALL..120, other in SMALL..120) {
        let (mut merged, right) = (digest(compression, &a), digest(other, &b));
        let before = right.clone();
        merged.merge(&right).unwrap();
        prop_assert_eq!(&right, &before);
        prop_assert_eq!(merged.count(), (a.len() + b.len()) as u64);
        let whole = digest(compression, &[a, b].concat());
        prop_assert_eq!((merged.min(), merged.max()), (whole.min(), whole.max()));
        check(&merged);
    }

    #[test]
    fn a_decoded_digest_answers_the_same(values in streams(), compression in SMALL..120) {
        let digest = digest(compression, &values);
        let bytes = digest.to_bytes();
        let decoded = TDigest::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&decoded, &digest);
        prop_assert_eq!(decoded.to_bytes(), bytes);
        for q in shares() {
            prop_assert_eq!(decoded.quantile(q), digest.quantile(q));
        }
        check(&decoded);
    }

    #[test]
    fn merging_many_is_merging_one_by_one(parts in proptest::collection::vec(streams(), 0..6)) {
        let parts: Vec<TDigest> = parts.iter().map(|values| digest(SMALL, values)).collect();
        let (mut many, mut fold) = (empty(SMALL), empty(SMALL));
        many.merge_many(&parts).unwrap();
        for part in &parts {
            fold.merge(part).unwrap();
        }
        prop_assert_eq!(&many, &fold);
        check(&many);
    }
}

#[test]
fn large_streams_of_every_shape_keep_the_laws() {
    for values in Values::ALL {
        for n in [1, 2, 1599, 1600, 1601, 100_000] {
            let stream: Vec<f64> = values.stream(5).take(n).collect();
            check(&digest(200, &stream));
        }
    }
    let mut random = SplitMix64::new(3);
    let wide: Vec<f64> = (0..20_000)
        .map(|_| {
            libm::pow(10.0, random.next_f64() * 600.0 - 300.0) * if random.below(2) == 0 { 1.0 } else { -1.0 }
        })
        .collect();
    check(&digest(100, &wide));
}

#[test]
fn an_error_leaves_the_digest_as_it_was() {
    let mut full = digest(SMALL, &[1.0, 2.0, 3.0]);
    full.insert_n(4.0, u64::MAX - 4).unwrap();
    let before = full.clone();
    assert_eq!(full.insert_n(5.0, 2), Err(Error::Overflow));
    assert_eq!(full.insert_n(f64::NAN, 1), Err(Error::NonFinite));
    assert_eq!(full.insert_n(f64::INFINITY, 0), Err(Error::NonFinite));
    assert_eq!(full.try_insert(f64::NEG_INFINITY), Err(Error::NonFinite));
    assert_eq!(full.merge(&digest(SMALL, &[9.0, 9.5])), Err(Error::Overflow));
    assert_eq!(full.merge_many(&[digest(SMALL, &[9.0]), digest(SMALL, &[9.5])]), Err(Error::Overflow));
    assert_eq!(full, before);
    assert_eq!((full.count(), full.rejected(), full.max()), (u64::MAX - 1, 0, Some(4.0)));
    assert!(full.insert(6.0));
    assert!(!full.insert(7.0));
    assert_eq!((full.count(), full.max(), full.quantile(1.0)), (u64::MAX, Some(6.0), Some(6.0)));
    assert_eq!(full.quantile(0.5), Some(4.0));
    check(&full);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for compression in [0, 1, SMALL - 1, TDigestParams::MAX_COMPRESSION + 1, u32::MAX] {
        let error = TDigestParams::with_compression(compression).unwrap_err();
        assert!(matches!(error, Error::Parameter { name: "compression", .. }));
    }
    assert_eq!(TDigestParams::default().compression(), TDigestParams::DEFAULT_COMPRESSION);
    assert_eq!(TDigestParams::with_compression(SMALL).unwrap().compression(), SMALL);
    let digest = empty(TDigestParams::MAX_COMPRESSION);
    assert_eq!(digest.size_bytes(), 0, "nothing is allocated before the first value");
}

#[test]
fn memory_stays_within_what_the_parameters_say() {
    let params = TDigestParams::with_compression(50).unwrap();
    let (mut digest, values) = (TDigest::new(params), Values::LogNormal { mu: 0.0, sigma: 1.0 });
    let big = self::digest(5000, &values.stream(2).take(100_000).collect::<Vec<_>>());
    for (i, value) in values.stream(1).take(20_000).enumerate() {
        digest.insert(value);
        digest.insert_n(value, 3).unwrap();
        if i % 1000 == 0 {
            let part = self::digest(50, &values.stream(i as u64).take(i).collect::<Vec<_>>());
            digest.merge(&part).unwrap();
        }
        assert!(digest.size_bytes() <= params.size_bytes(), "{i}: {}", digest.size_bytes());
    }
    digest.merge(&big).unwrap();
    assert!(digest.size_bytes() <= params.size_bytes(), "{} after a merge", digest.size_bytes());
}

/// Beside such a weight a unit is less than the last bit of a number of values.
#[test]
fn units_beside_a_weight_of_2_to_the_63_are_joined_too() {
    for heavy in [0.0, 500.5, 2000.0] {
        let mut digest = empty(SMALL);
        digest.insert_n(heavy, 1 << 63).unwrap();
        for unit in 1..=1000 {
            digest.insert(f64::from(unit));
        }
        assert_eq!(digest.count(), (1 << 63) + 1000);
        assert_eq!((digest.min(), digest.max()), (Some(heavy.min(1.0)), Some(heavy.max(1000.0))));
        assert_eq!(digest.quantile(0.5), Some(heavy));
        let snapshot = digest.snapshot();
        assert!(snapshot.centroids().len() <= SMALL as usize);
        assert_eq!(TDigest::from_bytes(&digest.to_bytes()).unwrap().count(), digest.count());
    }
}

#[test]
fn the_least_numbers_have_ranks() {
    let mut digest = empty(SMALL);
    digest.extend((0..200).map(f64::from_bits));
    let mut before = 0.0;
    for bits in 0..200 {
        let rank = digest.cdf(f64::from_bits(bits)).unwrap();
        assert!(before <= rank && rank <= 1.0, "{bits}: {rank} behind {before}");
        before = rank;
    }
}
