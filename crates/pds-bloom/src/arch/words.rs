//! The words of a classic filter, without a bounds check per probe.
//!
//! The check takes a tenth of the time of a query in cache. It is not needed: a probe's word is the product of a hash and
//! the number of words, shifted right by 64, and lies below that number.

use alloc::boxed::Box;
use core::ops::Deref;

use pds_hash::Probes;

/// The words of a bit array: at least one.
#[derive(Clone, PartialEq)]
pub(crate) struct Words(Box<[u64]>);

impl Words {
    /// # Panics
    ///
    /// If there is no word.
    pub(crate) fn new(words: Box<[u64]>) -> Self {
        assert!(!words.is_empty(), "parameters have at least one word");
        Self(words)
    }

    /// The bit that the next probe falls on, in the lowest place; the others are anything.
    #[inline]
    pub(crate) fn bit(&self, probes: &mut Probes) -> u64 {
        let (word, bit) = probes.next(self.0.len() as u64);
        debug_assert!(word < self.0.len() as u64, "a word below their number");
        // SAFETY: `Probes::next` gives a word below their number, which is not 0: see `new`.
        (unsafe { *self.0.get_unchecked(word as usize) }) >> bit
    }

    /// Sets the bit that the next probe falls on; what it was, as [`Words::bit`].
    #[inline]
    pub(crate) fn set(&mut self, probes: &mut Probes) -> u64 {
        let (word, bit) = probes.next(self.0.len() as u64);
        debug_assert!(word < self.0.len() as u64, "a word below their number");
        // SAFETY: `Probes::next` gives a word below their number, which is not 0: see `new`.
        let word = unsafe { self.0.get_unchecked_mut(word as usize) };
        let before = *word >> bit;
        *word |= 1 << bit;
        before
    }

    /// The words, to change as a whole.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl Deref for Words {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

/// The words of a bit array in somebody's bytes, little-endian and at any address: at least one.
#[derive(Clone, Copy)]
pub(crate) struct BorrowedWords<'a>(&'a [[u8; 8]]);

impl<'a> BorrowedWords<'a> {
    /// The words of a payload; bytes beyond the last whole word are left out.
    ///
    /// # Panics
    ///
    /// If there is no word.
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        let (words, _) = payload.as_chunks();
        assert!(!words.is_empty(), "parameters have at least one word");
        Self(words)
    }

    /// As [`Words::bit`].
    #[inline]
    pub(crate) fn bit(self, probes: &mut Probes) -> u64 {
        let (word, bit) = probes.next(self.0.len() as u64);
        debug_assert!(word < self.0.len() as u64, "a word below their number");
        // SAFETY: `Probes::next` gives a word below their number, which is not 0: see `new`.
        u64::from_le_bytes(unsafe { *self.0.get_unchecked(word as usize) }) >> bit
    }
}

impl Deref for BorrowedWords<'_> {
    type Target = [[u8; 8]];

    fn deref(&self) -> &[[u8; 8]] {
        self.0
    }
}
