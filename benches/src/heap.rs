//! How much of the heap a contender holds, and held while it was built: the same measure for every crate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The allocator of a bench that counts: two additions beside an allocation.
pub struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn taken(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator as it came, and its answer back.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's promise is the one asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's promise is the one asked for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is the one asked for.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        taken(size);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is the one asked for.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// What was made, the bytes of the heap that it holds, and the most that were held while it was made, itself included.
/// Zeros unless [`Counting`] is the allocator.
pub fn measured<T>(make: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let made = make();
    let held = HELD.load(Ordering::Relaxed).saturating_sub(before);
    (made, held, PEAK.load(Ordering::Relaxed).saturating_sub(before))
}
