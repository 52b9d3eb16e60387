//! The counters of a table.

use core::fmt;

/// A counter of a table: `u8`, `u16`, `u32`, or `u64` where a cell may pass four thousand million.
///
/// Counters saturate and never wrap. The trait is sealed.
pub trait Cell:
    sealed::Counter + Copy + Default + Ord + Into<u64> + fmt::Debug + Send + Sync + 'static
{
    /// Bytes of a cell, in memory and in the byte form.
    const BYTES: u8;

    /// The greatest count of a cell, at which it saturates.
    const MAX: Self;
}

pub(crate) mod sealed {
    /// What a table does with its counters.
    pub trait Counter: Copy + PartialEq {
        /// The counter as threads share it.
        #[cfg(target_has_atomic = "64")]
        type Atomic: Shared<Self>;

        /// A count as a counter, and whether it had to be cut down to the greatest.
        fn clip(count: u64) -> (Self, bool);

        /// Adds a count whose sum is known to be within the greatest count.
        fn add_within(&mut self, count: u64);

        /// Adds and saturates; true if the sum exceeds the greatest count.
        fn add(&mut self, count: Self) -> bool;

        /// Takes away a count that is known to be within this one.
        fn take_within(&mut self, count: u64);

        /// Half of the count, rounded down.
        fn halved(self) -> Self;

        /// The counter at `index` of little-endian bytes.
        fn read(bytes: &[u8], index: usize) -> Self;

        /// Appends the little-endian bytes of counters.
        fn write(counters: &[Self], bytes: &mut alloc::vec::Vec<u8>);
    }

    /// A counter that threads share. The models of the tests have one of their own.
    #[cfg(target_has_atomic = "64")]
    pub trait Shared<C: Counter>: Send + Sync {
        fn new(count: C) -> Self;

        fn load(&self) -> C;

        /// Puts `after` in the place of `before`; what is there if it does not, which may be `before` for no reason.
        fn replace(&self, before: C, after: C) -> Result<(), C>;

        /// Adds and saturates: what the counter was before, and what it is.
        #[inline]
        fn add(&self, count: u64) -> (C, C) {
            let (count, _) = C::clip(count);
            let mut before = self.load();
            loop {
                let mut after = before;
                after.add(count);
                // A full counter is only read, so that the caches of several processors can keep its line.
                if after == before {
                    return (before, after);
                }
                match self.replace(before, after) {
                    Ok(()) => return (before, after),
                    Err(other) => before = other,
                }
            }
        }
    }
}

macro_rules! cells {
    ($($type:ty, $atomic:ident);*) => {$(
        impl Cell for $type {
            const BYTES: u8 = size_of::<$type>() as u8;
            const MAX: Self = <$type>::MAX;
        }

        impl sealed::Counter for $type {
            #[cfg(target_has_atomic = "64")]
            type Atomic = core::sync::atomic::$atomic;

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
            fn take_within(&mut self, count: u64) {
                debug_assert!(count <= u64::from(*self), "the least cell was looked at");
                *self = self.wrapping_sub(count as $type);
            }

            #[inline]
            fn halved(self) -> Self {
                self / 2
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

        /// Relaxed: a count says nothing about other memory.
        #[cfg(target_has_atomic = "64")]
        impl sealed::Shared<$type> for core::sync::atomic::$atomic {
            fn new(count: $type) -> Self {
                Self::new(count)
            }

            #[inline]
            fn load(&self) -> $type {
                self.load(core::sync::atomic::Ordering::Relaxed)
            }

            #[inline]
            fn replace(&self, before: $type, after: $type) -> Result<(), $type> {
                use core::sync::atomic::Ordering::Relaxed;
                self.compare_exchange_weak(before, after, Relaxed, Relaxed).map(|_| ())
            }
        }
    )*};
}
cells!(u8, AtomicU8; u16, AtomicU16; u32, AtomicU32; u64, AtomicU64);
