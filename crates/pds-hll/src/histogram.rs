//! How often each register value occurs: all that an estimate needs to know of the registers.

use crate::packed::{GROUP, Group};

/// Most leading zeros that are counted: the bits above the index of the greatest precision, so that a value never
/// depends on the precision.
pub(crate) const MAX_ZEROS: usize = 46;

/// The greatest register value.
pub(crate) const MAX_VALUE: u8 = MAX_ZEROS as u8 + 1;

/// Values 0 (no hash yet) to [`MAX_VALUE`].
const VALUES: usize = MAX_VALUE as usize + 1;

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

    /// Of registers given in groups; bits 6 and 7 of each are ignored, and values above [`MAX_VALUE`] count as that
    /// value.
    pub(crate) fn count(groups: impl Iterator<Item = Group>) -> Self {
        /// What six bits tell apart.
        const FIELDS: usize = 64;
        // A table for each place in a group: runs of one value do not wait for one counter.
        let mut tables = [[0u32; FIELDS]; GROUP];
        for group in groups {
            for (table, register) in tables.iter_mut().zip(group) {
                table[usize::from(register) % FIELDS] += 1;
            }
        }
        let mut sums = [0; FIELDS];
        for table in &tables {
            for (sum, count) in sums.iter_mut().zip(table) {
                *sum += count;
            }
        }
        let mut counts = [0; VALUES];
        let (valid, beyond) = sums.split_at(VALUES);
        counts.copy_from_slice(valid);
        counts[usize::from(MAX_VALUE)] += beyond.iter().sum::<u32>();
        Self(counts)
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

    /// The probability that the next new key changes a register.
    pub(crate) fn change_rate(&self) -> f64 {
        let rising = self.between().rev().fold(0.0, |sum, count| 0.5 * (sum + count));
        (self.zeros() + rising) / self.registers()
    }
}
