//! Asking for memory ahead of its use.

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// Asks for the cache line of an element, or for both if borrowed bytes make it lie across two; nothing happens where the target has no such hint.
///
/// Into the second level: it has more misses under way at a time than the first, and a classic filter's lines are many.
#[inline]
pub(crate) fn prefetch<T>(array: &[T], index: u64) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let element = array.as_ptr().wrapping_add(index as usize);
        // SAFETY: a prefetch is a hint that reads nothing and faults on no address; `wrapping_add` makes the
        // pointer without a claim about its bounds.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(element.cast()) };
        // What is aligned to its size lies within a line.
        if size_of::<T>() > align_of::<T>() && element.addr() % CACHE_LINE + size_of::<T>() > CACHE_LINE {
            let last = element.cast::<i8>().wrapping_add(size_of::<T>() - 1);
            // SAFETY: as above.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(last) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (array, index);
}
