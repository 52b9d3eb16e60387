//! Whole numbers as runs of bits, from the lowest bit of the first byte on.

use alloc::vec::Vec;

use super::MALFORMED;
use crate::Error;

/// Appends bits to bytes.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Bits that do not fill a byte yet, and their number.
    pending: u64,
    len: u32,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, pending: 0, len: 0 }
    }

    /// Appends the `len` low bits of a value that has no others, at most 32 of them.
    pub(super) fn put(&mut self, value: u32, len: u32) {
        self.pending |= u64::from(value) << self.len;
        self.len += len;
        while self.len >= 8 {
            self.out.push(self.pending as u8);
            self.pending >>= 8;
            self.len -= 8;
        }
    }

    /// Appends a number below 2^31: e zeros, a one, then order + e bits, of the least e that suffices.
    pub(super) fn put_golomb(&mut self, value: u32, order: u32) {
        let shifted = value + (1 << order);
        let more = shifted.ilog2() - order;
        self.put(1 << more, more + 1);
        self.put(shifted - (1 << (order + more)), order + more);
    }

    /// Fills the last byte with zeros.
    pub(super) fn finish(self) {
        if self.len > 0 {
            self.out.push(self.pending as u8);
        }
    }
}

/// Takes bits off bytes.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    pending: u64,
    len: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, pending: 0, len: 0 }
    }

    /// The next `len` bits, at most 32.
    pub(super) fn take(&mut self, len: u32) -> Result<u32, Error> {
        while self.len < len {
            let (&byte, rest) = self.bytes.split_first().ok_or(MALFORMED)?;
            self.pending |= u64::from(byte) << self.len;
            self.len += 8;
            self.bytes = rest;
        }
        let value = self.pending & ((1 << len) - 1);
        self.pending >>= len;
        self.len -= len;
        Ok(value as u32)
    }

    /// Undoes [`Writer::put_golomb`].
    pub(super) fn take_golomb(&mut self, order: u32) -> Result<u32, Error> {
        /// Greatest bits of a number: a longer run of zeros is none that is written.
        const BITS: u32 = 31;
        let mut more = 0;
        while self.take(1)? == 0 {
            more += 1;
            if order + more > BITS - 1 {
                return Err(MALFORMED);
            }
        }
        let low = self.take(order + more)?;
        Ok((1 << (order + more)) + low - (1 << order))
    }

    /// The bytes behind the last one that was begun, whose other bits must be zero.
    pub(super) fn finish(self) -> Result<&'a [u8], Error> {
        // At most 7 bits: bytes are begun when they are needed.
        if self.pending == 0 { Ok(self.bytes) } else { Err(MALFORMED) }
    }
}
