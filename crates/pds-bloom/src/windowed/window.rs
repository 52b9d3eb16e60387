//! The generations side by side, owned or borrowed, and what is asked of them.
//!
//! The lines of one block index are neighbours, one of each generation: a query reads them in one sweep. Which of them
//! belongs to the current generation changes with every advance; the others are older by their distance before it, around
//! the ring.

use core::borrow::Borrow;

use pds_hash::reduce;

use super::params::WindowedBloomParams;
use crate::arch::{self, Simd};
use crate::blocked::line::{self, LINE_BYTES};
use crate::blocked::{Counted, law};

/// Lines of all generations, and where in the ring the current one is.
#[derive(Clone, Copy)]
pub(crate) struct Window<'a, L> {
    pub(crate) params: WindowedBloomParams,
    pub(crate) lines: &'a [L],
    pub(crate) current: usize,
    pub(crate) simd: Simd,
}

/// Where in the ring a generation lies.
pub(crate) fn position(params: &WindowedBloomParams, generation: u64) -> usize {
    (generation % u64::from(params.generations())) as usize
}

/// Where the lines of a hash begin.
#[inline]
pub(crate) fn start(params: &WindowedBloomParams, hash: u64) -> usize {
    reduce(hash, params.each().lines()) as usize * params.generations() as usize
}

impl<L: Borrow<[u8; LINE_BYTES]>> Window<'_, L> {
    /// In which generations a hash is found: bit i for the one at position i of the ring.
    #[inline]
    fn found(&self, hash: u64) -> u64 {
        let start = start(&self.params, hash);
        let lines = &self.lines[start..start + self.params.generations() as usize];
        arch::line::contains_each(self.simd, lines, hash, self.params.k())
    }

    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.found(hash) != 0
    }

    /// How many generations ago the youngest one is that says yes.
    #[inline]
    pub(crate) fn age(&self, hash: u64) -> Option<u32> {
        let (generations, current) = (self.params.generations(), self.current as u32);
        let found = self.found(hash);
        // From the current one down to position 0, then from the last one down.
        let upto_current = found & (u64::MAX >> (u64::BITS - 1 - current));
        match (upto_current.checked_ilog2(), found.checked_ilog2()) {
            (Some(position), _) => Some(current - position),
            (None, Some(position)) => Some(current + generations - position),
            (None, None) => None,
        }
    }

    /// `found` has to be as long as `hashes`.
    pub(crate) fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        let generations = self.params.generations() as usize;
        arch::line::contains_any_batch(self.simd, self.lines, generations, self.params.k(), hashes, found);
    }

    /// Share of set bits over all generations.
    pub(crate) fn fill_ratio(&self) -> f64 {
        let ones: u64 = self.lines.iter().map(|line| u64::from(line::ones(line.borrow()))).sum();
        ones as f64 / (self.lines.len() as f64 * (LINE_BYTES * 8) as f64)
    }

    /// What counting the bits of one generation tells, for an age that there is.
    pub(crate) fn counted(&self, age: u32) -> Option<Counted> {
        let generations = self.params.generations();
        if age >= generations {
            return None;
        }
        let position = (self.current + (generations - age) as usize) % generations as usize;
        Some(Counted::of_each(
            self.lines[position..].iter().step_by(generations as usize),
            self.params.each(),
        ))
    }

    /// Whether the current generation is above its design load.
    pub(crate) fn is_saturated(&self) -> bool {
        self.counted(0).is_some_and(|counted| counted.is_saturated(self.params.each()))
    }

    /// The mean over the blocks of the chance that a stranger is found in any of the block's lines.
    pub(crate) fn estimated_fpr(&self) -> f64 {
        let k = self.params.k();
        // By the number of ones, as they come up.
        let mut rates = [None; LINE_BYTES * 8 + 1];
        let mut rate = |ones: u32| *rates[ones as usize].get_or_insert_with(|| law::rate_of_ones(k, ones));
        let blocks = self.lines.chunks_exact(self.params.generations() as usize);
        let count = blocks.len() as f64;
        // Rates add up without 1 - rate, which a low one would be lost in.
        let any = |lines: &[L]| {
            let rates = lines.iter().map(|line| rate(line::ones(line.borrow())));
            rates.fold(0.0, |any, rate| any + (1.0 - any) * rate)
        };
        blocks.map(any).sum::<f64>() / count
    }
}
