//! What the counting filter promises, as laws.

#[macro_use]
mod shared;

use pds_bloom::prelude::*;
use pds_bloom::{BlockedBloomFilter, BlockedBloomParams, CountingBloomFilter, CountingBloomParams};
use pds_testkit::{
    DistinctKeys, SplitMix64, WireLaws, forge, laws, merge_laws, payload_start, refused_merge_law, reseal,
    wire_laws,
};
use proptest::prelude::*;

/// Two lines, and rounds that meet: 12 bits a key.
fn params() -> CountingBloomParams {
    CountingBloomParams::with_shape(1024, 12).expect("a valid shape")
}

fn filter(keys: &[u64]) -> CountingBloomFilter {
    let mut filter = CountingBloomFilter::new(params());
    filter.extend(keys);
    filter
}

fn shape(bits: u64, k: u32) -> CountingBloomFilter {
    CountingBloomFilter::new(CountingBloomParams::with_shape(bits, k).expect("a valid shape"))
}

merge_laws! { merging, filter }

const WIRE: WireLaws<CountingBloomFilter> = WireLaws {
    exercise: |filter| {
        let _ = (filter.contains(&1u64), filter.fill_ratio(), filter.estimated_len(), filter.is_saturated());
        let mut filter = filter.clone();
        filter.insert(&1u64);
        assert!(filter.contains(&1u64) && filter.to_blocked().contains(&1u64));
        assert_eq!(filter.remove(&1u64), Ok(()));
        let held = filter.contains(&2u64);
        assert_eq!(filter.remove(&2u64).is_ok(), held);
        let cells = filter.params().bits();
        assert!(filter.saturated_cells() <= cells);
    },
    view: |bytes| {
        if let Ok(view) = CountingBloomFilter::view(bytes) {
            let _ = (view.contains(&1u64), view.contains("key"), view.verify().is_ok());
            let mut found = [false; 3];
            assert_eq!(view.contains_batch(&[1, 2, 3], &mut found), 3);
            assert!((0.0..=1.0).contains(&view.fill_ratio()) && view.estimated_len() >= 0.0);
            let _ = (view.estimated_fpr(), view.is_saturated(), view.saturated_cells());
        }
        let _ = CountingBloomParams::peek(bytes);
    },
    ..WireLaws::new(CountingBloomFilter::from_bytes)
};

wire_laws! { wire, WIRE, filter, canonical }

#[test]
fn what_decodes_is_canonical_and_equal() {
    for keys in [&[][..], &[1, 2, 3], &[7; 20]] {
        WIRE.round_trips_to_an_equal(&filter(keys));
        WIRE.accepts_canonical_bytes_only(&filter(keys).to_bytes());
    }
    let mut sized = CountingBloomFilter::new(CountingBloomParams::for_fpr(100, 0.01).expect("valid targets"));
    sized.extend(0..100u64);
    WIRE.round_trips_to_an_equal(&sized);
}

proptest! {
    #[test]
    fn removing_every_insertion_leaves_an_empty_filter(
        keys in proptest::collection::vec(0..40u64, 0..120), k in 1..=24u32, seed: u64,
    ) {
        let mut filter = shape(64 * 512, k);
        filter.extend(&keys);
        if filter.saturated_cells() == 0 {
            let mut order = keys;
            SplitMix64::new(seed).shuffle(&mut order);
            for key in &order {
                prop_assert_eq!(filter.remove(key), Ok(()));
            }
            prop_assert!(filter.is_empty());
            prop_assert_eq!(filter.to_bytes(), shape(64 * 512, k).to_bytes());
            prop_assert!(order.iter().all(|key| filter.remove(key) == Err(Error::NotPresent)));
        }
    }

    #[test]
    fn a_removal_undoes_an_insertion(keys: Vec<u64>, key: u64) {
        let mut changed = filter(&keys);
        let before = changed.to_bytes();
        changed.insert(&key);
        let sticks = changed.saturated_cells() > 0;
        changed.remove(&key).expect("it was just inserted");
        prop_assert!(sticks || changed.to_bytes() == before);
    }

    #[test]
    fn a_refused_removal_changes_nothing(keys: Vec<u64>, strangers: Vec<u64>) {
        let mut filter = filter(&keys);
        let before = filter.to_bytes();
        for stranger in &strangers {
            if !filter.contains(stranger) {
                prop_assert_eq!(filter.remove(stranger), Err(Error::NotPresent));
            }
        }
        prop_assert_eq!(filter.to_bytes(), before);
    }

    #[test]
    fn merged_histories_hold_what_both_hold(a: Vec<u8>, b: Vec<u8>, gone in 0..50usize) {
        let mut left = filter(&a.iter().map(|key| u64::from(*key)).collect::<Vec<_>>());
        let right = filter(&b.iter().map(|key| u64::from(*key)).collect::<Vec<_>>());
        let gone = gone.min(a.len());
        for key in &a[..gone] {
            left.remove(key).expect("inserted above");
        }
        left.merge(&right).expect("equal shapes");
        for key in a[gone..].iter().chain(&b) {
            prop_assert!(left.contains(key));
        }
        for key in a[gone..].iter().chain(&b) {
            prop_assert_eq!(left.remove(key), Ok(()), "as often as it is held");
        }
    }

    #[test]
    fn the_bits_are_those_of_a_blocked_filter(
        members: Vec<u64>, strangers: Vec<u64>, bits in 1..5000u64, k in 1..=24u32, large: bool,
    ) {
        let bits = if large { 1 << 23 } else { bits };
        let mut blocked = BlockedBloomFilter::new(BlockedBloomParams::with_shape(bits, k).expect("a valid shape"));
        let (mut counting, mut batch) = (shape(bits, k), shape(bits, k));
        batch.insert_batch(&members);
        for &hash in &members {
            prop_assert_eq!(counting.insert_hash(hash), blocked.insert_hash(hash));
        }
        prop_assert!(counting == batch, "a batch is its hashes one by one");
        prop_assert_eq!(&counting.to_blocked(), &blocked);
        let measures = |fill: f64, len: f64, fpr: f64, alarm: bool| ([fill, len, fpr].map(f64::to_bits), alarm);
        let expected = measures(
            blocked.fill_ratio(), blocked.estimated_len(), blocked.estimated_fpr(), blocked.is_saturated(),
        );
        prop_assert_eq!(expected, measures(
            counting.fill_ratio(), counting.estimated_len(), counting.estimated_fpr(), counting.is_saturated(),
        ));
        let image = counting.to_bytes();
        let view = CountingBloomFilter::view(&image).expect("its own bytes");
        prop_assert_eq!(expected, measures(
            view.fill_ratio(), view.estimated_len(), view.estimated_fpr(), view.is_saturated(),
        ));
        let asked = [&members[..], &strangers[..]].concat();
        let (mut found, mut viewed) = (vec![false; asked.len() + 2], vec![false; asked.len()]);
        prop_assert_eq!(counting.contains_batch(&asked, &mut found), asked.len());
        prop_assert_eq!(view.contains_batch(&asked, &mut viewed), asked.len());
        for (i, &hash) in asked.iter().enumerate() {
            let answers = [found[i], viewed[i], counting.contains_hash(hash), view.contains_hash(hash)];
            prop_assert_eq!(answers, [blocked.contains_hash(hash); 4]);
        }
    }

    #[test]
    fn keys_and_their_hashes_are_one(key: String, number: i32) {
        let mut filter = CountingBloomFilter::with_hasher(params(), SipHasher::new([9; 16]));
        let hash = filter.hasher().hash_key(&key);
        prop_assert!(filter.insert(&key));
        prop_assert!(filter.contains_hash(hash) && !filter.insert_hash(hash));
        prop_assert_eq!((filter.remove(&key), filter.remove_hash(hash)), (Ok(()), Ok(())));
        prop_assert!(filter.is_empty() && !filter.contains(&key));
        filter.insert(&number);
        prop_assert!(filter.contains(&i64::from(number)));
    }
}

#[test]
fn the_hazard_of_removing_a_stranger_is_as_documented() {
    let mut filter = shape(512, 6);
    let keys = DistinctKeys::new(3);
    filter.extend(keys.range(0..60));
    let stranger = keys.range(60..100_000).find(|key| filter.contains(key)).expect("one in a few hundred");
    assert_eq!(filter.remove(&stranger), Ok(()));
    assert!(keys.range(0..60).any(|key| !filter.contains(&key)), "others paid for it");
}

#[test]
fn merging_refuses_what_differs_and_changes_nothing() {
    let mut mine = shape(1024, 5);
    mine.insert("key");
    let incompatible = |field| Error::Incompatible { field };
    for (other, error) in [(shape(2048, 5), incompatible("bits")), (shape(1024, 6), incompatible("k"))] {
        assert_eq!(refused_merge_law(mine.clone(), &other), error);
    }
    let targeted = CountingBloomFilter::new(CountingBloomParams::for_fpr(107, 0.01).expect("valid targets"));
    let raw = shape(targeted.params().bits(), targeted.params().k());
    assert_eq!(refused_merge_law(raw, &targeted), incompatible("design_fpr"));
    let keyed = |key| CountingBloomFilter::with_hasher(params(), SipHasher::new([key; 16]));
    assert!(matches!(refused_merge_law(keyed(1), &keyed(2)), Error::Hasher { .. }));
}

/// Saturating sums group as they like: the law above with counters that stick.
#[test]
fn merging_is_exact_where_counters_stick() {
    let many = |key: u64, copies: usize| vec![key; copies];
    for (a, b, c) in [(7, 7, 7), (14, 1, 1), (8, 8, 1), (15, 15, 15), (1, 14, 0), (100, 0, 3)] {
        pds_testkit::exact_merge_laws(filter, &many(1, a), &many(1, b), &[many(1, c), many(2, c)].concat());
    }
}

#[test]
fn a_filter_without_its_counters_answers_the_same() {
    let params = CountingBloomParams::for_fpr(1000, 0.01).expect("valid targets");
    let mut filter = CountingBloomFilter::new(params);
    filter.extend(0..1000u64);
    for key in 0..500u64 {
        filter.remove(&key).expect("inserted above");
    }
    let shipped = filter.to_blocked();
    assert_eq!(shipped.params(), BlockedBloomParams::from(params));
    assert_eq!(shipped.params().design_fpr(), Some(0.01));
    assert_eq!(shipped.size_bytes() * 5, filter.size_bytes());
    assert_eq!(filter.size_bytes() as u64, params.size_bytes());
    assert!((0..10_000u64).all(|key| shipped.contains(&key) == filter.contains(&key)));
}

/// n = 20,000 keys, 1,000,000 probes, alpha 1e-9 a tail; as many others came and went.
#[test]
fn strangers_are_taken_for_members_as_often_as_the_law_says() {
    const KEYS: u64 = 20_000;
    const PROBES: u64 = 1_000_000;
    for (i, fpr) in [0.1, 0.01, 0.001].into_iter().enumerate() {
        let params = CountingBloomParams::for_fpr(KEYS, fpr).expect("valid targets");
        let keys = DistinctKeys::new(i as u64);
        let mut filter = CountingBloomFilter::new(params);
        filter.extend(keys.range(0..2 * KEYS));
        assert!(filter.is_saturated(), "at twice its design load");
        for key in keys.range(KEYS..2 * KEYS) {
            filter.remove(&key).expect("inserted above");
        }
        assert!(keys.range(0..KEYS).all(|key| filter.contains(&key)));
        let hits = keys.range(KEYS..KEYS + PROBES).filter(|key| filter.contains(key)).count() as u64;
        laws::rate_is(hits, PROBES, filter.estimated_fpr()).assert("the rate of this filter");
        laws::rate_at_most(hits, PROBES, fpr).assert("the promise");
        assert!(!filter.is_saturated(), "at its design load");
        let known = filter.estimated_len() / KEYS as f64;
        assert!((0.9..1.1).contains(&known), "the distinct keys held: {known}");
    }
}

#[test]
fn no_key_at_all_is_legal_and_answers_no() {
    let params = CountingBloomParams::for_fpr(0, 0.01).expect("no keys are legal");
    let mut filter = CountingBloomFilter::new(params);
    assert!(filter.is_empty() && !filter.contains("key") && !filter.is_saturated());
    assert_eq!(filter.remove("key"), Err(Error::NotPresent));
    assert_eq!((filter.fill_ratio(), filter.estimated_len(), filter.estimated_fpr()), (0.0, 0.0, 0.0));
    assert!(filter.insert("key") && !filter.is_empty());
}

#[test]
fn a_stand_in_for_a_secret_hasher_merges_removes_and_answers_for_hashes() {
    let hasher = SipHasher::new(*b"sixteen byte key");
    let mut filter = CountingBloomFilter::with_hasher(params(), hasher);
    filter.insert("key");
    let bytes = filter.to_bytes();
    assert!(matches!(CountingBloomFilter::from_bytes(&bytes), Err(Error::Hasher { .. })));
    let stand_in = Prehashed::of_bytes(&bytes).expect("a fingerprint");
    let mut elsewhere =
        CountingBloomFilter::from_bytes_with(&bytes, stand_in).expect("the fingerprint is right");
    let hash = hasher.hash_key("key");
    elsewhere.merge(&elsewhere.clone()).expect("equal in all");
    assert_eq!((elsewhere.remove_hash(hash), elsewhere.remove_hash(hash)), (Ok(()), Ok(())));
    assert!(!elsewhere.contains_hash(hash) && elsewhere.is_empty());
    assert!(CountingBloomFilter::view_with(&bytes, stand_in).is_ok_and(|view| view.contains_hash(hash)));
}

envelope_laws! {
    CountingBloomFilter, view,
    whole: view.contains(&2u64),
    // The bits are whole: the counters come last.
    damaged: view.contains(&1u64),
}

/// A bit without a count, or a count without a bit, behind right checksums.
#[test]
fn planes_that_contradict_each_other_are_refused() {
    let bytes = filter(&[1, 2, 3]).to_bytes();
    let start = payload_start(&bytes).expect("an envelope");
    let refused = Error::Malformed { field: "bits and counters" };
    for (at, bit) in (start..start + 128).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut other = bytes.clone();
        other[at] ^= 1 << bit;
        reseal(&mut other, start);
        assert_eq!(CountingBloomFilter::from_bytes(&other).unwrap_err(), refused, "bit {bit} of byte {at}");
        let view = CountingBloomFilter::view(&other).expect("a view looks at bits alone");
        assert_eq!((view.verify(), view.to_owned().unwrap_err()), (Ok(()), refused));
    }
}

#[test]
fn a_shape_that_cannot_be_is_refused_behind_right_checksums() {
    let donor = shape(512, 1).to_bytes();
    let malformed = |params: &[u8], payload: &[u8]| {
        let bytes = forge(&donor, params, payload);
        assert!(CountingBloomFilter::view(&bytes).is_err() && CountingBloomParams::peek(&bytes).is_err());
        CountingBloomFilter::from_bytes(&bytes).unwrap_err()
    };
    let params = Error::Malformed { field: "params" };
    let length = Error::Malformed { field: "payload length" };
    // Lines, k, no design rate.
    assert_eq!(malformed(&[0, 1, 0], &[]), params, "no line");
    assert_eq!(malformed(&[1, 0, 0], &[0; 320]), params, "no bits a key");
    assert_eq!(malformed(&[1, 25, 0], &[0; 320]), params, "25 bits a key");
    for len in [0, 64, 319, 321, 640] {
        assert_eq!(malformed(&[1, 1, 0], &vec![0; len]), length, "{len} bytes");
    }
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1, 0];
    assert_eq!(malformed(&huge, &[0; 320]), params, "2^57 - 1 lines have no room for counters");
    assert!(CountingBloomFilter::from_bytes(&forge(&donor, &[1, 1, 0], &[0; 320])).is_ok());
}

#[test]
fn parameters_go_through_the_gate_however_they_come() {
    let params = params();
    let text = serde_json::to_string(&params).expect("plain numbers");
    assert_eq!(serde_json::from_str::<CountingBloomParams>(&text).expect("what was written reads"), params);
    for bad in [
        r#"{"lines":0,"k":1,"target":null}"#,
        r#"{"lines":1,"k":25,"target":null}"#,
        r#"{"lines":1,"k":1,"target":1.0}"#,
        r#"{"lines":144115188075855871,"k":1,"target":null}"#,
    ] {
        assert!(serde_json::from_str::<CountingBloomParams>(bad).is_err(), "{bad}");
    }
    let most = BlockedBloomParams::with_shape(BlockedBloomParams::MAX_BITS, 1).expect("a valid shape");
    assert!(CountingBloomParams::try_from(most).is_err(), "no room for the counters");
    assert!(CountingBloomParams::with_shape(CountingBloomParams::MAX_BITS, 1).is_ok());
    assert!(CountingBloomParams::with_shape(CountingBloomParams::MAX_BITS + 1, 1).is_err());
}
