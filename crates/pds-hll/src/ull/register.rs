//! One register: a byte.
//!
//! The value of a hash is its leading zeros, 46 at most, and one: 1 to 47. A register that has seen the greatest value k
//! is 4 k, and 2 more if it has seen k - 1, and 1 more if it has seen k - 2. One that has seen nothing is 0. There are no
//! values below 1, so 1 has no such flags, and 2 has but the first: 191 is the greatest register.
//!
//! So the two highest of its 8 bits never both stand, a greater value is a greater byte, and a quarter of the byte,
//! rounded down, is the register of a HyperLogLog.
//!
//! Source: `[Ertl23]`, section 2.4, with another numbering of the values.

use crate::histogram::MAX_VALUE;
use crate::sparse::{INDEX_BITS, MAX_RANK};

/// Registers from 0 to the greatest.
pub(super) const REGISTERS: usize = 4 * (MAX_VALUE as usize + 1);

/// A register as parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The greatest value seen, 0 if none.
    pub(super) greatest: u8,
    /// Whether the value below was seen; `None` if there is no such value.
    pub(super) below: Option<bool>,
    /// Whether the value below that was.
    pub(super) second_below: Option<bool>,
}

impl Parts {
    /// Of any byte. Flags of values that do not exist are ignored.
    pub(super) fn of(register: u8) -> Self {
        let greatest = register >> 2;
        Self {
            greatest,
            below: (greatest >= 2).then_some(register & 2 != 0),
            second_below: (greatest >= 3).then_some(register & 1 != 0),
        }
    }
}

/// Whether a register changes with a value, from 1: if it is greater than all, or one of the two below the greatest and
/// not seen yet.
#[inline]
pub(super) fn changes_with(register: u8, value: u8) -> bool {
    // The values as bits, each two places above itself: those seen, from the greatest on, and all that are too small.
    let idle = ((u64::from(register & 3 | 4) + 1) << (register >> 2)) - 1;
    (idle >> (value + 2)) & 1 == 0
}

/// The register that has seen a value more, from 1: without branches.
#[inline]
pub(super) fn with_value(register: u8, value: u8) -> u8 {
    // The values as bits, each two places above itself; there is no value 0.
    let seen = ((u64::from(register & 3 | 4) << (register >> 2)) & !7) | 4 << value;
    let greatest = seen.ilog2() - 2;
    // The highest bit, at 4 from here, makes one value too many.
    ((greatest - 1) << 2) as u8 + (seen >> greatest) as u8
}

/// The register that has seen what two have seen, neither above the greatest.
///
/// The lesser one is a flag of the greater, or two, if it is near enough. Without branches or shifts by a variable, so
/// that many are joined at once.
#[inline]
pub(super) fn join(a: u8, b: u8) -> u8 {
    let (greater, lesser) = (a.max(b), a.min(b));
    // The lesser one's values as bits: its greatest, the one below, the one below that.
    let seen = if lesser < 4 { 0 } else { lesser & 3 | 4 };
    let flags = match (greater >> 2) - (lesser >> 2) {
        0 => seen & 3,
        1 => seen >> 1,
        2 => seen >> 2,
        _ => 0,
    };
    greater | flags
}

/// Whether some values lead to this byte: it is not too great, and has no flag of a value that does not exist.
pub(super) fn is_reachable(register: u8) -> bool {
    match register >> 2 {
        0 => register == 0,
        1 => register == 4,
        2 => register == 8 || register == 10,
        greatest => greatest <= MAX_VALUE,
    }
}

/// Most different tokens that lead to this register at a precision: those of all values that it may have seen.
pub(super) fn most_tokens(register: u8, precision: u8) -> u64 {
    let Parts { greatest, below, second_below } = Parts::of(register);
    // What is neither of the two is the greatest, or long forgotten.
    let seen = |value: u8| match greatest - value {
        1 => below == Some(true),
        2 => second_below == Some(true),
        _ => true,
    };
    (1..=greatest).filter(|&value| seen(value)).map(|value| tokens_of(value, precision)).sum()
}

/// Different tokens that give a register this value, from 1.
fn tokens_of(value: u8, precision: u8) -> u64 {
    // The index bits of a token above the register's number.
    let each = 1u64 << (INDEX_BITS - u32::from(precision));
    let more = u32::from(value).saturating_sub(MAX_RANK);
    // Beyond, the zeros go on into the index bits, and end with a one, or with the last bit that counts.
    if value < MAX_VALUE { each >> more } else { each >> (more - 1) }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The register of these values, by the definition.
    fn defined(values: &BTreeSet<u8>) -> u8 {
        let Some(&k) = values.last() else { return 0 };
        let flag = |below: u8| u8::from(k > below && values.contains(&(k - below)));
        4 * k + 2 * flag(1) + flag(2)
    }

    fn values() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![vec(1..=MAX_VALUE, 0..6), vec(1..6u8, 0..6), vec(MAX_VALUE - 5..=MAX_VALUE, 0..6)]
    }

    proptest! {
        #[test]
        fn joining_is_having_seen_both(a in values(), b in values()) {
            let seen = |values: &[u8]| values.iter().fold(0, |register, &value| with_value(register, value));
            let set = |values: &[u8]| values.iter().copied().collect();
            prop_assert_eq!(seen(&a), defined(&set(&a)));
            prop_assert!(is_reachable(seen(&a)));
            let whole = defined(&set(&[a.clone(), b.clone()].concat()));
            prop_assert_eq!(join(seen(&a), seen(&b)), whole);
            prop_assert_eq!(join(seen(&b), seen(&a)), whole);
        }

        #[test]
        fn any_bytes_join_without_overflow(a: u8, b: u8) {
            prop_assert!(join(a, b) >= a.max(b));
        }
    }

    #[test]
    fn a_value_more_is_a_register_joined_and_seen_at_once_if_it_changes_nothing() {
        for register in (0..REGISTERS as u8).filter(|&register| is_reachable(register)) {
            for value in 1..=MAX_VALUE {
                let joined = join(register, value << 2);
                assert_eq!(with_value(register, value), joined, "{register} and {value}");
                assert_eq!(changes_with(register, value), joined != register, "{register} and {value}");
            }
        }
    }

    #[test]
    fn bytes_that_are_registers_are_those_of_some_values() {
        let mut reachable: BTreeSet<u8> = BTreeSet::from([0]);
        for k in 1..=MAX_VALUE {
            for (a, b) in [(k, k), (k.max(2) - 1, k), (k.max(3) - 2, k), (k.max(3) - 2, k.max(2) - 1)] {
                reachable.insert(defined(&[a, b, k].into_iter().collect()));
            }
        }
        for register in 0..=255u8 {
            assert_eq!(is_reachable(register), reachable.contains(&register), "{register}");
        }
        assert_eq!(usize::from(*reachable.last().unwrap()), REGISTERS - 1);
    }

    /// All values together have all tokens of a register.
    #[test]
    fn tokens_are_counted_by_value() {
        for precision in [4, 12, 18] {
            let all: u64 = (1..=MAX_VALUE).map(|value| tokens_of(value, precision)).sum();
            assert_eq!(all, u64::from(MAX_RANK + 1) << (INDEX_BITS - u32::from(precision)));
            assert_eq!(most_tokens((REGISTERS - 1) as u8, precision), all);
            assert_eq!(most_tokens(0, precision), 0);
            assert_eq!(most_tokens(4 * 3, precision), 1 << (INDEX_BITS - u32::from(precision)));
        }
    }
}
