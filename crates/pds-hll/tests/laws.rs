//! What the sketch promises, on arbitrary keys and hashes.

mod kin;

use bitvec::prelude::*;
use kin::laws_of;
use pds_hll::prelude::*;
use pds_hll::{Fingerprint, Prehashed, SipHasher};
use pds_testkit::{DistinctKeys, WireLaws, key_lists, merge_laws, refused_merge_law, wire_laws};
use proptest::collection::vec;
use proptest::prelude::*;

laws_of! {
    HyperLogLog, HllParams, HllView,
    domain: "0.00203 <= relative_error < 1 (1.0390 / 512: precision 18)",
    saturated: MAX_VALUE,
    also: |_| (),
}

/// The sketch with these register values: every combination is the state that some hashes lead to.
fn with_registers(precision: u8, values: &[u8]) -> HyperLogLog {
    let mut sketch = empty(precision);
    for (register, &value) in values.iter().enumerate().filter(|(_, value)| **value > 0) {
        sketch.insert_hash(hash_for(register, value));
    }
    sketch
}

/// Precisions and as many values; up to 1024 registers, of few values or of many.
fn states() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let precisions = HllParams::MIN_PRECISION..=10;
    (precisions, 0..=MAX_VALUE, 0..=MAX_VALUE).prop_flat_map(|(precision, a, b)| {
        let values = vec(prop_oneof![3 => a.min(b)..=a.max(b), 1 => 0..=MAX_VALUE], 1 << precision);
        (Just(precision), prop_oneof![values, Just(std::vec![a; 1 << precision])])
    })
}

/// The registers of a byte form of six bits each, read by another library.
fn registers_of(bytes: &[u8]) -> Vec<u8> {
    let payload = &bytes[payload_start(bytes)..];
    payload.view_bits::<Lsb0>().chunks(6).map(bitvec::field::BitField::load_le::<u8>).collect()
}

fn payload_start(bytes: &[u8]) -> usize {
    pds_testkit::payload_start(bytes).expect("an envelope")
}

proptest! {
    #[test]
    fn every_state_has_a_sane_answer((precision, values) in states()) {
        answers_sanely(&with_registers(precision, &values));
    }

    #[test]
    fn the_byte_form_is_the_shortest_that_there_is((precision, values) in states()) {
        let sketch = with_registers(precision, &values);
        let bytes = sketch.to_bytes();
        let packed = values.len() * 6 / 8;
        prop_assert!(bytes.len() <= sketch.params().max_wire_bytes());
        match bytes[FORM] {
            SPARSE => prop_assert!(sketch.is_sparse()),
            PLAIN => {
                prop_assert!(!sketch.is_sparse());
                prop_assert_eq!(registers_of(&bytes), values);
                prop_assert_eq!(bytes.len(), FORM + 1 + packed);
            }
            CODED => prop_assert!(!sketch.is_sparse() && bytes.len() < FORM + 1 + packed),
            form => prop_assert!(false, "form {form}"),
        }
        prop_assert!(HyperLogLog::from_bytes(&bytes).unwrap() == sketch);
    }

    #[test]
    fn counts_kept_counts_recounted_and_counts_of_a_view_agree((precision, values) in states()) {
        let kept = with_registers(precision, &values);
        let bytes = kept.to_bytes();
        let recounted = HyperLogLog::from_bytes(&bytes).unwrap();
        let view = HyperLogLog::view(&bytes).unwrap();
        let bits = kept.estimate().to_bits();
        prop_assert_eq!([recounted.estimate().to_bits(), view.estimate().to_bits()], [bits; 2]);
        prop_assert_eq!([recounted.bounds(1.0), view.bounds(1.0)], [kept.bounds(1.0); 2]);
    }

    #[test]
    fn a_view_reads_values_that_no_sketch_writes_as_the_greatest(mut values in vec(1..64u8, 16)) {
        let mut packed = bitvec![u8, Lsb0; 0; 96];
        for (field, &value) in packed.chunks_mut(6).zip(&values) {
            field.store_le(value);
        }
        let forged = pds_testkit::forge(&empty(4).to_bytes(), &[4, PLAIN], packed.as_raw_slice());
        let view = HyperLogLog::view(&forged).unwrap();
        let excessive = values.iter().any(|&value| value > MAX_VALUE);
        for value in &mut values {
            *value = MAX_VALUE.min(*value);
        }
        prop_assert_eq!(view.estimate().to_bits(), with_registers(4, &values).estimate().to_bits());
        let malformed = Some(Error::Malformed { field: "registers" });
        let refused = HyperLogLog::from_bytes(&forged).err();
        prop_assert_eq!(view.to_owned().err(), refused);
        if excessive {
            prop_assert_eq!(refused, malformed);
        } else {
            // Few values: a code is shorter.
            let canonical = with_registers(4, &values).to_bytes() == forged;
            prop_assert_eq!(refused, if canonical { None } else { malformed });
        }
    }
}
