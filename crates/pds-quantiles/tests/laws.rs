//! The claims of DDSketch, as properties.

use pds_quantiles::prelude::*;
use pds_testkit::{SplitMix64, WireLaws, key_lists, refused_merge_law};
use proptest::prelude::*;

fn accuracy(alpha: f64) -> DDSketchParams {
    DDSketchParams::for_accuracy(alpha).expect("an accuracy")
}

/// Small limits and coarse grids, so that everything collapses often.
fn shapes() -> impl Strategy<Value = DDSketchParams> {
    let mapping = prop_oneof![
        Just(Mapping::Cubic),
        Just(Mapping::Log),
        Just(Mapping::Linear),
        Just(Mapping::Quadratic)
    ];
    let collapse = prop_oneof![Just(Collapse::Lowest), Just(Collapse::Highest), Just(Collapse::Uniform)];
    let alpha = prop_oneof![Just(1e-6), Just(0.001), Just(0.01), Just(0.2), Just(0.5)];
    let limit = prop_oneof![8..40u32, Just(DDSketchParams::DEFAULT_MAX_BINS)];
    (alpha, mapping, limit, collapse).prop_map(|(alpha, mapping, limit, collapse)| {
        let params = accuracy(alpha).with_mapping(mapping).with_collapse(collapse);
        params.with_max_bins(limit).expect("a limit")
    })
}

/// Values of every size and sign, many of them equal or nearly so.
fn values() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 1.0..10.0f64,
        2 => (-30..30i32).prop_map(f64::from),
        2 => (-300.0..300.0f64).prop_map(|exponent| libm::pow(10.0, exponent)),
        1 => any::<f64>().prop_filter("finite", |value| value.is_finite()),
        1 => Just(-0.0),
        1 => (1..1000u64).prop_map(f64::from_bits),
    ]
}

fn streams() -> impl Strategy<Value = Vec<(f64, u64)>> {
    prop::collection::vec((values(), prop_oneof![4 => 1..4u64, 1 => 0..=1u64 << 40]), 0..120)
}

fn counted(params: DDSketchParams, stream: &[(f64, u64)]) -> DDSketch {
    let mut sketch = DDSketch::new(params);
    for &(value, n) in stream {
        assert_eq!(sketch.insert_n(value, n), Ok(n > 0));
    }
    sketch
}

/// The values in order, with their weights.
fn sorted(stream: &[(f64, u64)]) -> Vec<(f64, u64)> {
    let mut sorted: Vec<_> = stream.iter().copied().filter(|&(_, n)| n > 0).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    sorted
}

/// The order statistic of a number from 0.
fn statistic(sorted: &[(f64, u64)], mut index: u64) -> f64 {
    for &(value, n) in sorted {
        if index < n {
            return value;
        }
        index -= n;
    }
    unreachable!("an index below the count")
}

const QS: [f64; 15] =
    [0.0, 1e-9, 0.001, 0.01, 0.1, 0.25, 0.5, 0.500_000_1, 0.75, 0.9, 0.95, 0.99, 0.999, 0.999_999, 1.0];

/// Everything that answers, asked everything: no panic, and what is promised of all answers.
fn check_answers(source: &impl Quantiles) {
    let (min, max) = match (source.min(), source.max()) {
        (Some(min), Some(max)) => (min, max),
        ends => {
            assert_eq!((ends, source.count(), source.is_empty()), ((None, None), 0, true));
            assert_eq!((source.quantile(0.5), source.rank(1.0), source.cdf(1.0)), (None, None, None));
            assert_eq!((source.sum(), source.bounds(0.5)), (None, None));
            return;
        }
    };
    for rule in [QuantileRule::Step, QuantileRule::Linear] {
        assert_eq!(source.quantile_by(0.0, rule), Some(min));
        assert_eq!(source.quantile_by(1.0, rule), Some(max));
        let answers = QS.map(|q| source.quantile_by(q, rule).expect("a quantile"));
        assert!(answers.is_sorted(), "{rule:?}: {answers:?}");
        assert!(answers.iter().all(|&x| min <= x && x <= max && (x != 0.0 || x.to_bits() == 0)));
    }
    assert_eq!(source.quantiles(&QS), QS.map(|q| source.quantile(q)));
    let backwards: Vec<f64> = QS.iter().rev().copied().chain([f64::NAN, 2.0]).collect();
    let answers = source.quantiles(&backwards);
    assert!(answers.iter().zip(&backwards).all(|(answer, &q)| *answer == source.quantile(q)));
    for q in [-0.1, 1.1, f64::NAN, f64::INFINITY, -f64::from_bits(1)] {
        assert_eq!((source.quantile(q), source.bounds(q)), (None, None));
        assert_eq!(source.quantile_by(q, QuantileRule::Linear), None);
    }
    for rule in [RankRule::Exclusive, RankRule::Middle, RankRule::Inclusive] {
        let mut at: Vec<f64> = QS.iter().filter_map(|&q| source.quantile(q)).collect();
        at.extend([f64::NEG_INFINITY, -1e300, -1.0, -1e-320, 0.0, 1e-320, 1.0, 1.5, 1e300, f64::INFINITY]);
        at.sort_unstable_by(f64::total_cmp);
        let ranks: Vec<f64> = at.iter().map(|&x| source.rank_by(x, rule).expect("a rank")).collect();
        assert!(ranks.is_sorted() && ranks.iter().all(|rank| (0.0..=1.0).contains(rank)), "{ranks:?}");
        assert_eq!(source.rank_by(f64::NAN, rule), None);
    }
    assert_eq!(source.rank_by(min, RankRule::Exclusive), Some(0.0));
    assert_eq!((source.cdf(max), source.cdf(f64::NEG_INFINITY)), (Some(1.0), Some(0.0)));
    for q in QS {
        let quantile = source.quantile(q).expect("a quantile");
        assert!(source.cdf(quantile).expect("a rank") >= q * (1.0 - 1e-15));
        assert!(source.rank_by(quantile, RankRule::Exclusive).expect("a rank") <= q);
        let (low, high) = source.bounds(q).expect("bounds");
        assert!(min <= low && low <= quantile && quantile <= high && high <= max);
    }
    assert!(!source.sum().expect("a sum").is_nan());
}

fn same(a: &impl Quantiles, b: &impl Quantiles) {
    check_answers(b);
    assert_eq!((a.count(), a.rejected(), a.min(), a.max()), (b.count(), b.rejected(), b.min(), b.max()));
    assert_eq!((a.sum(), a.contract()), (b.sum(), b.contract()));
    for q in QS {
        assert_eq!((a.quantile(q), a.bounds(q)), (b.quantile(q), b.bounds(q)));
        assert_eq!(a.quantile_by(q, QuantileRule::Linear), b.quantile_by(q, QuantileRule::Linear));
    }
    for x in [-1e9, -3.0, 0.0, 1e-310, 1.0, 2.5, 7.0, 1e9] {
        for rule in [RankRule::Exclusive, RankRule::Middle, RankRule::Inclusive] {
            assert_eq!(a.rank_by(x, rule), b.rank_by(x, rule));
        }
    }
}

proptest! {
    #[test]
    fn answers_keep_their_promises(params in shapes(), stream in streams()) {
        let sketch = counted(params, &stream);
        check_answers(&sketch);
        let truth = sorted(&stream);
        prop_assert_eq!(sketch.count(), truth.iter().map(|&(_, n)| n).sum::<u64>());
        prop_assert!(sketch.occupied_bins() <= params.max_bins() as usize);
        prop_assert!(sketch.size_bytes() <= params.max_size_bytes());
        prop_assert_eq!(sketch.bins().map(|(_, n)| n).sum::<u64>(), sketch.count());
        if truth.is_empty() {
            return Ok(());
        }
        prop_assert_eq!(sketch.min(), Some(truth[0].0 + 0.0));
        prop_assert_eq!(sketch.max(), Some(truth[truth.len() - 1].0 + 0.0));
        let Contract::RelativeValue { alpha, valid_from_q, valid_to_q } = sketch.contract() else {
            unreachable!("the contract of DDSketch")
        };
        prop_assert!(valid_from_q <= valid_to_q);
        prop_assert!(alpha.to_bits() == params.alpha().to_bits() || params.collapse() == Collapse::Uniform);
        let n = sketch.count();
        let at_ranks = (0..20).map(|k| (f64::from(k) + 0.5) / 20.0).chain([valid_from_q, valid_to_q]);
        for q in at_ranks.chain(QS) {
            let index = ((q * n as f64).ceil() as u64).clamp(1, n) - 1;
            let product = q * n as f64;
            if (product - product.round()).abs() < 1e-6 + 1e-14 * product && product.round() > 0.0 {
                // Next to an integer the rounding of this product decides.
                continue;
            }
            let value = statistic(&truth, index);
            let found = sketch.quantile(q).expect("a quantile");
            let (low, high) = sketch.bounds(q).expect("bounds");
            prop_assert!(low <= value && value <= high, "{} out of {}..{} at {}", value, low, high, q);
            if valid_from_q <= q && q <= valid_to_q {
                let error = if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { alpha * value.abs() };
                prop_assert!((found - value).abs() <= error, "{} as {} at {}", value, found, q);
            }
        }
    }

    /// Without a collapse the sum is as accurate as the values.
    #[test]
    fn the_sum_is_within_alpha_of_the_magnitudes(stream in prop::collection::vec((-1e9..1e9f64, 1..9u64), 1..60)) {
        let sketch = counted(accuracy(0.01), &stream);
        let sum: f64 = stream.iter().map(|&(value, n)| value * n as f64).sum();
        let magnitudes: f64 = stream.iter().map(|&(value, n)| value.abs() * n as f64).sum();
        prop_assert!((sketch.sum().unwrap() - sum).abs() <= 0.01 * magnitudes * (1.0 + 1e-9));
    }

    #[test]
    fn views_and_snapshots_give_the_answers_of_the_sketch(params in shapes(), stream in streams()) {
        let sketch = counted(params, &stream);
        let bytes = sketch.to_bytes();
        let view = DDSketch::view(&bytes).unwrap();
        prop_assert_eq!(view.verify(), Ok(()));
        prop_assert_eq!(&view.to_owned().unwrap(), &sketch);
        prop_assert_eq!(DDSketchParams::peek(&bytes), Ok(params));
        prop_assert!(view.bins().eq(sketch.bins()));
        same(&sketch, &view);
        same(&sketch, &sketch.snapshot());
        same(&sketch, &view.snapshot());
    }

    #[test]
    fn a_weight_is_so_many_insertions(params in shapes(), stream in prop::collection::vec((values(), 0..5u64), 0..60)) {
        let mut one_by_one = DDSketch::new(params);
        for &(value, n) in &stream {
            for _ in 0..n {
                prop_assert!(one_by_one.insert(value));
            }
        }
        prop_assert_eq!(one_by_one.to_bytes(), counted(params, &stream).to_bytes());
    }

    /// Eight shards, merged in a random order and grouping, by one and by many.
    #[test]
    fn shards_merge_to_the_bytes_of_the_whole(params in shapes(), stream in streams(), seed: u64) {
        let mut random = SplitMix64::new(seed);
        let mut shards = vec![DDSketch::new(params); 8];
        for &(value, n) in &stream {
            shards[random.below(8) as usize].insert_n(value, n).unwrap();
        }
        let whole = counted(params, &stream).to_bytes();
        random.shuffle(&mut shards);
        let mut many = DDSketch::new(params);
        many.merge_many(&shards).unwrap();
        prop_assert_eq!(&many.to_bytes(), &whole);
        while shards.len() > 1 {
            let from = shards.swap_remove(random.below(shards.len() as u64) as usize);
            let into = random.below(shards.len() as u64) as usize;
            shards[into].merge(&from).unwrap();
        }
        prop_assert_eq!(&shards[0].to_bytes(), &whole);
    }

    #[test]
    fn sketches_with_other_parameters_do_not_merge(a in shapes(), b in shapes(), stream in streams()) {
        let (left, right) = (counted(a, &stream), counted(b, &stream));
        if a == b {
            prop_assert_eq!(left, right);
        } else {
            let error = refused_merge_law(left, &right);
            let field = match () {
                () if a.mapping() != b.mapping() => "mapping",
                () if a.alpha().to_bits() != b.alpha().to_bits() => "alpha",
                () if a.max_bins() != b.max_bins() => "max_bins",
                () => "collapse",
            };
            prop_assert_eq!(error, Error::Incompatible { field });
        }
    }

    #[test]
    fn hostile_payloads_are_survived(params in shapes(), stream in streams(), payload: Vec<u8>, at: usize, byte: u8) {
        let bytes = counted(params, &stream).to_bytes();
        let start = pds_testkit::payload_start(&bytes).unwrap();
        LAWS.survives_forgeries(&bytes, &bytes[24..start], &payload);
        let mut changed = bytes.clone();
        let at = at % changed.len();
        changed[at] = byte;
        pds_testkit::reseal(&mut changed, start);
        LAWS.survives(&changed);
        if let Ok(decoded) = DDSketch::from_bytes(&changed) {
            prop_assert_eq!(decoded.to_bytes(), changed);
        }
    }
}

const LAWS: WireLaws<DDSketch> = WireLaws {
    exercise: |sketch| {
        let quantiles = sketch.quantiles(&QS);
        assert!(
            quantiles.iter().all(|answer| answer.is_some() != sketch.is_empty()) && quantiles.is_sorted()
        );
        let _ = (sketch.bounds(0.3), sketch.rank(1.0), sketch.sum(), sketch.contract());
        let mut twice = sketch.clone();
        if twice.merge(sketch).is_ok() {
            assert_eq!((twice.min(), twice.quantile(0.5).is_some()), (sketch.min(), !sketch.is_empty()));
        }
    },
    // A payload that was not verified may say anything: answers are safe, not right.
    view: |bytes| {
        if let Ok(view) = DDSketch::view(bytes) {
            let _ = (view.quantile(0.5), view.bounds(0.7), view.quantile_by(0.3, QuantileRule::Linear));
            let _ = (view.rank(1.0), view.cdf(0.0), view.sum(), view.contract(), view.quantiles(&QS));
            let snapshot = view.snapshot();
            let _ = (snapshot.quantile(0.5), snapshot.rank(1.0), snapshot.sum(), view.bins().count());
        }
    },
    ..WireLaws::new(DDSketch::from_bytes)
};

/// A value for each key: of both signs, over 60 decades, zero now and then.
fn value_of(key: u64) -> f64 {
    let magnitude = libm::pow(10.0, ((key >> 8) % 1000) as f64 * 0.06 - 30.0);
    match key % 8 {
        0 => 0.0,
        1..4 => -magnitude,
        _ => magnitude,
    }
}

fn built(params: DDSketchParams, keys: &[u64]) -> DDSketch {
    let mut sketch = DDSketch::new(params);
    for &key in keys {
        sketch.insert(if key % 64 == 63 { f64::NAN } else { value_of(key) });
    }
    sketch
}

fn tight(collapse: Collapse) -> DDSketchParams {
    accuracy(0.01).with_collapse(collapse).with_max_bins(50).expect("a limit")
}

fn plain(keys: &[u64]) -> DDSketch {
    built(accuracy(0.01), keys)
}

fn lowest(keys: &[u64]) -> DDSketch {
    built(tight(Collapse::Lowest), keys)
}

fn highest(keys: &[u64]) -> DDSketch {
    built(tight(Collapse::Highest), keys)
}

fn uniform(keys: &[u64]) -> DDSketch {
    built(tight(Collapse::Uniform), keys)
}

fn fine(keys: &[u64]) -> DDSketch {
    built(accuracy(1e-5), keys)
}

/// Few bins, however many keys.
fn coarse(keys: &[u64]) -> DDSketch {
    built(accuracy(0.5), keys)
}

pds_testkit::merge_laws! { plain_merges, plain }
pds_testkit::merge_laws! { lowest_merges, lowest }
pds_testkit::merge_laws! { highest_merges, highest }
pds_testkit::merge_laws! { uniform_merges, uniform }
pds_testkit::merge_laws! { fine_merges, fine }
pds_testkit::wire_laws! { coarse_bytes, LAWS, coarse, canonical }
pds_testkit::wire_laws! { uniform_bytes, LAWS, uniform, canonical }

#[test]
fn one_state_has_one_byte_form() {
    for keys in [&[][..], &[5], &[64, 65], &[900, 20_000, 90_000, 90_000]] {
        LAWS.all(&fine(keys));
    }
    for sketch in [plain(&[1, 2, 3, 8, 300, 5000, 70_000]), uniform(&[7; 3]), fine(&[900, 20_000, 90_000])] {
        LAWS.accepts_canonical_bytes_only(&sketch.to_bytes());
    }
    let many: Vec<u64> = (0..300).map(|i| i * 77).collect();
    for sketch in [lowest(&many), highest(&many), uniform(&many)] {
        LAWS.accepts_canonical_bytes_only(&sketch.to_bytes());
    }
}

#[test]
fn key_lists_are_not_all_alike() {
    // `built` collapses on some of them, and not on others.
    let _ = key_lists();
    let many: Vec<u64> = (0..2000).map(|i| i * 77).collect();
    assert_eq!(lowest(&many).occupied_bins(), 50);
    assert!(plain(&many).occupied_bins() > 100 && uniform(&many).alpha() > 0.5);
}
