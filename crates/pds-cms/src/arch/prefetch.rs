//! Asking for memory ahead of its use.

/// Asks for the cache line of the element at `index` behind `base`; nothing happens where the target has no such hint.
///
/// Into the second level: it has more misses under way at a time than the first, and a batch asks for a line per row.
#[inline]
pub(crate) fn prefetch<T>(base: *const T, index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch is a hint that reads nothing and faults on no address; `wrapping_add` makes the pointer
        // without a claim about its bounds.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(base.wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (base, index);
}
