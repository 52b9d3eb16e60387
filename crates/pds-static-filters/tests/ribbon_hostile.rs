//! The ribbon filter under chosen keys, forged bytes and every number that a field can hold.

use pds_hash::{mix, reduce};
use pds_static_filters::WyHasher;
use pds_static_filters::prelude::*;
use pds_testkit::{DistinctKeys, forge, laws};

const MAX: u64 = u64::MAX;

/// The fields of the byte form, but for the blocks.
#[derive(Clone, Copy, Debug)]
struct Fields {
    columns: u64,
    extra: u64,
    keys: u64,
    seed: u64,
    attempt: u64,
    complete: bool,
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn forged(donor: &[u8], fields: Fields, blocks: &[u64], payload: &[u8]) -> Vec<u8> {
    let Fields { columns, extra, keys, seed, attempt, complete } = fields;
    let mut params = Vec::new();
    for value in [columns, extra, keys, seed, attempt, u64::from(complete)] {
        varint(&mut params, value);
    }
    for layer in 0..12 {
        varint(&mut params, blocks.get(layer).copied().unwrap_or(0));
    }
    forge(donor, &params, payload)
}

/// The fourth number behind the head.
fn seed_of(bytes: &[u8]) -> u64 {
    let mut rest = &bytes[24..];
    let mut next = || {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = rest[0];
            rest = &rest[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    };
    let _ = (next(), next(), next());
    next()
}

/// Opens and asks in all ways; whether it opened.
fn ask(bytes: &[u8]) -> bool {
    let Ok(view) = RibbonFilter::view(bytes) else {
        assert!(RibbonFilter::from_bytes(bytes).is_err() && RibbonParams::peek(bytes).is_err());
        return false;
    };
    let hashes = [0, 1, MAX / 2, MAX / 2 + 1, MAX - 1, MAX];
    let mut found = [false; 6];
    assert_eq!(view.contains_batch(&hashes, &mut found), 6);
    assert_eq!(found, hashes.map(|hash| view.contains_hash(hash)));
    let filter = RibbonFilter::from_bytes(bytes).expect("its checksum is right");
    assert_eq!(found, hashes.map(|hash| filter.contains_hash(hash)));
    assert!((0.0..=1.0).contains(&filter.estimated_fpr()) && filter.bits_per_key() >= 0.0);
    let params = RibbonParams::peek(bytes).expect("it opened");
    assert!(params == view.params() && params.fpr(view.len()) <= 1.0 && params.columns() <= 32.0);
    assert_eq!(filter.to_bytes(), bytes);
    true
}

/// Bytes that a shape takes, if numbers wrap.
fn implied(fields: Fields, blocks: &[u64]) -> u64 {
    let depth = blocks.iter().position(|&blocks| blocks == 0).unwrap_or(blocks.len());
    let words = blocks[..depth].iter().enumerate().fold(0u64, |words, (i, &blocks)| {
        let bumping = !(fields.complete && i + 1 == depth);
        let closed = if bumping { 2 } else { u64::from(blocks > 1) };
        let share = (u128::from(blocks.wrapping_sub(closed)) * u128::from(fields.extra)).div_ceil(1 << 16);
        let wide = if fields.extra == 0 { 0 } else { closed.wrapping_add(share as u64) };
        let thresholds = if bumping { blocks.div_ceil(64) } else { 0 };
        words.wrapping_add(blocks.wrapping_mul(fields.columns)).wrapping_add(wide).wrapping_add(thresholds)
    });
    words.wrapping_mul(8)
}

#[test]
fn no_number_in_any_field_makes_anything_wrap() {
    const EACH: [u64; 5] = [0, 1, 2, 1 << 31, u32::MAX as u64];
    /// Longer payloads are not made.
    const LONGEST: u64 = 1 << 10;
    let donor = RibbonFilter::from_keys(RibbonParams::with_columns(1).expect("columns"), [1u32])
        .expect("a seed")
        .to_bytes();
    let mut opened = 0;
    for columns in EACH {
        for extra in [0, 1, 2, 64_512, 1 << 31, u64::from(u32::MAX)] {
            for (keys, seed) in [(0, 0), (1, 0), (2, MAX), (1 << 31, 1), (MAX, 1 << 31)] {
                for attempt in EACH {
                    for complete in [false, true] {
                        let fields = Fields { columns, extra, keys, seed, attempt, complete };
                        for first in EACH {
                            for second in EACH {
                                let blocks = [first, second];
                                let length = implied(fields, &blocks);
                                let length = if length > LONGEST { 16 } else { length };
                                let payload = vec![0x5a; length as usize];
                                opened += u32::from(ask(&forged(&donor, fields, &blocks, &payload)));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(opened > 50, "{opened} opened: the lengths are not those of the format");
}

/// As reported: 2^64 words and 2 more, taken for 2.
#[test]
fn lengths_that_wrap_are_refused() {
    let donor = RibbonFilter::from_hashes(RibbonParams::with_columns(1).expect("columns"), &[1])
        .expect("a seed")
        .to_bytes();
    let fields =
        Fields { columns: u64::from(u32::MAX), extra: 64_512, keys: 1, seed: 0, attempt: 0, complete: false };
    for payload in 0..=64 {
        assert!(!ask(&forged(&donor, fields, &[1 << 31, 1 << 31], &vec![0; payload])));
    }
}

#[test]
fn parameters_from_elsewhere_pass_the_gate_or_not() {
    let read = |columns: u32, extra: u32| {
        let text = format!(r#"{{"columns":{columns},"extra":{extra},"budget":null}}"#);
        serde_json::from_str::<RibbonParams>(&text)
    };
    for columns in [0, 1, 2, 31, 32, 33, 1 << 31, u32::MAX - 1, u32::MAX] {
        for extra in [0, 1, 2, 65_535, 65_536, 1 << 31, u32::MAX] {
            let valid = extra < 65_536
                && (columns, extra) != (0, 0)
                && u64::from(columns) + u64::from(extra > 0) <= 32;
            let params = read(columns, extra);
            assert_eq!(params.is_ok(), valid, "{columns} columns, {extra}");
            if let Ok(params) = params {
                let filter = RibbonFilter::from_keys(params, 0..2000u32).expect("a seed");
                assert!((0..2000u32).all(|key| filter.contains(&key)) && params.fpr(MAX) <= 1.0);
            }
        }
    }
}

/// Without a whole column: the blocks before the split have no word.
#[test]
fn batches_of_large_filters_above_a_rate_of_one_half_agree_with_single_calls() {
    const BLOCKS: u64 = 1 << 20;
    let donor = RibbonFilter::from_hashes(RibbonParams::with_columns(1).expect("columns"), &[1])
        .expect("a seed")
        .to_bytes();
    let hashes: Vec<u64> = DistinctKeys::new(1).range(0..20_000).collect();
    for (extra, complete) in [(1 << 15, false), (1 << 15, true), (6554, false), (65_535, false)] {
        let fields = Fields { columns: 0, extra, keys: 1, seed: 0, attempt: 0, complete };
        // So many blocks that it takes more than 1 MiB.
        let blocks = [BLOCKS * 65_536 / extra / 4 * 2];
        let length = implied(fields, &blocks);
        assert!(length > 1 << 20, "{length}");
        let payload: Vec<u8> = (0..length).map(|i| mix(i) as u8).collect();
        let bytes = forged(&donor, fields, &blocks, &payload);
        let view = RibbonFilter::view(&bytes).expect("a shape that can be");
        let filter = view.to_owned().expect("its checksum is right");
        let mut found = [vec![false; hashes.len()], vec![false; hashes.len()]];
        assert_eq!(view.contains_batch(&hashes, &mut found[0]), hashes.len());
        assert_eq!(filter.contains_batch(&hashes, &mut found[1]), hashes.len());
        for (i, &hash) in hashes.iter().enumerate() {
            let answers = [view.contains_hash(hash), filter.contains_hash(hash), found[0][i], found[1][i]];
            assert!(answers.iter().all(|&answer| answer == answers[0]), "{answers:?}");
        }
    }
}

/// The seed that everybody knows, of layers that bump and of the attempts at the last: see the specification.
fn known_seed(number: u32) -> u64 {
    mix(0x243f_6a88_85a3_08d3_u64.wrapping_add(u64::from(number)))
}

/// Keys that all start in one bucket of the first layer of that many.
fn keys_of_one_bucket(count: usize) -> Vec<u64> {
    let buckets = (count as u64 * 970 / 1000).div_ceil(128);
    let seed = known_seed(u32::MAX);
    let hasher = WyHasher::default();
    let chosen = |key: &u64| reduce(mix(hasher.hash_key(key) ^ seed), buckets) == buckets / 2;
    (0..).filter(chosen).take(count).collect()
}

#[test]
fn keys_that_were_chosen_to_start_in_one_bucket_cost_no_size_and_no_rate() {
    let mut keys = keys_of_one_bucket(20_000);
    let params = RibbonParams::with_columns(8).expect("columns");
    let expected = params.size_bytes(20_000).expect("a size") as f64;
    let filter = RibbonFilter::from_keys(params, &keys).expect("a seed");
    assert!(keys.iter().all(|key| filter.contains(key)) && filter.len() == 20_000);
    laws::at_most(filter.size_bytes() as f64, 1.02 * expected).assert("the size of chosen keys");
    let bytes = filter.to_bytes();
    assert!(seed_of(&bytes) != 0);
    let view = RibbonFilter::view(&bytes).expect("its own bytes");
    assert!(keys.iter().all(|key| view.contains(key)));

    let budget = RibbonParams::for_bytes(20_000, 20_000).expect("a budget");
    let within = RibbonFilter::from_keys(budget, &keys).expect("a seed");
    assert!(within.size_bytes() <= 20_000 && keys.iter().all(|key| within.contains(key)));
    laws::at_most(within.estimated_fpr(), 1.1 * budget.fpr(20_000)).assert("the rate of chosen keys");
    let strangers = DistinctKeys::new(3).range(0..1_000_000);
    let hits = strangers.filter(|&hash| within.contains_hash(hash)).count() as u64;
    laws::rate_is(hits, 1_000_000, within.estimated_fpr()).assert("its own rate");

    // Neither order nor repeats matter, and another key makes another seed.
    keys.reverse();
    keys.extend_from_within(..5000);
    assert_eq!(RibbonFilter::from_keys(params, &keys).expect("a seed").to_bytes(), bytes);
    keys.push(MAX);
    let other = RibbonFilter::from_keys(params, &keys).expect("a seed");
    assert!(other.len() == 20_001 && keys.iter().all(|key| other.contains(key)));
    assert!(seed_of(&other.to_bytes()) != seed_of(&bytes));
}

/// The inverse of an odd number modulo 2^64.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))))
}

/// The hash of which `mix` makes this.
fn unmix(mixed: u64) -> u64 {
    let unshift = |value: u64, shift: u32| value ^ (value >> shift) ^ (value >> (2 * shift));
    let hash = unshift(mixed, 31).wrapping_mul(inverse(0x94d0_49bb_1331_11eb));
    let hash = unshift(hash, 27).wrapping_mul(inverse(0xbf58_476d_1ce4_e5b9));
    unshift(hash, 30)
}

/// Four for each seed that is known beforehand: they start in one row, and their equations sum up to nothing.
#[test]
fn hashes_that_were_chosen_against_every_attempt_at_the_last_layer_build() {
    const ODD: u64 = 0xb7e1_5162_8aed_2a6b;
    let hash_of = |coefficients: u64| coefficients.rotate_right(32).wrapping_mul(inverse(ODD));
    let hashes: Vec<u64> = (0..64u32)
        .flat_map(|attempt| {
            let rows = 64 * ((256 + 256 / 16 + 12u64).div_ceil(64) + u64::from(attempt / 8));
            let starts_first = |coefficients: &u64| reduce(hash_of(*coefficients), rows - 63) == 0;
            let random = DistinctKeys::new(u64::from(attempt)).range(0..1 << 20).map(|random| random | 1);
            let first: Vec<u64> = random.filter(starts_first).take(200).collect();
            let sum = |i: usize| first[0] ^ first[i / 200] ^ first[i % 200];
            let place = (200..40_000).find(|&i| i / 200 < i % 200 && starts_first(&sum(i)));
            let place = place.expect("one in some hundred");
            [first[0], first[place / 200], first[place % 200], sum(place)]
                .map(|coefficients| unmix(hash_of(coefficients)) ^ known_seed(attempt))
        })
        .collect();
    assert!(hashes.iter().all(|&hash| unmix(mix(hash)) == hash));
    let filter =
        RibbonFilter::from_hashes(RibbonParams::with_columns(8).expect("columns"), &hashes).expect("a seed");
    assert!(filter.contains_all(&hashes) && filter.len() == 256 && seed_of(&filter.to_bytes()) != 0);
}

/// What depends on the seed that everybody knows is known to all builders alike.
#[test]
fn sets_that_nobody_chose_have_the_seed_0() {
    let params = RibbonParams::with_columns(1).expect("columns");
    let sizes = (0..200).map(|i| i * i).chain([1025, 1056, 1100, 2680, 68_624, 70_000, 200_000]);
    for keys in sizes {
        let hashes: Vec<u64> = DistinctKeys::new(keys).range(0..keys).collect();
        let filter = RibbonFilter::from_hashes(params, &hashes).expect("a seed");
        assert_eq!(seed_of(&filter.to_bytes()), 0, "{keys} keys");
    }
}
