//! Buckets in bytes, without a bounds check for each, and prefetching where the target has it.
//!
//! The checks take a quarter of the time of a query in cache. They are not needed: a [`Bucket`] is made by the
//! arithmetic of a table alone, and lies below the number of its buckets.

use core::ops::{Deref, DerefMut};

use crate::geometry::Bucket;
use crate::lanes::{Form, Lanes, Wide, Window};

/// Buckets of four slots, one behind the other, and zeros up to a whole number of 64-bit words, so that a word of any
/// form can be loaded at every bucket.
///
/// Bucket i begins at bit `4 width i`, slot j of it `width j` bits later; bit b is bit `b % 8` of byte `b / 8`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Packed<B> {
    lanes: Lanes,
    buckets: u64,
    bytes: B,
}

/// The bytes of a table: whole 64-bit words; `u64::MAX` if they are too many for that.
pub(crate) fn size_bytes(buckets: u64, width: u32) -> u64 {
    let last = u128::from(Lanes::new(width).bucket_bits()) * u128::from(buckets.saturating_sub(1)) / 8;
    let bytes = (last + <Wide as Form>::Word::BYTES as u128).next_multiple_of(8);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl<B: Deref<Target = [u8]>> Packed<B> {
    /// # Panics
    ///
    /// If the bytes are not as many as [`size_bytes`] says.
    pub(crate) fn new(buckets: u64, width: u32, bytes: B) -> Self {
        assert!(bytes.len() as u64 == size_bytes(buckets, width), "as many bytes as the shape has");
        Self { lanes: Lanes::new(width), buckets, bytes }
    }

    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A bucket; above it lies anything.
    #[inline]
    pub(crate) fn window<F: Form>(&self, bucket: Bucket) -> F::Word {
        debug_assert!(bucket.number() < self.buckets, "a bucket of this table");
        let (byte, shift) = self.lanes.position::<F>(bucket);
        // SAFETY: `new` saw as many bytes as `size_bytes` says, which is the position of the last bucket and the bytes
        // of the longest word. The bucket is none beyond the last: it comes from the geometry that the table was made
        // with.
        let word = unsafe { self.bytes.get_unchecked(byte..byte + F::Word::BYTES) };
        F::Word::from_bytes(word).down(shift)
    }

    /// Asks for the cache lines of a bucket: two, since one load in ten goes across the end of a line, and would wait
    /// for the second. Nothing happens where the target has no such hint.
    ///
    /// Into the second level: it has more misses under way at a time than the first.
    #[inline]
    pub(crate) fn prefetch(&self, bucket: Bucket) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            // The byte is the same in every form.
            let (byte, _) = self.lanes.position::<Wide>(bucket);
            let last = byte + if self.lanes.is_narrow() { u64::BYTES } else { u128::BYTES } - 1;
            for byte in [byte, last] {
                let byte = self.bytes.as_ptr().wrapping_add(byte);
                // SAFETY: a prefetch is a hint that reads nothing and faults on no address; `wrapping_add` makes the
                // pointer without a claim about its bounds.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(byte.cast()) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = bucket;
    }
}

impl<B: DerefMut<Target = [u8]>> Packed<B> {
    /// Writes the slot that begins at bit `at` of a bucket.
    #[inline]
    pub(crate) fn set<F: Form>(&mut self, bucket: Bucket, at: u32, value: u64) {
        let (byte, shift) = self.lanes.position::<F>(bucket);
        let word = &mut self.bytes[byte..byte + F::Word::BYTES];
        F::Word::from_bytes(word).set(&self.lanes, at + shift, value).put(word);
    }

    /// Empties every slot.
    pub(crate) fn clear(&mut self) {
        self.bytes.fill(0);
    }
}
