//! What the filters promise, as laws.

use pds_static_filters::prelude::*;
use pds_static_filters::{Layout, Slot, StaticFilter, WyHasher};
use pds_testkit::{DistinctKeys, WireLaws, laws, wire_laws};
use proptest::prelude::*;

fn exercise<L: Layout, S: Slot>(filter: &StaticFilter<L, S>) {
    let _ = (filter.contains(&1u64), filter.len(), filter.bits_per_key(), filter.estimated_fpr());
    let mut found = [false; 3];
    assert_eq!(filter.contains_batch(&[1, 2, 3], &mut found), 3);
}

fn view<L: Layout, S: Slot>(bytes: &[u8]) {
    if let Ok(view) = StaticFilter::<L, S>::view(bytes) {
        let _ =
            (view.contains(&1u64), view.contains("key"), view.verify().is_ok(), view.len(), view.is_empty());
        let mut found = [false; 3];
        assert_eq!(view.contains_batch(&[1, 2, 3], &mut found), 3);
        assert_eq!(found, [1, 2, 3].map(|hash| view.contains_hash(hash)));
    }
    let _ = pds_static_filters::StaticParams::<L, S>::peek(bytes);
}

const fn wire<L: Layout, S: Slot>() -> WireLaws<StaticFilter<L, S>> {
    WireLaws { exercise: exercise::<L, S>, view: view::<L, S>, ..WireLaws::new(StaticFilter::from_bytes) }
}

fn filter<L: Layout, S: Slot>(keys: &[u64]) -> StaticFilter<L, S> {
    StaticFilter::from_keys(keys).expect("a seed")
}

use pds_static_filters::{BinaryFuse, Xor};

wire_laws! { fuse8, wire::<BinaryFuse<3>, u8>(), filter::<BinaryFuse<3>, u8>, canonical }
wire_laws! { fuse16x4, wire::<BinaryFuse<4>, u16>(), filter::<BinaryFuse<4>, u16>, canonical }
wire_laws! { fuse32, wire::<BinaryFuse<3>, u32>(), filter::<BinaryFuse<3>, u32>, canonical }
wire_laws! { xor16, wire::<Xor, u16>(), filter::<Xor, u16>, canonical }

#[test]
fn what_decodes_is_canonical_and_equal() {
    let laws = wire::<BinaryFuse<3>, u8>();
    for keys in [&[][..], &[1], &[1, 2, 3]] {
        laws.round_trips_to_an_equal(&filter(keys));
        laws.accepts_canonical_bytes_only(&filter::<BinaryFuse<3>, u8>(keys).to_bytes());
    }
}

/// One check for all eight types.
fn holds<L: Layout, S: Slot>(hashes: &[u64], distinct: u64) {
    let filter = StaticFilter::<L, S>::from_hashes(hashes).expect("a seed");
    assert_eq!(filter.len(), distinct, "{distinct} distinct keys");
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)), "{distinct} distinct keys: one is denied");
}

fn all_hold(hashes: &[u64], distinct: u64) {
    holds::<BinaryFuse<3>, u8>(hashes, distinct);
    holds::<BinaryFuse<3>, u16>(hashes, distinct);
    holds::<BinaryFuse<3>, u32>(hashes, distinct);
    holds::<BinaryFuse<4>, u8>(hashes, distinct);
    holds::<BinaryFuse<4>, u16>(hashes, distinct);
    holds::<BinaryFuse<4>, u32>(hashes, distinct);
    holds::<Xor, u8>(hashes, distinct);
    holds::<Xor, u16>(hashes, distinct);
}

#[test]
fn every_number_of_keys_up_to_2000_builds_and_answers() {
    for keys in 0..=2000 {
        for seed in 0..2 {
            let hashes: Vec<u64> = DistinctKeys::new(keys << 8 | seed).range(0..keys).collect();
            holds::<BinaryFuse<3>, u8>(&hashes, keys);
            holds::<BinaryFuse<4>, u16>(&hashes, keys);
            holds::<Xor, u8>(&hashes, keys);
        }
    }
}

proptest! {
    #[test]
    fn never_denies_a_key_however_often_it_comes(keys: Vec<u16>, wide: Vec<u64>) {
        let mut all: Vec<u64> = keys.iter().map(|&key| u64::from(key % 64)).chain(wide).collect();
        let more = all.clone();
        all.extend(more.iter().rev());
        let distinct = all.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
        let filter = BinaryFuseFilter8::from_keys(&all).expect("a seed");
        prop_assert!(all.iter().all(|key| filter.contains(key)));
        prop_assert_eq!(filter.len(), distinct);
        let hashes: Vec<u64> = all.iter().map(|key| filter.hasher().hash_key(key)).collect();
        all_hold(&hashes, distinct);
    }

    #[test]
    fn bytes_depend_on_the_set_alone(keys in proptest::collection::vec(any::<u64>(), 0..300)) {
        let mut other = keys.clone();
        other.reverse();
        other.extend(&keys);
        let bytes = |keys: &[u64]| BinaryFuseFilter8x4::from_keys(keys).expect("a seed").to_bytes();
        prop_assert_eq!(bytes(&keys), bytes(&other));
    }

    #[test]
    fn batches_views_and_single_calls_agree(
        members in proptest::collection::vec(any::<u64>(), 0..200),
        strangers in proptest::collection::vec(any::<u64>(), 0..200),
        short in 0..10usize,
    ) {
        let filter = BinaryFuseFilter8::from_hashes(&members).expect("a seed");
        let asked = [&members[..], &strangers[..]].concat();
        let mut found = vec![true; asked.len().saturating_sub(short)];
        prop_assert_eq!(filter.contains_batch(&asked, &mut found), found.len());
        let mut more = vec![true; asked.len() + 3];
        prop_assert_eq!(filter.contains_batch(&asked, &mut more), asked.len());
        prop_assert_eq!(&more[asked.len()..], &[true; 3]);
        let bytes = filter.to_bytes();
        let view = BinaryFuseFilter8::view(&bytes).expect("its own bytes");
        for (i, &hash) in asked.iter().enumerate() {
            let alone = filter.contains_hash(hash);
            prop_assert_eq!(more[i], alone);
            prop_assert_eq!(view.contains_hash(hash), alone);
            prop_assert!(i >= found.len() || found[i] == alone);
        }
    }

    #[test]
    fn keys_and_their_hashes_are_one(key: String, number: i32) {
        let hasher = SipHasher::new([9; 16]);
        let filter = BinaryFuseFilter16::from_keys_with([&key], hasher).expect("a seed");
        prop_assert!(filter.contains(&key) && filter.contains_hash(hasher.hash_key(&key)));
        let filter = BinaryFuseFilter16::from_keys([number]).expect("a seed");
        prop_assert!(filter.contains(&i64::from(number)));
    }
}

fn answers_alike_in_every_way<S: Slot>(keys: u64) {
    let hashes: Vec<u64> = DistinctKeys::new(keys).range(0..keys + 100_000).collect();
    let (members, strangers) = hashes.split_at(keys as usize);
    let filter = StaticFilter::<BinaryFuse<3>, S>::from_hashes(members).expect("a seed");
    assert_eq!(u64::from(filter.params().layout().shards()), keys.div_ceil(1 << 22));
    let slots_per_key = filter.bits_per_key() / f64::from(S::BITS);
    assert!(slots_per_key <= 1.1313, "{slots_per_key}");
    assert!(members.iter().all(|&hash| filter.contains_hash(hash)), "one is denied");
    let bytes = filter.to_bytes();
    let view = StaticFilter::<BinaryFuse<3>, S>::view(&bytes).expect("its own bytes");
    let mut found = vec![false; strangers.len()];
    assert_eq!(view.contains_batch(strangers, &mut found), strangers.len());
    assert!(strangers.iter().zip(&found).all(|(&hash, &found)| filter.contains_hash(hash) == found));
    let hits = found.iter().filter(|&&found| found).count() as u64;
    laws::rate_is(hits, strangers.len() as u64, filter.estimated_fpr()).assert("2^-bits");
    let mut found = vec![false; members.len()];
    assert_eq!(filter.contains_batch(members, &mut found), members.len());
    assert!(found.iter().all(|&found| found), "one is denied in a batch");
}

/// Below the size from which batches fetch ahead, and beyond it in one shard and in three.
#[test]
fn large_filters_answer_alike_in_every_way() {
    answers_alike_in_every_way::<u8>(1_500_000);
    answers_alike_in_every_way::<u32>(2_500_000);
    answers_alike_in_every_way::<u8>(9_000_000);
}

/// 2,000,000 strangers, alpha 1e-9 a tail.
#[test]
fn strangers_are_taken_for_members_as_often_as_the_law_says() {
    fn check<L: Layout, S: Slot>(keys: u64) {
        const PROBES: u64 = 2_000_000;
        let source = DistinctKeys::new(keys);
        let filter = StaticFilter::<L, S>::from_keys(source.range(0..keys)).expect("a seed");
        let hits = source.range(keys..keys + PROBES).filter(|key| filter.contains(key)).count() as u64;
        laws::rate_is(hits, PROBES, filter.estimated_fpr()).assert(&format!("{keys} keys, {} bits", S::BITS));
    }
    for keys in [1, 2, 10, 100, 10_000, 100_000] {
        check::<BinaryFuse<3>, u8>(keys);
        check::<BinaryFuse<4>, u8>(keys);
        check::<Xor, u8>(keys);
        check::<BinaryFuse<3>, u16>(keys);
        check::<BinaryFuse<4>, u16>(keys);
        check::<Xor, u16>(keys);
        check::<BinaryFuse<3>, u32>(keys);
        check::<BinaryFuse<4>, u32>(keys);
    }
}

#[test]
fn a_stand_in_for_a_secret_hasher_answers_for_hashes() {
    let hasher = SipHasher::new(*b"sixteen byte key");
    let bytes = BinaryFuseFilter8::from_keys_with(["key"], hasher).expect("a seed").to_bytes();
    assert!(matches!(BinaryFuseFilter8::from_bytes(&bytes), Err(Error::Hasher { .. })));
    assert!(matches!(BinaryFuseFilter8::view(&bytes), Err(Error::Hasher { .. })));
    let stand_in = Prehashed::of_bytes(&bytes).expect("a fingerprint");
    let elsewhere = BinaryFuseFilter8::from_bytes_with(&bytes, stand_in).expect("the fingerprint is right");
    assert!(elsewhere.contains_hash(hasher.hash_key("key")));
    assert_eq!(elsewhere.to_bytes(), bytes);
    let view = BinaryFuseFilter8::view_with(&bytes, stand_in).expect("the fingerprint is right");
    assert!(view.contains_hash(hasher.hash_key("key")));
}

#[test]
fn bytes_of_other_slots_are_told_apart() {
    let bytes = BinaryFuseFilter8::from_keys(0..10u32).expect("a seed").to_bytes();
    let incompatible = |field| Some(Error::Incompatible { field });
    assert_eq!(BinaryFuseFilter16::from_bytes(&bytes).err(), incompatible("bits"));
    assert_eq!(BinaryFuseFilter8x4::view(&bytes).err(), incompatible("arity"));
    assert!(matches!(XorFilter8::from_bytes(&bytes), Err(Error::Kind { .. })));
}

#[test]
fn serde_carries_the_envelope() {
    let filter = BinaryFuseFilter8::from_keys([1, 2, 3]).expect("a seed");
    let text = serde_json::to_string(&filter).expect("bytes encode");
    assert_eq!(text, serde_json::to_string(&filter.to_bytes()).expect("bytes encode"));
    assert_eq!(
        serde_json::from_str::<BinaryFuseFilter8<WyHasher>>(&text).expect("what was written reads"),
        filter
    );
    assert!(serde_json::from_str::<BinaryFuseFilter8<WyHasher>>("[1, 2, 3]").is_err());
}

#[test]
fn views_open_at_any_address() {
    let filter = BinaryFuseFilter32::from_keys([1, 2, 3]).expect("a seed");
    let bytes = filter.to_bytes();
    for shift in 0..8 {
        let shifted = [&vec![0; shift][..], &bytes[..]].concat();
        let view = BinaryFuseFilter32::view(&shifted[shift..]).expect("its own bytes");
        assert!(view.contains(&2u64) && view.verify().is_ok());
        assert_eq!(view.to_owned().expect("its own bytes"), filter);
    }
}

#[test]
fn a_view_answers_from_a_damaged_payload_and_verify_tells() {
    let mut bytes = BinaryFuseFilter8::from_keys([1, 2, 3]).expect("a seed").to_bytes();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let view = BinaryFuseFilter8::view(&bytes).expect("the header is whole");
    let _ = view.contains(&1u64);
    assert_eq!(view.verify(), Err(Error::Checksum));
    assert!(matches!(view.to_owned(), Err(Error::Checksum)));
}
