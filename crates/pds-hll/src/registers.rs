//! The registers, and the counts of their values kept beside them.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use crate::histogram::{Histogram, MAX_ZEROS, VALUES};
use crate::joint::Size;
use crate::state::{RegisterArray, RegisterCounts};
use crate::stored::WrittenRegisters;
use crate::{HllParams, estimator, packed};

/// The greatest value seen at each index. The counts are absent when they would be stale: after a merge, say.
#[derive(Clone)]
pub(crate) struct Registers {
    values: Box<[u8]>,
    histogram: Option<Histogram>,
}

impl Registers {
    /// As `insert`: what the register that rose was before, and what it is now.
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

    /// Out of line, that inserting stays small enough to be inlined.
    #[cold]
    #[inline(never)]
    fn recount(&mut self) {
        self.histogram = Some(self.counts());
    }
}

impl RegisterArray for Registers {
    type Counts = Histogram;

    fn empty(count: usize) -> Self {
        Self { values: vec![0; count].into_boxed_slice(), histogram: Some(Histogram::empty(count)) }
    }

    fn from_values(values: Box<[u8]>) -> Self {
        Self { values, histogram: None }
    }

    #[inline]
    fn values(&self) -> &[u8] {
        &self.values
    }

    fn into_values(self) -> Box<[u8]> {
        self.values
    }

    /// Kept ones, or counted anew in time linear in the registers.
    fn counts(&self) -> Histogram {
        self.histogram.unwrap_or_else(|| Histogram::count(packed::groups(&self.values)))
    }

    /// Once there are many more keys than registers hardly a hash changes anything, and the branch is predicted: no
    /// slower than a branch-free maximum, counting included.
    #[inline]
    fn insert(&mut self, hash: u64) -> bool {
        self.raise_by(hash).is_some()
    }

    /// While hashes still change registers often, inserting one by one takes several times as long, most of it
    /// mispredicted branches: there a branch-free maximum serves, and the counts wait.
    fn insert_batch(&mut self, hashes: &[u64]) {
        /// Changes per hash above which the branch costs more than it saves: reached at 23 keys a register, where
        /// the two were measured to cost nearly the same.
        const CHANGES_OFTEN: f64 = 1.0 / 32.0;
        /// Hashes per register between two looks at the rate: counting registers then costs little beside them.
        const LOOK_EVERY: usize = 4;
        let count = self.values.len();
        for chunk in hashes.chunks(LOOK_EVERY * count) {
            if chunk.len() >= count && self.counts().change_rate() > CHANGES_OFTEN {
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

    fn merge(&mut self, other: &Self) {
        self.fold(other.values.len());
        self.histogram = None;
        raise(&mut self.values, &other.values);
    }

    fn fold(&mut self, count: usize) {
        if fold_onto(&mut self.values, count, raise) {
            self.histogram = None;
        }
    }
}

impl RegisterCounts for Histogram {
    fn estimate(&self) -> f64 {
        estimator::estimate(self)
    }

    fn bounds(&self, kappa: f64) -> (f64, f64) {
        Size::of_registers(self).bounds(kappa)
    }
}

/// As they are in six bits each.
impl WrittenRegisters for Registers {
    const ALPHABET: usize = VALUES;

    fn plain_bytes(params: HllParams) -> usize {
        params.packed_bytes()
    }

    fn write_plain(values: &[u8], payload: &mut Vec<u8>) {
        packed::pack(values, payload);
    }

    fn read_plain(payload: &[u8]) -> Vec<u8> {
        packed::unpack(payload).flatten().collect()
    }

    fn count_plain(payload: &[u8]) -> Histogram {
        Histogram::count(packed::unpack(payload))
    }

    fn counts_of(histogram: &[u32]) -> Histogram {
        let mut counts = [0; VALUES];
        counts.copy_from_slice(histogram);
        Histogram::from_counts(counts)
    }

    fn are_reachable(counts: &Histogram, params: HllParams) -> bool {
        counts.most_tokens(params.precision()) > params.sparse_limit() as u64
    }
}

/// Down to `count` registers, a power of two, if there are more; true if there were. The index being the low bits of the
/// hash, the registers that become one lie `count` apart: `take_in` takes into each those of others that fold onto it.
pub(crate) fn fold_onto(values: &mut Box<[u8]>, count: usize, take_in: fn(&mut [u8], &[u8])) -> bool {
    let fewer = count < values.len();
    if fewer {
        let mut all = mem::take(values).into_vec();
        let (kept, rest) = all.split_at_mut(count);
        take_in(kept, rest);
        all.truncate(count);
        *values = all.into_boxed_slice();
    }
    fewer
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
