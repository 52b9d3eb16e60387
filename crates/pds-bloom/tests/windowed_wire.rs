//! What comes from bytes: any generation, no shape that cannot be.

#[macro_use]
mod shared;

use pds_bloom::prelude::*;
use pds_bloom::{BlockedBloomFilter, BlockedBloomParams, WindowedBloomFilter, WindowedBloomParams};
use pds_testkit::forge;

fn shape(bits: u64, k: u32, generations: u32) -> WindowedBloomFilter {
    let params = WindowedBloomParams::with_shape(bits, k, generations).expect("a valid shape");
    WindowedBloomFilter::new(params)
}

fn filter(keys: &[u64]) -> WindowedBloomFilter {
    let mut filter = shape(1000, 5, 3);
    (0..7).for_each(|_| filter.advance());
    filter.extend(keys);
    filter
}

/// A filter of any generation, by its bytes: lines, k, generations, no design rate, generation.
fn at_generation(generation: u64, generations: u8) -> WindowedBloomFilter {
    let mut params = vec![1, 6, generations, 0];
    let mut rest = generation;
    while rest >= 0x80 {
        params.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    params.push(rest as u8);
    let donor = shape(512, 6, 2).to_bytes();
    let payload = vec![0; usize::from(generations) * 64];
    WindowedBloomFilter::from_bytes(&forge(&donor, &params, &payload)).expect("any generation decodes")
}

#[test]
fn the_number_of_a_generation_may_run_over_and_no_key_notices() {
    for generations in [2, 3, 5, 7, 64] {
        for short_of in 0..10 {
            let mut filter = at_generation(u64::MAX - short_of, generations);
            assert_eq!(filter.generation(), u64::MAX - short_of);
            for key in 0..20u64 {
                filter.insert(&key);
                for age in 0..u64::from(generations) {
                    let expected = key.checked_sub(age).map(|_| age as u32);
                    if let Some(older) = key.checked_sub(age) {
                        assert_eq!(filter.age(&older), expected, "{generations} generations");
                    }
                }
                let bytes = filter.to_bytes();
                assert_eq!(WindowedBloomFilter::from_bytes(&bytes).as_ref(), Ok(&filter));
                let view = WindowedBloomFilter::view(&bytes).expect("its own bytes");
                assert_eq!(view.age(&key), Some(0));
                filter.advance();
            }
            assert!(filter.generation() < u64::from(generations) + 20, "it began again");
        }
    }
}

#[test]
fn a_stand_in_for_a_secret_hasher_merges_advances_and_answers_for_hashes() {
    let hasher = SipHasher::new(*b"sixteen byte key");
    let params = WindowedBloomParams::with_shape(512, 5, 3).expect("a valid shape");
    let mut filter = WindowedBloomFilter::with_hasher(params, hasher);
    filter.insert("key");
    let bytes = filter.to_bytes();
    assert!(matches!(WindowedBloomFilter::from_bytes(&bytes), Err(Error::Hasher { .. })));
    let stand_in = Prehashed::of_bytes(&bytes).expect("a fingerprint");
    let mut elsewhere =
        WindowedBloomFilter::from_bytes_with(&bytes, stand_in).expect("the fingerprint is right");
    elsewhere.merge(&elsewhere.clone()).expect("equal in all");
    assert_eq!(elsewhere.to_bytes(), bytes);
    elsewhere.advance();
    assert_eq!(elsewhere.age_hash(hasher.hash_key("key")), Some(1));
    let view = WindowedBloomFilter::view_with(&bytes, stand_in).expect("the fingerprint is right");
    assert!(view.contains_hash(hasher.hash_key("key")));
}

envelope_laws! {
    WindowedBloomFilter, view,
    whole: view.age(&2u64) == Some(0),
    damaged: (0.0..=1.0).contains(&view.fill_ratio()),
}

/// Line b of generation n is line b G + n mod G of the payload.
#[test]
fn lines_lie_where_the_specification_says() {
    for generations in [2u32, 3, 8] {
        let mut filter = shape(4 * 512, 6, generations);
        for generation in 0..=2 * u64::from(generations) {
            filter.clear();
            let mut blocked =
                BlockedBloomFilter::new(BlockedBloomParams::with_shape(4 * 512, 6).expect("a valid shape"));
            filter.extend(0..5u64);
            blocked.extend(0..5u64);
            let (bytes, expected) = (filter.to_bytes(), blocked.to_bytes());
            let lines = bytes[bytes.len() - filter.size_bytes()..].chunks(64);
            let own =
                lines.skip((generation % u64::from(generations)) as usize).step_by(generations as usize);
            assert_eq!(own.collect::<Vec<_>>().concat(), &expected[expected.len() - 256..]);
            filter.advance();
        }
    }
}

#[test]
fn a_shape_that_cannot_be_is_refused_behind_right_checksums() {
    let donor = shape(512, 1, 2).to_bytes();
    let malformed = |params: &[u8], payload: &[u8]| {
        let bytes = forge(&donor, params, payload);
        assert!(WindowedBloomFilter::view(&bytes).is_err() && WindowedBloomParams::peek(&bytes).is_err());
        WindowedBloomFilter::from_bytes(&bytes).unwrap_err()
    };
    let params = Error::Malformed { field: "params" };
    let length = Error::Malformed { field: "payload length" };
    // Lines, k, generations, no design rate, generation.
    assert_eq!(malformed(&[0, 1, 2, 0, 0], &[]), params, "no line");
    assert_eq!(malformed(&[1, 0, 2, 0, 0], &[0; 128]), params, "no bits a key");
    assert_eq!(malformed(&[1, 25, 2, 0, 0], &[0; 128]), params, "25 bits a key");
    assert_eq!(malformed(&[1, 1, 0, 0, 0], &[]), params, "no generation");
    assert_eq!(malformed(&[1, 1, 1, 0, 0], &[0; 64]), params, "one generation");
    assert_eq!(malformed(&[1, 1, 65, 0, 0], &[0; 65 * 64]), params, "65 generations");
    for len in [0, 64, 127, 129, 192] {
        assert_eq!(malformed(&[1, 1, 2, 0, 0], &vec![0; len]), length, "{len} bytes");
    }
    // 2^56 - 1 lines: within the address space, but not 64 times.
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 64, 0, 0];
    assert_eq!(malformed(&huge, &[0; 128]), params, "more than the address space");
    let nan = [&[1, 1, 2, 1][..], &f64::NAN.to_le_bytes(), &[0]].concat();
    assert_eq!(malformed(&nan, &[0; 128]), params, "a design rate that is no rate");
    assert!(WindowedBloomFilter::from_bytes(&forge(&donor, &[1, 1, 2, 0, 9], &[0; 128])).is_ok());
}

#[test]
fn parameters_go_through_the_gate_however_they_come() {
    let params = WindowedBloomParams::for_fpr(1000, 0.01, 7).expect("valid targets");
    let text = serde_json::to_string(&params).expect("plain numbers");
    assert_eq!(serde_json::from_str::<WindowedBloomParams>(&text).expect("what was written reads"), params);
    for bad in [
        r#"{"lines":0,"k":1,"generations":2,"target":null}"#,
        r#"{"lines":1,"k":25,"generations":2,"target":null}"#,
        r#"{"lines":1,"k":1,"generations":1,"target":null}"#,
        r#"{"lines":1,"k":1,"generations":65,"target":null}"#,
        r#"{"lines":1,"k":1,"generations":2,"target":1.0}"#,
        r#"{"lines":1,"k":1,"generations":2,"target":5e-324}"#,
        r#"{"lines":144115188075855871,"k":1,"generations":64,"target":null}"#,
    ] {
        assert!(serde_json::from_str::<WindowedBloomParams>(bad).is_err(), "{bad}");
    }
}
