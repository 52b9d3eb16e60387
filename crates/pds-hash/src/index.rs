//! From a hash to positions.

use crate::mix;

/// Maps a hash onto 0..`range` by multiply-shift: uniform up to `range` / 2^64, by the hash's top bits, for any
/// range. 0 if the range is empty.
///
/// # Source
///
/// `[Lemire19]`.
#[inline]
pub const fn reduce(hash: u64, range: u64) -> u64 {
    ((hash as u128 * range as u128) >> 64) as u64
}

/// The most items of so many bytes that one allocation holds where pointers have so many bits: `usize::BITS` for this
/// platform. Half of the address space is Rust's limit.
///
/// Shapes have 64 bits everywhere; their gates refuse by this what cannot be allocated, before it becomes a `usize`.
///
/// # Panics
///
/// If `item_bytes` is 0, or `pointer_bits` is 0 or above 64.
pub const fn most_items(item_bytes: u64, pointer_bits: u32) -> u64 {
    assert!(pointer_bits >= 1 && pointer_bits <= 64, "the width of a pointer");
    (u64::MAX >> (u64::BITS - pointer_bits) >> 1) / item_bytes
}

/// The bits that a Bloom filter probes for one hash, in an array of 64-bit words.
///
/// `x_0 = h`, `x_(i+1) = rotl(x_i, 27) + s` with `s = rotl(h * ODD, 32)`. Each x names a word by its top bits
/// ([`reduce`]) and a bit of it by its six lowest: any number of words below 2^58 leaves the two disjoint. Double hashing,
/// the arithmetic progression `h_1 + i * h_2`, meets itself too often: small filters then make more false positives than
/// independent probes would (table `bloom-small`).
#[derive(Clone, Copy, Debug)]
pub struct Probes {
    x: u64,
    step: u64,
}

impl Probes {
    /// The probes of this hash.
    #[inline]
    pub const fn new(hash: u64) -> Self {
        /// Odd, so that the product is a bijection; the fractional bits of pi.
        const ODD: u64 = 0x243f_6a88_85a3_08d3;
        // A product's low bits depend on the low bits alone: turned, they depend on all.
        Self { x: hash, step: hash.wrapping_mul(ODD).rotate_left(32) }
    }

    /// The next probe: a word below `words` (0 if there are none), and a bit below 64.
    #[inline]
    pub const fn next(&mut self, words: u64) -> (u64, u32) {
        let x = self.x;
        // Prime to 64, and so far that neither the next word nor the next bit is made of the bits of this word.
        self.x = x.rotate_left(27).wrapping_add(self.step);
        (reduce(x, words), (x % 64) as u32)
    }
}

/// The most rows that [`column()`] tells apart.
pub const MAX_ROWS: usize = 16;

/// An odd multiplier for each row, drawn by the mixer.
const ROW_MULTIPLIERS: [u64; MAX_ROWS] = {
    let mut multipliers = [0; MAX_ROWS];
    let mut row = 0;
    while row < MAX_ROWS {
        multipliers[row] = mix(row as u64 + 1) | 1;
        row += 1;
    }
    multipliers
};

/// The column, in 0..`width`, of a hash in a row of a count-min or count-sketch table.
///
/// Each row multiplies the hash by an odd number of its own. With columns in arithmetic progression over the
/// rows, two keys that meet in two rows meet in all, so that a hot key shadows others outright (table
/// `count-min-rows`).
///
/// # Panics
///
/// If `row` is not below [`MAX_ROWS`].
#[inline]
pub const fn column(hash: u64, row: usize, width: u64) -> u64 {
    reduce(hash.wrapping_mul(ROW_MULTIPLIERS[row]), width)
}
