//! What UltraLogLog promises, on arbitrary keys and hashes.

use pds_hll::prelude::*;
use pds_hll::{Fingerprint, Prehashed, SipHasher};
use pds_testkit::{DistinctKeys, WireLaws, key_lists, merge_laws, refused_merge_law, wire_laws};
use proptest::collection::vec;
use proptest::prelude::*;

const PRECISIONS: std::ops::RangeInclusive<u8> = UllParams::MIN_PRECISION..=UllParams::MAX_PRECISION;

/// The greatest value of a hash: 46 leading zeros, and one.
const MAX_VALUE: u8 = 47;

/// Registers that have seen the last three values.
const SATURATED: u8 = 191;

fn empty(precision: u8) -> UltraLogLog {
    UltraLogLog::new(UllParams::with_precision(precision).expect("4 to 18"))
}

fn of(precision: u8, keys: &[u64]) -> UltraLogLog {
    let mut sketch = empty(precision);
    sketch.extend(keys);
    sketch
}

fn hll_of(precision: u8, keys: &[u64]) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(HllParams::with_precision(precision).expect("4 to 18"));
    sketch.extend(keys);
    sketch
}

/// A hash of this register and this value, not 0.
fn hash_for(register: usize, value: u8) -> u64 {
    let leading = if value < MAX_VALUE { 1 << (64 - value) } else { 0 };
    leading | register as u64
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

/// Where the form stands behind the precision, and what it says.
const FORM: usize = 25;
const SPARSE: u8 = 0;
const RAW: u8 = 1;
const CODED: u8 = 2;

const WIRE: WireLaws<UltraLogLog> = WireLaws {
    exercise: |sketch| answers_sanely(sketch),
    view: |bytes| {
        if let Ok(view) = UltraLogLog::view(bytes) {
            let (low, high) = view.bounds(2.0);
            assert!(0.0 <= low && low <= view.estimate() && view.estimate() <= high);
            assert_eq!(UllParams::peek(bytes), Ok(view.params()));
            let decodes = UltraLogLog::from_bytes(bytes).is_ok();
            assert_eq!(view.to_owned().is_ok(), decodes);
            assert_eq!(empty(8).merge_view(&view).is_ok(), decodes);
            let _ = view.verify();
        }
    },
    ..WireLaws::new(UltraLogLog::from_bytes)
};

/// Asserts all that holds of every state.
fn answers_sanely(sketch: &UltraLogLog) {
    let registers = sketch.registers();
    let in_use = registers.iter().filter(|&&register| register > 0).count() as f64;
    let saturated = !sketch.is_sparse() && registers.iter().all(|&register| register == SATURATED);
    let estimate = sketch.estimate();
    assert!(estimate >= 0.0);
    assert_eq!(estimate.is_finite(), !saturated, "{estimate}");
    assert_eq!(estimate == 0.0, sketch.is_empty());
    for kappa in [0.0, 0.5, 2.0, -2.0, 1e300, f64::INFINITY, f64::NAN] {
        let (low, high) = sketch.bounds(kappa);
        assert!(in_use.min(estimate) <= low && low.is_finite(), "{low} to {high}, {in_use} in use");
        assert!(low <= estimate && estimate <= high, "{low} to {high} around {estimate}");
    }
    let hll = HyperLogLog::from(sketch);
    assert_eq!(hll.is_sparse(), sketch.is_sparse());
    assert!(HyperLogLog::from_bytes(&hll.to_bytes()).is_ok_and(|read| read == hll));
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
        a in key_lists(), b in key_lists(), c in key_lists(), p in 4..=13u8, q in 4..=13u8, r in 4..=13u8,
    ) {
        let whole = of(p.min(q).min(r), &[&a[..], &b, &c].concat());
        let parts = [of(p, &a), of(q, &b), of(r, &c)];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let [x, y, z] = order.map(|i| &parts[i]);
            let mut left = x.clone();
            left.merge(y).unwrap();
            let bytes = z.to_bytes();
            left.merge_view(&UltraLogLog::view(&bytes).unwrap()).unwrap();
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
        } else {
            prop_assert!(folded.fold_to(low).is_err());
            prop_assert!(folded == of(high, &keys));
        }
    }

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
        precision in 4..=8u8, seed: u64, lengths in vec(0..3000usize, 0..4),
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
            prop_assert!(by_key == by_hash && by_hash == by_batch);
        }
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
            RAW => {
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
        let forged = pds_testkit::forge(&empty(4).to_bytes(), &[4, RAW], &registers);
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
                prop_assert!(impossible || with_values(4, &values).to_bytes()[FORM] != RAW);
            }
        }
    }

    #[test]
    fn the_least_precision_that_keeps_the_target_is_chosen(error in 0.0..1.2f64) {
        let reachable = UllParams::with_precision(18).unwrap().std_error() <= error && error < 1.0;
        match UllParams::for_error(error) {
            Ok(params) => {
                prop_assert!(reachable && params.std_error() <= error);
                if let Ok(smaller) = UllParams::with_precision(params.precision() - 1) {
                    prop_assert!(smaller.std_error() > error);
                }
            }
            Err(refusal) => {
                prop_assert!(!reachable);
                let domain = "0.00149 <= relative_error < 1 (0.7609 / 512: precision 18)";
                prop_assert_eq!(refusal, Error::Parameter { name: "relative_error", value: error, domain });
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
        assert_eq!(UllParams::peek(&bytes), Ok(sketch.params()));
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

#[test]
fn other_hashers_do_not_merge_or_decode_and_nothing_changes() {
    let params = UllParams::with_precision(6).unwrap();
    let keyed = |key: u8| {
        let mut sketch = UltraLogLog::with_hasher(params, SipHasher::new([key; 16]));
        sketch.extend(0..50u64);
        sketch
    };
    let (one, two) = (keyed(1), keyed(2));
    let (expected, found) = (one.hasher().fingerprint(), two.hasher().fingerprint());
    assert_eq!(refused_merge_law(one.clone(), &two), Error::Hasher { expected, found });
    let bytes = one.to_bytes();
    assert!(matches!(UltraLogLog::from_bytes(&bytes), Err(Error::Hasher { .. })));
    assert!(matches!(UltraLogLog::view(&bytes), Err(Error::Hasher { .. })));

    // Who does not hold the key can still count and merge.
    let elsewhere = Prehashed(std::num::NonZeroU64::new(expected).unwrap());
    let view = UltraLogLog::view_with(&bytes, elsewhere).unwrap();
    let mut copy = view.to_owned().unwrap();
    copy.merge_view(&view).unwrap();
    assert_eq!(copy.estimate().to_bits(), one.estimate().to_bits());
    assert!(copy.to_bytes() == bytes);
    assert!(matches!(empty(6).merge_view(&view), Err(Error::Hasher { .. })));
}

/// The other sketch's bytes are of another kind.
#[test]
fn the_bytes_of_the_two_sketches_are_told_apart() {
    let keys: Vec<u64> = (0..500).collect();
    let (ull, hll) = (of(6, &keys).to_bytes(), hll_of(6, &keys).to_bytes());
    assert!(matches!(UltraLogLog::from_bytes(&hll), Err(Error::Kind { .. })));
    assert!(matches!(HyperLogLog::from_bytes(&ull), Err(Error::Kind { .. })));
}

#[test]
fn serde_carries_the_envelope_and_checks_a_precision() {
    let sketch = of(8, &[1, 2, 3]);
    let text = serde_json::to_string(&sketch).unwrap();
    assert!(serde_json::from_str::<UltraLogLog>(&text).unwrap() == sketch);
    let params = serde_json::to_string(&sketch.params()).unwrap();
    assert_eq!(params, r#"{"p":8}"#);
    assert_eq!(serde_json::from_str::<UllParams>(&params).unwrap(), sketch.params());
    for invalid in [r#"{"p":3}"#, r#"{"p":19}"#, r#"{"p":256}"#, "{}"] {
        assert!(serde_json::from_str::<UllParams>(invalid).is_err(), "{invalid}");
    }
}

#[test]
fn debug_shows_the_precision_and_not_the_registers() {
    let sketch = of(4, &[1]);
    let shown = format!("{sketch:?}");
    assert!(
        shown.starts_with("UltraLogLog { params: UllParams { p: 4 }, hasher: ") && shown.ends_with(".. }"),
        "{shown}"
    );
    assert!(format!("{:?}", UltraLogLog::view(&sketch.to_bytes()).unwrap()).starts_with("UllView"));
}
