//! What the blocked filter promises, as laws.

#[macro_use]
mod shared;

use pds_bloom::WyHasher;
use pds_bloom::prelude::*;
use pds_hash::{mix, reduce};
use pds_testkit::{DistinctKeys, laws};
use proptest::prelude::*;

fn shape(bits: u64, k: u32) -> BlockedBloomParams {
    BlockedBloomParams::with_shape(bits, k).expect("a valid shape")
}

/// Sizes around that at which batches prefetch (2^19 bytes), one round and several.
fn loops() -> impl Iterator<Item = BlockedBloomParams> {
    [64u64, 128, (1 << 19) - 64, 1 << 19, (1 << 19) + 64]
        .into_iter()
        .flat_map(|bytes| [1, 2, 7, 8, 9, 16, 17, 24].map(|k| shape(bytes * 8, k)))
}

filter_laws! {
    BlockedBloomFilter, BlockedBloomParams,
    small: shape(1000, 5),
    any: (1..5000u64, 1..=24u32).prop_map(|(bits, k)| shape(bits, k)),
    large: shape(1 << 23, 5),
    tiny: shape(512, 1),
    loops: loops(),
    bits_of: |hash, params: BlockedBloomParams| bits_of(hash, params.k(), params.lines()),
    exercise: |_: &mut BlockedBloomFilter| (),
    lowest_rate: 1e-15,
    unlike: [
        (shape(1024, 5), shape(2048, 5), "bits"),
        (shape(1024, 5), shape(1024, 6), "k"),
        (shape(1024, 5), shape(1500, 6), "bits"),
        (shape(sized(107, 0.01).bits(), sized(107, 0.01).k()), sized(107, 0.01), "design_fpr"),
    ],
    malformed: [
        r#"{"lines":0,"k":1,"target":null}"#,
        r#"{"lines":1,"k":0,"target":null}"#,
        r#"{"lines":1,"k":25,"target":null}"#,
        r#"{"lines":1,"k":1,"target":1.0}"#,
        r#"{"lines":18446744073709551615,"k":1,"target":null}"#,
    ],
}

proptest! {
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
            // Or there is no room: where pointers have 32 bits, for 2^34 bits.
            let room = if usize::BITS < 64 { 1e9 } else { 1e12 };
            prop_assert!(fpr < 2.0 * keys as f64 / 2f64.powi(64) || keys as f64 * exponent > room);
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
