//! Slots without bounds checks, and prefetching where the target has it.
//!
//! The checks take a tenth of the time of a query in cache. They are not needed: a layout's places lie below the number of
//! its slots whatever the hash, and that number is checked against the bytes once.

use core::marker::PhantomData;

use crate::Slot;
use crate::layout::sealed::Layout;
use crate::peel::fingerprint;

/// The slots of a filter, owned or borrowed.
#[derive(Clone, Copy)]
pub(crate) struct Slots<L, S, B> {
    layout: L,
    bytes: B,
    slot: PhantomData<S>,
}

impl<L: Layout, S: Slot, B: AsRef<[u8]>> Slots<L, S, B> {
    /// # Panics
    ///
    /// If the bytes are not those of the layout's slots.
    pub(crate) fn new(layout: L, bytes: B) -> Self {
        let slots = u128::from(layout.shards()) * u128::from(layout.shard_slots());
        assert!(slots * S::BYTES as u128 == bytes.as_ref().len() as u128, "the slots of the layout");
        Self { layout, bytes, slot: PhantomData }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Whether the slots of a seeded hash sum up to its fingerprint.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as a call it takes half as long again in cache
    pub(crate) fn contain(&self, hash: u64) -> bool {
        let (shard, local) = match self.layout.shards() {
            1 => (0, hash),
            0 => return false,
            _ => self.layout.route(hash),
        };
        let start =
            self.bytes().as_ptr().wrapping_add((shard * self.layout.shard_slots()) as usize * S::BYTES);
        let places = self.layout.places(hash, local);
        let sum = places.as_ref().iter().fold(fingerprint::<S>(hash), |sum, &place| {
            debug_assert!(u64::from(place) < self.layout.shard_slots() && shard < self.layout.shards());
            // SAFETY: `Layout::route` gives a shard below their number and `Layout::places` places below the number of a
            // shard's slots; `new` has checked that there are bytes for the slots of all shards. Any address will do.
            let slot = unsafe { start.add(place as usize * S::BYTES).cast::<S>().read_unaligned() };
            sum.xor(slot.in_native_order())
        });
        sum == S::truncate(0)
    }

    /// Asks for the cache lines of a seeded hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        let (shard, local) = self.layout.route(hash);
        let start = (shard * self.layout.shard_slots()) as usize;
        for &place in self.layout.places(hash, local).as_ref() {
            prefetch(self.bytes(), (start + place as usize) * S::BYTES);
        }
    }
}

/// Asks for the cache line of a byte; nothing happens where the target has no such hint.
#[inline]
pub(crate) fn prefetch(bytes: &[u8], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let byte = bytes.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch is a hint that reads nothing and faults on no address; `wrapping_add` makes the pointer
        // without a claim about its bounds.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(byte.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, index);
}
