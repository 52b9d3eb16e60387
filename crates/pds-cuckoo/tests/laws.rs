//! What the filters promise, as laws.

use std::collections::HashMap;

use bitvec::prelude::{BitSlice, Lsb0};
use pds_cuckoo::WyHasher;
use pds_cuckoo::prelude::*;
use pds_testkit::DistinctKeys;
use proptest::prelude::*;

/// The slots of a filter as the documentation lays them out, read by the bit.
fn slots(payload: &[u8], slots: u64, width: u32) -> Vec<u64> {
    let bits: &BitSlice<u8, Lsb0> = BitSlice::from_slice(payload);
    let slot = |i: u64| {
        let start = (i * u64::from(width)) as usize;
        (0..width as usize).fold(0, |value, bit| value | u64::from(bits[start + bit]) << bit)
    };
    let end = (slots * u64::from(width)) as usize;
    assert!(bits[end..].not_any(), "zeros behind the last bucket");
    (0..slots).map(slot).collect()
}

#[test]
fn every_length_of_a_fingerprint_holds_its_keys_up_to_the_last_slot_and_lies_as_documented() {
    for bits in CuckooParams::MIN_FINGERPRINT_BITS..=CuckooParams::MAX_FINGERPRINT_BITS {
        for buckets in [1u64, 2, 3, 5, 6, 31, 64, 100] {
            let params = CuckooParams::with_shape(buckets, bits).expect("a valid shape");
            let mut filter = CuckooFilter::new(params);
            let mut members = Vec::new();
            let mut refused_in_a_row = 0;
            for hash in DistinctKeys::new(u64::from(bits) << 32 | buckets).range(0..100_000) {
                if filter.insert_hash(hash).is_ok() {
                    members.push(hash);
                    refused_in_a_row = 0;
                } else {
                    refused_in_a_row += 1;
                    if refused_in_a_row > 300 {
                        break;
                    }
                }
            }
            assert_eq!(filter.len(), members.len() as u64);
            assert!(members.iter().all(|&hash| filter.contains_hash(hash)), "{bits} bits, {buckets} buckets");
            let bytes = filter.to_bytes();
            let payload = &bytes[bytes.len() - filter.size_bytes()..];
            let stored = slots(payload, params.slots(), bits);
            assert_eq!(stored.iter().filter(|&&value| value != 0).count() as u64, filter.len());
            // Whatever order they go in.
            for &hash in members.iter().rev().step_by(2).chain(members.iter().rev().skip(1).step_by(2)) {
                filter.remove_hash(hash).expect("it was inserted");
            }
            assert!(filter.is_empty() && filter == CuckooFilter::new(params));
        }
    }
}

proptest! {
    #[test]
    fn an_entry_lies_where_its_hash_says(hash: u64, buckets in 1..2000u64, bits in 4..=32u32) {
        let params = CuckooParams::with_shape(buckets, bits).expect("a valid shape");
        let mut filter = CuckooFilter::new(params);
        filter.insert_hash(hash).expect("an empty filter has room");
        let bytes = filter.to_bytes();
        let stored = slots(&bytes[bytes.len() - filter.size_bytes()..], params.slots(), bits);
        // The documented arithmetic, by itself: an empty filter is filled at the first bucket.
        let product = u128::from(hash) * u128::from(buckets);
        let fingerprint = 1 + ((u128::from(product as u64) * ((1u128 << bits) - 1)) >> 64) as u64;
        let expected: HashMap<usize, u64> = HashMap::from([((product >> 64) as usize * 4, fingerprint)]);
        let found: HashMap<usize, u64> = stored.into_iter().enumerate().filter(|slot| slot.1 != 0).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn batches_views_and_single_calls_agree(
        members in proptest::collection::vec(any::<u64>(), 0..300),
        strangers: Vec<u64>, short in 0..10usize, bits in 4..=32u32,
    ) {
        let params = CuckooParams::with_shape(101, bits).expect("a valid shape");
        let (mut single, mut batch) = (CuckooFilter::new(params), CuckooFilter::new(params));
        let stored = members.iter().take_while(|&&hash| single.insert_hash(hash).is_ok()).count();
        prop_assert_eq!(batch.insert_batch(&members), stored);
        prop_assert_eq!(&single, &batch);
        let asked = [&members[..], &strangers[..]].concat();
        let mut found = vec![true; asked.len().saturating_sub(short)];
        prop_assert_eq!(single.contains_batch(&asked, &mut found), found.len());
        let mut more = vec![true; asked.len() + 3];
        prop_assert_eq!(single.contains_batch(&asked, &mut more), asked.len());
        prop_assert_eq!(&more[asked.len()..], &[true; 3]);
        let bytes = single.to_bytes();
        let view = CuckooFilter::view(&bytes).expect("its own bytes");
        let mut viewed = vec![false; asked.len()];
        prop_assert_eq!(view.contains_batch(&asked, &mut viewed), asked.len());
        prop_assert_eq!(&viewed[..], &more[..asked.len()]);
        prop_assert_eq!(view.len(), single.len());
        prop_assert_eq!(view.estimated_fpr().to_bits(), single.estimated_fpr().to_bits());
        prop_assert_eq!((view.load().to_bits(), view.is_saturated()), (single.load().to_bits(), single.is_saturated()));
        for (i, &hash) in asked.iter().enumerate() {
            let alone = single.contains_hash(hash);
            prop_assert!(alone || i >= stored, "no member is forgotten");
            prop_assert_eq!(more[i], alone);
            prop_assert_eq!(view.contains_hash(hash), alone);
            prop_assert!(i >= found.len() || found[i] == alone);
        }
    }

    #[test]
    fn a_growable_filter_answers_alike_at_every_size(members in proptest::collection::vec(any::<u64>(), 0..300)) {
        let params = GrowableCuckooParams::with_shape(2, 8, 12).expect("a valid plan");
        let mut filter = GrowableCuckooFilter::new(params);
        prop_assert_eq!(filter.insert_batch(&members), members.len());
        let strangers: Vec<u64> = DistinctKeys::new(9).range(0..2000).collect();
        let answers = |filter: &GrowableCuckooFilter| {
            let mut found = vec![false; strangers.len()];
            filter.contains_batch(&strangers, &mut found);
            found
        };
        filter.shrink_to_fit();
        let (before, fpr) = (answers(&filter), filter.estimated_fpr());
        loop {
            prop_assert_eq!(&answers(&filter), &before, "the rate does not change by growing");
            prop_assert_eq!(filter.estimated_fpr().to_bits(), fpr.to_bits());
            prop_assert!(members.iter().all(|&hash| filter.contains_hash(hash)));
            let bytes = filter.to_bytes();
            let view = GrowableCuckooFilter::view(&bytes).expect("its own bytes");
            prop_assert!(strangers.iter().zip(&before).all(|(&hash, &found)| view.contains_hash(hash) == found));
            if filter.grow().is_err() {
                break;
            }
        }
        prop_assert_eq!(filter.doublings(), 8);
        for &hash in &members {
            prop_assert_eq!(filter.remove_hash(hash), Ok(()));
        }
        prop_assert!(filter.is_empty() && filter.shrink_to_fit() && filter.doublings() == 0);
    }

    #[test]
    fn absorbing_gives_the_multiset_of_both(a: Vec<u16>, b: Vec<u16>, levels in 0..3u32) {
        let build = |keys: &[u16], grown| {
            let mut filter =
                GrowableCuckooFilter::new(GrowableCuckooParams::with_shape(20, 6, 20).expect("a valid plan"));
            for key in keys {
                filter.insert(key).expect("room");
            }
            for _ in 0..grown {
                filter.grow().expect("room in the plan");
            }
            filter
        };
        let (mut both, other) = (build(&a, 0), build(&b, levels));
        both.absorb(&other).expect("room");
        prop_assert_eq!(both.len(), (a.len() + b.len()) as u64);
        for key in a.iter().chain(&b) {
            prop_assert_eq!(both.remove(key), Ok(()));
        }
        prop_assert!(both.is_empty());
    }

    #[test]
    fn keys_and_their_hashes_are_one(key: String, number: i32) {
        let params = CuckooParams::for_fpr(10, 0.001).expect("valid targets");
        let mut filter = CuckooFilter::with_hasher(params, SipHasher::new([9; 16]));
        let hash = filter.hasher().hash_key(&key);
        prop_assert_eq!(filter.insert(&key), Ok(true));
        prop_assert!(filter.contains_hash(hash) && filter.insert_unique_hash(hash) == Ok(false));
        prop_assert_eq!(filter.remove_hash(hash), Ok(()));
        filter.insert(&number).expect("room");
        prop_assert_eq!(filter.remove(&i64::from(number)), Ok(()));
        prop_assert!(filter.is_empty());
    }
}

/// Tables on both sides of the size from which batches fetch ahead, 2^21 bytes, in every form of a bucket.
#[test]
fn large_batches_give_the_answers_of_single_calls() {
    for bits in [4, 7, 12, 21, 32] {
        for bytes in [(1u64 << 21) - 4096, (1 << 21) + 4096] {
            let params = CuckooParams::with_shape(bytes * 2 / u64::from(bits), bits).expect("a valid shape");
            let hashes: Vec<u64> = DistinctKeys::new(bytes).range(0..40_000).collect();
            let (members, strangers) = hashes.split_at(20_000);
            let (mut single, mut batch) = (CuckooFilter::new(params), CuckooFilter::new(params));
            for &hash in members {
                single.insert_hash(hash).expect("room");
            }
            assert_eq!(batch.insert_batch(members), members.len());
            assert!(single == batch);
            // The lengths around the number that is fetched ahead, and the whole.
            for asked in
                [0, 1, 63, 64, 65, 200].map(|len| &hashes[19_900..19_900 + len]).iter().chain([&strangers])
            {
                let mut found = vec![false; asked.len()];
                assert_eq!(single.contains_batch(asked, &mut found), asked.len());
                assert!(asked.iter().zip(found).all(|(&hash, found)| found == single.contains_hash(hash)));
            }
        }
    }
}

#[test]
fn absorbing_refuses_what_differs_or_does_not_fit_and_changes_nothing() {
    let shape =
        |buckets, bits| CuckooFilter::new(CuckooParams::with_shape(buckets, bits).expect("a valid shape"));
    let refused = |mut mine: CuckooFilter, other: &CuckooFilter| {
        let before = mine.clone();
        let error = mine.absorb(other).expect_err("it is refused");
        assert!(before == mine, "a refusal changes nothing");
        error
    };
    assert_eq!(refused(shape(8, 12), &shape(9, 12)), Error::Incompatible { field: "buckets" });
    assert_eq!(refused(shape(8, 12), &shape(8, 13)), Error::Incompatible { field: "fingerprint_bits" });
    let mut full = shape(8, 12);
    for key in 0..1000u32 {
        _ = full.insert(&key);
    }
    let mut one = shape(8, 12);
    one.insert(&5000u32).expect("room");
    assert_eq!(refused(full.clone(), &one), Error::Full);
    let mut copies = shape(8, 12);
    for _ in 0..8 {
        copies.insert("key").expect("room");
    }
    assert_eq!(refused(copies.clone(), &copies), Error::DuplicateLimit);
    let seeded = |seed| CuckooFilter::with_hasher(full.params(), WyHasher::with_seed(seed));
    assert!(matches!(refused(seeded(0), &seeded(1)), Error::Hasher { .. }));
    let mut nothing = shape(8, 12);
    nothing.absorb(&full).expect("as much room");
    assert_eq!(nothing.len(), full.len());

    let plan = |first, doublings, bits| {
        GrowableCuckooFilter::new(
            GrowableCuckooParams::with_shape(first, doublings, bits).expect("a valid plan"),
        )
    };
    for (other, field) in
        [(plan(4, 3, 8), "first_buckets"), (plan(2, 4, 8), "doublings"), (plan(2, 3, 9), "fingerprint_bits")]
    {
        assert_eq!(plan(2, 3, 8).absorb(&other), Err(Error::Incompatible { field }));
        assert!(plan(2, 3, 8) != other);
    }
}

#[test]
fn a_growable_filter_is_full_at_its_plans_end_and_unchanged_then() {
    let mut filter =
        GrowableCuckooFilter::new(GrowableCuckooParams::for_fpr(8, 200, 0.01).expect("valid targets"));
    let mut members = Vec::new();
    let error = DistinctKeys::new(3).range(0..10_000).find_map(|hash| {
        let before = (filter.len() > 180).then(|| filter.to_bytes());
        match filter.insert_hash(hash) {
            Ok(_) => {
                members.push(hash);
                None
            }
            Err(error) => {
                assert_eq!(before, Some(filter.to_bytes()));
                Some(error)
            }
        }
    });
    assert_eq!(error, Some(Error::Full));
    assert!(filter.len() >= filter.params().capacity() && filter.is_saturated());
    assert_eq!((filter.doublings(), filter.grow()), (filter.params().doublings(), Err(Error::Full)));
    assert!(members.iter().all(|&hash| filter.contains_hash(hash)));
    assert!(!filter.shrink_to_fit(), "a full table does not shrink");
    filter.clear();
    assert!(filter.is_empty() && filter.shrink_to_fit() && !filter.shrink_to_fit());
    assert_eq!(filter, GrowableCuckooFilter::new(filter.params()));
}

#[test]
fn no_key_at_all_is_legal_and_answers_no() {
    for fpr in [0.5, 0.01, 2e-9] {
        let mut filter = CuckooFilter::new(CuckooParams::for_fpr(0, fpr).expect("no keys are legal"));
        assert!(filter.is_empty() && !filter.contains("key") && !filter.is_saturated());
        assert_eq!((filter.load(), filter.estimated_fpr()), (0.0, 0.0));
        assert_eq!(filter.remove("key"), Err(Error::NotPresent));
        assert_eq!(filter.insert("key"), Ok(true));
        filter.clear();
        assert!(filter.is_empty() && !filter.contains("key"));
        let growable = GrowableCuckooParams::for_fpr(0, 0, fpr).expect("no keys are legal");
        assert!(!GrowableCuckooFilter::new(growable).contains("key"));
        assert!(CuckooFilter::from_keys([0u64; 0], fpr).expect("no keys are legal").is_empty());
    }
}

#[test]
fn a_filter_of_keys_at_hand_holds_them_all() {
    for count in [1u32, 2, 9, 100, 10_000] {
        let filter = CuckooFilter::from_keys(0..count, 0.001).expect("valid targets");
        assert_eq!(filter.len(), u64::from(count));
        assert!((0..count).all(|key| filter.contains(&key)));
    }
    assert_eq!(CuckooFilter::from_keys([7u8; 8], 0.001).map(|filter| filter.len()), Ok(8));
    assert_eq!(CuckooFilter::from_keys([7u8; 9], 0.001).unwrap_err(), Error::DuplicateLimit);
    assert!(matches!(CuckooFilter::from_keys([7u8], 0.0), Err(Error::Parameter { name: "fpr", .. })));
    // Hashes that all fall into the same buckets, but differ: no size will do.
    let crowded: Vec<u64> = (0..100).collect();
    let refused = CuckooFilter::from_hashes_with(&crowded, 0.001, WyHasher::new()).unwrap_err();
    assert!(matches!(refused, Error::DuplicateLimit | Error::Construction { .. }), "{refused}");
}
