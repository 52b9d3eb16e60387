//! Output bits behave as 64 fair coins, on keys as applications make them.

use pds_hash::{KeyHasher, SipHasher, WyHasher, mix, route};
use pds_testkit::{DistinctKeys, SplitMix64, laws};

type Hash = fn(u64) -> u64;

const HASHES: [(&str, Hash); 4] = [
    ("wyhash", |key| WyHasher::default().hash_u64(key)),
    ("wyhash, seeded", |key| {
        thread_local!(static SEEDED: WyHasher = WyHasher::with_seed(7));
        SEEDED.with(|hasher| hasher.hash_u64(key))
    }),
    ("siphash", |key| SipHasher::new([3; 16]).hash_u64(key)),
    ("mix", mix),
];

/// Weak inputs: structured ids, and values whose high bits are all alike.
const INPUTS: [(&str, Hash); 5] = [
    ("sequence", |i| i),
    ("i << 32", |i| i << 32),
    ("multiples of 2^12", |i| i << 12),
    ("equal high bits", |i| 0xffff_ffff_0000_0000 | i),
    ("reversed bits", u64::reverse_bits),
];

#[test]
fn every_window_of_bits_fills_its_buckets_evenly() {
    const BUCKETS: u64 = 256;
    for (hash_name, hash) in HASHES {
        for (input_name, input) in INPUTS {
            for shift in (0..=56).step_by(8) {
                let mut counts = vec![0; BUCKETS as usize];
                for i in 0..BUCKETS * 200 {
                    counts[(hash(input(i)) >> shift & (BUCKETS - 1)) as usize] += 1;
                }
                laws::chi_square_uniform(&counts)
                    .assert(&format!("{hash_name}, {input_name}, bits from {shift}"));
            }
        }
    }
}

#[test]
fn every_input_bit_flips_every_output_bit_half_the_time() {
    const KEYS: u64 = 20_000;
    for (name, hash) in HASHES {
        let keys = DistinctKeys::new(1);
        for bit in 0..64 {
            let mut flips = [0u64; 64];
            for key in keys.range(0..KEYS) {
                let difference = hash(key) ^ hash(key ^ 1 << bit);
                for (output, flips) in flips.iter_mut().enumerate() {
                    *flips += difference >> output & 1;
                }
            }
            for (output, flips) in flips.into_iter().enumerate() {
                laws::rate_is(flips, KEYS, 0.5)
                    .assert(&format!("{name}: input bit {bit} on output bit {output}"));
            }
        }
    }
}

/// A mixer of one round fails the law that two rounds keep: the law can tell.
#[test]
fn one_round_of_mixing_is_not_enough() {
    let one_round = |key: u64| {
        let x = (key ^ (key >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x ^ (x >> 32)
    };
    let mut flips = 0;
    for key in DistinctKeys::new(1).range(0..20_000) {
        flips += (one_round(key) ^ one_round(key ^ 1 << 62)) & 1;
    }
    assert!(!laws::rate_is(flips, 20_000, 0.5).pass);
}

#[test]
fn strings_of_every_length_spread() {
    let mut random = SplitMix64::new(1);
    for length in [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 100, 1000] {
        let mut counts = vec![0; 64];
        let mut key = vec![0u8; length];
        for byte in &mut key {
            *byte = random.next_u64() as u8;
        }
        // Every byte in turn takes every value: near-equal keys.
        let mut hashes = Vec::new();
        for position in 0..length.min(40) {
            let before = key[position];
            for value in 0..=255u8 {
                key[position] = value;
                if value != before {
                    hashes.push(WyHasher::default().hash_bytes(&key));
                }
            }
            key[position] = before;
        }
        for hash in &hashes {
            counts[(hash >> 58) as usize] += 1;
        }
        if hashes.len() >= 64 * 10 {
            laws::chi_square_uniform(&counts).assert(&format!("keys of {length} bytes"));
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 255 * length.min(40), "two keys of {length} bytes share a hash");
    }
}

#[test]
fn routing_is_even_and_leaves_the_hash_of_a_shard_uniform() {
    const SHARDS: u32 = 16;
    let mut shards = vec![0; SHARDS as usize];
    let (mut low, mut high) = (vec![0; 256], vec![0; 256]);
    for key in DistinctKeys::new(2).range(0..1_000_000) {
        let hash = WyHasher::default().hash_u64(key);
        let shard = route(hash, SHARDS);
        shards[shard as usize] += 1;
        if shard == 3 {
            low[(hash & 255) as usize] += 1;
            high[(hash >> 56) as usize] += 1;
        }
    }
    laws::chi_square_uniform(&shards).assert("shards");
    laws::chi_square_uniform(&low).assert("low bits on a shard");
    laws::chi_square_uniform(&high).assert("high bits on a shard");
    assert_eq!((route(0, 0), route(u64::MAX, 1)), (0, 0));
}
