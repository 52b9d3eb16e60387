//! How often each register occurs: all that an estimate needs to know of them.

use super::register::{Parts, REGISTERS, is_reachable, most_tokens};
use crate::codec;
use crate::histogram::{MAX_VALUE, MAX_ZEROS};

/// Registers by what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts([u32; REGISTERS]);

impl Counts {
    /// Of registers; bytes beyond the greatest register are left out.
    pub(super) fn of(registers: &[u8]) -> Self {
        Self(codec::count(registers))
    }

    /// Of a decoder's histogram.
    pub(super) fn from_histogram(histogram: &[u32]) -> Self {
        let mut counts = [0; REGISTERS];
        for (count, &given) in counts.iter_mut().zip(histogram) {
            *count = given;
        }
        Self(counts)
    }

    /// How many registers.
    pub(super) fn registers(&self) -> f64 {
        f64::from(self.0.iter().sum::<u32>())
    }

    /// Registers that have seen a hash. The bytes 1 to 3, flags of values that there are not, say of none.
    pub(super) fn in_use(&self) -> f64 {
        f64::from(self.0[4..].iter().sum::<u32>())
    }

    /// Whether all are registers that some hashes lead to, `count` of them.
    pub(super) fn are_reachable(&self, count: usize) -> bool {
        self.0.iter().map(|&count| count as usize).sum::<usize>() == count
            && self.0.iter().zip(0..).all(|(&count, register)| count == 0 || is_reachable(register))
    }

    /// Whether more different tokens than `limit` lead to these registers at a precision, at most.
    pub(super) fn may_stand_for_more_than(&self, limit: usize, precision: u8) -> bool {
        let mut sum = 0;
        self.0.iter().zip(0..).any(|(&count, register)| {
            if count > 0 {
                sum += u64::from(count) * most_tokens(register, precision);
            }
            sum > limit as u64
        })
    }

    /// What the registers say of each value.
    pub(super) fn evidence(&self) -> Evidence {
        let mut evidence = Evidence { seen: [0.0; MAX_ZEROS], unseen: 0.0 };
        for (&count, register) in self.0.iter().zip(0..) {
            let count = f64::from(count);
            let Parts { greatest, below, second_below } = Parts::of(register);
            evidence.unseen += count * share_above(greatest);
            if greatest > 0 {
                evidence.add(count, greatest, true);
            }
            if let Some(seen) = below {
                evidence.add(count, greatest - 1, seen);
            }
            if let Some(seen) = second_below {
                evidence.add(count, greatest - 2, seen);
            }
        }
        evidence
    }
}

/// Registers that are known to have seen a value, by values; and the sum, over registers, of the probabilities of the
/// values that they are known not to have seen. At values in between nothing is known.
pub(super) struct Evidence {
    /// From the value 1 on. The last one stands for the last two values, which are equally likely.
    pub(super) seen: [f64; MAX_ZEROS],
    pub(super) unseen: f64,
}

impl Evidence {
    fn add(&mut self, count: f64, value: u8, seen: bool) {
        if seen {
            self.seen[usize::from(value).min(MAX_ZEROS) - 1] += count;
        } else {
            self.unseen += count * share(value);
        }
    }
}

/// The share of hashes with a value, from 1: 2^-value, and as much as before for the last.
pub(super) fn share(value: u8) -> f64 {
    share_above(value.min(MAX_VALUE - 1))
}

/// The share of hashes above a value: 2^-value, and none for the last.
pub(super) fn share_above(value: u8) -> f64 {
    if value < MAX_VALUE { 1.0 / (1u64 << value) as f64 } else { 0.0 }
}
