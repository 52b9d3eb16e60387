//! The counters of a table.

use core::fmt;

/// A counter of a table: `u32`, or `u64` where a cell may pass four thousand million.
///
/// Counters saturate and never wrap. The trait is sealed.
pub trait Cell: sealed::Counter + Copy + Default + Ord + Into<u64> + fmt::Debug + 'static {
    /// Bytes of a cell, in memory and in the byte form.
    const BYTES: u8;

    /// The greatest count of a cell, at which it saturates.
    const MAX: Self;
}

pub(crate) mod sealed {
    /// What a table does with its counters.
    pub trait Counter: Sized {
        /// A count as a counter, and whether it had to be cut down to the greatest.
        fn clip(count: u64) -> (Self, bool);

        /// Adds a count whose sum is known to be within the greatest count.
        fn add_within(&mut self, count: u64);

        /// Adds and saturates; true if the sum exceeds the greatest count.
        fn add(&mut self, count: Self) -> bool;

        /// The counter at `index` of little-endian bytes.
        fn read(bytes: &[u8], index: usize) -> Self;

        /// Appends the little-endian bytes of counters.
        fn write(counters: &[Self], bytes: &mut alloc::vec::Vec<u8>);
    }
}

macro_rules! cells {
    ($($type:ty),*) => {$(
        impl Cell for $type {
            const BYTES: u8 = size_of::<$type>() as u8;
            const MAX: Self = <$type>::MAX;
        }

        impl sealed::Counter for $type {
            #[inline]
            fn clip(count: u64) -> (Self, bool) {
                <$type>::try_from(count).map_or((<$type>::MAX, true), |count| (count, false))
            }

            #[inline]
            fn add_within(&mut self, count: u64) {
                debug_assert!(count <= u64::from(<$type>::MAX - *self), "no cell exceeds the total");
                *self = self.wrapping_add(count as $type);
            }

            #[inline]
            fn add(&mut self, count: Self) -> bool {
                let (sum, exceeds) = self.overflowing_add(count);
                *self = if exceeds { <$type>::MAX } else { sum };
                exceeds
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
cells!(u32, u64);
