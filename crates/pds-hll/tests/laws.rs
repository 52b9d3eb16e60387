//! What the sketch promises, on arbitrary keys and hashes.

use bitvec::prelude::*;
use pds_hll::prelude::*;
use pds_hll::{Fingerprint, Prehashed, SipHasher};
use pds_testkit::{DistinctKeys, WireLaws, key_lists, merge_laws, refused_merge_law, wire_laws};
use proptest::collection::vec;
use proptest::prelude::*;

const PRECISIONS: std::ops::RangeInclusive<u8> = HllParams::MIN_PRECISION..=HllParams::MAX_PRECISION;

/// The greatest register value: 46 leading zeros, and one.
const MAX_VALUE: u8 = 47;

fn empty(precision: u8) -> HyperLogLog {
    HyperLogLog::new(HllParams::with_precision(precision).expect("4 to 18"))
}

fn of(precision: u8, keys: &[u64]) -> HyperLogLog {
    let mut sketch = empty(precision);
    sketch.extend(keys);
    sketch
}

/// A hash that raises this register to this value, not 0.
fn hash_for(register: usize, value: u8) -> u64 {
    let leading = if value < MAX_VALUE { 1 << (64 - value) } else { 0 };
    leading | register as u64
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

/// Where the form stands behind the precision, and what it says.
const FORM: usize = 25;
const SPARSE: u8 = 0;
const PACKED: u8 = 1;
const CODED: u8 = 2;

fn payload_start(bytes: &[u8]) -> usize {
    pds_testkit::payload_start(bytes).expect("an envelope")
}

const WIRE: WireLaws<HyperLogLog> = WireLaws {
    exercise: |sketch| answers_sanely(sketch),
    view: |bytes| {
        if let Ok(view) = HyperLogLog::view(bytes) {
            let (low, high) = view.bounds(2.0);
            assert!(0.0 <= low && low <= view.estimate() && view.estimate() <= high);
            assert_eq!(HllParams::peek(bytes), Ok(view.params()));
            assert_eq!(view.to_owned().is_ok(), HyperLogLog::from_bytes(bytes).is_ok());
            let _ = view.verify();
        }
    },
    ..WireLaws::new(HyperLogLog::from_bytes)
};

/// Asserts all that holds of every state.
fn answers_sanely(sketch: &HyperLogLog) {
    let registers = sketch.registers();
    let in_use = registers.iter().filter(|&&value| value > 0).count() as f64;
    let saturated = !sketch.is_sparse() && registers.iter().all(|&value| value == MAX_VALUE);
    let estimate = sketch.estimate();
    assert!(estimate >= 0.0);
    assert_eq!(estimate.is_finite(), !saturated, "{estimate}");
    assert_eq!(estimate == 0.0, sketch.is_empty());
    for kappa in [0.0, 0.5, 2.0, -2.0, 1e300, f64::INFINITY, f64::NAN] {
        let (low, high) = sketch.bounds(kappa);
        assert!(in_use.min(estimate) <= low && low.is_finite(), "{low} to {high}, {in_use} in use");
        assert!(low <= estimate && estimate <= high, "{low} to {high} around {estimate}");
    }
}

mod merging {
    use super::*;

    merge_laws! { four_bits, |keys: &[u64]| of(4, keys), idempotent }
    merge_laws! { ten_bits, |keys: &[u64]| of(10, keys), idempotent }
    wire_laws! { four_bit_bytes, WIRE, |keys: &[u64]| of(4, keys), canonical }
    wire_laws! { ten_bit_bytes, WIRE, |keys: &[u64]| of(10, keys), canonical }
}

proptest! {
    #[test]
    fn merging_any_precisions_gives_the_sketch_of_the_whole_stream_at_the_lowest(
        a in key_lists(), b in key_lists(), c in key_lists(), p in 4..=12u8, q in 4..=12u8, r in 4..=12u8,
    ) {
        let whole = of(p.min(q).min(r), &[&a[..], &b, &c].concat());
        let parts = [of(p, &a), of(q, &b), of(r, &c)];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let [x, y, z] = order.map(|i| &parts[i]);
            let mut left = x.clone();
            left.merge(y).unwrap();
            left.merge(z).unwrap();
            prop_assert!(left.to_bytes() == whole.to_bytes());
            let mut right = y.clone();
            right.merge(z).unwrap();
            let mut all = x.clone();
            all.merge(&right).unwrap();
            prop_assert!(all == whole && all.params() == whole.params());
            prop_assert_eq!(all.estimate().to_bits(), whole.estimate().to_bits());
        }
        prop_assert!(parts[0] == of(p, &a) && parts[1] == of(q, &b), "an operand has changed");
    }

    #[test]
    fn folding_gives_the_sketch_that_the_keys_make_at_the_lower_precision(
        keys in key_lists(), high in 4..=14u8, low in 4..=14u8,
    ) {
        let mut folded = of(high, &keys);
        if low <= high {
            folded.fold_to(low).unwrap();
            prop_assert!(folded.to_bytes() == of(low, &keys).to_bytes());
            prop_assert_eq!(folded.estimate().to_bits(), of(low, &keys).estimate().to_bits());
        } else {
            prop_assert!(folded.fold_to(low).is_err());
            prop_assert!(folded == of(high, &keys));
        }
    }

    #[test]
    fn inserting_says_whether_the_state_changed(keys in key_lists(), precision in 4..=8u8) {
        let mut sketch = empty(precision);
        for key in &keys {
            let before = sketch.to_bytes();
            let changed = sketch.insert(key);
            prop_assert_eq!(changed, sketch.to_bytes() != before);
            prop_assert!(!sketch.insert(key), "a key changed the state twice");
        }
    }

    #[test]
    fn keys_hashes_and_batches_give_one_sketch(
        precision in 4..=8u8, seed: u64, lengths in vec(0..3000usize, 0..4), merge_between: bool,
    ) {
        let hasher = pds_hll::WyHasher::default();
        let mut keys = DistinctKeys::new(seed).range(0..u64::MAX);
        let (mut by_key, mut by_hash, mut by_batch) = (empty(precision), empty(precision), empty(precision));
        for length in lengths {
            let keys: Vec<u64> = keys.by_ref().take(length).collect();
            let hashes: Vec<u64> = keys.iter().map(|key| hasher.hash_key(key)).collect();
            for (key, &hash) in keys.iter().zip(&hashes) {
                prop_assert_eq!(by_key.insert(key), by_hash.insert_hash(hash));
            }
            by_batch.insert_batch(&hashes);
            if merge_between {
                // The counts of register values are stale from here to the next change.
                by_hash.merge(&by_key).unwrap();
            }
            prop_assert!(by_key == by_hash && by_hash == by_batch);
            let estimates = [&by_key, &by_hash, &by_batch].map(|sketch| sketch.estimate().to_bits());
            prop_assert!(estimates == [estimates[0]; 3]);
        }
    }

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
            PACKED => {
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
        let forged = pds_testkit::forge(&empty(4).to_bytes(), &[4, PACKED], packed.as_raw_slice());
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

    #[test]
    fn the_least_precision_that_keeps_the_target_is_chosen(error in 0.0..1.2f64) {
        let reachable = HllParams::with_precision(18).unwrap().std_error() <= error && error < 1.0;
        match HllParams::for_error(error) {
            Ok(params) => {
                prop_assert!(reachable && params.std_error() <= error);
                if let Ok(smaller) = HllParams::with_precision(params.precision() - 1) {
                    prop_assert!(smaller.std_error() > error);
                }
            }
            Err(refusal) => {
                prop_assert!(!reachable);
                let domain = "0.00203 <= relative_error < 1 (1.0390 / 512: precision 18)";
                prop_assert_eq!(refusal, Error::Parameter { name: "relative_error", value: error, domain });
            }
        }
    }
}

#[test]
fn every_precision_has_its_bytes() {
    for precision in PRECISIONS {
        let mut sketch = empty(precision);
        sketch.extend(0..1000u32);
        WIRE.round_trips_to_an_equal(&sketch);
        let bytes = WIRE.round_trips(&sketch);
        assert!(bytes.len() <= sketch.params().max_wire_bytes());
        assert!(sketch.size_bytes() <= sketch.params().size_bytes());
        assert_eq!(sketch.is_sparse(), precision >= 13);
        assert_eq!(HllParams::peek(&bytes), Ok(sketch.params()));
    }
}

#[test]
fn the_first_keys_are_counted_exactly() {
    for precision in PRECISIONS {
        for value in 1..=MAX_VALUE {
            let mut sketch = empty(precision);
            assert!(sketch.insert_hash(hash_for(1, value)));
            assert_eq!(sketch.estimate().to_bits(), 1.0f64.to_bits());
            assert_eq!(sketch.bounds(3.0), (1.0, 1.0));
            assert!(sketch.insert_hash(hash_for(2, value)));
            assert_eq!(sketch.estimate().round().to_bits(), 2.0f64.to_bits());
        }
    }
}

#[test]
fn an_empty_sketch_counts_nothing_and_clearing_makes_one() {
    for precision in PRECISIONS {
        let mut sketch = empty(precision);
        assert!(sketch.is_empty());
        assert_eq!((sketch.estimate(), sketch.bounds(3.0)), (0.0, (0.0, 0.0)));
        sketch.extend(0..10u8);
        assert!(!sketch.is_empty());
        sketch.clear();
        assert!(sketch.is_empty() && sketch == empty(precision));
        assert_eq!(sketch.estimate().to_bits(), 0);
    }
}

#[test]
fn other_hashers_do_not_merge_or_decode_and_nothing_changes() {
    let params = HllParams::with_precision(6).unwrap();
    let keyed = |key: u8| {
        let mut sketch = HyperLogLog::with_hasher(params, SipHasher::new([key; 16]));
        sketch.extend(0..50u64);
        sketch
    };
    let (one, two) = (keyed(1), keyed(2));
    let (expected, found) = (one.hasher().fingerprint(), two.hasher().fingerprint());
    assert_eq!(refused_merge_law(one.clone(), &two), Error::Hasher { expected, found });
    let bytes = one.to_bytes();
    assert!(matches!(HyperLogLog::from_bytes(&bytes), Err(Error::Hasher { .. })));
    assert!(matches!(HyperLogLog::view(&bytes), Err(Error::Hasher { .. })));

    // Who does not hold the key can still count and merge.
    let elsewhere = Prehashed(std::num::NonZeroU64::new(expected).unwrap());
    let mut copy = HyperLogLog::from_bytes_with(&bytes, elsewhere).unwrap();
    copy.merge(&HyperLogLog::view_with(&bytes, elsewhere).unwrap().to_owned().unwrap()).unwrap();
    assert_eq!(copy.estimate().to_bits(), one.estimate().to_bits());
    assert!(copy.to_bytes() == bytes);
}

#[test]
fn serde_carries_the_envelope_and_checks_a_precision() {
    let sketch = of(8, &[1, 2, 3]);
    let text = serde_json::to_string(&sketch).unwrap();
    assert!(serde_json::from_str::<HyperLogLog>(&text).unwrap() == sketch);
    let params = serde_json::to_string(&sketch.params()).unwrap();
    assert_eq!(params, r#"{"p":8}"#);
    assert_eq!(serde_json::from_str::<HllParams>(&params).unwrap(), sketch.params());
    for invalid in [r#"{"p":3}"#, r#"{"p":19}"#, r#"{"p":256}"#, "{}"] {
        assert!(serde_json::from_str::<HllParams>(invalid).is_err(), "{invalid}");
    }
}

#[test]
fn debug_shows_the_precision_and_not_the_registers() {
    let sketch = of(4, &[1]);
    let shown = format!("{sketch:?}");
    assert!(
        shown.starts_with("HyperLogLog { params: HllParams { p: 4 }, hasher: ") && shown.ends_with(".. }"),
        "{shown}"
    );
    assert!(format!("{:?}", HyperLogLog::view(&sketch.to_bytes()).unwrap()).starts_with("HllView"));
}
