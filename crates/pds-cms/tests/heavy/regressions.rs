//! Faults that users of other libraries reported, each with the right value.

use pds_cms::prelude::*;

use crate::summaries::{Summary, counted};

/// `sketch_oxide` 0.1.6: a merge gave 50 as the upper bound of a key that occurred 55 times.
#[test]
fn a_key_that_one_side_does_not_list_inherits_its_least_count() {
    let mut a: SpaceSaving<u64> = counted(2, &[(b'x'.into(), 5), (b'y'.into(), 6), (b'z'.into(), 7)]);
    let b: SpaceSaving<u64> = counted(2, &[(b'x'.into(), 50), (b'w'.into(), 1)]);
    assert_eq!(a.bounds(&u64::from(b'x')), (0, 6), "gave way to z");
    a.merge(&b).unwrap();
    let (lower, upper) = a.bounds(&u64::from(b'x'));
    assert!(lower <= 55 && 55 <= upper, "{lower} to {upper}");
    assert_eq!((lower, upper), (50, 56));
}

/// RedisBloom #295, #418; Eignex/kumulant PR #79; stream-lib #111: counts and totals wrapped.
#[test]
fn counts_beyond_the_range_saturate() {
    fn check<S: Summary>() {
        let mut summary: S = counted(3, &[(1, u64::MAX), (2, 5)]);
        assert!(!summary.insert_n(1, 0));
        summary.insert_n(1, 10);
        assert_eq!((summary.total(), summary.is_saturated()), (u64::MAX, true));
        assert_eq!(summary.estimate(1), u64::MAX);
        assert_eq!(summary.top(1)[0].key, 1, "and does not drop out");
        let other = summary.clone();
        summary.merge(&other).unwrap();
        assert_eq!((summary.total(), summary.estimate(1)), (u64::MAX, u64::MAX));
        assert!(
            summary.heavy_hitters(0.5, Guarantee::NoFalsePositives).unwrap().is_empty(),
            "of an unknown total"
        );
        assert_eq!(summary.heavy_hitters(0.5, Guarantee::NoFalseNegatives).unwrap()[0].key, 1);
        assert!(S::from_bytes(&summary.to_bytes()).is_ok_and(|read| read == summary));
    }
    check::<SpaceSaving<u64>>();
    check::<MisraGries<u64>>();
    // The cells of the sketch saturate first.
    check::<TopK<u64>>();
}

/// asap_sketchlib PR #105: a merge lost counts. While every key has a counter, counts sum up to the total; later to no more.
#[test]
fn counts_sum_up_to_the_total() {
    let mut saving = SpaceSaving::<u64>::new(SpaceSavingParams::with_capacity(10).unwrap());
    let sum = |saving: &SpaceSaving<u64>| saving.top(10).iter().map(|hit| hit.estimate).sum::<u64>();
    for i in 0..1000u64 {
        saving.insert_n(&(i * i % 61), i % 5);
        assert_eq!(sum(&saving), saving.total());
    }
    let other: SpaceSaving<u64> = counted(10, &(100..200).map(|key| (key, 3)).collect::<Vec<_>>());
    saving.merge(&other).unwrap();
    assert!(sum(&saving) <= saving.total());
    assert!(saving.max_error() <= saving.total() / 10);
}

/// kumulant PR #86: taking one off each counter at a time took 212 ms for a key, at counts of ten million. At these counts
/// it would take years.
#[test]
fn a_purge_takes_the_median_at_once() {
    const LARGE: u64 = 1 << 53;
    let stream: Vec<(u64, u64)> = (0..1000).map(|key| (key, LARGE + key)).collect();
    let mut misra: MisraGries<u64> = counted(1000, &stream);
    misra.insert_n(&5000, 2 * LARGE);
    assert_eq!(misra.max_error(), LARGE + 500, "the median of 1,001");
    assert_eq!(misra.bounds(&5000), (LARGE - 500, 2 * LARGE));
    assert_eq!(misra.len(), 500);
}

/// mattlorimor/ProbabilisticDataStructures #55: a merge added up listed counts, which the sketches had counted already.
#[test]
fn merged_lists_are_estimated_anew() {
    let params = TopKParams::for_error(3, 0.001, 0.001).unwrap();
    let (mut a, mut b) = (TopK::<u64>::new(params), TopK::<u64>::new(params));
    for (key, n) in [(1, 10), (2, 20), (3, 30)] {
        a.insert_n(&key, n);
        b.insert_n(&(key + 1), n);
    }
    a.merge(&b).unwrap();
    let counts: Vec<(u64, u64)> = a.top(3).iter().map(|hit| (*hit.key, hit.estimate)).collect();
    assert_eq!(counts, [(3, 50), (2, 30), (4, 30)].map(|hit| hit));
    assert_eq!((a.max_unlisted(), a.estimate(&1)), (10, 10));
}

/// addthis/stream-lib PR #57: weighted counts left the list unsorted.
#[test]
fn weighted_counts_keep_the_order() {
    let mut saving = SpaceSaving::<u64>::new(SpaceSavingParams::with_capacity(50).unwrap());
    for i in 0..10_000u64 {
        saving.insert_n(&(i * i % 97), i % 13 * (i % 7));
        if i % 100 == 0 {
            let hits = saving.top(50);
            assert!(hits.is_sorted_by(|a, b| a.estimate >= b.estimate));
            let full = hits.len() == 50;
            assert_eq!(
                saving.max_error(),
                if full { hits[49].estimate } else { 0 },
                "the least is the least"
            );
        }
    }
}

/// stream-lib #132; RedisBloom #324: inherited counts were read as true ones, and counts could not be read with the list.
#[test]
fn each_key_comes_with_its_error() {
    let saving: SpaceSaving<u64> = counted(2, &[(1, 10), (2, 4), (3, 1)]);
    let hits = saving.top(2);
    assert_eq!(hits[0], HeavyHitter { key: &1, estimate: 10, lower: 10, upper: 10 });
    assert_eq!(hits[1], HeavyHitter { key: &3, estimate: 5, lower: 1, upper: 5 });
    assert!(hits[0].is_exact() && !hits[1].is_exact());
    assert_eq!(saving.guaranteed_top(1), hits[..1]);
}

/// datasketches-cpp #110; splicemachine/spliceengine PR #5302: merging full maps in the order of their tables clustered the
/// probes, beyond a limit.
#[test]
fn many_full_summaries_merge() {
    fn check<S: Summary>() {
        let shard = |shard: u64| {
            let stream: Vec<(u64, u64)> = (0..4000).map(|i| (shard * 4000 + i, 1 + i % 3)).collect();
            counted::<S>(1000, &stream)
        };
        let mut all = shard(0);
        for other in 1..32 {
            all.merge(&shard(other)).unwrap();
        }
        assert!(all.len() <= 1000);
        assert!(all.most_unlisted() <= all.promised());
    }
    check::<SpaceSaving<u64>>();
    check::<MisraGries<u64>>();
    check::<TopK<u64>>();
}

/// datasketches-java #199; datasketches-rust PR #191: a summary emptied by a purge was taken for an empty one.
#[test]
fn a_summary_emptied_by_a_purge_knows_total_and_error() {
    let mut misra: MisraGries<u64> = counted(3, &[(1, 1), (2, 1), (3, 1), (4, 1)]);
    assert_eq!((misra.len(), misra.is_empty()), (0, false));
    assert_eq!((misra.total(), misra.max_error(), misra.bounds(&1)), (4, 1, (0, 1)));
    let read = MisraGries::<u64>::from_bytes(&misra.to_bytes()).unwrap();
    assert_eq!((read.total(), read.max_error()), (4, 1));
    misra.merge(&read).unwrap();
    assert_eq!((misra.total(), misra.max_error(), misra.bounds(&1)), (8, 2, (0, 2)));
}

/// Redis TOPK: of equal counts the newcomer was taken in, so that ties churned.
#[test]
fn ties_keep_who_is_listed() {
    let mut top = TopK::<u64>::new(TopKParams::for_error(3, 0.001, 0.001).unwrap());
    for key in 0..20 {
        top.insert(&key);
    }
    let mut keys: Vec<u64> = top.top(3).iter().map(|hit| *hit.key).collect();
    keys.sort_unstable();
    assert_eq!(keys, [0, 1, 2]);
    assert_eq!(top.max_unlisted(), 1);
}

/// barrust/pyprobables #61 and others: instances of random seeds could not be merged.
#[test]
fn summaries_made_apart_merge() {
    let mut here: SpaceSaving<u64> = counted(5, &[(1, 2)]);
    let there: SpaceSaving<u64> = counted(5, &[(1, 3)]);
    here.merge(&SpaceSaving::from_bytes(&there.to_bytes()).unwrap()).unwrap();
    assert_eq!(here.bounds(&1), (5, 5));
}

/// RedisBloom PR #450; heavykeeper 0.7.2: the time of a weighted count grew with its weight, 0.28 s for twenty million. For
/// these weights it would be years.
#[test]
fn a_weight_takes_no_longer_than_one() {
    let mut keeper = HeavyKeeper::<u64>::new(HeavyKeeperParams::with_shape(2, 1).unwrap());
    for key in 0..10_000u64 {
        keeper.insert_n(&key, 1 << 50);
    }
    assert_eq!(keeper.total(), 10_000 << 50);
}

/// ProbabilisticDataStructures PR #107: cells that grow only below the least of the list froze a list that is full.
#[test]
fn a_full_list_turns_over() {
    let mut keeper = HeavyKeeper::<u64>::new(HeavyKeeperParams::for_top(5).unwrap());
    for _ in 0..100 {
        keeper.extend(0..5);
    }
    for _ in 0..200 {
        keeper.extend(10..15);
    }
    let mut keys: Vec<u64> = keeper.top(5).iter().map(|hit| *hit.key).collect();
    keys.sort_unstable();
    assert_eq!(keys, [10, 11, 12, 13, 14]);
}

/// `sketch_oxide` 0.1.6: a "HeavyKeeper" without fingerprints gave 316 for a key that never occurred.
#[test]
fn an_absent_key_has_no_count() {
    let mut keeper = HeavyKeeper::<u64>::new(HeavyKeeperParams::for_top(10).unwrap());
    keeper.extend((0..100_000u64).map(|i| i % 1000));
    assert!((1000..3000u64).all(|key| keeper.estimate(&key) == 0));
}

#[test]
fn where_counting_ends_no_key_is_certain_to_be_the_first() {
    let params = SpaceSavingParams::with_capacity(3).unwrap();
    for keys in [[1u64, 2], [2, 1]] {
        let mut saving = SpaceSaving::<u64>::new(params);
        let mut misra = MisraGries::<u64>::new(MisraGriesParams::with_capacity(3).unwrap());
        // The second occurred twice as often.
        for (key, n) in [(keys[0], 1), (keys[1], 2)] {
            for _ in 0..n {
                saving.insert_n(&key, u64::MAX);
                misra.insert_n(&key, u64::MAX);
            }
        }
        assert_eq!((saving.guaranteed_top(1).len(), misra.guaranteed_top(1).len()), (0, 0));
        assert!(saving.top(2).iter().chain(&misra.top(2)).all(|hit| !hit.is_exact()));
    }
}
