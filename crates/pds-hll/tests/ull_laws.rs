//! What UltraLogLog promises, on arbitrary keys and hashes.

mod kin;

use kin::laws_of;
use pds_hll::prelude::*;
use pds_hll::{Fingerprint, Prehashed, SipHasher};
use pds_testkit::{DistinctKeys, WireLaws, key_lists, merge_laws, refused_merge_law, wire_laws};
use proptest::collection::vec;
use proptest::prelude::*;

/// Registers that have seen the last three values.
const SATURATED: u8 = 191;

laws_of! {
    UltraLogLog, UllParams, UllView,
    domain: "0.00149 <= relative_error < 1 (0.7609 / 512: precision 18)",
    saturated: SATURATED,
    also: |sketch| {
        let hll = HyperLogLog::from(sketch);
        assert_eq!(hll.is_sparse(), sketch.is_sparse());
        assert!(HyperLogLog::from_bytes(&hll.to_bytes()).is_ok_and(|read| read == hll));
    },
}

fn hll_of(precision: u8, keys: &[u64]) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(HllParams::with_precision(precision).expect("4 to 18"));
    sketch.extend(keys);
    sketch
}

/// The sketch of such hashes.
fn with_values(precision: u8, values: &[(usize, u8)]) -> UltraLogLog {
    let mut sketch = empty(precision);
    for &(register, value) in values {
        sketch.insert_hash(hash_for(register % (1 << precision), value));
    }
    sketch
}

/// Precisions and hashes as registers and values: few values or many, of up to 1024 registers.
fn states() -> impl Strategy<Value = (u8, Vec<(usize, u8)>)> {
    (UllParams::MIN_PRECISION..=10, 1..=MAX_VALUE, 1..=MAX_VALUE).prop_flat_map(|(precision, a, b)| {
        let values = prop_oneof![3 => a.min(b)..=a.max(b), 1 => 1..=MAX_VALUE];
        let some = vec((0..1usize << precision, values), 0..2 << precision);
        let all = (0..1usize << precision).flat_map(|register| [(register, a), (register, b)]).collect();
        let top =
            (0..1usize << precision).flat_map(|register| (45..=47).map(move |v| (register, v))).collect();
        (Just(precision), prop_oneof![8 => some, 1 => Just(all), 1 => Just(top)])
    })
}

proptest! {
    #[test]
    fn the_hyperloglog_of_a_sketch_is_that_of_the_same_keys(
        a in key_lists(), b in key_lists(), p in 4..=14u8, q in 4..=14u8,
    ) {
        let mut sketch = of(p, &a);
        prop_assert!(HyperLogLog::from(&sketch).to_bytes() == hll_of(p, &a).to_bytes());
        sketch.merge(&of(q, &b)).unwrap();
        let whole = hll_of(p.min(q), &[a, b].concat());
        prop_assert!(HyperLogLog::from(&sketch).to_bytes() == whole.to_bytes());
        prop_assert!(HyperLogLog::from(&sketch) == whole);
    }

    /// The definition: for each register the greatest value, and whether the two below it were seen.
    #[test]
    fn registers_are_those_of_the_definition((precision, values) in states()) {
        let mut seen = vec![0u64; 1 << precision];
        for &(register, value) in &values {
            seen[register] |= 1 << value;
        }
        let expected: Vec<u8> = seen
            .iter()
            .map(|&bits| {
                let Some(greatest) = bits.checked_ilog2() else { return 0 };
                let flag = |below: u32| u8::from(greatest >= below && (bits >> (greatest - below)) & 1 == 1);
                4 * greatest as u8 + 2 * flag(1) + flag(2)
            })
            .collect();
        let sketch = with_values(precision, &values);
        prop_assert_eq!(&*sketch.registers(), &expected[..]);
    }

    #[test]
    fn every_state_has_a_sane_answer_and_bytes_of_its_own((precision, values) in states()) {
        let sketch = with_values(precision, &values);
        answers_sanely(&sketch);
        let bytes = sketch.to_bytes();
        prop_assert!(bytes.len() <= sketch.params().max_wire_bytes());
        match bytes[FORM] {
            SPARSE => prop_assert!(sketch.is_sparse()),
            PLAIN => {
                prop_assert!(!sketch.is_sparse());
                prop_assert_eq!(&bytes[FORM + 1..], &*sketch.registers());
            }
            CODED => prop_assert!(!sketch.is_sparse() && bytes.len() < FORM + 1 + (1 << precision)),
            form => prop_assert!(false, "form {form}"),
        }
        let read = UltraLogLog::from_bytes(&bytes).unwrap();
        prop_assert!(read == sketch && read.to_bytes() == bytes);
        let view = UltraLogLog::view(&bytes).unwrap();
        let bits = sketch.estimate().to_bits();
        prop_assert_eq!([read.estimate().to_bits(), view.estimate().to_bits()], [bits; 2]);
        prop_assert_eq!([read.bounds(1.0), view.bounds(1.0)], [sketch.bounds(1.0); 2]);
    }

    /// Of registers as they are, whatever is accepted is a state with these bytes.
    #[test]
    fn raw_registers_are_refused_or_canonical(registers in vec(prop_oneof![any::<u8>(), 0..192u8, 30..60u8], 16)) {
        let forged = pds_testkit::forge(&empty(4).to_bytes(), &[4, PLAIN], &registers);
        WIRE.survives(&forged);
        match UltraLogLog::from_bytes(&forged) {
            Ok(read) => prop_assert!(read.to_bytes() == forged && *read.registers() == registers),
            Err(error) => {
                prop_assert_eq!(error, Error::Malformed { field: "registers" });
                let impossible = registers.iter().any(|r| [1, 2, 3, 5, 6, 7, 9, 11].contains(r) || *r > SATURATED);
                let mut values = Vec::new();
                for (register, &byte) in registers.iter().enumerate() {
                    let greatest = byte >> 2;
                    values.extend((1..greatest.saturating_sub(2)).map(|value| (register, value)));
                    values.extend((greatest > 2 && byte & 1 > 0).then(|| (register, greatest - 2)));
                    values.extend((greatest > 1 && byte & 2 > 0).then(|| (register, greatest - 1)));
                    values.extend((greatest > 0).then_some((register, greatest)));
                }
                // Of possible registers the code is shorter, or a few tokens say it all.
                prop_assert!(impossible || with_values(4, &values).to_bytes()[FORM] != PLAIN);
            }
        }
    }
}

#[test]
fn changed_bytes_of_every_form_are_refused_or_canonical() {
    let many: Vec<u64> = DistinctKeys::new(5).range(0..20_000).collect();
    for (precision, count) in [(4, 2), (4, 60), (6, 1000), (8, 20_000)] {
        let bytes = of(precision, &many[..count]).to_bytes();
        WIRE.accepts_canonical_bytes_only(&bytes);
    }
}

/// Sizing is value-breaking API: a target never gets another precision.
#[test]
fn precisions_are_pinned() {
    let precision = |error| UllParams::for_error(error).map(|params| params.precision());
    let pinned = [
        (0.999, 4),
        (0.2, 4),
        (0.15, 5),
        (0.1, 6),
        (0.05, 8),
        (0.02, 11),
        (0.01, 13),
        (0.005, 15),
        (0.0015, 18),
    ];
    for (error, expected) in pinned {
        assert_eq!(precision(error), Ok(expected), "{error}");
    }
    for value in [0.0014, 0.0, -0.01, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(precision(value).is_err(), "{value}");
    }
    for p in [0, 3, 19, 64, 255] {
        let expected = Error::Parameter { name: "precision", value: f64::from(p), domain: "4 to 18" };
        assert_eq!(UllParams::with_precision(p), Err(expected));
    }
}

/// The other sketch's bytes are of another kind.
#[test]
fn the_bytes_of_the_two_sketches_are_told_apart() {
    let keys: Vec<u64> = (0..500).collect();
    let (ull, hll) = (of(6, &keys).to_bytes(), hll_of(6, &keys).to_bytes());
    assert!(matches!(UltraLogLog::from_bytes(&hll), Err(Error::Kind { .. })));
    assert!(matches!(HyperLogLog::from_bytes(&ull), Err(Error::Kind { .. })));
}
