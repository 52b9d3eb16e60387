//! The registers, and the counts of their values kept beside them.

use alloc::boxed::Box;
use alloc::vec;
use core::mem;

use crate::histogram::{Histogram, MAX_ZEROS};
use crate::packed;
use crate::sparse::Token;

/// The greatest value seen at each index. The counts are absent when they would be stale: after a merge, say.
#[derive(Clone)]
pub(crate) struct Registers {
    values: Box<[u8]>,
    histogram: Option<Histogram>,
}

impl Registers {
    /// So many empty registers, a power of two.
    pub(crate) fn empty(count: usize) -> Self {
        Self { values: vec![0; count].into_boxed_slice(), histogram: Some(Histogram::empty(count)) }
    }

    /// Registers with these values, none of them above the greatest.
    pub(crate) fn from_values(values: Box<[u8]>) -> Self {
        Self { values, histogram: None }
    }

    pub(crate) fn values(&self) -> &[u8] {
        &self.values
    }

    /// The counts of the values: kept ones, or counted anew in time linear in the registers.
    pub(crate) fn histogram(&self) -> Histogram {
        self.histogram.unwrap_or_else(|| Histogram::count(packed::groups(&self.values)))
    }

    /// Takes in a hash; true if a register rose.
    ///
    /// Once there are many more keys than registers hardly a hash changes anything, and the branch is predicted:
    /// measured 0.7 ns a hash, counting included, against 0.8 ns for a branch-free maximum without it.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        self.raise_by(hash).is_some()
    }

    /// As [`Registers::insert`]: what the register that rose was before, and what it is now.
    #[inline]
    pub(crate) fn raise_by(&mut self, hash: u64) -> Option<(u8, u8)> {
        let index = hash as usize & (self.values.len() - 1);
        let register = &mut self.values[index];
        let (old, new) = (*register, value(hash));
        if new <= old {
            return None;
        }
        *register = new;
        match &mut self.histogram {
            Some(histogram) => histogram.moved(old, new),
            None => self.recount(),
        }
        Some((old, new))
    }

    /// Out of line, that [`Registers::insert`] stays small enough to be inlined.
    #[cold]
    #[inline(never)]
    fn recount(&mut self) {
        self.histogram = Some(self.histogram());
    }

    /// Takes in many hashes.
    ///
    /// While they still change registers often, [`Registers::insert`] takes 3 ns a hash, most of it mispredicted
    /// branches: there a branch-free maximum serves, at 0.9 ns, and the counts wait.
    pub(crate) fn insert_batch(&mut self, hashes: &[u64]) {
        /// Changes per hash above which the branch costs more than it saves: reached at 23 keys a register, where
        /// the two were measured to cost nearly the same.
        const CHANGES_OFTEN: f64 = 1.0 / 32.0;
        /// Hashes per register between two looks at the rate: counting registers then costs little beside them.
        const LOOK_EVERY: usize = 4;
        let count = self.values.len();
        for chunk in hashes.chunks(LOOK_EVERY * count) {
            if chunk.len() >= count && self.histogram().change_rate() > CHANGES_OFTEN {
                self.histogram = None;
                for &hash in chunk {
                    let register = &mut self.values[hash as usize & (count - 1)];
                    *register = value(hash).max(*register);
                }
            } else {
                for &hash in chunk {
                    self.insert(hash);
                }
            }
        }
    }

    /// Takes in the hashes that tokens stand for.
    pub(crate) fn insert_tokens(&mut self, tokens: impl Iterator<Item = Token>) {
        for token in tokens {
            self.insert(token.hash());
        }
    }

    /// Takes in what registers of any number have seen; ends up with the smaller number of the two.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.fold(other.values.len());
        self.histogram = None;
        raise(&mut self.values, &other.values);
    }

    /// Down to `count` registers, a power of two, if there are more. The index being the low bits of the hash, the
    /// registers that become one lie `count` apart.
    pub(crate) fn fold(&mut self, count: usize) {
        if count < self.values.len() {
            let mut values = mem::take(&mut self.values).into_vec();
            let (kept, rest) = values.split_at_mut(count);
            raise(kept, rest);
            values.truncate(count);
            *self = Self::from_values(values.into_boxed_slice());
        }
    }
}

/// Raises each register to those of `other` that fold onto it.
pub(crate) fn raise(registers: &mut [u8], other: &[u8]) {
    for part in other.chunks_exact(registers.len()) {
        for (mine, &theirs) in registers.iter_mut().zip(part) {
            *mine = theirs.max(*mine);
        }
    }
}

/// The leading zeros of a hash, at most [`MAX_ZEROS`], and one. Index bits never reach so high.
#[inline]
pub(crate) fn value(hash: u64) -> u8 {
    /// Ends the zeros: costs less than a minimum.
    const STOP: u64 = 1 << (63 - MAX_ZEROS);
    (hash | STOP).leading_zeros() as u8 + 1
}
