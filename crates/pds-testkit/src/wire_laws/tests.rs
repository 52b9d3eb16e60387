//! The laws accept a sound sketch, and catch one for every fault.

use pds_core::wire;

use super::*;
use crate::toy::{Bag, Set};

const LAWS: WireLaws<Set> = WireLaws {
    exercise: |set| assert!(set.len() < 1 << 20),
    view: |bytes| {
        wire::open::<u64>(Set::KIND, 1, bytes).map(|(header, _, payload)| header.verify(payload)).ok();
    },
    ..WireLaws::new(Set::from_bytes)
};

crate::wire_laws! { sets, LAWS, Set::of, canonical }
crate::wire_laws! { bags, WireLaws::new(Bag::from_bytes), |keys| Bag::of(&keys.repeat(2)) }

#[test]
fn a_sound_sketch_keeps_the_other_laws() {
    for keys in [&[][..], &[1], &[5, 3, 3]] {
        LAWS.round_trips_to_an_equal(&Set::of(keys));
        LAWS.accepts_canonical_bytes_only(&Set::of(keys).to_bytes());
    }
}

#[test]
#[should_panic(expected = "decode with 0 behind them")]
fn a_decoder_that_ignores_what_is_left_over_is_caught() {
    let careless = WireLaws::new(|bytes| Set::from_bytes(&bytes[..bytes.len().min(72)]));
    careless.all(&Set::of(&[1]));
}

#[test]
#[should_panic(expected = "the first 64 of 72 bytes decode")]
fn a_decoder_that_fills_up_what_is_missing_is_caught() {
    let generous = WireLaws::new(|bytes| {
        Set::from_bytes(if bytes.len() == 64 { Box::leak(Box::new(Set::of(&[1]).to_bytes())) } else { bytes })
    });
    generous.all(&Set::of(&[1]));
}

#[test]
#[should_panic(expected = "they decode with byte 20 changed")]
fn a_decoder_that_trusts_its_payload_is_caught() {
    let trusting = WireLaws::new(|bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        if bytes.len() == 72 {
            let body = bytes[16..20].to_vec();
            reseal(&mut bytes, 64);
            bytes[16..20].copy_from_slice(&body);
        }
        Set::from_bytes(&bytes)
    });
    trusting.refuses_every_changed_byte(&Set::of(&[1]).to_bytes());
}

/// Believes the number of words that the parameters claim.
fn gullible(bytes: &[u8]) -> Result<Set, Error> {
    let (_, len, payload) = wire::open_owned::<u64>(Set::KIND, 1, 0, bytes)?;
    Ok(Set::of(&(0..len.min(99)).map(|i| u64::from(payload[i as usize * 8])).collect::<Vec<_>>()))
}

#[test]
#[should_panic(expected = "out of bounds")]
fn a_decoder_that_believes_its_parameters_is_caught_behind_the_checksums() {
    WireLaws::new(gullible).survives_resealed_changes(&Set::of(&[1]).to_bytes());
}

#[test]
#[should_panic(expected = "out of bounds")]
fn a_decoder_that_believes_its_parameters_is_caught_by_a_forgery() {
    WireLaws::new(gullible).survives_forgeries(&Set::of(&[1]).to_bytes(), &[3], &[]);
}

#[test]
#[should_panic(expected = "has two values for one state")]
fn a_decoder_with_two_forms_of_one_state_is_caught() {
    WireLaws::new(gullible).accepts_canonical_bytes_only(&Set::of(&[1]).to_bytes());
}

#[test]
#[should_panic(expected = "have other bytes")]
fn bytes_that_depend_on_order_are_caught() {
    canonical_bytes_law(|keys| Set::of(&keys[..1]), &[1, 2, 3]);
}

#[test]
fn long_bytes_are_tried_at_both_ends_and_at_every_byte_of_a_word() {
    assert!(places(100, 255).eq(0..100));
    let some: Vec<usize> = places(1 << 20, 9).collect();
    assert!(some.len() < 128 && some.contains(&0) && some.contains(&((1 << 20) - 1)));
    let some: Vec<usize> = places(8192, 9).collect();
    assert!(some.len() < 256 && (0..8).all(|byte| some[64..].iter().any(|at| at % 8 == byte)));
    assert_eq!(places(0, 1).count(), 0);
}
