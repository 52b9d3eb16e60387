//! The counters of a count-sketch, and where a hash counts with which sign.

use core::fmt;

use pds_hash::{MAX_ROWS, mix};

use super::CountSketchParams;
use crate::table::positions_in;

/// A counter of a count-sketch: `i32` or `i64`. The trait is sealed.
pub trait SignedCell: sealed::Counter + Copy + Default + Ord + Into<i64> + fmt::Debug + 'static {
    /// Bytes of a cell, in memory and in the byte form.
    const BYTES: u8;

    /// The greatest total weight of a sketch with such cells: within it, no cell can leave its range.
    const MAX_WEIGHT: u64;
}

pub(crate) mod sealed {
    /// What a table does with its counters.
    pub trait Counter: Sized {
        /// Adds what is known to leave the counter in its range.
        fn add_within(&mut self, count: i64);

        /// The counter at `index` of little-endian bytes.
        fn read(bytes: &[u8], index: usize) -> Self;

        /// Appends the little-endian bytes of counters.
        fn write(counters: &[Self], bytes: &mut alloc::vec::Vec<u8>);
    }
}

macro_rules! cells {
    ($($type:ty),*) => {$(
        impl SignedCell for $type {
            const BYTES: u8 = size_of::<$type>() as u8;
            const MAX_WEIGHT: u64 = <$type>::MAX as u64;
        }

        impl sealed::Counter for $type {
            #[inline]
            fn add_within(&mut self, count: i64) {
                // The count is within the total weight, which is within the cell's range; so is the sum.
                *self = self.wrapping_add(count as $type);
            }

            #[inline]
            fn read(bytes: &[u8], index: usize) -> Self {
                let (counters, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                Self::from_le_bytes(counters[index])
            }

            fn write(counters: &[Self], bytes: &mut alloc::vec::Vec<u8>) {
                bytes.reserve(size_of_val(counters));
                bytes.extend(counters.iter().flat_map(|counter| counter.to_le_bytes()));
            }
        }
    )*};
}
cells!(i32, i64);

/// The signs of a hash: bit r is set if it counts negatively in row r.
///
/// Of a mixed copy: a column comes from the upper bits of a product of the hash, and its lower bits are those of the hash in
/// every row alike.
#[inline]
pub(crate) fn signs(hash: u64) -> u64 {
    mix(hash)
}

/// A count with the sign that it has in a row.
#[inline]
pub(crate) fn signed(signs: u64, row: usize, count: i64) -> i64 {
    let negative = -((signs >> row & 1).cast_signed());
    (count ^ negative).wrapping_sub(negative)
}

/// The median of what the rows say of a hash: their number is odd.
#[inline]
pub(crate) fn estimate(params: CountSketchParams, hash: u64, cell: impl Fn(usize) -> i64) -> i64 {
    let signs = signs(hash);
    let mut rows = [0; MAX_ROWS];
    let mut depth = 0;
    let positions = positions_in(params.width(), params.depth(), hash);
    for (estimate, position) in rows.iter_mut().zip(positions) {
        *estimate = signed(signs, depth, cell(position));
        depth += 1;
    }
    median(&mut rows[..depth])
}

/// The middle of an odd number of values.
#[inline]
pub(crate) fn median<T: Ord + Copy>(values: &mut [T]) -> T {
    match *values {
        [a, b, c] => middle(a, b, c),
        // The least and the greatest pair of four leave two in the middle, and the fifth beside them.
        [ref four @ .., last] if four.len() == 4 => {
            let (low, high) = (four[0].min(four[1]), four[0].max(four[1]));
            let (other_low, other_high) = (four[2].min(four[3]), four[2].max(four[3]));
            middle(last, low.max(other_low), high.min(other_high))
        }
        _ => {
            values.sort_unstable();
            values[values.len() / 2]
        }
    }
}

#[inline]
fn middle<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.min(b).max(a.max(b).min(c))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn the_median_is_the_middle_of_the_sorted() {
        for depth in [1usize, 3, 5, 7] {
            // Every tuple of few values: ties in every place.
            for code in 0..4usize.pow(depth as u32).min(20_000) {
                let mut values: Vec<usize> = (0..depth).map(|i| code >> (2 * i) & 3).collect();
                let mut sorted = values.clone();
                sorted.sort_unstable();
                assert_eq!(median(&mut values), sorted[depth / 2]);
            }
        }
    }

    #[test]
    fn a_sign_turns_every_count() {
        for count in [0, 1, -1, 77, i64::MAX, -i64::MAX] {
            assert_eq!((signed(0b10, 0, count), signed(0b10, 1, count)), (count, -count));
        }
    }
}
