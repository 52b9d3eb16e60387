//! What the blocked filter promises, as laws.

use bitvec::prelude::{BitSlice, BitVec, Lsb0};
use pds_bloom::prelude::*;
use pds_bloom::{BlockedBloomFilter, BlockedBloomParams, WyHasher};
use pds_hash::{mix, reduce};
use pds_testkit::{
    DistinctKeys, WireLaws, idempotent_merge_law, laws, merge_laws, refused_merge_law, wire_laws,
};
use proptest::prelude::*;

fn params() -> BlockedBloomParams {
    BlockedBloomParams::with_shape(1000, 5).expect("a valid shape")
}

fn filter(keys: &[u64]) -> BlockedBloomFilter {
    let mut filter = BlockedBloomFilter::new(params());
    filter.extend(keys);
    filter
}

merge_laws! { merging, filter, idempotent }

const WIRE: WireLaws<BlockedBloomFilter> = WireLaws {
    exercise: |filter| {
        let _ = (filter.contains(&1u64), filter.fill_ratio(), filter.estimated_len(), filter.is_saturated());
        let mut filter = filter.clone();
        filter.insert(&1u64);
        assert!(filter.contains(&1u64));
    },
    view: |bytes| {
        if let Ok(view) = BlockedBloomFilter::view(bytes) {
            let _ = (view.contains(&1u64), view.contains("key"), view.verify().is_ok());
            let mut found = [false; 3];
            assert_eq!(view.contains_batch(&[1, 2, 3], &mut found), 3);
            assert!((0.0..=1.0).contains(&view.fill_ratio()) && view.estimated_len() >= 0.0);
            let _ = (view.estimated_fpr(), view.is_saturated());
        }
        let _ = BlockedBloomParams::peek(bytes);
    },
    ..WireLaws::new(BlockedBloomFilter::from_bytes)
};

wire_laws! { wire, WIRE, filter, canonical }

#[test]
fn what_decodes_is_canonical_and_equal() {
    let filter = filter(&[1, 2, 3]);
    WIRE.round_trips_to_an_equal(&filter);
    WIRE.accepts_canonical_bytes_only(&filter.to_bytes());
    idempotent_merge_law(filter_of_target, &[1, 2, 3]);
}

fn filter_of_target(keys: &[u64]) -> BlockedBloomFilter {
    let mut filter = BlockedBloomFilter::new(BlockedBloomParams::for_fpr(100, 0.01).expect("valid targets"));
    filter.extend(keys);
    filter
}

#[test]
fn merging_and_intersecting_refuse_what_differs_and_change_nothing() {
    let shape =
        |bits, k| BlockedBloomFilter::new(BlockedBloomParams::with_shape(bits, k).expect("a valid shape"));
    let mut mine = shape(1024, 5);
    mine.insert("key");
    let incompatible = |field| Error::Incompatible { field };
    for (other, error) in [
        (shape(2048, 5), incompatible("bits")),
        (shape(1024, 6), incompatible("k")),
        (shape(1500, 6), incompatible("bits")),
    ] {
        assert_eq!(refused_merge_law(mine.clone(), &other), error);
        let mut unchanged = mine.clone();
        assert_eq!(unchanged.intersect(&other), Err(error));
        assert_eq!(unchanged, mine);
    }
    let targeted = BlockedBloomFilter::new(BlockedBloomParams::for_fpr(107, 0.01).expect("valid targets"));
    let raw = shape(targeted.params().bits(), targeted.params().k());
    assert_eq!(refused_merge_law(raw, &targeted), incompatible("design_fpr"));

    let keyed = |key| BlockedBloomFilter::with_hasher(params(), SipHasher::new([key; 16]));
    assert!(matches!(refused_merge_law(keyed(1), &keyed(2)), Error::Hasher { .. }));
    let seeded = |seed| BlockedBloomFilter::with_hasher(params(), WyHasher::with_seed(seed));
    assert!(matches!(refused_merge_law(seeded(0), &seeded(1)), Error::Hasher { .. }));
}

proptest! {
    #[test]
    fn never_forgets_a_key(keys: Vec<u64>, bits in 1..5000u64, k in 1..=24u32) {
        let mut filter = BlockedBloomFilter::new(BlockedBloomParams::with_shape(bits, k).expect("a valid shape"));
        for key in &keys {
            let known = filter.contains(key);
            prop_assert_eq!(filter.insert(key), !known);
        }
        prop_assert!(keys.iter().all(|key| filter.contains(key)));
        let bytes = filter.to_bytes();
        let view = BlockedBloomFilter::view(&bytes).expect("its own bytes");
        prop_assert!(keys.iter().all(|key| view.contains(key)));
    }

    #[test]
    fn bits_lie_where_the_probes_say(hashes: Vec<u64>, bits in 1..5000u64, k in 1..=24u32) {
        let params = BlockedBloomParams::with_shape(bits, k).expect("a valid shape");
        let mut filter = BlockedBloomFilter::new(params);
        let mut oracle: BitVec<u8, Lsb0> = BitVec::repeat(false, params.bits() as usize);
        for &hash in &hashes {
            filter.insert_hash(hash);
            for bit in bits_of(hash, k, params.lines()) {
                oracle.set(bit as usize, true);
            }
        }
        let bytes = filter.to_bytes();
        prop_assert!(bytes.ends_with(oracle.as_raw_slice()));
        let expected = oracle.count_ones() as f64 / params.bits() as f64;
        prop_assert_eq!(filter.fill_ratio().to_bits(), expected.to_bits());
    }

    #[test]
    fn batches_views_and_single_calls_agree(
        members: Vec<u64>, strangers: Vec<u64>, short in 0..10usize, large: bool,
    ) {
        // The large shape takes the prefetching loop.
        let bits = if large { 1 << 23 } else { 1000 };
        let params = BlockedBloomParams::with_shape(bits, 5).expect("a valid shape");
        let (mut single, mut batch) = (BlockedBloomFilter::new(params), BlockedBloomFilter::new(params));
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
        let view = BlockedBloomFilter::view(&bytes).expect("its own bytes");
        let mut viewed = vec![false; asked.len()];
        prop_assert_eq!(view.contains_batch(&asked, &mut viewed), asked.len());
        prop_assert_eq!(&viewed[..], &more[..asked.len()]);
        let measures = |fill: f64, len: f64, fpr: f64| [fill, len, fpr].map(f64::to_bits);
        prop_assert_eq!(
            measures(view.fill_ratio(), view.estimated_len(), view.estimated_fpr()),
            measures(single.fill_ratio(), single.estimated_len(), single.estimated_fpr())
        );
        prop_assert_eq!(view.is_saturated(), single.is_saturated());
        for (i, &hash) in asked.iter().enumerate() {
            let alone = single.contains_hash(hash);
            prop_assert_eq!(more[i], alone);
            prop_assert_eq!(view.contains_hash(hash), alone);
            prop_assert!(i >= found.len() || found[i] == alone);
        }
    }

    #[test]
    fn keys_and_their_hashes_are_one(key: String, number: i32) {
        let mut filter = BlockedBloomFilter::with_hasher(params(), SipHasher::new([9; 16]));
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
        let exact = filter(&both);
        let mut union = left.clone();
        union.merge(&exact).expect("equal shapes");
        prop_assert_eq!(union, left, "a superset of the intersection's filter");
    }

    #[test]
    fn the_promised_rate_is_kept_and_hardly_a_line_is_wasted(keys in 0..1u64 << 40, exponent in 0.1..33.0f64) {
        let fpr = (-exponent).exp2();
        if let Ok(params) = BlockedBloomParams::for_fpr(keys, fpr) {
            prop_assert!(params.fpr(keys) <= fpr);
            if params.lines() > 1
                && let Ok(smaller) = BlockedBloomParams::with_shape(params.bits() - 512, params.k())
            {
                // Sizing leaves 0.6% of the rate to what the law does not see.
                prop_assert!(smaller.fpr(keys) > fpr * (1.0 - 0.0061));
            }
        } else {
            prop_assert!(fpr < 2.0 * keys as f64 / 2f64.powi(64) || keys as f64 * exponent > 1e12);
        }
    }
}

/// The bits of a hash, by the specification of the byte form: as a stranger would write it.
fn bits_of(hash: u64, k: u32, lines: u64) -> Vec<u64> {
    let line = reduce(hash, lines);
    let (mut bits, mut product, mut hash) = (Vec::new(), hash, hash);
    while (bits.len() as u32) < k {
        let x: Vec<u32> = (1..=8).map(|i| ((mix(i) >> 32) as u32 | 1).wrapping_mul(hash as u32)).collect();
        let start = (hash >> 32) % 32;
        for i in 0..(k as usize - bits.len()).min(8) {
            let word = x[i] >> 28;
            let step = (0..start + i as u64).fold(1u32, |power, _| power * 3 % 31);
            let place = ((x[word as usize % 8] << 4 >> 27) + step) % 32;
            bits.push(512 * line + u64::from(32 * word + place));
        }
        product = product.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = product.rotate_left(32);
    }
    bits
}

/// Every loop there is: sizes around that at which batches prefetch (2^19 bytes), one round and several, half of the bits
/// set, so that every bit decides.
#[test]
fn every_loop_gives_the_answers_of_the_bits_themselves() {
    for bytes in [64u64, 128, (1 << 19) - 64, 1 << 19, (1 << 19) + 64] {
        for k in [1u32, 2, 7, 8, 9, 16, 17, 24] {
            let params = BlockedBloomParams::with_shape(bytes * 8, k).expect("a valid shape");
            let members = u64::from(bytes as u32 * 8) * 7 / 10 / u64::from(k);
            let hashes: Vec<u64> = DistinctKeys::new(u64::from(k)).range(0..members + 1000).collect();
            let (members, strangers) = hashes.split_at(members as usize);
            let mut filter = BlockedBloomFilter::new(params);
            filter.insert_batch(members);
            let mut one_by_one = BlockedBloomFilter::new(params);
            for &hash in members {
                one_by_one.insert_hash(hash);
            }
            assert!(filter == one_by_one, "{bytes} bytes, {k} probes: inserting");

            let image = filter.to_bytes();
            let bits: &BitSlice<u8, Lsb0> = BitSlice::from_slice(&image[image.len() - bytes as usize..]);
            let expected = |hash: u64| bits_of(hash, k, bytes / 64).iter().all(|&bit| bits[bit as usize]);
            let view = BlockedBloomFilter::view(&image).expect("its own bytes");
            let asked: Vec<u64> = strangers.iter().chain(members.iter().take(1000)).copied().collect();
            let (mut found, mut viewed) = (vec![false; asked.len()], vec![false; asked.len()]);
            assert_eq!(filter.contains_batch(&asked, &mut found), asked.len());
            assert_eq!(view.contains_batch(&asked, &mut viewed), asked.len());
            for (i, &hash) in asked.iter().enumerate() {
                let answers = [found[i], viewed[i], filter.contains_hash(hash), view.contains_hash(hash)];
                assert_eq!(answers, [expected(hash); 4], "{bytes} bytes, {k} probes");
            }
        }
    }
}

#[test]
fn no_key_at_all_is_legal_and_answers_no() {
    for fpr in [0.5, 0.01, 1e-15] {
        let mut filter =
            BlockedBloomFilter::new(BlockedBloomParams::for_fpr(0, fpr).expect("no keys are legal"));
        assert!(filter.is_empty() && !filter.contains("key") && !filter.is_saturated());
        assert_eq!((filter.fill_ratio(), filter.estimated_len(), filter.estimated_fpr()), (0.0, 0.0, 0.0));
        assert!(filter.insert("key"));
        assert!(!filter.is_empty());
        filter.clear();
        assert!(filter.is_empty() && !filter.contains("key"));
    }
}

#[test]
fn a_stand_in_for_a_secret_hasher_merges_and_answers_for_hashes() {
    let hasher = SipHasher::new(*b"sixteen byte key");
    let mut filter = BlockedBloomFilter::with_hasher(params(), hasher);
    filter.insert("key");
    let bytes = filter.to_bytes();
    assert!(matches!(BlockedBloomFilter::from_bytes(&bytes), Err(Error::Hasher { .. })));
    let stand_in = Prehashed::of_bytes(&bytes).expect("a fingerprint");
    let mut elsewhere =
        BlockedBloomFilter::from_bytes_with(&bytes, stand_in).expect("the fingerprint is right");
    assert!(elsewhere.contains_hash(hasher.hash_key("key")));
    elsewhere.merge(&elsewhere.clone()).expect("equal in all");
    assert_eq!(elsewhere.to_bytes(), bytes);
    assert!(
        BlockedBloomFilter::view_with(&bytes, stand_in)
            .is_ok_and(|view| view.contains_hash(hasher.hash_key("key")))
    );
}

#[test]
fn serde_carries_the_envelope() {
    let filter = filter(&[1, 2, 3]);
    let text = serde_json::to_string(&filter).expect("bytes encode");
    assert_eq!(text, serde_json::to_string(&filter.to_bytes()).expect("bytes encode"));
    assert_eq!(serde_json::from_str::<BlockedBloomFilter>(&text).expect("what was written reads"), filter);
    assert!(serde_json::from_str::<BlockedBloomFilter>("[1, 2, 3]").is_err());
}

#[test]
fn parameters_go_through_the_gate_however_they_come() {
    let params = params();
    let text = serde_json::to_string(&params).expect("plain numbers");
    assert_eq!(serde_json::from_str::<BlockedBloomParams>(&text).expect("what was written reads"), params);
    for bad in [
        r#"{"lines":0,"k":1,"target":null}"#,
        r#"{"lines":1,"k":0,"target":null}"#,
        r#"{"lines":1,"k":25,"target":null}"#,
        r#"{"lines":1,"k":1,"target":1.0}"#,
        r#"{"lines":18446744073709551615,"k":1,"target":null}"#,
    ] {
        assert!(serde_json::from_str::<BlockedBloomParams>(bad).is_err(), "{bad}");
    }
}

#[test]
fn views_open_at_any_address() {
    let filter = filter(&[1, 2, 3]);
    let bytes = filter.to_bytes();
    for shift in 0..8 {
        let shifted = [&vec![0; shift][..], &bytes[..]].concat();
        let view = BlockedBloomFilter::view(&shifted[shift..]).expect("its own bytes");
        assert!(view.contains(&2u64) && view.verify().is_ok());
        assert_eq!(view.to_owned().expect("its own bytes"), filter);
    }
}

#[test]
fn a_view_answers_from_a_damaged_payload_and_verify_tells() {
    let mut bytes = filter(&[1, 2, 3]).to_bytes();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let view = BlockedBloomFilter::view(&bytes).expect("the header is whole");
    let _ = view.contains(&1u64);
    assert_eq!(view.verify(), Err(Error::Checksum));
    assert!(matches!(view.to_owned(), Err(Error::Checksum)));
}

/// n = 20,000 keys, 1,000,000 probes, alpha 1e-9 a tail.
#[test]
fn strangers_are_taken_for_members_as_often_as_the_law_says() {
    const KEYS: u64 = 20_000;
    const PROBES: u64 = 1_000_000;
    for (i, fpr) in [0.3, 0.1, 0.01, 0.001].into_iter().enumerate() {
        let params = BlockedBloomParams::for_fpr(KEYS, fpr).expect("valid targets");
        let keys = DistinctKeys::new(i as u64);
        let mut filter = BlockedBloomFilter::new(params);
        filter.extend(keys.range(0..KEYS));
        let hits = keys.range(KEYS..KEYS + PROBES).filter(|key| filter.contains(key)).count() as u64;
        laws::rate_is(hits, PROBES, filter.estimated_fpr()).assert("the rate of this filter's lines");
        laws::rate_at_most(hits, PROBES, fpr).assert("the promise");
        assert!(!filter.is_saturated(), "at its design load");
        filter.extend(keys.range(KEYS..2 * KEYS));
        assert!(filter.is_saturated(), "at twice its design load");
    }
}

#[test]
fn a_filter_that_says_yes_to_everything_is_saturated_whatever_it_was_designed_for() {
    for (keys, fpr) in [(1, 0.8), (5, 0.9), (50, 0.95), (1000, 0.999)] {
        let mut filter =
            BlockedBloomFilter::new(BlockedBloomParams::for_fpr(keys, fpr).expect("valid targets"));
        filter.extend(0..100_000u64);
        assert!(filter.is_saturated(), "{keys} keys at {fpr}");
    }
}

#[test]
fn every_bit_set_is_full_and_says_so() {
    let mut filter = BlockedBloomFilter::new(BlockedBloomParams::with_shape(512, 1).expect("a valid shape"));
    filter.extend(0..50_000u64);
    assert_eq!((filter.fill_ratio(), filter.estimated_fpr()), (1.0, 1.0));
    assert!(filter.estimated_len().is_infinite() && filter.is_saturated());
    assert!(!filter.insert("stranger") && filter.contains("stranger"));
}

/// 10 bits a key: at most 0.957%; 16 bits a key: below 0.1%. 2,000,000 keys in one run of the filter, alpha 1e-9.
#[test]
fn ten_bits_a_key_keep_0_957_per_cent_and_sixteen_0_1() {
    const KEYS: u64 = 1_000_000;
    for (bits, k, rate, probes) in [(10, 6, 0.00957, 10_000_000), (16, 8, 0.001, 10_000_000)] {
        let params = BlockedBloomParams::for_bits(KEYS, bits * KEYS).expect("a usual size");
        assert_eq!(params.k(), k);
        assert!(params.fpr(KEYS) < rate);
        let keys = DistinctKeys::new(bits);
        let mut filter = BlockedBloomFilter::new(params);
        filter.extend(keys.range(0..KEYS));
        let hits = keys.range(KEYS..KEYS + probes).filter(|key| filter.contains(key)).count() as u64;
        laws::rate_at_most(hits, probes, rate).assert("the published rate");
        assert!(!filter.is_saturated());
    }
}
