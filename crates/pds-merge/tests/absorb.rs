//! Filters that do not merge.

use std::collections::BTreeSet;

use pds_cuckoo::WyHasher;
use pds_cuckoo::prelude::*;
use pds_merge::{Error, MergeError, absorb_all, absorb_all_growable, union_hashes};
use pds_static_filters::BinaryFuseFilter8;
use proptest::collection::vec;
use proptest::prelude::*;

fn fixed(keys: impl IntoIterator<Item = u32>) -> CuckooFilter {
    let mut filter = CuckooFilter::new(CuckooParams::for_fpr(1_000, 0.01).expect("valid targets"));
    for key in keys {
        filter.insert(&key).expect("room");
    }
    filter
}

fn growable(keys: impl IntoIterator<Item = u32>) -> GrowableCuckooFilter {
    let mut filter =
        GrowableCuckooFilter::new(GrowableCuckooParams::for_fpr(100, 100_000, 0.01).expect("valid targets"));
    for key in keys {
        filter.insert(&key).expect("room");
    }
    filter
}

#[test]
fn absorbing_finds_all_keys_of_all() {
    let shards: Vec<_> = (0..10u32).map(|shard| fixed(shard * 80..shard * 80 + 80)).collect();
    let mut all = fixed([]);
    absorb_all(&mut all, &shards).unwrap();
    assert_eq!(all.len(), 800);
    assert!((0..800u32).all(|key| all.contains(&key)));

    // Of different sizes.
    let shards: Vec<_> = (0..5u32).map(|shard| growable(0..shard * 300)).collect();
    let mut all = growable([]);
    absorb_all_growable(&mut all, &shards).unwrap();
    assert!((0..1_200u32).all(|key| all.contains(&key)));
}

#[test]
fn a_filter_without_room_is_left_as_it_was_before_the_refused_one() {
    let shards: Vec<_> = (0..10u32).map(|shard| fixed(shard * 300..shard * 300 + 300)).collect();
    let mut all = fixed([]);
    let MergeError { index, error } = absorb_all(&mut all, &shards).unwrap_err();
    assert_eq!(error, Error::Full);
    let mut before = fixed([]);
    absorb_all(&mut before, &shards[..index]).unwrap();
    assert_eq!(all.to_bytes(), before.to_bytes());
    assert_eq!(all.len(), 300 * index as u64);
}

#[test]
fn filters_of_another_shape_or_hasher_are_refused() {
    let other = CuckooFilter::new(CuckooParams::for_fpr(1_000, 0.001).unwrap());
    let mut all = fixed(0..10);
    let before = all.to_bytes();
    let refusal = absorb_all(&mut all, [&fixed([]), &other]).unwrap_err();
    assert!(matches!(refusal, MergeError { index: 1, error: Error::Incompatible { .. } }), "{refusal}");
    assert_eq!(all.to_bytes(), before);

    let with = |key| GrowableCuckooFilter::with_hasher(growable([]).params(), SipHasher::new([key; 16]));
    let refusal = absorb_all_growable(&mut with(1), [with(1), with(2)]).unwrap_err();
    assert!(matches!(refusal, MergeError { index: 1, error: Error::Hasher { .. } }), "{refusal}");
}

proptest! {
    #[test]
    fn the_union_of_lists_is_their_set_ascending(mut lists in vec(vec(0..300u64, 0..100), 0..8), sorted: bool) {
        if sorted {
            for list in &mut lists {
                list.sort_unstable();
            }
        }
        let expected: Vec<u64> = lists.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        prop_assert_eq!(union_hashes(&lists), expected);
    }
}

#[test]
fn a_filter_built_again_is_that_of_all_keys() {
    let hasher = WyHasher::default();
    let hashes: Vec<u64> = (0..1_000u32).map(|key| hasher.hash_key(&key)).collect();
    let filter = BinaryFuseFilter8::from_hashes(&union_hashes([&hashes[..700], &hashes[300..]])).unwrap();
    assert_eq!(filter, BinaryFuseFilter8::from_keys(0..1_000u32).unwrap());
}
