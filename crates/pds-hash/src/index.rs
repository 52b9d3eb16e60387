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

/// The positions that a Bloom filter probes for one hash.
///
/// `x_0 = h`, `x_(i+1) = rotl(x_i, 5) + h * ODD`, each reduced to the range by its top bits. Double hashing, the
/// arithmetic progression `h_1 + i * h_2`, meets itself too often: small filters then make more false positives than
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
        Self { x: hash, step: hash.wrapping_mul(ODD) }
    }

    /// The next position, in 0..`range`.
    #[inline]
    pub const fn next(&mut self, range: u64) -> u64 {
        let position = reduce(self.x, range);
        // 5 is prime to 64: 13 turns bring every bit to the top before any comes back.
        self.x = self.x.rotate_left(5).wrapping_add(self.step);
        position
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
