//! How often each register value occurs: all that an estimate needs to know of the registers.

use crate::packed::{GROUP, Group};
use crate::sparse::INDEX_BITS;

/// Leading zeros that a token counts apart from its index bits.
const MAX_RANK: u64 = crate::sparse::MAX_RANK as u64;

/// Most leading zeros that are counted: the bits above the index of the greatest precision, so that a value never
/// depends on the precision.
pub(crate) const MAX_ZEROS: usize = 46;

/// The greatest register value.
pub(crate) const MAX_VALUE: u8 = MAX_ZEROS as u8 + 1;

/// Values 0 (no hash yet) to [`MAX_VALUE`].
pub(crate) const VALUES: usize = MAX_VALUE as usize + 1;

/// Registers by value. The counts are integers, so that no history of updates can leave a trace in an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Histogram([u32; VALUES]);

impl Histogram {
    /// Of so many registers, none of which has seen a hash.
    pub(crate) fn empty(registers: usize) -> Self {
        let mut counts = [0; VALUES];
        counts[0] = registers as u32;
        Self(counts)
    }

    /// Of these counts.
    pub(crate) fn from_counts(counts: [u32; VALUES]) -> Self {
        Self(counts)
    }

    /// Of registers given in groups; bits 6 and 7 of each are ignored, and values above [`MAX_VALUE`] count as that
    /// value.
    pub(crate) fn count(groups: impl Iterator<Item = Group>) -> Self {
        let mut tally = Tally::new();
        tally.add(groups);
        tally.finish()
    }

    /// Each value with the number of its registers.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u8, u128)> + '_ {
        (0..).zip(self.0.iter().map(|&count| u128::from(count)))
    }

    /// A register went from one value to another.
    #[inline]
    pub(crate) fn moved(&mut self, from: u8, to: u8) {
        self.0[usize::from(from)] -= 1;
        self.0[usize::from(to)] += 1;
    }

    pub(crate) fn registers(&self) -> f64 {
        f64::from(self.0.iter().sum::<u32>())
    }

    /// Registers that have seen no hash.
    pub(crate) fn zeros(&self) -> f64 {
        f64::from(self.0[0])
    }

    /// Registers that can rise no further.
    pub(crate) fn saturated(&self) -> f64 {
        f64::from(self.0[usize::from(MAX_VALUE)])
    }

    /// Registers in between: for the values 1 to [`MAX_ZEROS`].
    pub(crate) fn between(&self) -> impl DoubleEndedIterator<Item = f64> + '_ {
        self.0[1..=MAX_ZEROS].iter().map(|&count| f64::from(count))
    }

    /// Most different tokens of which registers of 2^`precision` have no more than these values: a sketch whose
    /// registers say less than its form was not written by any.
    pub(crate) fn most_tokens(&self, precision: u8) -> u64 {
        // The index bits of a token above the register's number.
        let each = 1u64 << (INDEX_BITS - u32::from(precision));
        let tokens_below = |value: u64| match value {
            // One for each value from 1.
            ..=MAX_RANK => value * each,
            // The zeros of the last ones go on into the index bits.
            _ if value < u64::from(MAX_VALUE) => MAX_RANK * each + each - (each >> (value - MAX_RANK)),
            _ => (MAX_RANK + 1) * each,
        };
        self.0.iter().zip(0..).map(|(&count, value)| u64::from(count) * tokens_below(value)).sum()
    }

    /// The probability that the next new key changes a register.
    pub(crate) fn change_rate(&self) -> f64 {
        let rising = self.between().rev().fold(0.0, |sum, count| 0.5 * (sum + count));
        (self.zeros() + rising) / self.registers()
    }
}

/// Registers being counted.
pub(crate) struct Tally([[u32; FIELDS]; GROUP]);

/// What six bits tell apart.
const FIELDS: usize = 64;

impl Tally {
    /// A table for each place in a group: runs of one value do not wait for one counter.
    pub(crate) fn new() -> Self {
        Self([[0; FIELDS]; GROUP])
    }

    #[inline]
    pub(crate) fn add(&mut self, groups: impl Iterator<Item = Group>) {
        for group in groups {
            for (table, register) in self.0.iter_mut().zip(group) {
                table[usize::from(register) % FIELDS] += 1;
            }
        }
    }

    pub(crate) fn finish(&self) -> Histogram {
        let mut sums = [0; FIELDS];
        for table in &self.0 {
            for (sum, count) in sums.iter_mut().zip(table) {
                *sum += count;
            }
        }
        let mut counts = [0; VALUES];
        let (valid, beyond) = sums.split_at(VALUES);
        counts.copy_from_slice(valid);
        counts[usize::from(MAX_VALUE)] += beyond.iter().sum::<u32>();
        Histogram(counts)
    }
}
