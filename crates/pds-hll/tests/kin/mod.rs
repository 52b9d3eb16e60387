//! What both sketches promise alike, as tests of one of them.

/// `domain`: what is said of a refused target. `saturated`: a register that nothing changes any more. `also`:
/// what else holds of every state.
macro_rules! laws_of {
    ($Sketch:ident, $Params:ident, $View:ident, domain: $domain:expr, saturated: $saturated:expr, also: $also:expr $(,)?) => {
        const PRECISIONS: std::ops::RangeInclusive<u8> = $Params::MIN_PRECISION..=$Params::MAX_PRECISION;

        /// The greatest value of a hash: 46 leading zeros, and one.
        const MAX_VALUE: u8 = 47;

        /// Where the form stands behind the precision, and what it says.
        const FORM: usize = 25;
        const SPARSE: u8 = 0;
        const PLAIN: u8 = 1;
        const CODED: u8 = 2;

        fn empty(precision: u8) -> $Sketch {
            $Sketch::new($Params::with_precision(precision).expect("4 to 18"))
        }

        fn of(precision: u8, keys: &[u64]) -> $Sketch {
            let mut sketch = empty(precision);
            sketch.extend(keys);
            sketch
        }

        /// A hash of this register and this value, not 0.
        fn hash_for(register: usize, value: u8) -> u64 {
            let leading = if value < MAX_VALUE { 1 << (64 - value) } else { 0 };
            leading | register as u64
        }

        const WIRE: WireLaws<$Sketch> = WireLaws {
            exercise: |sketch| answers_sanely(sketch),
            view: |bytes| {
                if let Ok(view) = $Sketch::view(bytes) {
                    let (low, high) = view.bounds(2.0);
                    assert!(0.0 <= low && low <= view.estimate() && view.estimate() <= high);
                    assert_eq!($Params::peek(bytes), Ok(view.params()));
                    let decodes = $Sketch::from_bytes(bytes).is_ok();
                    assert_eq!(view.to_owned().is_ok(), decodes);
                    assert_eq!(empty(8).merge_view(&view).is_ok(), decodes);
                    let _ = view.verify();
                }
            },
            ..WireLaws::new($Sketch::from_bytes)
        };

        /// Asserts all that holds of every state.
        fn answers_sanely(sketch: &$Sketch) {
            let registers = sketch.registers();
            let in_use = registers.iter().filter(|&&register| register > 0).count() as f64;
            let saturated = !sketch.is_sparse() && registers.iter().all(|&register| register == $saturated);
            let estimate = sketch.estimate();
            assert!(estimate >= 0.0);
            assert_eq!(estimate.is_finite(), !saturated, "{estimate}");
            assert_eq!(estimate == 0.0, sketch.is_empty());
            for kappa in [0.0, 0.5, 2.0, -2.0, 1e300, f64::INFINITY, f64::NAN] {
                let (low, high) = sketch.bounds(kappa);
                assert!(in_use.min(estimate) <= low && low.is_finite(), "{low} to {high}, {in_use} in use");
                assert!(low <= estimate && estimate <= high, "{low} to {high} around {estimate}");
            }
            let also: fn(&$Sketch) = $also;
            also(sketch);
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
                    let mut two = x.clone();
                    two.merge(y).unwrap();
                    let mut left = two.clone();
                    left.merge(z).unwrap();
                    prop_assert!(left.to_bytes() == whole.to_bytes());
                    let bytes = z.to_bytes();
                    two.merge_view(&$Sketch::view(&bytes).unwrap()).unwrap();
                    prop_assert!(two.to_bytes() == whole.to_bytes());
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
                        // Counts that are kept of register values are stale from here to the next change.
                        by_hash.merge(&by_key).unwrap();
                    }
                    prop_assert!(by_key == by_hash && by_hash == by_batch);
                    let estimates = [&by_key, &by_hash, &by_batch].map(|sketch| sketch.estimate().to_bits());
                    prop_assert!(estimates == [estimates[0]; 3]);
                }
            }

            #[test]
            fn the_least_precision_that_keeps_the_target_is_chosen(error in 0.0..1.2f64) {
                let reachable = $Params::with_precision(18).unwrap().std_error() <= error && error < 1.0;
                match $Params::for_error(error) {
                    Ok(params) => {
                        prop_assert!(reachable && params.std_error() <= error);
                        if let Ok(smaller) = $Params::with_precision(params.precision() - 1) {
                            prop_assert!(smaller.std_error() > error);
                        }
                    }
                    Err(refusal) => {
                        prop_assert!(!reachable);
                        let domain = $domain;
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
                assert_eq!($Params::peek(&bytes), Ok(sketch.params()));
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
            let params = $Params::with_precision(6).unwrap();
            let keyed = |key: u8| {
                let mut sketch = $Sketch::with_hasher(params, SipHasher::new([key; 16]));
                sketch.extend(0..50u64);
                sketch
            };
            let (one, two) = (keyed(1), keyed(2));
            let (expected, found) = (one.hasher().fingerprint(), two.hasher().fingerprint());
            assert_eq!(refused_merge_law(one.clone(), &two), Error::Hasher { expected, found });
            let bytes = one.to_bytes();
            assert!(matches!($Sketch::from_bytes(&bytes), Err(Error::Hasher { .. })));
            assert!(matches!($Sketch::view(&bytes), Err(Error::Hasher { .. })));

            // Who does not hold the key can still count and merge.
            let elsewhere = Prehashed(std::num::NonZeroU64::new(expected).unwrap());
            let view = $Sketch::view_with(&bytes, elsewhere).unwrap();
            let mut copy = $Sketch::from_bytes_with(&bytes, elsewhere).unwrap();
            copy.merge(&view.to_owned().unwrap()).unwrap();
            copy.merge_view(&view).unwrap();
            assert_eq!(copy.estimate().to_bits(), one.estimate().to_bits());
            assert!(copy.to_bytes() == bytes);
            assert!(matches!(empty(6).merge_view(&view), Err(Error::Hasher { .. })));
        }

        #[test]
        fn serde_carries_the_envelope_and_checks_a_precision() {
            let sketch = of(8, &[1, 2, 3]);
            let text = serde_json::to_string(&sketch).unwrap();
            assert!(serde_json::from_str::<$Sketch>(&text).unwrap() == sketch);
            let params = serde_json::to_string(&sketch.params()).unwrap();
            assert_eq!(params, r#"{"p":8}"#);
            assert_eq!(serde_json::from_str::<$Params>(&params).unwrap(), sketch.params());
            for invalid in [r#"{"p":3}"#, r#"{"p":19}"#, r#"{"p":256}"#, "{}"] {
                assert!(serde_json::from_str::<$Params>(invalid).is_err(), "{invalid}");
            }
        }

        #[test]
        fn debug_shows_the_precision_and_not_the_registers() {
            let sketch = of(4, &[1]);
            let shown = format!("{sketch:?}");
            let expected =
                concat!(stringify!($Sketch), " { params: ", stringify!($Params), " { p: 4 }, hasher: ");
            assert!(shown.starts_with(expected) && shown.ends_with(".. }"), "{shown}");
            let view = format!("{:?}", $Sketch::view(&sketch.to_bytes()).unwrap());
            assert!(view.starts_with(stringify!($View)), "{view}");
        }
    };
}

pub(crate) use laws_of;
