//! The byte forms: round trips, damage, hostile bytes, views, serde.

use pds_cuckoo::prelude::*;
use pds_testkit::{DistinctKeys, WireLaws, wire_laws};

fn fixed(keys: &[u64]) -> CuckooFilter {
    let mut filter = CuckooFilter::new(CuckooParams::with_shape(51, 13).expect("a valid shape"));
    for key in keys {
        _ = filter.insert(key);
    }
    filter
}

fn growable(keys: &[u64]) -> GrowableCuckooFilter {
    let params = GrowableCuckooParams::with_shape(4, 5, 9).expect("a valid plan");
    let mut filter = GrowableCuckooFilter::new(params);
    for key in keys {
        _ = filter.insert(key);
    }
    filter
}

const FIXED: WireLaws<CuckooFilter> = WireLaws {
    exercise: |filter| {
        let _ = (filter.contains(&1u64), filter.load(), filter.estimated_fpr(), filter.is_saturated());
        let mut filter = filter.clone();
        for hash in DistinctKeys::new(1).range(0..6) {
            let _ = (filter.insert_hash(hash), filter.insert_unique_hash(hash), filter.remove_hash(!hash));
        }
        let _ = filter.absorb(&filter.clone());
        if filter.insert(&1u64).is_ok() {
            assert!(filter.contains(&1u64));
        }
    },
    view: |bytes| {
        if let Ok(view) = CuckooFilter::view(bytes) {
            let _ = (view.contains(&1u64), view.contains("key"), view.verify().is_ok(), view.is_empty());
            let mut found = [false; 3];
            assert_eq!(view.contains_batch(&[1, 2, 3], &mut found), 3);
            assert!((0.0..=1.0).contains(&view.load()) && (0.0..=1.0).contains(&view.estimated_fpr()));
            let _ = (view.is_saturated(), view.to_owned().is_ok());
        }
        let _ = CuckooParams::peek(bytes);
    },
    ..WireLaws::new(CuckooFilter::from_bytes)
};

const GROWABLE: WireLaws<GrowableCuckooFilter> = WireLaws {
    exercise: |filter| {
        let _ = (filter.contains(&1u64), filter.load(), filter.estimated_fpr(), filter.is_saturated());
        let mut filter = filter.clone();
        for hash in DistinctKeys::new(1).range(0..6) {
            let _ = (filter.insert_hash(hash), filter.insert_unique_hash(hash), filter.remove_hash(!hash));
        }
        let _ = (filter.shrink_to_fit(), filter.absorb(&filter.clone()));
        if filter.size_bytes() < 1 << 16 {
            let _ = filter.grow();
        }
        if filter.insert(&1u64).is_ok() {
            assert!(filter.contains(&1u64));
        }
    },
    view: |bytes| {
        if let Ok(view) = GrowableCuckooFilter::view(bytes) {
            let _ = (view.contains(&1u64), view.contains("key"), view.verify().is_ok(), view.is_empty());
            let mut found = [false; 3];
            assert_eq!(view.contains_batch(&[1, 2, 3], &mut found), 3);
            assert!((0.0..=1.0).contains(&view.load()) && (0.0..=1.0).contains(&view.estimated_fpr()));
            let _ = (view.is_saturated(), view.to_owned().is_ok());
        }
        let _ = GrowableCuckooParams::peek(bytes);
    },
    ..WireLaws::new(GrowableCuckooFilter::from_bytes)
};

wire_laws! { fixed_bytes, FIXED, fixed }
wire_laws! { growable_bytes, GROWABLE, growable }

#[test]
fn what_decodes_is_canonical_and_equal() {
    FIXED.round_trips_to_an_equal(&fixed(&[1, 2, 3]));
    FIXED.accepts_canonical_bytes_only(&fixed(&[1, 2, 3]).to_bytes());
    let keys: Vec<u64> = (0..100).collect();
    GROWABLE.round_trips_to_an_equal(&growable(&keys));
    GROWABLE.accepts_canonical_bytes_only(&growable(&keys).to_bytes());
}

#[test]
fn a_stand_in_for_a_secret_hasher_answers_for_hashes() {
    let hasher = SipHasher::new(*b"sixteen byte key");
    let mut filter =
        CuckooFilter::with_hasher(CuckooParams::for_fpr(10, 0.01).expect("valid targets"), hasher);
    filter.insert("key").expect("room");
    let bytes = filter.to_bytes();
    assert!(matches!(CuckooFilter::from_bytes(&bytes), Err(Error::Hasher { .. })));
    let stand_in = Prehashed::of_bytes(&bytes).expect("a fingerprint");
    let mut elsewhere = CuckooFilter::from_bytes_with(&bytes, stand_in).expect("the fingerprint is right");
    assert!(elsewhere.contains_hash(hasher.hash_key("key")));
    assert_eq!(elsewhere.to_bytes(), bytes);
    elsewhere.remove_hash(hasher.hash_key("key")).expect("it was inserted");
    assert!(
        CuckooFilter::view_with(&bytes, stand_in)
            .is_ok_and(|view| view.contains_hash(hasher.hash_key("key")))
    );
}

#[test]
fn serde_carries_the_envelope_and_parameters_go_through_the_gate() {
    let filter = fixed(&[1, 2, 3]);
    let text = serde_json::to_string(&filter).expect("bytes encode");
    assert_eq!(text, serde_json::to_string(&filter.to_bytes()).expect("bytes encode"));
    assert_eq!(serde_json::from_str::<CuckooFilter>(&text).expect("what was written reads"), filter);
    assert!(serde_json::from_str::<CuckooFilter>("[1, 2, 3]").is_err());
    let filter = growable(&[1, 2, 3]);
    let text = serde_json::to_string(&filter).expect("bytes encode");
    assert_eq!(serde_json::from_str::<GrowableCuckooFilter>(&text).expect("what was written reads"), filter);

    let text = serde_json::to_string(&filter.params()).expect("plain numbers");
    assert_eq!(
        serde_json::from_str::<GrowableCuckooParams>(&text).expect("what was written reads"),
        filter.params()
    );
    for bad in [
        r#"{"buckets":0,"fingerprint_bits":8}"#,
        r#"{"buckets":1,"fingerprint_bits":3}"#,
        r#"{"buckets":1,"fingerprint_bits":33}"#,
        r#"{"buckets":18446744073709551615,"fingerprint_bits":8}"#,
    ] {
        assert!(serde_json::from_str::<CuckooParams>(bad).is_err(), "{bad}");
    }
    for bad in [
        r#"{"first_buckets":0,"doublings":1,"fingerprint_bits":8}"#,
        r#"{"first_buckets":1,"doublings":1,"fingerprint_bits":8}"#,
        r#"{"first_buckets":2,"doublings":25,"fingerprint_bits":8}"#,
        r#"{"first_buckets":9223372036854775808,"doublings":1,"fingerprint_bits":8}"#,
    ] {
        assert!(serde_json::from_str::<GrowableCuckooParams>(bad).is_err(), "{bad}");
    }
}

#[test]
fn views_open_at_any_address_and_verify_tells_of_damage() {
    let filter = fixed(&[1, 2, 3]);
    let bytes = filter.to_bytes();
    for shift in 0..8 {
        let shifted = [&vec![0; shift][..], &bytes[..]].concat();
        let view = CuckooFilter::view(&shifted[shift..]).expect("its own bytes");
        assert!(view.contains(&2u64) && view.verify().is_ok());
        assert_eq!(view.to_owned().expect("its own bytes"), filter);
    }
    let mut damaged = bytes;
    let at = damaged.len() - 100;
    damaged[at] ^= 1;
    let view = CuckooFilter::view(&damaged).expect("the header is whole");
    let _ = view.contains(&1u64);
    assert_eq!(view.verify(), Err(Error::Checksum));
    assert!(matches!(view.to_owned(), Err(Error::Checksum)));
}
