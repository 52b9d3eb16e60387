//! HeavyKeeper: low on one side, found if frequent, one result for one seed.

use std::collections::HashMap;

use pds_cms::prelude::*;
use pds_testkit::{DistinctKeys, WireLaws, Zipf};
use proptest::prelude::*;

fn keeper(k: u32, buckets: u32, stream: &[(u64, u64)]) -> HeavyKeeper<u64> {
    let mut keeper = HeavyKeeper::new(HeavyKeeperParams::with_shape(k, buckets).expect("a legal shape"));
    for &(key, n) in stream {
        assert_eq!(keeper.insert_n(&key, n), n > 0);
    }
    keeper
}

fn weights() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..5u64, 4 => 0..1000u64, 1 => (1 << 32) - 2..=1u64 << 32, 1 => u64::MAX - 2..=u64::MAX]
}

fn streams() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..60u64, weights()), 0..120)
}

proptest! {
    /// Of 60 keys, no two share 32 bits of hash.
    #[test]
    fn an_estimate_is_never_above_the_truth(k in 1..8u32, buckets in 1..4u32, stream in streams()) {
        let keeper = keeper(k, buckets, &stream);
        let mut counts: HashMap<u64, u128> = HashMap::new();
        for &(key, n) in &stream {
            *counts.entry(key).or_default() += u128::from(n);
        }
        let total: u128 = counts.values().sum();
        prop_assert_eq!(u128::from(keeper.total()), total.min(u64::MAX.into()));
        prop_assert_eq!(keeper.is_saturated(), total > u64::MAX.into());
        for key in 0..70 {
            let (lower, upper) = keeper.bounds(&key);
            prop_assert_eq!(keeper.estimate(&key), lower);
            let truth = counts.get(&key).copied().unwrap_or(0);
            prop_assert!(u128::from(lower) <= truth && truth.min(u64::MAX.into()) <= u128::from(upper));
        }
        let hits = keeper.top(usize::MAX);
        prop_assert_eq!(hits.len(), keeper.len());
        prop_assert_eq!(hits.len(), counts.values().filter(|&&count| count > 0).count().min(k as usize));
        prop_assert!(hits.is_sorted_by(|a, b| a.estimate >= b.estimate));
        for (at, hit) in hits.iter().enumerate() {
            prop_assert!(keeper.contains(hit.key) && hit.estimate == keeper.estimate(hit.key));
            prop_assert!(hits[..at].iter().all(|other| other.key != hit.key));
        }
        for hit in keeper.heavy_hitters(0.1).unwrap() {
            prop_assert!(counts[hit.key] as f64 > 0.1 * total as f64);
        }
    }

    #[test]
    fn one_stream_and_one_seed_give_one_result(k in 1..8u32, stream in streams()) {
        let (mut first, second) = (keeper(k, 2, &stream), keeper(k, 2, &stream));
        prop_assert!(first == second);
        prop_assert_eq!(first.to_bytes(), second.to_bytes());
        first.clear();
        prop_assert!(first == keeper(k, 2, &[]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn bytes_round_trip_and_damage_is_refused(k in 1..6u32, stream in streams()) {
        let laws: WireLaws<HeavyKeeper<u64>> = WireLaws {
            exercise: |keeper| {
                let mut keeper = keeper.clone();
                for key in 0..40u64 {
                    keeper.estimate(&key);
                    keeper.insert_n(&key, 1 << key);
                }
                keeper.top(3);
            },
            ..WireLaws::new(HeavyKeeper::from_bytes)
        };
        let keeper = keeper(k, 2, &stream);
        laws.all(&keeper);
        laws.round_trips_to_an_equal(&keeper);
        laws.accepts_canonical_bytes_only(&keeper.to_bytes());
        let json = serde_json::to_string(&keeper).unwrap();
        prop_assert!(serde_json::from_str::<HeavyKeeper<u64>>(&json).unwrap() == keeper);
    }
}

/// The recall that is aimed at, at the size that [`HeavyKeeperParams::for_top`] gives.
#[test]
fn frequent_keys_are_found_on_skewed_streams() {
    const K: usize = 100;
    const RECALL: f64 = 0.99;
    for skew in [1.0, 1.1, 1.2, 1.5] {
        let (mut found, mut sought) = (0, 0);
        for seed in 0..4 {
            let ids = DistinctKeys::new(seed);
            let mut keeper =
                HeavyKeeper::<u64>::new(HeavyKeeperParams::for_top(K as u32).unwrap().with_seed(seed));
            let mut counts: HashMap<u64, u64> = HashMap::new();
            for key in Zipf::new(100_000, skew, seed).take(500_000).map(|rank| ids.key(rank)) {
                keeper.insert(&key);
                *counts.entry(key).or_default() += 1;
            }
            let mut ranking: Vec<u64> = counts.values().copied().collect();
            ranking.sort_unstable_by(|a, b| b.cmp(a));
            found += keeper.top(K).iter().filter(|hit| counts[hit.key] >= ranking[K - 1]).count();
            sought += K;
        }
        assert!(found as f64 >= RECALL * sought as f64, "skew {skew}: {found} of {sought}");
    }
}
