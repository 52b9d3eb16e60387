//! What set operations promise, against sets.

use std::collections::BTreeSet;

use pds_testkit::DistinctKeys;
use pds_theta::prelude::*;
use pds_theta::{difference, intersection, jaccard, union};
use proptest::prelude::*;

fn of(lg_k: u8, keys: impl Iterator<Item = u64>) -> ThetaSketch {
    let mut sketch = ThetaSketch::new(ThetaParams::with_lg_k(lg_k).expect("5 to 26"));
    let stream = DistinctKeys::new(3);
    sketch.extend(keys.map(|key| stream.key(key)));
    sketch
}

/// Ranges of a stream of distinct keys that overlap, contain each other, are disjoint or empty; few keys and many.
fn ranges() -> impl Strategy<Value = ThetaSketch> {
    let range = prop_oneof![
        (0..3000u64, 0..3000u64),
        (0..100u64, 0..100u64),
        (0..3000u64, 0..40u64),
        Just((0u64, 0u64)),
    ];
    (5..=9u8, range).prop_map(|(lg_k, (start, len))| of(lg_k, start..start + len))
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Union,
    Intersection,
    Difference,
}

/// An operation and what it was applied to: compact forms of sketches, and results.
#[derive(Clone, Debug)]
struct Step {
    operation: Operation,
    of: Vec<CompactTheta>,
    result: CompactTheta,
}

/// Operations on sketches, compact forms, views, and results of those before.
fn chains() -> impl Strategy<Value = Vec<Step>> {
    let operation = prop_oneof![1 => Just(Operation::Union), 3 => Just(Operation::Intersection), 2 => Just(Operation::Difference)];
    let choice = (operation, proptest::collection::vec((0..100usize, 0..3u8), 1..4));
    (proptest::collection::vec(ranges(), 3), proptest::collection::vec(choice, 1..7)).prop_map(
        |(sketches, choices)| {
            let mut known: Vec<CompactTheta> = sketches.iter().map(ThetaSketch::compact).collect();
            let mut steps = Vec::new();
            for (operation, operands) in choices {
                let at: Vec<usize> = operands.iter().map(|(i, _)| i % known.len()).collect();
                let bytes: Vec<Vec<u8>> = at.iter().map(|&i| known[i].to_bytes()).collect();
                let views: Vec<ThetaView<'_>> =
                    bytes.iter().map(|bytes| CompactTheta::view(bytes).expect("as written")).collect();
                let form = |(n, &(_, form)): (usize, &(usize, u8))| -> &dyn ThetaSource<_> {
                    match (form, sketches.get(at[n])) {
                        (0, Some(sketch)) => sketch,
                        (0 | 1, _) => &known[at[n]],
                        _ => &views[n],
                    }
                };
                let sources: Vec<&dyn ThetaSource<_>> = operands.iter().enumerate().map(form).collect();
                let result = match operation {
                    Operation::Union => union(&sources),
                    Operation::Intersection => intersection(&sources),
                    Operation::Difference => difference(sources[0], &sources[1..]),
                };
                let of = at.iter().map(|&i| known[i].clone()).collect();
                let result = result.expect("one hasher");
                known.push(result.clone());
                steps.push(Step { operation, of, result });
            }
            steps
        },
    )
}

/// Hashes below the least threshold.
fn below(theta: f64, sketch: &ThetaSketch) -> BTreeSet<u64> {
    let compact = sketch.compact();
    compact.hashes().iter().copied().filter(|&hash| (hash as f64) < theta * 2f64.powi(64)).collect()
}

/// Threshold and hashes, without what the sources promised. In turns, it may be forgotten that nothing is left: an
/// exact result then meets a threshold.
fn same(left: &CompactTheta, right: &CompactTheta) -> bool {
    let forgotten = left.is_empty() != right.is_empty() && left.retained() + right.retained() == 0;
    let equal = left.theta().to_bits() == right.theta().to_bits() && left.hashes() == right.hashes();
    left.params() == right.params() && (equal || forgotten)
}

proptest! {
    #[test]
    fn operations_are_those_of_sets_below_the_least_threshold(a in ranges(), b in ranges(), c in ranges()) {
        let theta = a.theta().min(b.theta()).min(c.theta());
        let [x, y, z] = [&a, &b, &c].map(|sketch| below(theta, sketch));

        let both = intersection(&[&a, &b, &c]).unwrap();
        let expected: Vec<u64> = x.iter().copied().filter(|hash| y.contains(hash) && z.contains(hash)).collect();
        prop_assert_eq!(both.hashes(), &expected[..]);
        // All that is exact, taken alone: an empty one among them, or nothing in common.
        let sources = [&a, &b, &c];
        let exact: Vec<BTreeSet<u64>> =
            sources.iter().filter(|s| s.is_exact()).map(|s| below(1.0, s)).collect();
        let common = exact.iter().cloned().reduce(|x, y| x.intersection(&y).copied().collect());
        let known_empty = common.is_some_and(|common| common.is_empty());
        prop_assert_eq!(both.theta().to_bits(), if known_empty { 1f64 } else { theta }.to_bits());
        prop_assert_eq!(both.is_empty(), known_empty);

        let without = difference(&a, &[&b, &c]).unwrap();
        let mut rest = below(1.0, &a);
        [&b, &c].iter().filter(|s| s.is_exact()).for_each(|s| rest = &rest - &below(1.0, s));
        let known_empty = a.is_exact() && rest.is_empty();
        let expected: Vec<u64> = x.iter().copied().filter(|hash| !y.contains(hash) && !z.contains(hash)).collect();
        prop_assert_eq!(without.hashes(), &expected[..]);
        prop_assert_eq!(without.theta().to_bits(), if known_empty { 1f64 } else { theta }.to_bits());
        prop_assert_eq!(without.is_empty(), known_empty);
        prop_assert_eq!(without.params(), a.params());

        let any = union(&[&a, &b, &c]).unwrap();
        let all: Vec<u64> = x.iter().chain(&y).chain(&z).copied().collect::<BTreeSet<_>>().into_iter().collect();
        let k = any.params().k();
        prop_assert_eq!(any.hashes(), &all[..all.len().min(k)]);
        let next = all.get(k).map_or(theta, |&hash| hash as f64 / 2f64.powi(64));
        prop_assert_eq!(any.theta().to_bits(), next.to_bits());

        let alike = jaccard(&a, &b).unwrap();
        let theta = a.theta().min(b.theta());
        let [x, y] = [&a, &b].map(|sketch| below(theta, sketch));
        prop_assert_eq!(alike.retained_in_both(), x.intersection(&y).count() as u64);
        prop_assert_eq!(alike.retained_in_either(), x.union(&y).count() as u64);
        prop_assert_eq!(alike, jaccard(&b, &a).unwrap());
    }

    #[test]
    fn operations_commute_and_associate_and_are_idempotent(a in ranges(), b in ranges(), c in ranges()) {
        for operation in [union, intersection] {
            let abc = operation(&[&a, &b, &c]).unwrap();
            prop_assert!(operation(&[&c, &a, &b]).unwrap() == abc);
            prop_assert!(operation(&[&b, &a]).unwrap() == operation(&[&a, &b]).unwrap());
            let left = operation(&[&operation(&[&a, &b]).unwrap(), &c]).unwrap();
            let right = operation(&[&a, &operation(&[&b, &c]).unwrap()]).unwrap();
            prop_assert!(same(&left, &abc) && same(&right, &abc));
            prop_assert!(operation(&[&a, &a]).unwrap() == a.compact());
            prop_assert!(operation(&[&a]).unwrap() == a.compact());
            prop_assert!(operation(&[&abc, &abc]).unwrap().hashes() == abc.hashes());
        }
        prop_assert!(difference(&a, &[]).unwrap() == a.compact());
        prop_assert_eq!(difference(&a, &[&a]).unwrap().retained(), 0);
        let at_once = difference(&a, &[&b, &c]).unwrap();
        let in_turn = difference(&difference(&a, &[&b]).unwrap(), &[&c]).unwrap();
        prop_assert!(same(&at_once, &in_turn));
    }

    #[test]
    fn sketches_compact_forms_and_views_give_the_same(a in ranges(), b in ranges()) {
        let compact = [a.compact(), b.compact()];
        let bytes = [a.to_bytes(), b.to_bytes()];
        let result_bytes = compact.clone().map(|compact| compact.to_bytes());
        let views = [&bytes[0], &bytes[1]].map(|bytes| ThetaSketch::view(bytes).unwrap());
        let result_views = [&result_bytes[0], &result_bytes[1]].map(|bytes| CompactTheta::view(bytes).unwrap());
        for operation in [union, intersection, |x: &[&dyn ThetaSource<_>]| difference(x[0], &x[1..])] {
            let expected = operation(&[&a, &b]).unwrap();
            let mixed: [[&dyn ThetaSource<_>; 2]; 5] = [
                [&compact[0], &compact[1]],
                [&views[0], &views[1]],
                [&result_views[0], &result_views[1]],
                [&a, &views[1]],
                [&views[0], &compact[1]],
            ];
            for sources in mixed {
                let result = operation(&sources).unwrap();
                prop_assert!(result == expected && result.to_bytes() == expected.to_bytes());
            }
            let read = CompactTheta::from_bytes(&expected.to_bytes()).unwrap();
            prop_assert!(read == expected);
            prop_assert_eq!(read.estimate().to_bits(), expected.estimate().to_bits());
            let bytes = expected.to_bytes();
            let view = CompactTheta::view(&bytes).unwrap();
            prop_assert_eq!((view.estimate(), view.bounds(2.0)), (expected.estimate(), expected.bounds(2.0)));
            prop_assert!(view.to_compact().unwrap() == expected);
        }
        prop_assert_eq!(jaccard(&views[0], &compact[1]).unwrap(), jaccard(&a, &b).unwrap());
    }

    #[test]
    fn results_never_exceed_what_their_sources_allow(chain in chains(), kappa in 0.0..5.0f64) {
        for Step { operation, of: sources, result } in &chain {
            let (low, high) = result.bounds(kappa);
            prop_assert!(low <= high && result.retained() as f64 <= high);
            prop_assert!(low <= result.estimate() && result.estimate() <= high);
            let supersets = match operation {
                Operation::Intersection => &sources[..],
                Operation::Difference => &sources[..1],
                Operation::Union => continue,
            };
            for source in supersets {
                prop_assert!(result.estimate() <= source.estimate());
                // Of a sketch no upper bound but the last is certain, which is the count of an exact one.
                let certain = source.bounds(f64::INFINITY).1;
                prop_assert!(high <= certain && (high <= source.bounds(kappa).1 || !source.is_exact()));
            }
        }
    }

    #[test]
    fn order_and_repetition_do_not_matter_to_results_of_results(chain in chains(), others in ranges()) {
        let empty = of(9, 0..0);
        let all: Vec<&CompactTheta> = chain.iter().map(|step| &step.result).collect();
        for &a in &all {
            let bytes = a.to_bytes();
            let view = CompactTheta::view(&bytes).unwrap();
            prop_assert!(view.to_compact().unwrap() == *a && CompactTheta::from_bytes(&bytes).unwrap() == *a);
            prop_assert!(intersection(&[a]).unwrap() == *a && intersection(&[a, &view, a]).unwrap() == *a);
            prop_assert!(union(&[a]).unwrap() == *a && union(&[&empty, &view, &empty]).unwrap() == *a);
            prop_assert!(difference(a, &[]).unwrap() == *a && difference(&view, &[&empty]).unwrap() == *a);
            let both = intersection(&[a, &others]).unwrap();
            prop_assert!(intersection(&[&others, &view]).unwrap() == both);
            prop_assert!(intersection(&[&both, a]).unwrap() == both, "a part of it");
            prop_assert!(intersection(&[&others, &both]).unwrap() == both, "a part of it");
            for &b in &all {
                let both = intersection(&[a, b]).unwrap();
                prop_assert!(intersection(&[b, &view]).unwrap() == both);
                prop_assert!(intersection(&[b, a, b]).unwrap() == both);
                prop_assert!(intersection(&[&both, b]).unwrap() == both);
                prop_assert!(union(&[a, b]).unwrap() == union(&[b, &view]).unwrap());
            }
        }
    }

    #[test]
    fn sets_of_no_more_than_k_keys_are_exact(start in 0..100u64, len in 0..100u64, kappa in 0.0..5.0f64) {
        let (a, b) = (of(7, 0..100), of(7, start..start + len));
        let x: BTreeSet<u64> = (0..100).collect();
        let y: BTreeSet<u64> = (start..start + len).collect();
        for (result, count) in [
            (intersection(&[&a, &b]).unwrap(), x.intersection(&y).count()),
            (difference(&a, &[&b]).unwrap(), x.difference(&y).count()),
        ] {
            let count = count as f64;
            prop_assert_eq!((result.estimate(), result.bounds(kappa)), (count, (count, count)));
            prop_assert!(result.is_exact());
            prop_assert_eq!(result.is_empty(), count == 0.0);
        }
        let alike = jaccard(&a, &b).unwrap();
        let share = x.intersection(&y).count() as f64 / x.union(&y).count() as f64;
        prop_assert!(alike.is_exact());
        prop_assert_eq!((alike.estimate(), alike.bounds(kappa)), (share, (share, share)));
    }
}

#[test]
fn nothing_retained_is_not_known_to_be_empty() {
    let (a, b) = (of(5, 0..10_000), of(5, 20_000..30_000));
    let disjoint = intersection(&[&a, &b]).unwrap();
    assert!(!disjoint.is_empty() && disjoint.retained() == 0 && disjoint.estimate() == 0.0);
    let (low, high) = disjoint.bounds(2.0);
    // (1 - theta)^n is half of the chance beyond two deviations.
    let expected = (libm_erfc_half(2.0)).ln() / (1.0 - disjoint.theta()).ln();
    assert!(low == 0.0 && (high - expected.floor()).abs() <= 1.0, "{high}, {expected}");

    let empty = of(5, 0..0);
    for known in [
        intersection(&[&a, &empty]).unwrap(),
        difference(&empty, &[&a]).unwrap(),
        union(&[&empty, &empty]).unwrap(),
    ] {
        assert!(known.is_empty() && known.is_exact());
        assert_eq!((known.theta(), known.bounds(3.0)), (1.0, (0.0, 0.0)));
    }
    assert!(union(&[&a, &empty]).unwrap() == a.compact());
    assert!(difference(&a, &[&empty]).unwrap() == a.compact());

    // Nothing retained goes on not to be empty.
    assert!(!union(&[&disjoint, &empty]).unwrap().is_empty());
    assert!(!intersection(&[&disjoint, &a]).unwrap().is_empty());
    let bytes = disjoint.to_bytes();
    assert!(!CompactTheta::from_bytes(&bytes).unwrap().is_empty());

    let alike = |x: &dyn ThetaSource<_>, y: &dyn ThetaSource<_>| {
        let jaccard = jaccard(x, y).unwrap();
        (jaccard.estimate(), jaccard.bounds(2.0))
    };
    assert_eq!(alike(&empty, &empty), (1.0, (1.0, 1.0)));
    assert_eq!(alike(&empty, &a), (0.0, (0.0, 0.0)));
    assert_eq!(alike(&disjoint, &disjoint), (0.0, (0.0, 1.0)));
    assert_eq!(alike(&a, &a).0.to_bits(), 1f64.to_bits());
    assert!(alike(&a, &b).1.1 < 0.5);
}

/// The index of a set known to be empty and of one that may be was 1, for certain.
#[test]
fn a_jaccard_index_is_certain_only_if_both_sources_are_known_or_disjoint() {
    let (empty, exact, inexact) = (of(5, 0..0), of(5, 0..20), of(5, 0..10_000));
    let nothing = intersection(&[&inexact, &of(5, 20_000..30_000)]).unwrap();
    assert!(nothing.retained() == 0 && !nothing.is_empty());
    let sources: [&dyn ThetaSource<_>; 4] = [&empty, &nothing, &exact, &inexact];
    let (unknown, same, apart) = ((0.0, (0.0, 1.0)), (1.0, (1.0, 1.0)), (0.0, (0.0, 0.0)));
    // None: neither certain nor unknown.
    let expected = [
        [Some(same), Some(unknown), Some(apart), Some(apart)],
        [Some(unknown), Some(unknown), None, None],
        [Some(apart), None, Some(same), None],
        [Some(apart), None, None, None],
    ];
    for (x, row) in sources.iter().zip(expected) {
        for (y, expected) in sources.iter().zip(row) {
            let alike = jaccard(*x, *y).unwrap();
            let (share, (low, high)) = (alike.estimate(), alike.bounds(2.0));
            assert!(0.0 <= low && low <= share && share <= high && high <= 1.0);
            match expected {
                Some(expected) => assert_eq!((share, (low, high)), expected),
                None => assert!(low < high),
            }
            assert_eq!(alike.is_exact(), expected.is_some_and(|expected| expected != unknown));
        }
    }
}

/// The normal probability beyond two deviations, on one side.
fn libm_erfc_half(kappa: f64) -> f64 {
    assert!((kappa - 2.0).abs() < 1e-12);
    0.022_750_131_948_179_2
}

#[test]
fn operations_need_a_source() {
    let none: [&dyn ThetaSource<pds_theta::WyHasher>; 0] = [];
    let refused = Error::Parameter { name: "sources", value: 0.0, domain: "at least one" };
    assert_eq!(union(&none).err(), Some(refused));
    assert_eq!(intersection(&none).err(), Some(refused));
}

/// Most of them have few hashes below the threshold, and are put in order together.
#[test]
fn a_union_of_many_sources_of_any_form_is_their_merge() {
    for (sources, lg_ks) in [(300u64, [7, 7, 7]), (300, [5, 12, 9]), (40, [12, 12, 12])] {
        let sketches: Vec<ThetaSketch> = (0..sources)
            .map(|source| {
                let lg_k = lg_ks[source as usize % lg_ks.len()];
                let mut sketch = ThetaSketch::new(ThetaParams::with_lg_k(lg_k).unwrap());
                // Streams of any length, which have keys in common.
                sketch.extend(source * 70..source * 70 + source * source % 5003);
                sketch
            })
            .collect();
        let mut merged = sketches[0].clone();
        for sketch in &sketches[1..] {
            merged.merge(sketch).unwrap();
        }
        let compact: Vec<CompactTheta> = sketches.iter().map(ThetaSketch::compact).collect();
        let bytes: Vec<Vec<u8>> = compact.iter().map(Sketch::to_bytes).collect();
        let views: Vec<ThetaView<'_>> =
            bytes.iter().map(|bytes| CompactTheta::view(bytes).unwrap()).collect();
        let forms: [Vec<&dyn ThetaSource<_>>; 4] = [
            sketches.iter().map(|sketch| sketch as _).collect(),
            compact.iter().map(|compact| compact as _).collect(),
            views.iter().map(|view| view as _).collect(),
            (0..sketches.len())
                .map(|i| if i % 2 == 0 { &sketches[i] as _ } else { &views[i] as _ })
                .collect(),
        ];
        for sources in forms {
            assert!(union(&sources).unwrap() == merged.compact());
            let backwards: Vec<_> = sources.into_iter().rev().collect();
            assert!(union(&backwards).unwrap() == merged.compact());
        }
    }
}
