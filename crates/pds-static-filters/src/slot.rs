//! What a slot holds: a fingerprint of 8, 16 or 32 bits.

/// A fingerprint, or the slot of one: `u8`, `u16` or `u32`.
///
/// The width decides the rate of false positives, 2^-bits, and the size. The trait is sealed.
pub trait Slot: Copy + Eq + Send + Sync + sealed::Slot {
    /// Bits of a fingerprint.
    const BITS: u32;

    /// Bytes of a slot.
    const BYTES: usize = Self::BITS as usize / 8;
}

impl Slot for u8 {
    const BITS: u32 = 8;
}

impl Slot for u16 {
    const BITS: u32 = 16;
}

impl Slot for u32 {
    const BITS: u32 = 32;
}

pub(crate) mod sealed {
    /// What the filters do with slots; kept from the public interface.
    pub trait Slot: Sized {
        /// The low bits.
        fn truncate(hash: u64) -> Self;

        /// The sum over GF(2).
        fn xor(self, other: Self) -> Self;

        /// A value whose bytes were little-endian in memory.
        fn in_native_order(self) -> Self;

        /// The slot of an index, little-endian.
        ///
        /// # Panics
        ///
        /// If there is no such slot.
        fn read(bytes: &[u8], index: usize) -> Self;

        /// Writes the slot of an index.
        ///
        /// # Panics
        ///
        /// If there is no such slot.
        fn write(self, bytes: &mut [u8], index: usize);
    }

    impl Slot for u8 {
        #[inline]
        fn truncate(hash: u64) -> Self {
            hash as u8
        }

        #[inline]
        fn xor(self, other: Self) -> Self {
            self ^ other
        }

        #[inline]
        fn in_native_order(self) -> Self {
            Self::from_le(self)
        }

        #[inline]
        fn read(bytes: &[u8], index: usize) -> Self {
            bytes[index]
        }

        #[inline]
        fn write(self, bytes: &mut [u8], index: usize) {
            bytes[index] = self;
        }
    }

    impl Slot for u16 {
        #[inline]
        fn truncate(hash: u64) -> Self {
            hash as u16
        }

        #[inline]
        fn xor(self, other: Self) -> Self {
            self ^ other
        }

        #[inline]
        fn in_native_order(self) -> Self {
            Self::from_le(self)
        }

        #[inline]
        fn read(bytes: &[u8], index: usize) -> Self {
            Self::from_le_bytes(bytes.as_chunks().0[index])
        }

        #[inline]
        fn write(self, bytes: &mut [u8], index: usize) {
            bytes.as_chunks_mut().0[index] = self.to_le_bytes();
        }
    }

    impl Slot for u32 {
        #[inline]
        fn truncate(hash: u64) -> Self {
            hash as u32
        }

        #[inline]
        fn xor(self, other: Self) -> Self {
            self ^ other
        }

        #[inline]
        fn in_native_order(self) -> Self {
            Self::from_le(self)
        }

        #[inline]
        fn read(bytes: &[u8], index: usize) -> Self {
            Self::from_le_bytes(bytes.as_chunks().0[index])
        }

        #[inline]
        fn write(self, bytes: &mut [u8], index: usize) {
            bytes.as_chunks_mut().0[index] = self.to_le_bytes();
        }
    }
}
