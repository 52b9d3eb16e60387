//! The compact shape: what it saves, and that it denies no key.

use pds_static_filters::WyHasher;
use pds_static_filters::prelude::*;
use pds_testkit::{DistinctKeys, golden, laws};
use proptest::prelude::*;

fn keys(seed: u64, count: u64) -> Vec<u64> {
    DistinctKeys::new(seed).range(0..count).collect()
}

#[test]
fn every_number_of_keys_up_to_2000_builds_and_answers() {
    for count in 0..=2000 {
        let hashes = keys(count << 1, count);
        let filter = BinaryFuseFilter8x4::compact_from_hashes(&hashes).expect("a seed");
        assert_eq!(filter.len(), count);
        assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)), "{count} keys: one is denied");
    }
}

/// The longest and shortest segments for their keys, and one size of several shards.
#[test]
fn sizes_around_every_change_of_the_segment_build_and_answer() {
    let segment = |count| BinaryFuseParams8x4::compact(count).expect("a shape").layout().segment();
    let mut checked = 0;
    for power in 7..14 {
        let longer = 70 << power;
        for count in [longer - 1, longer, longer + longer / 2] {
            checked += 1;
            let hashes = keys(count, count);
            let filter = BinaryFuseFilter16x4::compact_from_hashes(&hashes).expect("a seed");
            assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)), "{count} keys: one is denied");
        }
        assert!(power > 11 || segment(longer) == 2 * segment(longer - 1), "{longer}");
    }
    assert_eq!(checked, 21);
}

#[test]
fn a_key_takes_at_most_nine_bits_from_ten_thousand_keys_on() {
    for count in (10_000..200_000).step_by(37).chain((200_000..20_000_000).step_by(9973)) {
        let compact = BinaryFuseParams8x4::compact(count).expect("a shape");
        let ordinary = BinaryFuseParams8x4::for_keys(count).expect("a shape");
        assert!(compact.bits_per_key() <= 9.0, "{count} keys: {}", compact.bits_per_key());
        assert!(compact.size_bytes() <= ordinary.size_bytes(), "{count} keys");
    }
}

#[test]
fn what_is_built_has_the_shape_and_the_rate_that_were_priced() {
    let (members, strangers) = (30_000, 1_000_000);
    let all = keys(5, members + strangers);
    let (inside, outside) = all.split_at(members as usize);
    let filter = BinaryFuseFilter8x4::compact_from_keys(inside).expect("a seed");
    let params = BinaryFuseParams8x4::compact(members).expect("a shape");
    assert_eq!((filter.params(), filter.attempts()), (params, Some(1)));
    let hits = outside.iter().filter(|key| filter.contains(*key)).count() as u64;
    laws::rate_is(hits, strangers, params.fpr()).assert("the rate is that of the parameters");
}

proptest! {
    #[test]
    fn bytes_depend_on_the_set_alone(keys in proptest::collection::vec(any::<u64>(), 0..1500)) {
        let mut other = keys.clone();
        other.reverse();
        other.extend(&keys);
        let build = |keys: &[u64]| BinaryFuseFilter8x4::compact_from_keys(keys).expect("a seed");
        let filter = build(&keys);
        prop_assert_eq!(filter.to_bytes(), build(&other).to_bytes());
        prop_assert_eq!(filter.len(), keys.iter().collect::<std::collections::BTreeSet<_>>().len() as u64);
        prop_assert!(keys.iter().all(|key| filter.contains(key)));
        let bytes = filter.to_bytes();
        let view = BinaryFuseFilter8x4::view(&bytes).expect("its own bytes");
        prop_assert!(keys.iter().all(|key| view.contains(key)));
        prop_assert_eq!(BinaryFuseFilter8x4::from_bytes(&bytes).expect("its own bytes"), filter);
    }

    /// Without a hash function: runs, multiples and clusters of hashes.
    #[test]
    fn hashes_in_patterns_do_not_matter(start: u64, step in 0..70u32, count in 0..3000u64) {
        let hashes: Vec<u64> = (0..count).map(|i| start.wrapping_add(i.rotate_left(step))).collect();
        let filter = BinaryFuseFilter32x4::compact_from_hashes(&hashes).expect("a seed");
        prop_assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
    }
}

#[test]
fn every_way_in_gives_the_same() {
    let hasher = WyHasher::default();
    let hashes: Vec<u64> = (0..5000u64).map(|key| hasher.hash_key(&key)).collect();
    let filter = BinaryFuseFilter8x4::compact_from_keys(0..5000u64).expect("a seed");
    assert_eq!(filter, BinaryFuseFilter8x4::compact_from_hashes(&hashes).expect("a seed"));
    assert_eq!(filter, BinaryFuseFilter8x4::compact_from_keys_with(0..5000u64, hasher).expect("a seed"));
    let keyed = SipHasher::new(*b"sixteen byte key");
    let filter = BinaryFuseFilter8x4::compact_from_keys_with(0..5000u64, keyed).expect("a seed");
    assert!((0..5000u64).all(|key| filter.contains(&key)));
}

#[test]
fn version_1_of_3000_keys() {
    let filter = BinaryFuseFilter8x4::compact_from_keys(0..3000u32).expect("a seed");
    golden(env!("CARGO_MANIFEST_DIR"), "fuse8x4-v1-compact-3000-keys.bin", &filter.to_bytes());
}

#[test]
fn ten_shapes_stay() {
    for (count, segments, segment) in PINNED {
        let shape = BinaryFuseParams8x4::compact(count).expect("a shape").layout();
        assert_eq!((shape.segments(), shape.segment()), (segments, segment), "{count} keys");
    }
    assert!(matches!(BinaryFuseParams8x4::compact(u64::MAX), Err(Error::Parameter { .. })));
}

const PINNED: [(u64, u64, u32); 10] = [
    (0, 4, 1),
    (1, 4, 2),
    (2, 14, 1),
    (100, 17, 8),
    (1000, 36, 32),
    (10_000, 86, 128),
    (100_000, 106, 1024),
    (1_000_000, 263, 4096),
    (4_194_305, 276, 8192),
    (100_000_000, 271, 16_384),
];
