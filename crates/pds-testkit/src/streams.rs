//! Skewed streams of keys, as frequency sketches meet them.

use std::sync::Arc;

use crate::SplitMix64;
use crate::values::pareto;

/// An endless stream of ranks `1..=n`, where rank `r` has a probability proportional to `r^-s`.
///
/// The inverse of the exact cumulative distribution, with integer thresholds: no rejection, no approximation,
/// the same ranks on every machine. A threshold is a multiple of 2^-53, so a rank rarer than that may never come.
/// The table takes 8 bytes per rank and a power per rank to build; clones and [`Zipf::reseeded`] share it.
///
/// ```
/// use pds_testkit::{DistinctKeys, Zipf};
///
/// let keys = DistinctKeys::new(1);
/// let stream = Zipf::new(1000, 1.1, 2).map(|rank| keys.key(rank)).take(10_000);
/// assert_eq!(stream.filter(|&key| key == keys.key(1)).count(), 1851);
/// ```
#[derive(Clone, Debug)]
pub struct Zipf {
    table: Arc<Table>,
    random: SplitMix64,
}

impl Zipf {
    /// The stream of `n_ranks` ranks with the exponent `s`; 0 is uniform.
    ///
    /// # Panics
    ///
    /// If there are no ranks, or if `s` is negative or not finite.
    pub fn new(n_ranks: u64, s: f64, seed: u64) -> Self {
        assert!(n_ranks > 0, "a Zipf distribution has ranks");
        assert!(s >= 0.0 && s.is_finite(), "a Zipf distribution has a finite exponent, not {s}");
        Self { table: Arc::new(Table::new(n_ranks, s)), random: SplitMix64::new(seed) }
    }

    /// Another stream of the same distribution.
    pub fn reseeded(&self, seed: u64) -> Self {
        Self { table: Arc::clone(&self.table), random: SplitMix64::new(seed) }
    }

    /// The probability of a rank as drawn, that is, between its thresholds; 0 outside `1..=n`.
    pub fn probability(&self, rank: u64) -> f64 {
        const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
        let ends = &self.table.ends;
        let Some(index) = rank.checked_sub(1).filter(|&index| index <= ends.len() as u64) else {
            return 0.0;
        };
        let index = index as usize;
        let start = if index == 0 { 0 } else { u128::from(ends[index - 1]) };
        let end = ends.get(index).map_or(1 << 64, |&end| u128::from(end));
        (end - start) as f64 / TWO_TO_64
    }
}

impl Iterator for Zipf {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.table.rank(self.random.next_u64()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

/// Keys as heavy-tailed as network flows: the whole part of a Pareto number of that shape and minimum.
///
/// `P(X > x) = (minimum/x)^shape` from `minimum` on. Endless; saturates at `u64::MAX`.
#[derive(Clone, Debug)]
pub struct ParetoKeys {
    shape: f64,
    minimum: f64,
    random: SplitMix64,
}

impl ParetoKeys {
    /// The stream of a seed.
    ///
    /// # Panics
    ///
    /// If `shape` or `minimum` is not positive and finite.
    pub fn new(shape: f64, minimum: f64, seed: u64) -> Self {
        assert!(shape > 0.0 && shape.is_finite(), "a Pareto distribution has a positive shape, not {shape}");
        assert!(
            minimum > 0.0 && minimum.is_finite(),
            "a Pareto distribution has a positive minimum, not {minimum}"
        );
        Self { shape, minimum, random: SplitMix64::new(seed) }
    }
}

impl Iterator for ParetoKeys {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(pareto(&mut self.random, self.shape, self.minimum) as u64)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

/// A cumulative distribution in units of 2^-64.
#[derive(Debug)]
struct Table {
    /// Where each rank but the last ends, exclusively.
    ends: Vec<u64>,
    /// For the top bits of a draw: the fewest ends that lie at or below it. Spares most of the binary search.
    guide: Vec<usize>,
    shift: u32,
}

impl Table {
    /// The guide's greatest size: half a MiB, which stays in a cache.
    const MAX_GUIDE_BITS: u32 = 16;

    fn new(n_ranks: u64, s: f64) -> Self {
        const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
        let mut sum = 0.0;
        let mut ends: Vec<f64> = (1..=n_ranks)
            .map(|rank| {
                sum += libm::pow(rank as f64, -s);
                sum
            })
            .collect();
        ends.pop();
        let ends: Vec<u64> = ends.iter().map(|end| (end / sum * TWO_TO_64) as u64).collect();
        let bits = n_ranks.ilog2().clamp(1, Self::MAX_GUIDE_BITS);
        let shift = 64 - bits;
        let mut guide: Vec<usize> =
            (0..1u64 << bits).map(|top| ends.partition_point(|&end| end <= top << shift)).collect();
        guide.push(ends.len());
        Self { ends, guide, shift }
    }

    /// The rank, from 1, between whose ends a draw lies.
    fn rank(&self, draw: u64) -> u64 {
        let top = (draw >> self.shift) as usize;
        let (low, high) = (self.guide[top], self.guide[top + 1]);
        (low + self.ends[low..high].partition_point(|&end| end <= draw)) as u64 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws;

    #[test]
    fn ranks_come_at_their_probabilities() {
        for s in [0.0, 0.8, 1.0, 1.5, 3.0] {
            let zipf = Zipf::new(50, s, 9);
            let normaliser: f64 = (1..=50).map(|rank| libm::pow(f64::from(rank), -s)).sum();
            let mut counts = [0u64; 51];
            for rank in zipf.clone().take(200_000) {
                counts[rank as usize] += 1;
            }
            assert_eq!(counts[0], 0);
            for rank in 1..=50u32 {
                let predicted = libm::pow(f64::from(rank), -s) / normaliser;
                laws::rate_is(counts[rank as usize], 200_000, predicted).assert("Zipf rank");
                assert!((zipf.probability(u64::from(rank)) / predicted - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn probabilities_sum_to_1_and_vanish_outside() {
        let zipf = Zipf::new(1000, 1.2, 0);
        let sum: f64 = (0..=1001).map(|rank| zipf.probability(rank)).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert!(zipf.probability(0) + zipf.probability(1001) + zipf.probability(u64::MAX) == 0.0);
    }

    #[test]
    fn the_guide_changes_no_rank() {
        for n_ranks in [1, 2, 3, 7, 1000, 100_000] {
            let table = Table::new(n_ranks, 1.1);
            let mut random = SplitMix64::new(n_ranks);
            let draws = (0..10_000).map(|_| random.next_u64());
            let edges = table.ends.iter().flat_map(|&end| [end.wrapping_sub(1), end, end + 1]);
            for draw in draws.chain(edges).chain([0, u64::MAX]) {
                assert_eq!(table.rank(draw), table.ends.partition_point(|&end| end <= draw) as u64 + 1);
                assert!((1..=n_ranks).contains(&table.rank(draw)));
            }
        }
    }

    #[test]
    fn streams_are_the_same_on_every_machine() {
        assert_eq!(Zipf::new(1_000_000, 1.05, 1).take(5).collect::<Vec<_>>(), PINNED_RANKS);
        assert_eq!(ParetoKeys::new(1.0, 10.0, 1).take(5).collect::<Vec<_>>(), PINNED_PARETO);
        let zipf = Zipf::new(100, 1.0, 1);
        assert!(zipf.reseeded(1).take(100).eq(zipf.take(100)));
    }

    /// Committed tables depend on them.
    const PINNED_RANKS: [u64; 5] = [542, 8697, 547_901, 100, 99];
    const PINNED_PARETO: [u64; 5] = [23, 39, 344, 17, 17];

    #[test]
    fn pareto_keys_have_the_tail_of_their_shape_and_saturate() {
        let above = ParetoKeys::new(1.5, 10.0, 2).take(200_000).filter(|&key| key >= 40).count() as u64;
        laws::rate_is(above, 200_000, 0.125).assert("tail");
        assert!(ParetoKeys::new(1.5, 10.0, 3).take(10_000).all(|key| key >= 10));
        assert!(ParetoKeys::new(0.001, 1.0, 4).take(100).any(|key| key == u64::MAX));
    }
}
