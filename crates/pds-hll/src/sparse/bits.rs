//! Bits in bytes, from the lowest of the first byte.

use alloc::vec::Vec;

/// Appends bits to bytes.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Bits not yet written, fewer than 8 between two calls.
    buffer: u64,
    held: u32,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, buffer: 0, held: 0 }
    }

    /// The low `count` bits, 32 at most; the others are 0.
    pub(super) fn put(&mut self, bits: u32, count: u32) {
        self.buffer |= u64::from(bits) << self.held;
        self.held += count;
        while self.held >= 8 {
            self.out.push(self.buffer as u8);
            self.buffer >>= 8;
            self.held -= 8;
        }
    }

    /// So many zeros.
    pub(super) fn zeros(&mut self, mut count: u32) {
        while count > 0 {
            let step = count.min(32);
            self.put(0, step);
            count -= step;
        }
    }

    /// Fills the last byte with zeros.
    pub(super) fn finish(mut self) {
        let padding = (8 - self.held) % 8;
        self.put(0, padding);
    }
}

/// Takes bits from bytes.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    buffer: u64,
    held: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, buffer: 0, held: 0 }
    }

    /// `count` bits, 32 at most; `None` if there are fewer.
    pub(super) fn take(&mut self, count: u32) -> Option<u32> {
        self.refill();
        if count > self.held {
            return None;
        }
        let bits = self.buffer & ((1 << count) - 1);
        self.skip(count);
        Some(bits as u32)
    }

    /// The zeros before the next one, which goes with them; `None` if there is no one.
    pub(super) fn unary(&mut self) -> Option<u64> {
        let mut zeros = 0;
        loop {
            self.refill();
            let here = self.buffer.trailing_zeros();
            if here < self.held {
                self.skip(here + 1);
                return Some(zeros + u64::from(here));
            }
            if self.held == 0 {
                return None;
            }
            zeros += u64::from(self.held);
            self.skip(self.held);
        }
    }

    /// As [`Reader::unary`], up to `most` zeros, 56 at most: no one follows so many.
    pub(super) fn unary_to(&mut self, most: u32) -> Option<u32> {
        self.refill();
        let zeros = self.buffer.trailing_zeros().min(most);
        let taken = if zeros < most { zeros + 1 } else { zeros };
        if taken > self.held {
            return None;
        }
        self.skip(taken);
        Some(zeros)
    }

    /// Whether nothing is left but what fills the last byte, zeros.
    pub(super) fn is_finished(&self) -> bool {
        self.rest.is_empty() && self.held < 8 && self.buffer == 0
    }

    /// At least 57 bits, or all there are.
    fn refill(&mut self) {
        while self.held <= 56
            && let Some((&byte, rest)) = self.rest.split_first()
        {
            self.buffer |= u64::from(byte) << self.held;
            self.held += 8;
            self.rest = rest;
        }
    }

    /// Drops bits that are held.
    fn skip(&mut self, count: u32) {
        self.buffer = self.buffer.checked_shr(count).unwrap_or(0);
        self.held -= count;
    }
}
