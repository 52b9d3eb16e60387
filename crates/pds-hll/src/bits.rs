//! Whole numbers as runs of bits, from the lowest bit of the first byte on.

use alloc::vec::Vec;

/// Appends bits to bytes.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Bits not yet written, fewer than 8 between two calls.
    buffer: u64,
    held: u32,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, buffer: 0, held: 0 }
    }

    /// Appends the low `count` bits, 32 at most; the others are 0.
    pub(crate) fn put(&mut self, bits: u32, count: u32) {
        self.buffer |= u64::from(bits) << self.held;
        self.held += count;
        while self.held >= 8 {
            self.out.push(self.buffer as u8);
            self.buffer >>= 8;
            self.held -= 8;
        }
    }

    /// So many zeros.
    pub(crate) fn zeros(&mut self, mut count: u32) {
        while count > 0 {
            let step = count.min(32);
            self.put(0, step);
            count -= step;
        }
    }

    /// Appends a number below 2^31: e zeros, a one, then order + e bits, of the least e that suffices.
    pub(crate) fn put_golomb(&mut self, value: u32, order: u32) {
        let shifted = value + (1 << order);
        let more = shifted.ilog2() - order;
        self.put(1 << more, more + 1);
        self.put(shifted - (1 << (order + more)), order + more);
    }

    /// Fills the last byte with zeros.
    pub(crate) fn finish(mut self) {
        let padding = (8 - self.held) % 8;
        self.put(0, padding);
    }
}

/// Takes bits from bytes.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// The first byte that is not in the buffer.
    next: usize,
    buffer: u64,
    held: u32,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0, buffer: 0, held: 0 }
    }

    /// `count` bits, 32 at most; `None` if there are fewer.
    pub(crate) fn take(&mut self, count: u32) -> Option<u32> {
        self.refill();
        if count > self.held {
            return None;
        }
        let bits = self.buffer & ((1 << count) - 1);
        self.skip(count);
        Some(bits as u32)
    }

    /// The zeros before the next one, which goes with them; `None` if there is no one.
    pub(crate) fn unary(&mut self) -> Option<u64> {
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
    pub(crate) fn unary_to(&mut self, most: u32) -> Option<u32> {
        self.refill();
        let zeros = self.buffer.trailing_zeros().min(most);
        let taken = if zeros < most { zeros + 1 } else { zeros };
        if taken > self.held {
            return None;
        }
        self.skip(taken);
        Some(zeros)
    }

    /// Undoes [`Writer::put_golomb`]; `None` if there is no such number.
    pub(crate) fn take_golomb(&mut self, order: u32) -> Option<u32> {
        /// Greatest bits of a number: a longer run of zeros is none that is written.
        const BITS: u32 = 31;
        let mut more = 0;
        while self.take(1)? == 0 {
            more += 1;
            if order + more > BITS - 1 {
                return None;
            }
        }
        let low = self.take(order + more)?;
        Some((1 << (order + more)) + low - (1 << order))
    }

    /// The bytes behind the last one that was begun; `None` unless the other bits of that one are zero.
    pub(crate) fn finish(self) -> Option<&'a [u8]> {
        let begun = self.held % 8;
        let behind = self.next - (self.held / 8) as usize;
        (self.buffer & ((1 << begun) - 1) == 0).then(|| &self.bytes[behind..])
    }

    /// Whether nothing is left but what fills the last byte, zeros.
    pub(crate) fn is_finished(&self) -> bool {
        self.next == self.bytes.len() && self.held < 8 && self.buffer == 0
    }

    /// At least 57 bits, or all there are.
    fn refill(&mut self) {
        while self.held <= 56
            && let Some(&byte) = self.bytes.get(self.next)
        {
            self.buffer |= u64::from(byte) << self.held;
            self.held += 8;
            self.next += 1;
        }
    }

    /// Drops bits that are held.
    fn skip(&mut self, count: u32) {
        self.buffer = self.buffer.checked_shr(count).unwrap_or(0);
        self.held -= count;
    }
}
