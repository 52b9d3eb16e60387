//! Sorted hashes in a Rice code of their gaps: the payload of the byte forms.
//!
//! The gap to the hash before, less 1 (the first: the hash, less 1), is split into its low r bits and the rest, the quotient.
//! Bits are filled in from the lowest of the first byte: as many zeros as the quotient says, a one, the low bits. The gaps of
//! near uniform hashes are geometric, for which no code of whole bits is shorter by more than some hundredths of a bit if r
//! fits; r follows from threshold and count, and is not written.

use alloc::vec::Vec;

/// r is at least so much, so that decoding takes no more than 16 times the bytes: a hash takes 25 bits or more, and with
/// its slots and, if it was made to collide, its place in a tree up to 49 bytes of memory. Only beyond 2^40 keys would less
/// be shorter.
const MIN_LOW_BITS: u32 = 24;

/// The number r of low bits for so many hashes below a threshold: such that 2^r is the mean gap or up to half of it.
pub(crate) fn low_bits(theta: u64, count: u64) -> u32 {
    (theta / count.max(1)).max(1).ilog2().max(MIN_LOW_BITS)
}

/// Whether so many hashes below a threshold can take so many bytes.
pub(crate) fn length_is_possible(theta: u64, count: u64, bytes: usize) -> bool {
    let r = low_bits(theta, count);
    let least = u128::from(count) * u128::from(r + 1);
    let most = if count == 0 { 0 } else { least + u128::from(theta >> r) };
    (least.div_ceil(8)..=most.div_ceil(8)).contains(&(bytes as u128))
}

/// Bits that a window has for certain: what is left of eight bytes behind a position within the first.
const CERTAIN: u32 = 57;

/// Appends the code of ascending hashes below a threshold.
pub(crate) fn encode(theta: u64, hashes: &[u64], out: &mut Vec<u8>) {
    let r = low_bits(theta, hashes.len() as u64);
    // In 64 bits: the bits of the largest sketch are nearly too many for 32.
    out.reserve((hashes.len() as u64 * u64::from(r + 3)).div_ceil(8) as usize);
    let mut writer = Writer { out, word: 0, used: 0 };
    let mut last = 0;
    for &hash in hashes {
        let gap = hash - last - 1;
        last = hash;
        let mut quotient = gap >> r;
        while quotient >= u64::from(Writer::MOST) {
            writer.put(0, Writer::MOST);
            quotient -= u64::from(Writer::MOST);
        }
        writer.put(1 << quotient, quotient as u32 + 1);
        let low = gap & ((1 << r) - 1);
        let split = r.min(Writer::MOST);
        writer.put(low & ((1 << split) - 1), split);
        writer.put(low >> split, r - split);
    }
    writer.finish();
}

/// Collects bits from the lowest.
struct Writer<'a> {
    out: &'a mut Vec<u8>,
    word: u64,
    used: u32,
}

impl Writer<'_> {
    /// The most bits, but for one, that may be put at once.
    const MOST: u32 = 32;

    /// `value` is below 2^`bits`; fewer than 31 bits wait from before, so that a word has room for both.
    fn put(&mut self, value: u64, bits: u32) {
        self.word |= value << self.used;
        self.used += bits;
        if self.used >= 31 {
            let whole = self.used / 8;
            self.out.extend_from_slice(&self.word.to_le_bytes()[..whole as usize]);
            self.word >>= 8 * whole;
            self.used -= 8 * whole;
        }
    }

    fn finish(self) {
        let bytes = self.used.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.word.to_le_bytes()[..bytes]);
    }
}

/// The hashes of a code: whatever the bytes, ascending, above 0 and below the threshold; fewer than told if the bytes have no
/// more.
#[derive(Clone)]
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
    /// Bits that were read.
    at: u64,
    low_bits: u32,
    last: u64,
    theta: u64,
    left: u64,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(theta: u64, count: u64, bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, low_bits: low_bits(theta, count), last: 0, theta, left: count }
    }

    /// Whether all hashes were there, and behind them nothing but zeros up to the end of a byte.
    pub(crate) fn is_complete(&self) -> bool {
        self.left == 0 && self.at.div_ceil(8) == self.bytes.len() as u64 && self.window(self.at) == 0
    }

    /// At least [`CERTAIN`] bits from a position on; beyond the end there are zeros.
    #[inline]
    fn window(&self, at: u64) -> u64 {
        let rest = usize::try_from(at / 8).ok().and_then(|byte| self.bytes.get(byte..)).unwrap_or_default();
        let word = match rest.first_chunk::<8>() {
            Some(whole) => u64::from_le_bytes(*whole),
            None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        word >> (at % 8)
    }

    /// The next so many bits, 63 at most.
    #[inline]
    fn take(&mut self, bits: u32) -> u64 {
        let at = self.at;
        self.at += u64::from(bits);
        if bits <= CERTAIN {
            self.window(at) & ((1 << bits) - 1)
        } else {
            let low = self.window(at) & ((1 << CERTAIN) - 1);
            let high = self.window(at + u64::from(CERTAIN)) & ((1 << (bits - CERTAIN)) - 1);
            high << CERTAIN | low
        }
    }

    /// The next quotient, if the bytes do not end before its one.
    #[inline]
    fn quotient(&mut self) -> Option<u64> {
        let mut quotient = 0;
        loop {
            let window = self.window(self.at);
            if window != 0 {
                let zeros = window.trailing_zeros();
                self.at += u64::from(zeros) + 1;
                return Some(quotient + u64::from(zeros));
            }
            let valid = 64 - self.at % 8;
            self.at += valid;
            quotient += valid;
            if self.at / 8 >= self.bytes.len() as u64 {
                return None;
            }
        }
    }

    /// The next quotient and low bits.
    #[inline]
    fn parts(&mut self) -> Option<(u64, u64)> {
        let window = self.window(self.at);
        let zeros = window.trailing_zeros();
        let bits = zeros + 1 + self.low_bits;
        // Mostly one window has both.
        if bits <= CERTAIN {
            self.at += u64::from(bits);
            return Some((zeros.into(), window >> (zeros + 1) & ((1 << self.low_bits) - 1)));
        }
        let quotient = self.quotient()?;
        Some((quotient, self.take(self.low_bits)))
    }

    #[inline]
    fn hash(&mut self) -> Option<u64> {
        let (quotient, low) = self.parts()?;
        if quotient > u64::MAX >> self.low_bits || self.at > 8 * self.bytes.len() as u64 {
            return None;
        }
        let gap = quotient << self.low_bits | low;
        self.last.checked_add(gap)?.checked_add(1).filter(|&hash| hash < self.theta)
    }
}

impl Iterator for Decoder<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.left == 0 {
            return None;
        }
        let hash = self.hash();
        if let Some(hash) = hash {
            self.last = hash;
            self.left -= 1;
        } else {
            // Not complete, and never to be asked again.
            (self.left, self.at) = (0, u64::MAX / 2);
        }
        hash
    }
}
