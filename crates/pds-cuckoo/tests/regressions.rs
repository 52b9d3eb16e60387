//! Faults that users of other filters reported, each with its right value.

use pds_cuckoo::WyHasher;
use pds_cuckoo::prelude::*;
use pds_testkit::{DistinctKeys, forge, laws};

/// Others: growth by layers with tags of their own: deleting one half of the keys, the newest or the oldest, deleted
/// entries of keys that stayed, 1,532 of 20,000.
#[test]
fn half_of_the_keys_are_removed_after_growth_and_no_other_is_lost() {
    for seed in 0..20 {
        for newest in [false, true] {
            let params = GrowableCuckooParams::for_fpr(64, 2000, 0.2).unwrap();
            let mut filter = GrowableCuckooFilter::new(params);
            let keys: Vec<u64> = DistinctKeys::new(seed).range(0..2000).collect();
            for key in &keys {
                filter.insert(key).unwrap();
            }
            assert_eq!(filter.doublings(), params.doublings());
            let (old, new) = keys.split_at(1000);
            let (gone, kept) = if newest { (new, old) } else { (old, new) };
            for key in gone {
                filter.remove(key).unwrap();
            }
            assert!(kept.iter().all(|key| filter.contains(key)));
            // And back to where it began.
            filter.shrink_to_fit();
            assert!(kept.iter().all(|key| filter.contains(key)) && filter.doublings() < params.doublings());
            for key in kept {
                filter.remove(key).unwrap();
            }
            assert!(filter.is_empty());
        }
    }
}

/// Others: the same, from 64 keys to a million.
#[test]
fn a_million_keys_come_and_half_of_them_go() {
    let params = GrowableCuckooParams::for_fpr(64, 1_000_000, 0.001).unwrap();
    for newest in [false, true] {
        let mut filter = GrowableCuckooFilter::new(params);
        let keys: Vec<u64> = DistinctKeys::new(7).range(0..1_000_000).collect();
        assert_eq!(filter.insert_batch(&keys), keys.len());
        let (old, new) = keys.split_at(500_000);
        let (gone, kept) = if newest { (new, old) } else { (old, new) };
        for &hash in gone {
            filter.remove_hash(hash).unwrap();
        }
        let mut found = vec![false; kept.len()];
        filter.contains_batch(kept, &mut found);
        laws::all_hold(found.iter().filter(|&&found| !found).count() as u64, kept.len() as u64)
            .assert("survivors");
    }
}

/// Others: shrinking or compacting a filter lost keys: fingerprints of zero and entries that had been moved.
#[test]
fn shrinking_keeps_every_key() {
    for seed in 0..50 {
        let params = GrowableCuckooParams::for_fpr(10, 4000, 0.3).unwrap();
        let mut filter = GrowableCuckooFilter::new(params);
        while filter.grow().is_ok() {}
        let keys: Vec<u64> = DistinctKeys::new(seed).range(0..300).collect();
        for key in &keys {
            filter.insert(key).unwrap();
        }
        let before = filter.size_bytes();
        assert!(filter.shrink_to_fit());
        assert!(filter.size_bytes() * 4 < before);
        assert!(keys.iter().all(|key| filter.contains(key)));
        for key in &keys {
            filter.remove(key).unwrap();
        }
        assert!(filter.is_empty());
    }
}

/// Others: a refused insertion evicted another key for good: 19 accepted keys lost over 20 refusals; victims dropped
/// at high load; a filter that pushed out a key of its own.
#[test]
fn refusals_change_nothing_and_lose_nothing() {
    let mut filter = CuckooFilter::new(CuckooParams::with_shape(256, 8).unwrap());
    let mut accepted = Vec::new();
    let mut refusals = 0;
    for key in DistinctKeys::new(4).range(0..100_000) {
        let before = filter.to_bytes();
        match filter.insert(&key) {
            Ok(stored) => {
                assert!(stored);
                accepted.push(key);
            }
            Err(error) => {
                assert_eq!((error, filter.to_bytes()), (Error::Full, before));
                refusals += 1;
            }
        }
        if refusals == 20 {
            break;
        }
    }
    assert_eq!(refusals, 20);
    assert_eq!(filter.len(), accepted.len() as u64);
    assert!(accepted.iter().all(|key| filter.contains(key)));
}

/// Others: a number of buckets that was no power of two lost 17 of 350 keys, since xor and modulo are no way back; 0
/// buckets divided by zero.
#[test]
fn any_number_of_buckets_keeps_its_keys_and_none_is_refused() {
    for buckets in [1u64, 2, 3, 5, 121, 127, 129, 1000] {
        let mut filter = CuckooFilter::new(CuckooParams::with_shape(buckets, 12).unwrap());
        let keys: Vec<u64> = DistinctKeys::new(buckets).range(0..filter.params().slots() * 3 / 4).collect();
        let stored: Vec<u64> = keys.into_iter().filter(|key| filter.insert(key).is_ok()).collect();
        assert!(stored.iter().all(|key| filter.contains(key)), "{buckets} buckets");
    }
    assert!(CuckooParams::with_shape(0, 12).is_err());
}

/// Others: the ninth copy of a key filled the filter up, or was reported as a full filter.
#[test]
fn a_key_is_stored_eight_times_and_the_ninth_copy_has_an_error_of_its_own() {
    let mut filter = CuckooFilter::new(CuckooParams::for_fpr(1000, 0.01).unwrap());
    for _ in 0..CuckooParams::MAX_COPIES {
        assert_eq!(filter.insert("key"), Ok(true));
    }
    let before = filter.clone();
    for _ in 0..12 {
        assert_eq!(filter.insert("key"), Err(Error::DuplicateLimit));
    }
    assert_eq!((filter.len(), &filter), (8, &before));
    assert_eq!(filter.insert("another"), Ok(true));
    assert_eq!(filter.insert_unique("key"), Ok(false));

    // Growing would not help, and does not happen.
    let mut filter = GrowableCuckooFilter::new(GrowableCuckooParams::for_fpr(8, 1_000_000, 0.01).unwrap());
    for _ in 0..8 {
        filter.insert("key").unwrap();
    }
    assert_eq!((filter.insert("key"), filter.doublings()), (Err(Error::DuplicateLimit), 0));
    for key in 0..200u32 {
        filter.insert(&key).unwrap();
    }
    assert_eq!(filter.insert("key"), Err(Error::DuplicateLimit));
    for _ in 0..8 {
        filter.remove("key").unwrap();
    }
    assert!(!filter.contains("key"));
}

/// Others: a copy of a key that was taken for present was not stored, so that removing it removed another key.
#[test]
fn copies_are_stored_and_removed_one_by_one() {
    let mut filter = CuckooFilter::new(CuckooParams::for_fpr(100, 0.001).unwrap());
    filter.insert("key").unwrap();
    filter.insert("key").unwrap();
    filter.remove("key").unwrap();
    assert!(filter.contains("key"));
    filter.remove("key").unwrap();
    assert_eq!((filter.contains("key"), filter.remove("key")), (false, Err(Error::NotPresent)));
}

/// Others: a payload of ones made the query walk for ever, a header of 2^61 buckets or of none allocated or divided.
#[test]
fn hostile_bytes_behind_right_checksums_are_refused_or_answered() {
    let mut donor = CuckooFilter::new(CuckooParams::with_shape(4, 8).unwrap());
    donor.insert("key").unwrap();
    let whole = donor.to_bytes();
    let payload = &whole[whole.len() - donor.size_bytes()..];
    assert_eq!(payload.len(), 32);
    // Buckets, bits, entries.
    let refused = |params: &[u8], payload: &[u8]| {
        let bytes = forge(&whole, params, payload);
        assert!(CuckooFilter::view(&bytes).is_err() && CuckooParams::peek(&bytes).is_err());
        CuckooFilter::from_bytes(&bytes).unwrap_err()
    };
    let malformed = |field| Error::Malformed { field };
    assert_eq!(refused(&[0, 8, 0], &[]), malformed("params"), "no buckets");
    assert_eq!(refused(&[4, 3, 0], payload), malformed("params"), "3 bits");
    assert_eq!(refused(&[4, 33, 0], payload), malformed("params"), "33 bits");
    let huge = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 8, 0];
    assert_eq!(refused(&huge, payload), malformed("params"), "2^61 buckets");
    let large = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 8, 0];
    // Where pointers have 32 bits, no table has this shape.
    let field = if usize::BITS < 64 { "params" } else { "payload length" };
    assert_eq!(refused(&large, payload), malformed(field), "2^56 buckets are not allocated");
    assert_eq!(refused(&[4, 8, 17], payload), malformed("count"), "more entries than slots");
    assert_eq!(refused(&[4, 8, 1], &payload[..24]), malformed("payload length"), "a missing word");
    assert_eq!(refused(&[4, 8, 1], &[0; 40]), malformed("payload length"), "a word too many");

    // What a view does not look at, an owned filter does.
    let decoded = |count: u8, payload: &[u8]| {
        let bytes = forge(&whole, &[4, 8, count], payload);
        let view = CuckooFilter::view(&bytes).unwrap();
        let _ = (view.contains("key"), view.len());
        CuckooFilter::from_bytes(&bytes).map(|filter| filter.len())
    };
    assert_eq!(decoded(1, payload), Ok(1), "the forger's tools work");
    assert_eq!(decoded(0, payload), Err(malformed("payload")), "an entry too many");
    assert_eq!(decoded(2, payload), Err(malformed("payload")), "an entry too few");
    assert_eq!(decoded(16, &[0xff; 32]), Err(malformed("payload")), "ones behind the last bucket");
    let full = [[0xff; 16], [0; 16]].concat();
    assert_eq!(decoded(16, &full), Ok(16));
    let mut full = CuckooFilter::from_bytes(&forge(&whole, &[4, 8, 16], &full)).unwrap();
    assert_eq!(full.insert("key"), Err(Error::Full));
    assert!(full.absorb(&donor).is_err());
    let _ = (full.remove("key"), full.insert("key"));
}

/// The same for plans: sizes beyond the plan, and slots whose fingerprint is nothing.
#[test]
fn hostile_plans_are_refused() {
    let donor = GrowableCuckooFilter::new(GrowableCuckooParams::with_shape(2, 3, 8).unwrap()).to_bytes();
    // Buckets at first, doublings, bits, doublings done, entries: 2 buckets of 11 bits a slot.
    let decoded = |params: &[u8], payload: &[u8]| {
        let bytes = forge(&donor, params, payload);
        if let Ok(view) = GrowableCuckooFilter::view(&bytes) {
            let _ = (view.contains("key"), view.len());
        }
        GrowableCuckooFilter::from_bytes(&bytes).map(|filter| filter.len())
    };
    let malformed = |field| Err(Error::Malformed { field });
    assert_eq!(decoded(&[2, 3, 8, 0, 0], &[0; 24]), Ok(0), "the forger's tools work");
    assert_eq!(decoded(&[2, 3, 8, 4, 0], &[0; 24]), malformed("doublings"));
    assert_eq!(decoded(&[2, 3, 8, 0, 9], &[0; 24]), malformed("count"));
    assert_eq!(decoded(&[2, 3, 8, 1, 0], &[0; 24]), malformed("payload length"));
    assert_eq!(decoded(&[3, 3, 8, 0, 0], &[0; 24]), malformed("params"));
    assert_eq!(decoded(&[2, 25, 8, 0, 0], &[0; 24]), malformed("params"));
    let mut index_bits_alone = [0; 24];
    index_bits_alone[0] = 0b111;
    assert_eq!(decoded(&[2, 3, 8, 0, 1], &index_bits_alone), malformed("payload"));
    index_bits_alone[0] = 0b1000;
    assert_eq!(decoded(&[2, 3, 8, 0, 1], &index_bits_alone), Ok(1));
}

/// Others: the number of keys asked for did not fit into the filter made for it.
#[test]
fn the_keys_asked_for_fit_at_every_small_number() {
    for keys in 0..600u64 {
        let params = CuckooParams::for_fpr(keys, 0.02).unwrap();
        let mut filter = CuckooFilter::new(params);
        let hashes: Vec<u64> = DistinctKeys::new(keys).range(0..keys).collect();
        assert_eq!(filter.insert_batch(&hashes), hashes.len(), "{keys} keys");
        assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
    }
}

/// Others: fingerprints of 5, 7 and 9 bits, across the ends of bytes, lost keys.
#[test]
fn packed_fingerprints_of_odd_lengths_keep_their_keys_at_95_percent() {
    for bits in 4..=32 {
        let params = CuckooParams::with_shape(1001, bits).unwrap();
        let mut filter = CuckooFilter::new(params);
        let hashes: Vec<u64> =
            DistinctKeys::new(u64::from(bits)).range(0..params.slots() * 95 / 100).collect();
        let stored: Vec<u64> = hashes.into_iter().filter(|&hash| filter.insert_hash(hash).is_ok()).collect();
        assert!(
            stored.len() as u64 >= params.capacity() && stored.iter().all(|&hash| filter.contains_hash(hash))
        );
    }
}

/// Others: a table of vacuum filters lost 86 of 200 keys by growing from 64, and keys that stayed as others went.
#[test]
fn two_hundred_keys_grow_and_half_go_over_two_hundred_seeds() {
    for seed in 0..200 {
        let mut filter = GrowableCuckooFilter::new(GrowableCuckooParams::for_fpr(64, 200, 0.03).unwrap());
        let keys: Vec<u64> = DistinctKeys::new(seed).range(0..200).collect();
        for key in &keys {
            filter.insert(key).unwrap();
        }
        assert!(keys.iter().all(|key| filter.contains(key)));
        for key in &keys[..100] {
            filter.remove(key).unwrap();
        }
        assert!(keys[100..].iter().all(|key| filter.contains(key)));
    }
}

/// Others: evictions drawn at random: a replica that applied the same commands held other bytes, or refused what the
/// first had taken.
#[test]
fn replicas_that_apply_the_same_calls_have_the_same_bytes() {
    let run = || {
        let mut filter = CuckooFilter::new(CuckooParams::with_shape(100, 9).unwrap());
        let mut answers = Vec::new();
        for key in 0..2000u32 {
            answers.push(filter.insert(&key).is_ok());
            if key % 3 == 0 && answers[key as usize / 2] {
                answers.push(filter.remove(&(key / 2)).is_ok());
            }
        }
        (filter.to_bytes(), answers)
    };
    assert_eq!(run(), run());
    // And so does one that was restored halfway.
    let mut filter = CuckooFilter::new(CuckooParams::with_shape(100, 9).unwrap());
    for key in 0..390u32 {
        _ = filter.insert(&key);
    }
    let mut restored = CuckooFilter::from_bytes(&filter.to_bytes()).unwrap();
    for key in 390..500u32 {
        assert_eq!(filter.insert(&key), restored.insert(&key));
    }
    assert_eq!(filter, restored);
}

/// Others: bits of a fingerprint from a natural logarithm, or always 8 of them: 32 times the memory, or 3% whatever
/// was asked for; a rate of 1.5e-5 claimed for 16 bits of which 8 were used.
#[test]
fn the_rate_asked_for_is_the_rate_that_is_had_and_paid_for() {
    const KEYS: u64 = 50_000;
    const PROBES: u64 = 2_000_000;
    for (fpr, most_bits) in [(0.03, 8.6), (0.01, 10.7), (0.001, 13.8), (1.5e-4, 17.0)] {
        let params = CuckooParams::for_fpr(KEYS, fpr).unwrap();
        assert!(params.size_bytes() as f64 * 8.0 / KEYS as f64 <= most_bits);
        let keys = DistinctKeys::new(8);
        let mut filter = CuckooFilter::new(params);
        for key in keys.range(0..KEYS) {
            filter.insert(&key).unwrap();
        }
        let hits = keys.range(KEYS..KEYS + PROBES).filter(|key| filter.contains(key)).count() as u64;
        laws::rate_is(hits, PROBES, params.fpr(KEYS)).assert("the prediction");
        laws::rate_at_most(hits, PROBES, fpr).assert("the promise");
    }
}

/// Others: larger buckets were recommended without a word of the rate, which is 2b load / 2^f.
#[test]
fn the_rate_of_a_load_is_the_published_one() {
    for bits in [8, 12, 16] {
        let params = CuckooParams::with_shape(1 << 16, bits).unwrap();
        for load in [0.5, 0.9, 0.95] {
            let keys = (load * params.slots() as f64) as u64;
            let published = 8.0 * load / f64::from(bits).exp2();
            // By 1/2^f for the fingerprint that is none, and by half the rate for keys that meet twice.
            let ratio = params.fpr(keys) / published;
            assert!(
                (ratio - 1.0).abs() <= published / 2.0 + 1.1 / f64::from(bits).exp2(),
                "{bits} {load}: {ratio}"
            );
        }
    }
}

/// Others: a structured id (sequence, multiples of 2^32) met far more strangers, or filled the table early.
#[test]
fn structured_ids_keep_the_promise() {
    const KEYS: u64 = 50_000;
    const PROBES: u64 = 500_000;
    for spread in [0, 12, 32, 40] {
        let mut filter = CuckooFilter::new(CuckooParams::for_fpr(KEYS, 0.01).unwrap());
        for i in 0..KEYS {
            filter.insert(&(i << spread)).unwrap();
        }
        let hits = (KEYS..KEYS + PROBES).filter(|i| filter.contains(&(i << spread))).count() as u64;
        laws::rate_at_most(hits, PROBES, 0.01).assert("the promise");
    }
}

/// Others: a filter written by one version answered no to its keys in the next, without a word.
#[test]
fn bytes_of_another_hasher_kind_or_version_are_refused() {
    let filter = CuckooFilter::with_hasher(CuckooParams::for_fpr(10, 0.01).unwrap(), SipHasher::new([3; 16]));
    let mut bytes = filter.to_bytes();
    assert!(matches!(CuckooFilter::from_bytes(&bytes), Err(Error::Hasher { .. })));
    assert_eq!(GrowableCuckooFilter::from_bytes(&bytes).unwrap_err(), Error::Kind { expected: 8, found: 7 });
    bytes[5] = 2;
    assert_eq!(CuckooFilter::from_bytes(&bytes).unwrap_err(), Error::Version { found: 2, newest: 1 });
}

/// Others, and once ours: keys that no growth parts made every table of the plan, up to its end.
#[test]
fn a_crowd_is_refused_without_growing_to_the_end_of_the_plan() {
    /// 32 GiB at the plan's end, or as much as there can be.
    const DOUBLINGS: u32 = if usize::BITS < 64 { 23 } else { 28 };
    let params = GrowableCuckooParams::with_shape(64, DOUBLINGS, 4).unwrap();
    let mut filter = GrowableCuckooFilter::new(params);
    // Two fingerprints of the first bucket of the largest table.
    let step = u64::MAX / (64 << DOUBLINGS);
    let hash = |fingerprint: u64| (fingerprint - 1) * (step / 15) + step / 30;
    for _ in 0..8 {
        filter.insert_hash(hash(3)).unwrap();
    }
    let refused = (0..8).find_map(|_| filter.insert_hash(hash(7)).err());
    assert_eq!(refused, Some(Error::Full));
    assert!(filter.doublings() < 10 && filter.len() < 16);
}

/// Others: a list with repeated keys was refused as if one of them came too often.
#[test]
fn keys_that_come_a_few_times_each_are_taken_from_a_list() {
    for copies in 1..=4u64 {
        for seed in 0..20 {
            let hashes: Vec<u64> =
                DistinctKeys::new(seed).range(0..50).flat_map(|hash| vec![hash; copies as usize]).collect();
            let filter = CuckooFilter::from_hashes_with(&hashes, 0.01, WyHasher::default()).unwrap();
            assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)) && filter.len() == 50 * copies);
        }
    }
    let nine = [7; 9];
    let refused = CuckooFilter::from_hashes_with(&nine, 0.01, WyHasher::default());
    assert_eq!(refused.unwrap_err(), Error::DuplicateLimit);
}
