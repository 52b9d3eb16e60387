//! What a comparison of two sketches promises.

use pds_hll::prelude::*;
use pds_hll::{Joint, Part};
use pds_testkit::{DistinctKeys, laws, seed_for};
use proptest::collection::vec;
use proptest::prelude::*;

/// Sets of so many keys alone on either side and in both.
#[derive(Clone, Copy, Debug)]
struct Sets {
    left: u64,
    right: u64,
    both: u64,
}

impl Sets {
    fn union(self) -> u64 {
        self.left + self.right + self.both
    }

    fn sketches(self, precisions: [u8; 2], seed: u64) -> [HyperLogLog; 2] {
        let keys = DistinctKeys::new(seed);
        let [mut left, mut right] =
            precisions.map(|p| HyperLogLog::new(HllParams::with_precision(p).expect("4 to 18")));
        left.extend(keys.range(0..self.left + self.both));
        right.extend(keys.range(self.left..self.union()));
        [left, right]
    }
}

/// The five numbers and what they should be.
fn parts(joint: &Joint, sets: Sets) -> [(&'static str, Part<'_>, f64); 5] {
    let [left, right, both, union] = [sets.left, sets.right, sets.both, sets.union()].map(|keys| keys as f64);
    [
        ("intersection", joint.intersection(), both),
        ("left alone", joint.left_only(), left),
        ("right alone", joint.right_only(), right),
        ("union", joint.union(), union),
        ("jaccard", joint.jaccard(), both / union),
    ]
}

/// Asserts what holds of every comparison.
fn answers_sanely(left: &HyperLogLog, right: &HyperLogLog) {
    let joint = left.joint(right).expect("one hasher");
    let saturated = !(left.estimate().is_finite() && right.estimate().is_finite());
    let smaller = left.estimate().min(right.estimate());
    assert!(joint.intersection().estimate() <= smaller);
    let nothing = Sets { left: 0, right: 0, both: 0 };
    for (name, part, _) in parts(&joint, nothing) {
        let estimate = part.estimate();
        assert!(estimate >= 0.0 && (estimate.is_finite() || saturated), "{name}: {estimate}");
        for kappa in [0.0, 1.0, -2.0, 30.0, f64::INFINITY, f64::NAN] {
            let (low, high) = part.bounds(kappa);
            assert!(0.0 <= low && low <= high, "{name}, {kappa}: {low} to {high}");
            assert!(low <= estimate && estimate <= high, "{name}, {kappa}: {low} to {high}, {estimate}");
        }
        assert_eq!(part.bounds(0.0), (estimate, estimate), "{name}");
    }
    // What the sketches rule out.
    let sizes = [left, right].map(HyperLogLog::estimate);
    assert!(joint.left_only().estimate() <= sizes[0] && joint.right_only().estimate() <= sizes[1]);
    let union = joint.union().estimate();
    assert!(sizes[0].max(sizes[1]) <= union && union <= sizes[0] + sizes[1]);
    let least = left.bounds(2.0).0.max(right.bounds(2.0).0);
    assert!(joint.union().bounds(2.0).0 >= least.min(union) && joint.union().bounds(2.0).1 >= least);
    // The other way round.
    let back = right.joint(left).expect("one hasher");
    for (one, other) in [
        (joint.intersection(), back.intersection()),
        (joint.left_only(), back.right_only()),
        (joint.right_only(), back.left_only()),
        (joint.union(), back.union()),
        (joint.jaccard(), back.jaccard()),
    ] {
        assert_eq!(one.estimate().to_bits(), other.estimate().to_bits());
        for kappa in [1.0, 3.0, f64::INFINITY] {
            assert_eq!(one.bounds(kappa), other.bounds(kappa));
        }
    }
    assert_eq!(joint.is_determined(), back.is_determined());
    let (_, high) = joint.jaccard().bounds(9.0);
    assert!(high <= 1.0 && joint.jaccard().estimate() <= 1.0);
    assert!(joint.intersection().bounds(2.0).1 <= left.bounds(2.0).1.min(right.bounds(2.0).1) * (1.0 + 1e-6));
}

#[test]
fn the_joint_estimate_is_more_precise_than_inclusion_and_exclusion() {
    const TRIALS: u64 = 200;
    let third = Sets { left: 20_000, right: 20_000, both: 20_000 };
    let tenth = Sets { left: 45_000, right: 45_000, both: 10_000 };
    let fiftieth = Sets { left: 49_000, right: 49_000, both: 2000 };
    for (sets, most) in [(third, 0.9), (tenth, 0.65), (fiftieth, 0.5)] {
        let (mut joint, mut plain, mut inside) = (Vec::new(), Vec::new(), 0);
        for trial in 0..TRIALS {
            let [left, right] = sets.sketches([12, 12], seed_for("joint-rmse", sets.both, trial));
            let both = sets.both as f64;
            joint.push(left.joint(&right).unwrap().intersection().estimate() - both);
            let difference = left.inclusion_exclusion(&right, 2.0).unwrap();
            plain.push(difference.value - both);
            inside += u64::from(difference.lower <= both && both <= difference.upper);
        }
        laws::at_most(laws::rmse(&joint) / laws::rmse(&plain), most).assert(&format!("{sets:?}"));
        // Cautious: the errors of the three estimates are alike.
        laws::rate_at_least(inside, TRIALS, 0.9545).assert(&format!("{sets:?}: bounds of the difference"));
    }
}

#[test]
fn bounds_hold_the_truth() {
    const TRIALS: u64 = 300;
    /// Of a normal error within 1, 2 and 3 standard deviations.
    const NOMINAL: [f64; 3] = [0.6827, 0.9545, 0.9973];
    /// What errors that are not normal may take away: intersections of a few keys, small sketches.
    const SHAPE: f64 = 0.05;
    for (sets, precision) in [
        (Sets { left: 20_000, right: 20_000, both: 20_000 }, 12),
        (Sets { left: 49_000, right: 49_000, both: 2000 }, 12),
        (Sets { left: 49_500, right: 49_500, both: 500 }, 12),
        (Sets { left: 50_000, right: 50_000, both: 0 }, 12),
        (Sets { left: 50_000, right: 0, both: 20_000 }, 12),
        (Sets { left: 100_000, right: 1000, both: 1000 }, 12),
        (Sets { left: 100_000, right: 100, both: 100 }, 12),
        (Sets { left: 800, right: 800, both: 200 }, 12),
        (Sets { left: 300, right: 300, both: 100 }, 12),
        (Sets { left: 2000, right: 2000, both: 200 }, 8),
        (Sets { left: 200, right: 200, both: 200 }, 5),
    ] {
        let mut hits = [[0; 3]; 5];
        for trial in 0..TRIALS {
            let [left, right] = sets.sketches([precision; 2], seed_for("joint-bounds", sets.both, trial));
            let joint = left.joint(&right).unwrap();
            for (hits, (_, part, truth)) in hits.iter_mut().zip(parts(&joint, sets)) {
                for (hits, kappa) in hits.iter_mut().zip([1.0, 2.0, 3.0]) {
                    let (low, high) = part.bounds(kappa);
                    // Keys counted one by one are off by whole keys.
                    let slack = if left.is_sparse() && truth > 1.0 { 1.0 } else { 0.0 };
                    *hits += u64::from(low - slack <= truth && truth <= high + slack);
                }
            }
        }
        let joint = HyperLogLog::new(HllParams::with_precision(4).unwrap());
        let joint = joint.joint(&joint).unwrap();
        for (hits, (name, ..)) in hits.iter().zip(parts(&joint, sets)) {
            for (kappa, (&hits, nominal)) in (1..).zip(hits.iter().zip(NOMINAL)) {
                laws::rate_at_least(hits, TRIALS, nominal - SHAPE)
                    .assert(&format!("{sets:?}, p = {precision}: {name} within {kappa}"));
            }
        }
    }
}

#[test]
fn few_keys_are_compared_one_by_one() {
    let sets = Sets { left: 400, right: 200, both: 100 };
    for precisions in [[12, 12], [14, 12], [12, 18]] {
        let [left, right] = sets.sketches(precisions, 7);
        let joint = left.joint(&right).unwrap();
        assert!(joint.is_determined());
        for (name, part, truth) in parts(&joint, sets) {
            laws::at_most((part.estimate() - truth).abs(), 0.01).assert(name);
            let (low, high) = part.bounds(3.0);
            assert!(low <= truth && truth <= high && high - low < 0.5, "{name}: {low} to {high}");
        }
    }
    let [left, right] = Sets { left: 400, right: 200, both: 0 }.sketches([12, 12], 8);
    let joint = left.joint(&right).unwrap();
    assert_eq!(joint.intersection().bounds(3.0), (0.0, 0.0));
}

/// A key more turns tokens into registers on one side, or on both.
#[test]
fn modes_and_precisions_mix() {
    let sets = Sets { left: 50_000, right: 50, both: 100 };
    let [left, right] = sets.sketches([12, 14], 3);
    assert!(!left.is_sparse() && right.is_sparse());
    let mut folded = right.clone();
    folded.fold_to(12).unwrap();
    for (mixed, even) in [
        (left.joint(&right).unwrap(), left.joint(&folded).unwrap()),
        (right.joint(&left).unwrap(), folded.joint(&left).unwrap()),
    ] {
        for ((name, mixed, _), (_, even, _)) in parts(&mixed, sets).into_iter().zip(parts(&even, sets)) {
            assert_eq!(mixed.estimate().to_bits(), even.estimate().to_bits(), "{name}");
            assert_eq!(mixed.bounds(2.0), even.bounds(2.0), "{name}");
        }
    }
    let big = Sets { left: 30_000, right: 30_000, both: 30_000 };
    let [left, right] = big.sketches([14, 12], 4);
    for (name, part, truth) in parts(&left.joint(&right).unwrap(), big) {
        let (low, high) = part.bounds(4.0);
        assert!(low <= truth && truth <= high, "{name}: {low} to {high}");
    }
}

#[test]
fn a_sketch_has_all_in_common_with_itself() {
    for keys in [0, 1, 100, 5000, 1_000_000] {
        let sets = Sets { left: 0, right: 0, both: keys };
        let [left, right] = sets.sketches([10, 10], keys);
        let joint = left.joint(&right).unwrap();
        assert!(joint.is_determined());
        let same = if keys == 0 { 0.0 } else { 1.0 };
        laws::at_most((joint.jaccard().estimate() - same).abs(), 1e-3).assert("similarity");
        let size = left.estimate();
        laws::at_most((joint.intersection().estimate() - size).abs(), 0.02 * size).assert("intersection");
        answers_sanely(&left, &right);
    }
}

/// Every register of one sketch is above the other's: all of the smaller set may be in both, or none of it.
#[test]
fn what_the_registers_do_not_tell_is_not_claimed() {
    let params = HllParams::with_precision(8).unwrap();
    let (mut high, mut low) = (HyperLogLog::new(params), HyperLogLog::new(params));
    for register in 0..256u64 {
        high.insert_hash(1 << 40 | register);
        low.insert_hash(1 << 62 | register);
    }
    let joint = high.joint(&low).unwrap();
    assert!(!joint.is_determined());
    let (least, most) = joint.intersection().bounds(2.0);
    assert!(least == 0.0 && most >= 0.9 * low.estimate(), "{least} to {most}");
    let (least, most) = joint.right_only().bounds(2.0);
    assert!(least == 0.0 && most >= 0.9 * low.estimate(), "{least} to {most}");
    answers_sanely(&high, &low);

    // Saturated ones tell nothing at all.
    let mut full = HyperLogLog::new(params);
    full.insert_batch(&(0..256).collect::<Vec<u64>>());
    let joint = full.joint(&low).unwrap();
    assert!(!joint.is_determined() && joint.union().estimate().is_infinite());
    assert_eq!(joint.intersection().bounds(1.0), (0.0, low.bounds(1.0).1));
    assert_eq!(joint.right_only().bounds(1.0), (0.0, low.bounds(1.0).1));
    assert!(joint.union().bounds(1.0).1.is_infinite());
    assert_eq!(joint.jaccard().bounds(1.0), (0.0, 1.0));
    for other in [&low, &full, &HyperLogLog::new(params)] {
        answers_sanely(&full, other);
        answers_sanely(other, &full);
        let plain = full.inclusion_exclusion(other, 2.0).unwrap();
        assert_eq!((plain.value.to_bits(), (plain.lower, plain.upper)), (0, (0.0, other.bounds(2.0).1)));
    }
}

#[test]
fn an_empty_set_has_nothing_in_common() {
    for keys in [0, 10, 100_000] {
        let [empty, other] = Sets { left: 0, right: keys, both: 0 }.sketches([12, 12], 1);
        for joint in [empty.joint(&other).unwrap(), other.joint(&empty).unwrap()] {
            assert!(joint.is_determined());
            assert_eq!(
                (joint.intersection().estimate(), joint.intersection().bounds(5.0)),
                (0.0, (0.0, 0.0))
            );
            assert_eq!((joint.jaccard().estimate(), joint.jaccard().bounds(5.0)), (0.0, (0.0, 0.0)));
            assert_eq!(joint.union().estimate().to_bits(), other.estimate().to_bits());
        }
        answers_sanely(&empty, &other);
    }
    let params = HllParams::with_precision(8).unwrap();
    let (empty, mut full) = (HyperLogLog::new(params), HyperLogLog::new(params));
    full.insert_batch(&(0..256).collect::<Vec<u64>>());
    let joint = empty.joint(&full).unwrap();
    assert!(joint.is_determined() && joint.left_only().bounds(3.0) == (0.0, 0.0));
    assert!(
        joint.intersection().bounds(3.0) == (0.0, 0.0) && joint.right_only().bounds(3.0) == full.bounds(3.0)
    );
}

#[test]
fn other_hashers_do_not_compare() {
    let params = HllParams::with_precision(6).unwrap();
    let [one, two] = [1, 2].map(|key| HyperLogLog::with_hasher(params, SipHasher::new([key; 16])));
    assert!(matches!(one.joint(&two), Err(Error::Hasher { .. })));
    assert!(matches!(one.inclusion_exclusion(&two, 1.0), Err(Error::Hasher { .. })));
    assert!(matches!(HyperLogLog::union_estimate(&[&one, &two]), Err(Error::Hasher { .. })));
}

proptest! {
    #[test]
    fn any_two_states_have_a_sane_comparison(
        p in 4..=9u8, q in 4..=9u8, left in states(), right in states(), shared in states(),
    ) {
        let [mut a, mut b] = [p, q].map(|p| HyperLogLog::new(HllParams::with_precision(p).unwrap()));
        for (sketch, own) in [(&mut a, &left), (&mut b, &right)] {
            sketch.insert_batch(own);
            sketch.insert_batch(&shared);
        }
        answers_sanely(&a, &b);
        answers_sanely(&a, &a);
        let plain = a.inclusion_exclusion(&b, 2.0).unwrap();
        prop_assert!(plain.lower <= plain.upper && plain.value.is_finite());
    }
}

/// Hashes with many leading zeros and with few.
fn states() -> impl Strategy<Value = Vec<u64>> {
    let hash = (any::<u64>(), 0..64u32).prop_map(|(hash, zeros)| hash >> zeros << 9 >> 9 | hash & 511);
    prop_oneof![
        vec(hash, 0..40),
        vec(any::<u64>(), 0..2000),
        (any::<u64>(), 0..4000u64)
            .prop_map(|(seed, n)| DistinctKeys::new(seed).range(0..n).map(|h| h % (1 << 30)).collect()),
    ]
}
