//! The law of the split-block filter: pure functions of a shape, apart from any filter.

use libm::{exp, expm1, log, log1p, pow, sqrt};

use super::block::{BLOCK_BITS, WORD_BITS, WORDS};
use crate::loads::mean_over_loads;

/// Upper halves of a hash, which the blocks divide among themselves; and lower halves.
pub(crate) const HALVES: u64 = 1 << 32;

/// One bit of a word.
const BIT: f64 = 1.0 / WORD_BITS as f64;

/// Blocks that have equally many of the upper halves: how many blocks, and the chance that a hash falls into a given one.
#[derive(Clone, Copy)]
struct Blocks {
    number: f64,
    share: f64,
}

/// 2^32 upper halves among `blocks` blocks: the quotient for some, one more for as many as the remainder.
///
/// That one more is nothing in a small filter. In one of 1.5 2^30 blocks some have three upper halves and some two.
fn kinds(blocks: u64) -> [Blocks; 2] {
    let (share, rest) = (HALVES / blocks, HALVES % blocks);
    let kind =
        |number: u64, share: u64| Blocks { number: number as f64, share: share as f64 / HALVES as f64 };
    [kind(blocks - rest, share), kind(rest, share + 1)]
}

/// Expected rate of false positives after `keys` distinct keys: the mean, over the block of an absent key and over the
/// number of keys there, of [`rate_in_block`]. Falls as the number of blocks grows.
pub(crate) fn rate(blocks: u64, keys: u64) -> f64 {
    let unset = log1p(-BIT);
    let unshared = log1p(-1.0 / HALVES as f64);
    let in_block = |load: u64| rate_in_block(load as f64, unset, unshared);
    let of = |kind: Blocks| match kind.number {
        0.0 => 0.0,
        number => number * kind.share * mean_over_loads(keys, kind.share, in_block),
    };
    kinds(blocks).map(of).iter().sum::<f64>().min(1.0)
}

/// The rate in a block of `load` keys: one of them has the absent key's lower half, and with it its bits; or none has,
/// and a word has the absent key's bit with a chance of 1 - (1 - 1/32)^load, each of the eight apart.
///
/// The bits of two lower halves are taken to be independent. The multipliers of the format do better: of 2^32 lower halves
/// no two have all eight bits in common, where this says one pair in 2^40.
fn rate_in_block(load: f64, unset: f64, unshared: f64) -> f64 {
    let word = -expm1(load * unset);
    let square = word * word;
    let all_words = (square * square) * (square * square);
    all_words - expm1(load * unshared) * (1.0 - all_words)
}

/// Keys of a block at which a word has a bit with the chance that makes `fpr` of eight: what the rate would be if every
/// block had equally many.
fn even_load(fpr: f64) -> f64 {
    log1p(-pow(fpr, 1.0 / WORDS as f64)) / log1p(-BIT)
}

/// Blocks at which `keys` keys would have the rate `fpr` if every block had equally many: too few, for most rates.
pub(crate) fn blocks_for(keys: u64, fpr: f64) -> u64 {
    (keys as f64 / even_load(fpr)) as u64
}

/// Expected share of set bits after `keys` distinct keys: the mean over blocks of 1 - (1 - share/32)^keys. Exact.
pub(crate) fn fill(blocks: u64, keys: u64) -> f64 {
    let of = |kind: Blocks| kind.number * -expm1(keys as f64 * log1p(-kind.share * BIT));
    kinds(blocks).map(of).iter().sum::<f64>() / blocks as f64
}

/// Distinct keys that set this share of the bits, at the expectation: infinite if every bit is set.
pub(crate) fn keys_for_fill(blocks: u64, fill: f64) -> f64 {
    /// Each doubles the digits, from one or more: blocks differ by a half at most.
    const STEPS: u32 = 5;
    let empty = log1p(-fill);
    if fill >= 1.0 {
        return f64::INFINITY;
    }
    let mut keys = empty / log1p(-BIT / blocks as f64);
    // Newton's steps on the logarithm of the expected share of empty bits.
    for _ in 0..STEPS {
        let (mut share, mut slope) = (0.0, 0.0);
        for kind in kinds(blocks) {
            let rate = log1p(-kind.share * BIT);
            let part = kind.number / blocks as f64 * exp(keys * rate);
            share += part;
            slope += part * rate;
        }
        keys = (keys - (log(share) - empty) * share / slope).max(0.0);
    }
    keys
}

/// Variance of the number of set bits of a block, for `load` keys per block on average, when the number of keys in all
/// blocks is fixed.
///
/// With a Poisson number of keys the blocks are apart. Given its keys, a bit is empty with a chance of a^keys and two
/// bits of a word with b^keys (a = 31/32, b = 30/32); taking means of these powers gives the variance of a block. The
/// number of all keys being fixed takes away what it explains: load times the square of the slope of the mean.
fn ones_variance(load: f64) -> f64 {
    let (bits, word) = (BLOCK_BITS as f64, f64::from(WORD_BITS));
    // Means of a^keys, b^keys = (mean of a^keys)^2 and a^(2 keys), each less 1: the ones cancel, and small loads keep
    // their digits.
    let one = expm1(-load * BIT);
    let two = expm1(-load * 2.0 * BIT);
    let square = expm1(-load * BIT * (2.0 - BIT));
    let within = bits * (one + (word - 1.0) * two - word * square);
    let between = bits * bits * (square - two);
    let slope = bits * BIT * (1.0 + one);
    (within + between - load * slope * slope).max(0.0)
}

/// The share of set bits that a filter filled to a rate of `fpr` exceeds with a chance below 1e-9: the fill at that
/// rate and 6 standard deviations.
pub(crate) fn fill_alarm(blocks: u64, fpr: f64) -> f64 {
    /// One-sided normal quantile of 1e-9.
    const MARGIN: f64 = 6.0;
    let keys = keys_at(blocks, fpr);
    let variance = ones_variance(keys as f64 / blocks as f64) / blocks as f64;
    fill(blocks, keys) + MARGIN * sqrt(variance) / BLOCK_BITS as f64
}

/// The most keys, to one in a million, whose rate is at most `fpr`.
fn keys_at(blocks: u64, fpr: f64) -> u64 {
    const PRECISION: u64 = 1 << 20;
    let (mut most, mut too_many) = (0, ((blocks as f64 * even_load(fpr)) as u64).saturating_add(1));
    while too_many < u64::MAX && rate(blocks, too_many) <= fpr {
        most = too_many;
        too_many = too_many.saturating_mul(2);
    }
    while too_many - most > 1 + most / PRECISION {
        let middle = most + (too_many - most) / 2;
        if rate(blocks, middle) <= fpr { most = middle } else { too_many = middle }
    }
    most
}
