//! Memory that threads share. The models of the tests have memory of their own.

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// A register: it only rises.
pub(super) trait Register {
    fn new(value: u8) -> Self;
    fn load(&self) -> u8;
    /// Raises it; what it was before.
    fn fetch_max(&self, value: u8) -> u8;

    /// Raises it; true if this call did, false if it was as high already.
    ///
    /// A register that is high enough is only read, so that the caches of several processors can keep its line.
    #[inline]
    fn raise(&self, value: u8) -> bool {
        self.load() < value && self.fetch_max(value) < value
    }
}

/// A slot for a token: it is written once.
pub(super) trait Slot {
    fn new(bits: u32) -> Self;
    fn load(&self) -> u32;
    /// Writes if it has these bits; otherwise gives those that it has.
    fn replace(&self, expected: u32, bits: u32) -> Result<(), u32>;
}

/// The number of slots that have been written: it only rises. Who reads it, and a number that a write has led to, sees what
/// that write's thread wrote before.
pub(super) trait Count {
    fn new(count: u32) -> Self;
    /// Without that promise.
    fn peek(&self) -> u32;
    fn load(&self) -> u32;
    fn increment(&self);
    fn raise(&self, count: u32);
}

/// Relaxed: a register says nothing about other memory, and what has to be seen is published by the user's own means.
impl Register for AtomicU8 {
    fn new(value: u8) -> Self {
        Self::new(value)
    }

    #[inline]
    fn load(&self) -> u8 {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn fetch_max(&self, value: u8) -> u8 {
        self.fetch_max(value, Ordering::Relaxed)
    }
}

/// Relaxed, as registers are.
impl Slot for AtomicU32 {
    fn new(bits: u32) -> Self {
        Self::new(bits)
    }

    fn load(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    fn replace(&self, expected: u32, bits: u32) -> Result<(), u32> {
        self.compare_exchange(expected, bits, Ordering::Relaxed, Ordering::Relaxed).map(|_| ())
    }
}

/// Written with release and read with acquire. All writes are read-modify-writes, so that whoever reads a number sees what
/// came before each of the writes that made it.
impl Count for AtomicU32 {
    fn new(count: u32) -> Self {
        Self::new(count)
    }

    #[inline]
    fn peek(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    fn load(&self) -> u32 {
        self.load(Ordering::Acquire)
    }

    fn increment(&self) {
        self.fetch_add(1, Ordering::Release);
    }

    fn raise(&self, count: u32) {
        self.fetch_max(count, Ordering::Release);
    }
}
