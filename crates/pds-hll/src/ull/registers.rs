//! The registers of a sketch.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::counts::Counts;
use super::register::{REGISTERS, changes_with, join, with_value};
use super::{estimator, information};
use crate::HllParams;
use crate::registers::{fold_onto, value};
use crate::state::{RegisterArray, RegisterCounts};
use crate::stored::WrittenRegisters;

/// Registers, a power of two of them.
#[derive(Clone)]
pub(super) struct Registers(Box<[u8]>);

impl Registers {
    #[inline]
    fn at(&mut self, hash: u64) -> &mut u8 {
        let index = hash as usize & (self.0.len() - 1);
        &mut self.0[index]
    }
}

impl RegisterArray for Registers {
    type Counts = Counts;

    fn empty(count: usize) -> Self {
        Self(vec![0; count].into_boxed_slice())
    }

    fn from_values(values: Box<[u8]>) -> Self {
        Self(values)
    }

    #[inline]
    fn values(&self) -> &[u8] {
        &self.0
    }

    fn into_values(self) -> Box<[u8]> {
        self.0
    }

    fn counts(&self) -> Counts {
        Counts::of(&self.0)
    }

    /// Once there are many more keys than registers hardly a hash changes anything: the one branch is on that.
    #[inline]
    fn insert(&mut self, hash: u64) -> bool {
        let register = self.at(hash);
        let value = value(hash);
        let changes = changes_with(*register, value);
        if changes {
            *register = with_value(*register, value);
        }
        changes
    }

    /// Without branches: they would often be mispredicted while there are few keys, and cost as much as they save when
    /// there are many.
    fn insert_batch(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            let register = self.at(hash);
            *register = with_value(*register, value(hash));
        }
    }

    fn merge(&mut self, other: &Self) {
        self.fold(other.0.len());
        raise(&mut self.0, &other.0);
    }

    fn fold(&mut self, count: usize) {
        fold_onto(&mut self.0, count, raise);
    }
}

impl RegisterCounts for Counts {
    fn estimate(&self) -> f64 {
        estimator::estimate(self)
    }

    fn bounds(&self, kappa: f64) -> (f64, f64) {
        let in_use = self.in_use();
        // An estimate of nothing has no deviation.
        if in_use == 0.0 {
            return (0.0, 0.0);
        }
        let estimate = self.estimate();
        let deviation = information::deviation(self.registers(), estimate);
        crate::information::bounds(in_use, estimate, deviation, kappa)
    }
}

/// As they are in a byte each.
impl WrittenRegisters for Registers {
    const ALPHABET: usize = REGISTERS;

    fn plain_bytes(params: HllParams) -> usize {
        params.registers()
    }

    fn write_plain(values: &[u8], payload: &mut Vec<u8>) {
        payload.extend_from_slice(values);
    }

    fn read_plain(payload: &[u8]) -> Vec<u8> {
        payload.to_vec()
    }

    fn count_plain(payload: &[u8]) -> Counts {
        Counts::of(payload)
    }

    fn counts_of(histogram: &[u32]) -> Counts {
        Counts::from_histogram(histogram)
    }

    fn are_reachable(counts: &Counts, params: HllParams) -> bool {
        counts.are_reachable(params.registers())
            && counts.may_stand_for_more_than(params.sparse_limit(), params.precision())
    }
}

/// Joins to each register those of `other` that fold onto it.
fn raise(registers: &mut [u8], other: &[u8]) {
    for part in other.chunks_exact(registers.len()) {
        for (mine, &theirs) in registers.iter_mut().zip(part) {
            *mine = join(*mine, theirs);
        }
    }
}
