//! The registers of a sketch.

use alloc::boxed::Box;
use alloc::vec;
use core::mem;

use super::register::{changes_with, join, with_value};
use crate::registers::value;
use crate::sparse::Token;

/// Registers, a power of two of them.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Registers(Box<[u8]>);

impl Registers {
    pub(super) fn empty(count: usize) -> Self {
        Self(vec![0; count].into_boxed_slice())
    }

    /// These registers, each of which some hashes lead to.
    pub(super) fn from_bytes(bytes: Box<[u8]>) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Takes in a hash; true if a register changed.
    ///
    /// Once there are many more keys than registers hardly a hash changes anything: the one branch is on that.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        let register = self.at(hash);
        let value = value(hash);
        let changes = changes_with(*register, value);
        if changes {
            *register = with_value(*register, value);
        }
        changes
    }

    /// Takes in many hashes, without branches: they would often be mispredicted while there are few keys, and cost as much
    /// as they save when there are many.
    pub(super) fn insert_batch(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            let register = self.at(hash);
            *register = with_value(*register, value(hash));
        }
    }

    /// Takes in the hashes that tokens stand for.
    pub(super) fn insert_tokens(&mut self, tokens: impl Iterator<Item = Token>) {
        for token in tokens {
            self.insert(token.hash());
        }
    }

    /// Takes in what registers of any number have seen; ends up with the smaller number of the two.
    pub(super) fn merge(&mut self, other: &Self) {
        self.fold(other.0.len());
        raise(&mut self.0, &other.0);
    }

    /// Down to `count` registers, a power of two, if there are more. The index being the low bits of the hash, the
    /// registers that become one lie `count` apart.
    pub(super) fn fold(&mut self, count: usize) {
        if count < self.0.len() {
            let mut bytes = mem::take(&mut self.0).into_vec();
            let (kept, rest) = bytes.split_at_mut(count);
            raise(kept, rest);
            bytes.truncate(count);
            self.0 = bytes.into_boxed_slice();
        }
    }

    #[inline]
    fn at(&mut self, hash: u64) -> &mut u8 {
        let index = hash as usize & (self.0.len() - 1);
        &mut self.0[index]
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
