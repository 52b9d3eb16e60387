//! What the filter promises, as laws.

#[macro_use]
mod shared;

use pds_bloom::WyHasher;
use pds_bloom::prelude::*;
use pds_hash::Probes;
use pds_testkit::{DistinctKeys, laws};
use proptest::prelude::*;

fn shape(bits: u64, k: u32) -> BloomParams {
    BloomParams::with_shape(bits, k).expect("a valid shape")
}

/// The bits of a hash: those that the probes fall on.
fn bits_of(hash: u64, params: BloomParams) -> Vec<u64> {
    let mut probes = Probes::new(hash);
    let mut bit = |_| {
        let (word, bit) = probes.next(params.bits() / 64);
        word * 64 + u64::from(bit)
    };
    (0..params.k()).map(&mut bit).collect()
}

/// Sizes around those at which batches prefetch (2^19 bytes) and queries branch (2^20), few and many probes.
fn loops() -> impl Iterator<Item = BloomParams> {
    [64u64, (1 << 19) - 8, 1 << 19, (1 << 19) + 8, 1 << 20, (1 << 20) + 8]
        .into_iter()
        .flat_map(|bytes| [1, 2, 3, 7, 64].map(|k| shape(bytes * 8, k)))
}

filter_laws! {
    BloomFilter, BloomParams,
    small: shape(1000, 5),
    any: (1..5000u64, 1..=64u32).prop_map(|(bits, k)| shape(bits, k)),
    large: shape(1 << 23, 5),
    tiny: shape(64, 1),
    loops: loops(),
    bits_of: bits_of,
    exercise: |_: &mut BloomFilter| (),
    lowest_rate: 1e-18,
    unlike: [
        (shape(1024, 5), shape(2048, 5), "bits"),
        (shape(1024, 5), shape(1024, 6), "k"),
        (shape(1024, 5), shape(960, 6), "bits"),
        (shape(sized(107, 0.01).bits(), sized(107, 0.01).k()), sized(107, 0.01), "design_fpr"),
    ],
    malformed: [
        r#"{"words":0,"k":1,"target":null}"#,
        r#"{"words":1,"k":0,"target":null}"#,
        r#"{"words":1,"k":65,"target":null}"#,
        r#"{"words":1,"k":1,"target":1.0}"#,
        r#"{"words":18446744073709551615,"k":1,"target":null}"#,
    ],
}

proptest! {
    #[test]
    fn the_promised_rate_is_kept_and_no_word_is_wasted(keys in 0..1u64 << 40, exponent in 0.1..40.0f64) {
        let fpr = (-exponent).exp2();
        if let Ok(params) = BloomParams::for_fpr(keys, fpr) {
            prop_assert!(params.fpr(keys) <= fpr);
            if let Ok(smaller) = BloomParams::with_shape(params.bits() - 64, params.k()) {
                // The promise is kept by a bound that lies above the expected rate by a share of k^2 / bits at most;
                // neighbouring shapes beyond 2^53 words are one number in floating point.
                let slack = f64::from(params.k() * params.k()) / smaller.bits() as f64 + 1e-11;
                prop_assert!(smaller.fpr(keys) > fpr * (1.0 - slack));
            }
        } else {
            // Where pointers have 32 bits there is room for 2^34 bits.
            let no_room = usize::BITS < 64 && keys as f64 * exponent > 1e10;
            prop_assert!(fpr < 2.0 * keys as f64 / 2f64.powi(64) || no_room);
        }
    }
}
