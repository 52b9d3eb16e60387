//! Chances: the decay, and the numbers that decide it.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// The decay of cells, and the state of a generator.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    /// base^-c as a share of 2^64, by count c from 1 on, while it is at least one 2^64th.
    table: Box<[u64]>,
    /// ln of the base.
    ln_base: f64,
    state: u64,
}

/// 2^64.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;

impl Chance {
    /// The decay of a base of at least 1.01, and a generator in this state.
    pub(super) fn new(base: f64, state: u64) -> Self {
        let ln_base = libm::log(base);
        // Some 4,500 entries at most.
        let last = (64.0 * core::f64::consts::LN_2 / ln_base) as u32;
        let share = |count: u32| (libm::exp(-f64::from(count) * ln_base) * WHOLE) as u64;
        let table: Vec<u64> = (1..=last).map(share).collect();
        Self { table: table.into_boxed_slice(), ln_base, state }
    }

    /// The state of the generator.
    pub(super) fn state(&self) -> u64 {
        self.state
    }

    /// How many of `n` blows it takes to take one off a cell at this count; `None` if it stands them all.
    ///
    /// Each blow succeeds with a chance of base^-count, so that their number is geometric: one draw for all.
    #[inline]
    pub(super) fn blows(&mut self, count: u32, n: u64) -> Option<u64> {
        let &share = self.table.get(count as usize - 1)?;
        let drawn = self.next();
        if n == 1 { (drawn < share).then_some(1) } else { self.many(count, n, drawn) }
    }

    /// By inversion: the least g with 1 - (1 - p)^g above the number drawn.
    #[inline(never)]
    fn many(&self, count: u32, n: u64, drawn: u64) -> Option<u64> {
        // Within (0, 1): 53 bits, and a half of the last one.
        let uniform = ((drawn >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let p = libm::exp(-f64::from(count) * self.ln_base);
        let blows = libm::ceil(libm::log(uniform) / libm::log1p(-p)).max(1.0);
        (blows <= n as f64).then_some((blows as u64).min(n))
    }

    /// SplitMix64.
    #[inline]
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        pds_hash::mix(self.state)
    }
}

#[cfg(test)]
mod tests {
    use pds_testkit::laws;
    use std::format;

    use super::*;

    /// One by one or all at once: the mean number of blows until one succeeds is 1 / p.
    #[test]
    fn single_and_weighted_blows_succeed_as_often() {
        for count in [1u32, 5, 20, 40] {
            let p = 1.08f64.powf(-f64::from(count));
            let (mut single, mut weighted) = (Chance::new(1.08, 1), Chance::new(1.08, 2));
            let (mut one_by_one, mut at_once, trials) = (0u64, 0u64, 20_000u64);
            for _ in 0..trials {
                one_by_one += 1;
                while single.blows(count, 1).is_none() {
                    one_by_one += 1;
                }
                at_once += weighted.blows(count, u64::MAX).expect("one of so many succeeds");
            }
            // The standard deviation of a geometric number.
            let sigma = (1.0 - p).sqrt() / p;
            for blows in [one_by_one, at_once] {
                let mean = blows as f64 / trials as f64;
                laws::bias_is_zero(mean - 1.0 / p, sigma, trials, 0.0).assert(&format!("blows at {count}"));
            }
        }
    }

    #[test]
    fn a_cell_with_a_high_count_stands_everything() {
        let mut chance = Chance::new(1.08, 3);
        assert_eq!(chance.blows(u32::MAX, u64::MAX), None);
        assert_eq!(chance.blows(600, u64::MAX), None);
        assert_eq!(Chance::new(2.0, 3).blows(65, u64::MAX), None);
    }
}
