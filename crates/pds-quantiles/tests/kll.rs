//! Laws of the KLL sketch: what holds for every stream.

// Helpers are tests too; what is exact is compared exactly.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use std::cmp::Reverse;

use pds_quantiles::prelude::*;
use pds_quantiles::{KllItem, Ordered, Quantiles};
use pds_testkit::{ExactQuantiles, Values};
use proptest::prelude::*;

fn params(k: u16) -> KllParams {
    KllParams::with_k(k).unwrap()
}

fn sketch<T: KllItem>(k: u16, values: impl IntoIterator<Item = T>) -> KllSketch<T> {
    let mut sketch = KllSketch::new(params(k));
    sketch.extend(values);
    sketch
}

fn numbers() -> BoxedStrategy<f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        (-8..8i32).prop_map(f64::from),
        prop_oneof![Just(0.0), Just(-0.0), Just(f64::MAX), Just(f64::MIN), Just(f64::from_bits(1))],
    ]
    .boxed()
}

fn streams() -> BoxedStrategy<Vec<f64>> {
    prop_oneof![
        proptest::collection::vec(numbers(), 0..40),
        proptest::collection::vec(numbers(), 0..1500),
        (any::<u64>(), 1..6000usize)
            .prop_map(|(seed, n)| Values::LogNormal { mu: 0.0, sigma: 3.0 }.stream(seed).take(n).collect()),
    ]
    .boxed()
}

/// Everything that is promised of answers alone.
fn check(sketch: &KllSketch) {
    let snapshot = sketch.snapshot();
    assert_eq!(snapshot.count(), sketch.count(), "the weights sum up to the count");
    assert!(sketch.items() <= params(sketch.params().k()).items(sketch.count()));
    let Some((min, max)) = sketch.min().zip(sketch.max()) else {
        assert!(sketch.is_empty() && snapshot.quantile(0.5).is_none() && snapshot.rank(0.0).is_none());
        return;
    };
    assert_eq!((snapshot.quantile(0.0), snapshot.quantile(1.0)), (Some(min), Some(max)));
    let shares = (0..=200).map(|i| f64::from(i) / 200.0);
    for rule in [QuantileRule::Step, QuantileRule::Linear] {
        let quantiles: Vec<f64> = shares.clone().map(|q| snapshot.quantile_by(q, rule).unwrap()).collect();
        assert!(quantiles.is_sorted() && quantiles.iter().all(|value| (min..=max).contains(value)));
        for rank_rule in [RankRule::Exclusive, RankRule::Middle, RankRule::Inclusive] {
            let ranks: Vec<f64> =
                quantiles.iter().map(|&value| snapshot.rank_by(value, rank_rule).unwrap()).collect();
            assert!(ranks.is_sorted() && ranks.iter().all(|rank| (0.0..=1.0).contains(rank)));
        }
    }
    // The distribution function is the inverse of the quantiles, but for the ends, which need not be among the items.
    let n = sketch.count() as f64;
    for q in shares.filter(|q| q * n > 1.0 && (1.0 - q) * n > 1.0) {
        let value = snapshot.quantile(q).unwrap();
        let [low, high] =
            [RankRule::Exclusive, RankRule::Inclusive].map(|rule| snapshot.rank_by(value, rule).unwrap());
        assert!(low <= q && q <= high * (1.0 + f64::EPSILON), "{q}: {value} has the ranks {low} to {high}");
        let bounds = sketch.bounds(q).unwrap();
        assert!(bounds.0 <= value && value <= bounds.1);
    }
    let infinite = [f64::NEG_INFINITY, f64::INFINITY].map(|value| Quantiles::rank(&snapshot, value));
    assert_eq!(infinite, [Some(0.0), Some(1.0)]);
    assert_eq!((snapshot.rank(f64::NAN), Quantiles::rank(&snapshot, f64::NAN)), (None, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn quantiles_and_ranks_are_monotone_in_range_and_inverse(values in streams(), k in 8..100u16) {
        let sketch = sketch(k, values.iter().copied());
        prop_assert_eq!(sketch.count(), values.len() as u64);
        check(&sketch);
    }

    #[test]
    fn until_the_first_compaction_everything_is_exact(values in proptest::collection::vec(numbers(), 1..64)) {
        let sketch = sketch(64, values.iter().copied());
        let exact = ExactQuantiles::new(values.iter().map(|value| value + 0.0).collect());
        prop_assume!(sketch.is_exact());
        for k in 0..=exact.len() {
            let q = k as f64 / exact.len() as f64;
            let expected = exact.sorted()[(k.max(1) - 1) as usize];
            prop_assert_eq!(sketch.quantile(q), Some(expected));
            prop_assert_eq!(sketch.bounds(q), Some((expected, expected)));
            prop_assert_eq!(Quantiles::cdf(&sketch, expected), Some(exact.rank(expected) as f64 / exact.len() as f64));
        }
    }

    #[test]
    fn weights_are_conserved(values in proptest::collection::vec((numbers(), any::<u64>(), 0..64u32), 0..200), k in 8..40u16) {
        let (mut sketch, mut count) = (KllSketch::new(params(k)), 0u64);
        for (value, weight, shift) in values {
            let n = weight >> shift;
            let expected = if count.checked_add(n).is_some() { Ok(n > 0) } else { Err(Error::Overflow) };
            prop_assert_eq!(sketch.insert_n(value, n), expected);
            count = count.checked_add(n).unwrap_or(count);
            prop_assert_eq!(sketch.count(), count);
        }
        check(&sketch);
    }

    #[test]
    fn merging_keeps_count_ends_and_the_smaller_k(a in streams(), b in streams(), k in 8..60u16, other in 8..200u16) {
        let (mut merged, right) = (sketch(k, a.iter().copied()), sketch(other, b.iter().copied()));
        let before = right.clone();
        merged.merge(&right).unwrap();
        prop_assert_eq!(&right, &before);
        prop_assert_eq!(merged.count(), (a.len() + b.len()) as u64);
        prop_assert_eq!(merged.params().k(), k);
        prop_assert_eq!(merged.min_params().k(), if b.is_empty() { k } else { k.min(other) });
        let whole = sketch(k, [a, b].concat());
        prop_assert_eq!((merged.min(), merged.max()), (whole.min(), whole.max()));
        check(&merged);
    }

    #[test]
    fn a_decoded_sketch_goes_on_as_the_same(values in streams(), more in streams(), k in 8..60u16) {
        let mut original = sketch(k, values);
        let mut decoded = KllSketch::from_bytes(&original.to_bytes()).unwrap();
        prop_assert_eq!(&decoded, &original);
        // The state of the coin is in the bytes.
        original.extend(more.iter().copied());
        decoded.extend(more);
        prop_assert_eq!(decoded.to_bytes(), original.to_bytes());
        check(&decoded);
    }

    #[test]
    fn strings_have_quantiles(words in proptest::collection::vec("[a-d]{0,3}", 1..400)) {
        let sketch = sketch(8, words.iter().cloned());
        let sorted = { let mut sorted = words; sorted.sort(); sorted };
        prop_assert_eq!((sketch.min(), sketch.max()), (sorted.first().cloned(), sorted.last().cloned()));
        let median = sketch.quantile(0.5).unwrap();
        prop_assert!(sorted.contains(&median));
        let decoded = KllSketch::<String>::from_bytes(&sketch.to_bytes()).unwrap();
        prop_assert_eq!(decoded, sketch);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_others() {
    let build = |seed| {
        let mut sketch = KllSketch::with_seed(params(50), seed);
        sketch.extend(Values::Uniform { low: 0.0, high: 1.0 }.stream(1).take(10_000));
        sketch
    };
    assert_eq!(build(1).to_bytes(), build(1).to_bytes());
    assert_ne!(build(1), build(2));
    let items = |seed| (0..100).map(|i| build(seed).quantile(f64::from(i) / 100.0)).collect::<Vec<_>>();
    assert_ne!(items(1), items(2), "the coins fall the same way");
}

#[test]
fn any_ordered_type_is_taken_in() {
    let mut pairs: KllSketch<Ordered<(Reverse<u32>, char)>> = KllSketch::default();
    for i in 0..10_000u32 {
        pairs.insert(Ordered((Reverse(i % 100), 'x')));
    }
    assert_eq!(pairs.min(), Some(Ordered((Reverse(99), 'x'))));
    let rank = pairs.rank(Ordered((Reverse(49), 'x'))).unwrap();
    assert!((rank - 0.505).abs() <= pairs.params().rank_error());
    let bytes = sketch(8, (0..1000u32).map(|i| i.to_be_bytes().to_vec()));
    assert_eq!(bytes.max(), Some(999u32.to_be_bytes().to_vec()));
    let signed = sketch(8, (-500..500i64).rev());
    assert_eq!((signed.min(), signed.max(), signed.count()), (Some(-500), Some(499), 1000));
}

#[test]
fn an_error_leaves_the_sketch_as_it_was() {
    let mut full = sketch(20, [1.0, 2.0, 3.0]);
    full.insert_n(4.0, u64::MAX - 4).unwrap();
    let before = full.clone();
    assert_eq!(full.insert_n(5.0, 2), Err(Error::Overflow));
    assert_eq!(full.insert_n(f64::NAN, 1), Err(Error::NonFinite));
    assert_eq!(full.try_insert(f64::INFINITY), Err(Error::NonFinite));
    assert_eq!(full.merge(&sketch(20, [9.0, 9.5])), Err(Error::Overflow));
    assert_eq!(full.merge_many(&[sketch(20, [9.0]), sketch(20, [9.5])]), Err(Error::Overflow));
    assert_eq!(full, before);
    assert!(full.insert(6.0) && !full.insert(7.0));
    assert_eq!((full.count(), full.max(), full.rejected()), (u64::MAX, Some(6.0), 0));
    assert_eq!(full.quantile(0.5), Some(4.0));
    check(&full);
}

#[test]
fn sizing_is_pinned_and_keeps_its_word() {
    for (eps, k) in
        [(0.1, 26), (0.05, 52), (0.02, 132), (0.0133, 200), (0.01, 269), (0.001, 2863), (0.0001, 30_565)]
    {
        let params = KllParams::for_error(eps).unwrap();
        assert_eq!(params.k(), k, "{eps}");
        assert!(params.rank_error() <= eps && self::params(k - 1).rank_error() > eps);
        assert!(params.interval_error() > params.rank_error());
    }
    assert_eq!(KllParams::for_error(0.9).unwrap().k(), KllParams::MIN_K);
    // The error says what is accepted, to the last bit.
    let Err(Error::Parameter { domain, .. }) = KllParams::for_error(0.0) else { panic!("0 is refused") };
    assert!(domain.ends_with("to below 1"), "{domain}");
    let least: f64 = domain.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(KllParams::for_error(least).unwrap().k(), KllParams::MAX_K);
    assert!(KllParams::for_error(least.next_down()).is_err());
    assert!(KllParams::for_error(1.0).is_err() && KllParams::for_error(1.0f64.next_down()).is_ok());
    for eps in [0.0, -0.1, 1.0, f64::NAN, f64::INFINITY, 1e-9] {
        assert!(matches!(KllParams::for_error(eps), Err(Error::Parameter { name: "eps", .. })), "{eps}");
    }
    for k in [0, 1, 7] {
        assert!(matches!(KllParams::with_k(k), Err(Error::Parameter { name: "k", .. })));
    }
}

#[test]
fn memory_stays_within_what_the_parameters_say() {
    let mut sketch: KllSketch = KllSketch::default();
    assert_eq!(sketch.size_bytes(), 0);
    let big = self::sketch(5000, Values::Uniform { low: 0.0, high: 1.0 }.stream(2).take(100_000));
    let values = Values::Uniform { low: 0.0, high: 1.0 };
    for (i, value) in values.stream(1).take(100_000).enumerate() {
        sketch.insert(value);
        if i % 10_000 == 0 {
            sketch.merge(&big).unwrap();
        }
        assert!(sketch.size_bytes() <= sketch.params().size_bytes::<f64>(sketch.count()));
    }
}
