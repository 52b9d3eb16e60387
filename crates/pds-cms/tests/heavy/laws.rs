//! Bounds and guarantees, on random and on adversarial streams, alone and merged.

use pds_cms::WyHasher;
use pds_cms::prelude::*;
use pds_testkit::{DistinctKeys, SplitMix64, WireLaws, Zipf, refused_merge_law};
use proptest::prelude::*;

use crate::summaries::{Summary, check, counted, exact};

/// Counts of every size: most are small, some are next to the greatest of a cell or of a total.
fn weights() -> impl Strategy<Value = u64> {
    let next_to = |edge: u64| edge - 2..=edge;
    prop_oneof![12 => 0..5u64, 4 => 0..1000u64, 1 => next_to(1 << 32), 1 => next_to(1 << 63), 1 => next_to(u64::MAX)]
}

fn streams() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let small = prop::collection::vec((0..30u64, 0..4u64), 0..200);
    prop_oneof![2 => prop::collection::vec((0..30u64, weights()), 0..60), 1 => small]
}

fn merged<S: Summary>(shards: &[S]) -> S {
    let mut all = shards[0].clone();
    for shard in &shards[1..] {
        all.merge(shard).expect("shards of one shape");
    }
    all
}

fn laws_of_a_stream<S: Summary>(capacity: u32, stream: &[(u64, u64)], shards: usize) {
    let whole: S = counted(capacity, stream);
    let counts = exact(stream);
    check(&whole, &counts, 30..35);

    // In any number of shards, and a few keys more after merging.
    let parts: Vec<S> = (0..shards)
        .map(|shard| {
            let part: Vec<_> = stream.iter().copied().skip(shard).step_by(shards).collect();
            counted(capacity, &part)
        })
        .collect();
    let mut all = merged(&parts);
    check(&all, &counts, 30..35);
    let more: Vec<(u64, u64)> = (20..40).map(|key| (key, key)).collect();
    for &(key, n) in &more {
        all.insert_n(key, n);
    }
    check(&all, &exact(&[stream, &more].concat()), 40..45);

    let reversed: Vec<S> = parts.iter().rev().cloned().collect();
    assert!(parts.len() > 2 || merged(&reversed).to_bytes() == merged(&parts).to_bytes(), "merging commutes");
}

fn laws_of_an_insert<S: Summary>(capacity: u32, stream: &[(u64, u64)]) {
    let mut summary = S::with_capacity(capacity);
    for &(key, n) in stream {
        let before = summary.clone();
        assert_eq!(summary.insert_n(key, n), summary != before, "an insert says whether the state changed");
        assert!(n > 0 || summary == before, "a weight of 0 changes nothing");
    }
}

fn laws_of_bytes<S: Summary>(summary: &S) {
    let laws: WireLaws<S> = WireLaws {
        exercise: |summary| {
            summary.top(3);
            summary.heavy_hitters(0.1, Guarantee::NoFalseNegatives).ok();
            let mut summary = summary.clone();
            for key in 0..40 {
                summary.bounds(key);
                summary.insert_n(key, 1 << key);
            }
        },
        ..WireLaws::new(S::from_bytes)
    };
    laws.all(summary);
    laws.round_trips_to_an_equal(summary);
    laws.accepts_canonical_bytes_only(&summary.to_bytes());
}

proptest! {
    #[test]
    fn bounds_hold_for_every_key_of_one_stream_and_of_many(capacity in 1..12u32, stream in streams(), shards in 1..33usize) {
        laws_of_a_stream::<SpaceSaving<u64>>(capacity, &stream, shards);
        laws_of_a_stream::<MisraGries<u64>>(capacity, &stream, shards);
        laws_of_a_stream::<TopK<u64>>(capacity, &stream, shards);
    }

    #[test]
    fn an_insert_says_whether_the_state_changed(capacity in 1..6u32, stream in streams()) {
        laws_of_an_insert::<SpaceSaving<u64>>(capacity, &stream);
        laws_of_an_insert::<MisraGries<u64>>(capacity, &stream);
        laws_of_an_insert::<TopK<u64>>(capacity, &stream);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn bytes_round_trip_and_damage_is_refused(capacity in 1..6u32, stream in streams()) {
        laws_of_bytes::<SpaceSaving<u64>>(&counted(capacity, &stream));
        laws_of_bytes::<MisraGries<u64>>(&counted(capacity, &stream));
        laws_of_bytes::<TopK<u64>>(&counted(capacity, &stream));
    }
}

/// Orders that are bad for counters: all keys once, ascending and in blocks, with the frequent ones last or interleaved,
/// and skewed ones.
fn adversarial() -> Vec<(&'static str, Vec<u64>)> {
    let ids = DistinctKeys::new(3);
    let distinct: Vec<u64> = (0..30_000).collect();
    let blocks: Vec<u64> = (0..300u64).flat_map(|key| [key; 100]).collect();
    let late: Vec<u64> = (0..20_000).chain((0..10_000).map(|i| 50_000 + i % 7)).collect();
    let rounds: Vec<u64> = (0..30_000).map(|i| i % 101).collect();
    let churn: Vec<u64> = (0..30_000).map(|i| if i % 2 == 0 { i % 126 / 2 } else { 1 << 32 | i }).collect();
    let mut shuffled = blocks.clone();
    SplitMix64::new(1).shuffle(&mut shuffled);
    let zipf = |skew| Zipf::new(100_000, skew, 5).take(30_000).map(|rank| ids.key(rank)).collect();
    vec![
        ("all distinct", distinct),
        ("in blocks", blocks),
        ("frequent ones last", late),
        ("round and round, one more than there are counters", rounds),
        ("as many frequent ones as counters, and rare ones between", churn),
        ("shuffled", shuffled),
        ("Zipf 0.7", zipf(0.7)),
        ("Zipf 1.3", zipf(1.3)),
    ]
}

fn laws_of_adversarial_streams<S: Summary>() {
    for (name, keys) in adversarial() {
        println!("{name}");
        for weighted in [false, true] {
            let stream: Vec<(u64, u64)> =
                keys.iter().map(|&key| (key, if weighted { key % 1000 } else { 1 })).collect();
            let counts = exact(&stream);
            for capacity in [1, 10, 64, 100] {
                check(&counted::<S>(capacity, &stream), &counts, [u64::MAX]);
                let shards: Vec<S> =
                    stream.chunks(stream.len().div_ceil(32)).map(|part| counted(capacity, part)).collect();
                check(&merged(&shards), &counts, [u64::MAX]);
            }
        }
    }
}

#[test]
fn space_saving_keeps_its_bounds_on_adversarial_streams() {
    laws_of_adversarial_streams::<SpaceSaving<u64>>();
}

#[test]
fn misra_gries_keeps_its_bounds_on_adversarial_streams() {
    laws_of_adversarial_streams::<MisraGries<u64>>();
}

#[test]
fn top_k_keeps_its_bounds_on_adversarial_streams() {
    laws_of_adversarial_streams::<TopK<u64>>();
}

#[test]
fn while_there_is_room_every_count_is_exact() {
    let stream: Vec<(u64, u64)> = (0..50).map(|key| (key % 10, key)).collect();
    let counts = exact(&stream);
    let (saving, misra): (SpaceSaving<u64>, MisraGries<u64>) = (counted(11, &stream), counted(11, &stream));
    for (key, &count) in &counts {
        assert_eq!(u128::from(saving.estimate(key)), count);
        assert_eq!(u128::from(misra.estimate(key)), count);
    }
    assert!(saving.top(10).iter().all(HeavyHitter::is_exact));
    assert_eq!((saving.max_error(), misra.max_error()), (0, 0));
    assert_eq!((saving.bounds(&77), misra.bounds(&77)), ((0, 0), (0, 0)));
}

#[test]
fn what_is_guaranteed_is_right() {
    let keys: Vec<u64> = Zipf::new(10_000, 1.2, 9).take(50_000).collect();
    let stream: Vec<(u64, u64)> = keys.iter().map(|&key| (key, 1)).collect();
    let counts = exact(&stream);
    let mut ranking: Vec<u128> = counts.values().copied().collect();
    ranking.sort_unstable_by(|a, b| b.cmp(a));
    let (saving, misra): (SpaceSaving<u64>, MisraGries<u64>) = (counted(100, &stream), counted(200, &stream));
    for k in [1, 5, 10, 50] {
        for hits in [saving.guaranteed_top(k), misra.guaranteed_top(k)] {
            assert!(!hits.is_empty() && hits.len() <= k);
            assert!(hits.iter().all(|hit| counts[hit.key] >= ranking[k - 1]));
        }
    }
}

#[test]
fn texts_are_counted_by_reference() {
    fn check<T>(mut list: T, insert: fn(&mut T, &str), estimate: fn(&T, &str) -> u64) {
        for word in "the cat and the dog and the bird".split(' ') {
            insert(&mut list, word);
        }
        assert_eq!(["the", "and", "cat", "cow"].map(|word| estimate(&list, word)), [3, 2, 1, 0]);
    }
    let params = SpaceSavingParams::with_capacity(10).unwrap();
    check(SpaceSaving::<String>::new(params), |s, w| _ = s.insert(w), SpaceSaving::estimate);
    let params = MisraGriesParams::with_capacity(10).unwrap();
    check(MisraGries::<String>::new(params), |s, w| _ = s.insert(w), MisraGries::estimate);
    let params = TopKParams::for_error(10, 0.01, 0.001).unwrap();
    check(TopK::<String>::new(params), |s, w| _ = s.insert(w), TopK::estimate);
    let params = HeavyKeeperParams::for_top(10).unwrap();
    check(HeavyKeeper::<String>::new(params), |s, w| _ = s.insert(w), HeavyKeeper::estimate);
}

/// A hasher under which all keys are one hash: keys are told apart by themselves.
#[derive(Clone)]
struct Constant;

impl Fingerprint for Constant {
    fn fingerprint(&self) -> u64 {
        7
    }
}

impl KeyHasher for Constant {
    fn hash_bytes(&self, _: &[u8]) -> u64 {
        u64::MAX
    }
}

#[test]
fn the_bounds_do_not_depend_on_the_hasher() {
    let mut saving = SpaceSaving::with_hasher(SpaceSavingParams::with_capacity(20).unwrap(), Constant);
    let mut misra = MisraGries::with_hasher(MisraGriesParams::with_capacity(20).unwrap(), Constant);
    let stream: Vec<(u64, u64)> = (0..3000u64).map(|i| (i * i % 59, i % 4)).collect();
    for &(key, n) in &stream {
        saving.insert_n(&key, n);
        misra.insert_n(&key, n);
    }
    for (key, &count) in &exact(&stream) {
        for (lower, upper) in [saving.bounds(key), misra.bounds(key)] {
            assert!(u128::from(lower) <= count && count <= u128::from(upper));
        }
    }
    assert!(SpaceSaving::from_bytes_with(&saving.to_bytes(), Constant).is_ok_and(|read| read == saving));
    assert!(MisraGries::from_bytes_with(&misra.to_bytes(), Constant).is_ok_and(|read| read == misra));
}

#[test]
fn other_capacities_and_hashers_are_refused_and_change_nothing() {
    fn check<S: Summary>(field: &'static str) {
        let stream: Vec<(u64, u64)> = (0..20).map(|key| (key, key)).collect();
        let error = refused_merge_law(counted::<S>(5, &stream), &counted(6, &stream));
        assert_eq!(error, Error::Incompatible { field });
    }
    check::<SpaceSaving<u64>>("capacity");
    check::<MisraGries<u64>>("capacity");
    check::<TopK<u64>>("k");
    let seeded = WyHasher::with_seed(1);
    let params = SpaceSavingParams::with_capacity(5).unwrap();
    let error = refused_merge_law(SpaceSaving::<u64>::new(params), &SpaceSaving::with_hasher(params, seeded));
    assert!(matches!(error, Error::Hasher { .. }));
    let params = MisraGriesParams::with_capacity(5).unwrap();
    let error = refused_merge_law(MisraGries::<u64>::new(params), &MisraGries::with_hasher(params, seeded));
    assert!(matches!(error, Error::Hasher { .. }));
    let params = TopKParams::for_error(5, 0.1, 0.1).unwrap();
    let error = refused_merge_law(TopK::<u64>::new(params), &TopK::with_hasher(params, seeded));
    assert!(matches!(error, Error::Hasher { .. }));
    let wider = TopKParams::for_error(5, 0.05, 0.1).unwrap();
    let error = refused_merge_law(TopK::<u64>::new(params), &TopK::new(wider));
    assert_eq!(error, Error::Incompatible { field: "width" });
}

#[test]
fn shares_that_are_none_are_refused() {
    let (saving, misra, top): (SpaceSaving<u64>, MisraGries<u64>, TopK<u64>) =
        (counted(4, &[]), counted(4, &[]), counted(4, &[]));
    let keeper = HeavyKeeper::<u64>::new(HeavyKeeperParams::for_top(4).unwrap());
    for phi in [f64::NAN, -1.0, 0.0, 1.0, 2.0, f64::INFINITY] {
        for guarantee in [Guarantee::NoFalsePositives, Guarantee::NoFalseNegatives] {
            assert!(saving.heavy_hitters(phi, guarantee).is_err());
            assert!(misra.heavy_hitters(phi, guarantee).is_err());
            assert!(top.heavy_hitters(phi, guarantee).is_err());
        }
        assert!(keeper.heavy_hitters(phi).is_err());
    }
}

#[test]
fn what_is_cleared_is_as_new() {
    fn check<S: Summary>(clear: fn(&mut S)) {
        let stream: Vec<(u64, u64)> = (0..100).map(|key| (key, key + 1)).collect();
        let mut summary: S = counted(7, &stream);
        clear(&mut summary);
        assert!(summary == S::with_capacity(7));
        for &(key, n) in &stream {
            summary.insert_n(key, n);
        }
        assert!(summary == counted(7, &stream));
    }
    check::<SpaceSaving<u64>>(SpaceSaving::clear);
    check::<MisraGries<u64>>(MisraGries::clear);
    check::<TopK<u64>>(TopK::clear);
}

#[test]
fn serde_carries_the_bytes() {
    fn check<S: Summary + serde::Serialize + serde::de::DeserializeOwned>() {
        let summary: S = counted(3, &[(1, 5), (2, 7), (3, 2), (4, 9)]);
        let json = serde_json::to_string(&summary).unwrap();
        assert_eq!(json, serde_json::to_string(&summary.to_bytes()).unwrap());
        assert!(serde_json::from_str::<S>(&json).unwrap() == summary);
    }
    check::<SpaceSaving<u64>>();
    check::<MisraGries<u64>>();
    check::<TopK<u64>>();
}
