//! Laws that several filters keep, as macros.
#![allow(unused_macros)] // no test file uses all of them

/// Tests of what a filter's bytes carry, as views and as serde's bytes.
///
/// `filter` makes filters of keys. `whole` is what a view of the keys 1, 2 and 3 answers, `damaged` what one does whose last
/// byte is not the one that was written.
macro_rules! envelope_laws {
    ($filter:ident, $view:ident, whole: $whole:expr, damaged: $damaged:expr $(,)?) => {
        #[test]
        fn serde_carries_the_envelope() {
            let filter = filter(&[1, 2, 3]);
            let text = serde_json::to_string(&filter).expect("bytes encode");
            assert_eq!(text, serde_json::to_string(&filter.to_bytes()).expect("bytes encode"));
            assert_eq!(serde_json::from_str::<$filter>(&text).expect("what was written reads"), filter);
            assert!(serde_json::from_str::<$filter>("[1, 2, 3]").is_err());
        }

        #[test]
        fn views_open_at_any_address() {
            let filter = filter(&[1, 2, 3]);
            let bytes = filter.to_bytes();
            for shift in 0..33 {
                let shifted = [&vec![0; shift][..], &bytes[..]].concat();
                let view = $filter::view(&shifted[shift..]).expect("its own bytes");
                let $view = &view;
                assert!($whole && view.verify().is_ok());
                assert_eq!(view.to_owned().expect("its own bytes"), filter);
            }
        }

        #[test]
        fn a_view_answers_from_a_damaged_payload_and_verify_tells() {
            let mut bytes = filter(&[1, 2, 3]).to_bytes();
            *bytes.last_mut().expect("bytes") ^= 1;
            let view = $filter::view(&bytes).expect("the header is whole");
            let $view = &view;
            let _ = view.contains(&1u64);
            assert!($damaged);
            assert_eq!(view.verify(), Err(Error::Checksum));
            assert!(matches!(view.to_owned(), Err(Error::Checksum)));
        }
    };
}

/// Tests of a filter that is an array of bits and no more: the classic one, the blocked one, the split-block one.
///
/// `small` makes parameters of few bits, `any` a strategy of raw shapes, `large` parameters from where on batches prefetch,
/// `tiny` the fewest bits there are, `loops` parameters around the sizes at which another loop takes over. `bits_of` gives
/// the bits of a hash by the specification of the byte form. `exercise` is what the type can do besides; `lowest_rate` is a
/// target for no keys, `unlike` has pairs of parameters and the field by which they differ, `malformed` has texts that are
/// no parameters.
macro_rules! filter_laws {
    (
        $filter:ident, $params:ident,
        small: $small:expr,
        any: $any:expr,
        large: $large:expr,
        tiny: $tiny:expr,
        loops: $loops:expr,
        bits_of: $bits_of:expr,
        exercise: $exercise:expr,
        lowest_rate: $lowest_rate:expr,
        unlike: $unlike:expr,
        malformed: $malformed:expr $(,)?
    ) => {
        use bitvec::prelude::{BitSlice, BitVec, Lsb0};
        use pds_testkit::{WireLaws, idempotent_merge_law, merge_laws, refused_merge_law, wire_laws};

        fn filled(params: $params, keys: &[u64]) -> $filter {
            let mut filter = $filter::new(params);
            filter.extend(keys);
            filter
        }

        fn filter(keys: &[u64]) -> $filter {
            filled($small, keys)
        }

        fn sized(keys: u64, fpr: f64) -> $params {
            $params::for_fpr(keys, fpr).expect("valid targets")
        }

        envelope_laws! {
            $filter, view,
            whole: view.contains(&2u64),
            damaged: (0.0..=1.0).contains(&view.fill_ratio()),
        }

        merge_laws! { merging, filter, idempotent }

        const WIRE: WireLaws<$filter> = WireLaws {
            exercise: |filter| {
                let _ = (filter.contains(&1u64), filter.fill_ratio(), filter.estimated_fpr());
                let _ = (filter.estimated_len(), filter.is_saturated());
                let mut filter = filter.clone();
                filter.insert(&1u64);
                assert!(filter.contains(&1u64));
                $exercise(&mut filter);
                assert!(filter.contains(&1u64));
            },
            view: |bytes| {
                if let Ok(view) = $filter::view(bytes) {
                    let _ = (view.contains(&1u64), view.contains("key"));
                    let _ = (view.verify().is_ok(), view.to_owned().is_ok());
                    let mut found = [false; 3];
                    assert_eq!(view.contains_batch(&[1, 2, 3], &mut found), 3);
                    assert!((0.0..=1.0).contains(&view.fill_ratio()) && view.estimated_len() >= 0.0);
                    assert!((0.0..=1.0).contains(&view.estimated_fpr()));
                    let _ = view.is_saturated();
                }
                let _ = $params::peek(bytes);
            },
            ..WireLaws::new($filter::from_bytes)
        };

        wire_laws! { wire, WIRE, filter, canonical }

        #[test]
        fn what_decodes_is_canonical_and_equal() {
            let filter = filter(&[1, 2, 3]);
            WIRE.round_trips_to_an_equal(&filter);
            WIRE.accepts_canonical_bytes_only(&filter.to_bytes());
            idempotent_merge_law(|keys: &[u64]| filled(sized(100, 0.01), keys), &[1, 2, 3]);
        }

        #[test]
        fn merging_and_intersecting_refuse_what_differs_and_change_nothing() {
            for (mine, theirs, field) in $unlike {
                let (mine, theirs) = (filled(mine, &[1, 2, 3]), filled(theirs, &[4]));
                let error = Error::Incompatible { field };
                assert_eq!(refused_merge_law(mine.clone(), &theirs), error);
                let mut unchanged = mine.clone();
                assert_eq!(unchanged.intersect(&theirs), Err(error));
                assert_eq!(unchanged, mine);
            }
            let keyed = |key| $filter::with_hasher($small, SipHasher::new([key; 16]));
            assert!(matches!(refused_merge_law(keyed(1), &keyed(2)), Error::Hasher { .. }));
            let seeded = |seed| $filter::with_hasher($small, WyHasher::with_seed(seed));
            assert!(matches!(refused_merge_law(seeded(0), &seeded(1)), Error::Hasher { .. }));
        }

        proptest! {
            #[test]
            fn never_forgets_a_key(keys: Vec<u64>, params in $any) {
                let mut filter = $filter::new(params);
                for key in &keys {
                    let known = filter.contains(key);
                    prop_assert_eq!(filter.insert(key), !known);
                }
                prop_assert!(keys.iter().all(|key| filter.contains(key)));
                let bytes = filter.to_bytes();
                let view = $filter::view(&bytes).expect("its own bytes");
                prop_assert!(keys.iter().all(|key| view.contains(key)));
            }

            #[test]
            fn bits_lie_where_the_specification_says(hashes: Vec<u64>, params in $any) {
                let mut filter = $filter::new(params);
                let mut oracle: BitVec<u8, Lsb0> = BitVec::repeat(false, params.size_bytes() as usize * 8);
                for &hash in &hashes {
                    filter.insert_hash(hash);
                    for bit in $bits_of(hash, params) {
                        oracle.set(bit as usize, true);
                    }
                }
                prop_assert!(filter.to_bytes().ends_with(oracle.as_raw_slice()));
                let expected = oracle.count_ones() as f64 / oracle.len() as f64;
                prop_assert_eq!(filter.fill_ratio().to_bits(), expected.to_bits());
            }

            #[test]
            fn batches_views_and_single_calls_agree(
                members: Vec<u64>, strangers: Vec<u64>, short in 0..10usize, large: bool,
            ) {
                // The large shape takes the prefetching loop.
                let params = if large { $large } else { $small };
                let (mut single, mut batch) = ($filter::new(params), $filter::new(params));
                for &hash in &members {
                    single.insert_hash(hash);
                }
                batch.insert_batch(&members);
                prop_assert_eq!(&single, &batch);
                let asked = [&members[..], &strangers[..]].concat();
                let mut found = vec![true; asked.len().saturating_sub(short)];
                prop_assert_eq!(single.contains_batch(&asked, &mut found), found.len());
                let mut more = vec![true; asked.len() + 3];
                prop_assert_eq!(single.contains_batch(&asked, &mut more), asked.len());
                prop_assert_eq!(&more[asked.len()..], &[true; 3]);
                let bytes = single.to_bytes();
                let view = $filter::view(&bytes).expect("its own bytes");
                let mut viewed = vec![false; asked.len()];
                prop_assert_eq!(view.contains_batch(&asked, &mut viewed), asked.len());
                prop_assert_eq!(&viewed[..], &more[..asked.len()]);
                let measures = |fill: f64, len: f64, fpr: f64| [fill, len, fpr].map(f64::to_bits);
                prop_assert_eq!(
                    measures(view.fill_ratio(), view.estimated_len(), view.estimated_fpr()),
                    measures(single.fill_ratio(), single.estimated_len(), single.estimated_fpr())
                );
                prop_assert_eq!(view.is_saturated(), single.is_saturated());
                prop_assert_eq!(&view.to_owned().expect("its own bytes"), &single);
                for (i, &hash) in asked.iter().enumerate() {
                    let alone = single.contains_hash(hash);
                    prop_assert_eq!(more[i], alone);
                    prop_assert_eq!(view.contains_hash(hash), alone);
                    prop_assert!(i >= found.len() || found[i] == alone);
                }
            }

            #[test]
            fn keys_and_their_hashes_are_one(key: String, number: i32) {
                let mut filter = $filter::with_hasher($small, SipHasher::new([9; 16]));
                let hash = filter.hasher().hash_key(&key);
                prop_assert!(filter.insert(&key));
                prop_assert!(filter.contains_hash(hash) && !filter.insert_hash(hash));
                filter.insert(&number);
                prop_assert!(filter.contains(&i64::from(number)));
            }

            #[test]
            fn an_intersection_holds_the_keys_of_both(a: Vec<u64>, b: Vec<u64>, both: Vec<u64>) {
                let mut left = filter(&[&a[..], &both[..]].concat());
                let right = filter(&[&b[..], &both[..]].concat());
                left.intersect(&right).expect("equal shapes");
                prop_assert!(both.iter().all(|key| left.contains(key)));
                let mut union = left.clone();
                union.merge(&filter(&both)).expect("equal shapes");
                prop_assert_eq!(union, left, "a superset of the intersection's filter");
            }
        }

        /// Every loop there is, with half of the bits set, so that every bit decides.
        #[test]
        fn every_loop_gives_the_answers_of_the_bits_themselves() {
            for params in $loops {
                let k = $bits_of(0, params).len() as u64;
                let bytes = params.size_bytes();
                let members = bytes * 8 * 7 / 10 / k;
                let hashes: Vec<u64> = DistinctKeys::new(k).range(0..members + 1000).collect();
                let (members, strangers) = hashes.split_at(members as usize);
                let mut filter = $filter::new(params);
                filter.insert_batch(members);
                let mut one_by_one = $filter::new(params);
                for &hash in members {
                    one_by_one.insert_hash(hash);
                }
                assert!(filter == one_by_one, "{params:?}: inserting");

                let image = filter.to_bytes();
                let bits: &BitSlice<u8, Lsb0> = BitSlice::from_slice(&image[image.len() - bytes as usize..]);
                let expected = |hash| $bits_of(hash, params).iter().all(|&bit| bits[bit as usize]);
                let view = $filter::view(&image).expect("its own bytes");
                let asked: Vec<u64> = strangers.iter().chain(members.iter().take(1000)).copied().collect();
                let (mut found, mut viewed) = (vec![false; asked.len()], vec![false; asked.len()]);
                assert_eq!(filter.contains_batch(&asked, &mut found), asked.len());
                assert_eq!(view.contains_batch(&asked, &mut viewed), asked.len());
                for (i, &hash) in asked.iter().enumerate() {
                    let answers = [found[i], viewed[i], filter.contains_hash(hash), view.contains_hash(hash)];
                    assert_eq!(answers, [expected(hash); 4], "{params:?}");
                }
            }
        }

        #[test]
        fn no_key_at_all_is_legal_and_answers_no() {
            for fpr in [0.5, 0.01, $lowest_rate] {
                let mut filter = $filter::new(sized(0, fpr));
                assert!(filter.is_empty() && !filter.contains("key") && !filter.is_saturated());
                assert_eq!(
                    (filter.fill_ratio(), filter.estimated_len(), filter.estimated_fpr()),
                    (0.0, 0.0, 0.0)
                );
                assert!(filter.insert("key"));
                assert!(!filter.is_empty());
                filter.clear();
                assert!(filter.is_empty() && !filter.contains("key"));
            }
        }

        #[test]
        fn a_stand_in_for_a_secret_hasher_merges_and_answers_for_hashes() {
            let hasher = SipHasher::new(*b"sixteen byte key");
            let mut filter = $filter::with_hasher($small, hasher);
            filter.insert("key");
            let bytes = filter.to_bytes();
            assert!(matches!($filter::from_bytes(&bytes), Err(Error::Hasher { .. })));
            let stand_in = Prehashed::of_bytes(&bytes).expect("a fingerprint");
            let mut elsewhere = $filter::from_bytes_with(&bytes, stand_in).expect("the fingerprint is right");
            let hash = hasher.hash_key("key");
            assert!(elsewhere.contains_hash(hash));
            elsewhere.merge(&elsewhere.clone()).expect("equal in all");
            assert_eq!(elsewhere.to_bytes(), bytes);
            assert!($filter::view_with(&bytes, stand_in).is_ok_and(|view| view.contains_hash(hash)));
        }

        #[test]
        fn parameters_go_through_the_gate_however_they_come() {
            let params = $small;
            let text = serde_json::to_string(&params).expect("plain numbers");
            assert_eq!(serde_json::from_str::<$params>(&text).expect("what was written reads"), params);
            for bad in $malformed {
                assert!(serde_json::from_str::<$params>(bad).is_err(), "{bad}");
            }
        }

        /// n = 20,000 keys, 1,000,000 probes, alpha 1e-9 a tail.
        #[test]
        fn strangers_are_taken_for_members_as_often_as_the_law_says() {
            const KEYS: u64 = 20_000;
            const PROBES: u64 = 1_000_000;
            for (i, fpr) in [0.3, 0.1, 0.01, 0.001].into_iter().enumerate() {
                let keys = DistinctKeys::new(i as u64);
                let mut filter = $filter::new(sized(KEYS, fpr));
                filter.extend(keys.range(0..KEYS));
                let hits = keys.range(KEYS..KEYS + PROBES).filter(|key| filter.contains(key)).count() as u64;
                laws::rate_is(hits, PROBES, filter.estimated_fpr()).assert("the estimate of this filter");
                laws::rate_at_most(hits, PROBES, fpr).assert("the promise");
                assert!(!filter.is_saturated(), "at its design load");
                filter.extend(keys.range(KEYS..2 * KEYS));
                assert!(filter.is_saturated(), "at twice its design load");
            }
        }

        #[test]
        fn a_filter_that_says_yes_to_everything_is_saturated_whatever_it_was_designed_for() {
            for (keys, fpr) in [(1, 0.8), (1, 0.9), (5, 0.9), (50, 0.95), (1000, 0.999)] {
                let mut filter = $filter::new(sized(keys, fpr));
                filter.extend(0..100_000u64);
                assert!(filter.is_saturated(), "{keys} keys at {fpr}");
            }
        }

        #[test]
        fn every_bit_set_is_full_and_says_so() {
            let mut filter = $filter::new($tiny);
            filter.extend(0..50_000u64);
            assert_eq!((filter.fill_ratio(), filter.estimated_fpr()), (1.0, 1.0));
            assert!(filter.estimated_len().is_infinite() && filter.is_saturated());
            assert!(!filter.insert("stranger") && filter.contains("stranger"));
        }
    };
}
