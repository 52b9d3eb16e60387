//! The law of the blocked filter: pure functions of a shape.

use alloc::vec;
use alloc::vec::Vec;

use super::params::BlockedBloomParams;
use super::probes::{LINE_BITS, ROUND};
use crate::loads::mean_over_loads;
use crate::targets::hash_collision_rate;

/// Most bits of a key.
const MAX_K: usize = BlockedBloomParams::MAX_K as usize;

/// The sizes of the rounds that make up `k` bits.
fn rounds(k: u32) -> impl Iterator<Item = u32> + Clone {
    (0..k.div_ceil(ROUND)).map(move |i| (k - i * ROUND).min(ROUND))
}

/// The rate of false positives of one line by the number of keys that it holds, exact for rounds that are random
/// subsets of the line's bits.
///
/// Let a\[d\] be the chance that d given bits are all set. A round of s bits sets o of them with the hypergeometric
/// probability h(o; d, s), and the other d - o have to be set already: a\[d\] becomes the sum over o of
/// h(o; d, s) a\[d - o\]. Every term is positive, so that nothing cancels.
pub(crate) struct LineLaw {
    k: u32,
    /// The chance that a stranger asks for d different bits.
    asked: [f64; MAX_K + 1],
    /// a\[d\], after as many keys as `rates` is long.
    set: [f64; MAX_K + 1],
    /// h(o; d, s) for whole rounds, and for the last one.
    whole: Overlaps,
    last: Overlaps,
    rates: Vec<f64>,
    /// No key changes the last of them any more.
    full: bool,
}

type Overlaps = [[f64; ROUND as usize + 1]; MAX_K + 1];

/// h(o; d, s): the chance that `s` different bits of a line hit `o` of `d` given ones.
fn overlaps(s: u32) -> Overlaps {
    let mut table = [[0.0; ROUND as usize + 1]; MAX_K + 1];
    for (d, row) in table.iter_mut().enumerate() {
        // One bit of the round after the other.
        row[0] = 1.0;
        for drawn in 0..s {
            let rest = f64::from(LINE_BITS - drawn);
            for o in (0..=drawn as usize).rev() {
                let hit = (d.saturating_sub(o)) as f64 / rest;
                row[o + 1] += row[o] * hit;
                row[o] *= 1.0 - hit;
            }
        }
    }
    table
}

impl LineLaw {
    pub(crate) fn new(k: u32) -> Self {
        let whole = overlaps(ROUND);
        let last = overlaps(rounds(k).last().unwrap_or(ROUND));
        let mut asked = [0.0; MAX_K + 1];
        asked[0] = 1.0;
        for s in rounds(k) {
            let table = if s == ROUND { &whole } else { &last };
            let before = asked;
            asked = [0.0; MAX_K + 1];
            for (d, &chance) in before.iter().enumerate() {
                for (o, &overlap) in table[d].iter().enumerate().take(s as usize + 1) {
                    if let Some(more) = asked.get_mut(d + s as usize - o) {
                        *more += chance * overlap;
                    }
                }
            }
        }
        let mut set = [0.0; MAX_K + 1];
        set[0] = 1.0;
        Self { k, asked, set, whole, last, rates: vec![0.0], full: false }
    }

    /// The rate of a line that holds `load` keys.
    pub(crate) fn rate(&mut self, load: u64) -> f64 {
        /// A line whose rate grows by less is full.
        const STILL: f64 = 1e-15;
        while self.rates.len() as u64 <= load {
            if self.full {
                return 1.0;
            }
            self.add_key();
            let rate = self.asked.iter().zip(&self.set).map(|(asked, set)| asked * set).sum::<f64>().min(1.0);
            self.full = rate > 0.5 && rate - self.rates[self.rates.len() - 1] < STILL;
            self.rates.push(rate);
        }
        self.rates[load as usize]
    }

    fn add_key(&mut self) {
        for s in rounds(self.k) {
            let table = if s == ROUND { &self.whole } else { &self.last };
            for d in (1..=self.k as usize).rev() {
                self.set[d] =
                    (0..=(s as usize).min(d)).map(|o| table[d][o] * self.set[d - o]).sum::<f64>().min(1.0);
            }
        }
    }

    /// Expected rate of a filter of `lines` lines after `keys` distinct keys: of a line, averaged over its load, and the
    /// chance of sharing the bits of a key. Never above 1.
    pub(crate) fn filter_rate(&mut self, lines: u64, keys: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        let own = mean_over_loads(keys, 1.0 / lines as f64, |load| self.rate(load));
        (own + shared_bits(self.k, lines, keys)).min(1.0)
    }
}

/// Chance that an absent key has the very bits of one of `keys` keys: its hash, or, where one round makes them all, its
/// line and the 37 bits of hash that the round is made of.
fn shared_bits(k: u32, lines: u64, keys: u64) -> f64 {
    /// 2^37 rounds.
    const ROUNDS: f64 = 137_438_953_472.0;
    let keys = keys as f64;
    let round = if k <= ROUND { -libm::expm1(-keys / lines as f64 / ROUNDS) } else { 0.0 };
    hash_collision_rate(keys) + round
}

/// The chance that a line's bit, and that two of them, stay clear through one key of that line.
fn clear(k: u32) -> (f64, f64) {
    let m = f64::from(LINE_BITS);
    rounds(k).fold((1.0, 1.0), |(one, two), s| {
        let s = f64::from(s);
        (one * (m - s) / m, two * (m - s) * (m - s - 1.0) / (m * (m - 1.0)))
    })
}

/// Expected share of set bits after `keys` distinct keys. Exact.
pub(crate) fn expected_fill(lines: u64, k: u32, keys: f64) -> f64 {
    let hit = 1.0 - clear(k).0;
    -libm::expm1(keys * libm::log1p(-hit / lines as f64))
}

/// Distinct keys that set this share of the bits, at the expectation: infinite if every bit is set.
pub(crate) fn keys_for_fill(lines: u64, k: u32, fill: f64) -> f64 {
    let hit = 1.0 - clear(k).0;
    libm::log1p(-fill) / libm::log1p(-hit / lines as f64)
}

/// The share of set bits that a filter of `keys` keys exceeds with a chance below 1e-9: the expected fill and 6 standard
/// deviations.
///
/// The number of ones of a line has mean and variance in closed form where loads are Poisson. Their sum is then fixed
/// to `keys`, which takes away load (d mean / d load)^2.
pub(crate) fn fill_alarm(lines: u64, k: u32, keys: u64) -> f64 {
    /// One-sided normal quantile of 1e-9.
    const MARGIN: f64 = 6.0;
    let m = f64::from(LINE_BITS);
    let load = keys as f64 / lines as f64;
    let (one, two) = clear(k);
    let (clear_one, clear_two) = (libm::exp(-load * (1.0 - one)), libm::exp(-load * (1.0 - two)));
    let poisson = m * clear_one + m * (m - 1.0) * clear_two - m * m * clear_one * clear_one;
    let slope = m * (1.0 - one) * clear_one;
    let variance = (poisson - load * slope * slope).max(0.0);
    expected_fill(lines, k, keys as f64) + MARGIN * libm::sqrt(variance / lines as f64) / m
}

/// The rate of a line of which `ones` bits are set: the chance that rounds of random subsets hit none but set bits.
pub(crate) fn rate_of_ones(k: u32, ones: u32) -> f64 {
    rounds(k)
        .map(|s| {
            (0..s)
                .map(|drawn| f64::from(ones.saturating_sub(drawn)) / f64::from(LINE_BITS - drawn))
                .product::<f64>()
        })
        .product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C(n, r).
    fn choose(n: u32, r: u32) -> f64 {
        (0..r).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
    }

    /// One round: inclusion and exclusion, which is exact and cancels.
    #[test]
    fn a_line_of_one_round_has_the_rate_of_inclusion_and_exclusion() {
        for k in 1..=8 {
            let mut law = LineLaw::new(k);
            for load in [1, 2, 10, 51, 120] {
                let sum: f64 = (0..=k)
                    .map(|i| {
                        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                        let missed = choose(LINE_BITS - i, k) / choose(LINE_BITS, k);
                        sign * choose(k, i) * libm::pow(missed, load as f64)
                    })
                    .sum();
                assert!((law.rate(load) - sum).abs() < 1e-11 + 1e-9 * sum, "{k} {load}");
            }
        }
    }

    #[test]
    fn rates_rise_with_the_load_to_one() {
        for k in [1, 5, 8, 9, 16, 17, 24] {
            let mut law = LineLaw::new(k);
            let rates: Vec<f64> = [0, 1, 5, 50, 500, 50_000, u64::MAX].map(|load| law.rate(load)).into();
            assert!(rates.is_sorted() && rates[0] <= 0.0 && rates[6] >= 1.0, "{k}: {rates:?}");
        }
    }

    #[test]
    fn chances_add_up() {
        for k in [1, 8, 9, 23, 24] {
            let law = LineLaw::new(k);
            assert!((law.asked.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(law.whole.iter().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
        }
    }

    #[test]
    fn a_full_line_says_yes_and_an_empty_one_no() {
        for k in [1, 8, 9, 24] {
            assert_eq!((rate_of_ones(k, 0), rate_of_ones(k, LINE_BITS)), (0.0, 1.0));
        }
    }
}
