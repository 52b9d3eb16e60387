//! From a hash to the bits of a key within its line.
//!
//! Eight bits at a time, a *round*: the eight differ. Bits drawn with replacement meet now and then, and a key of six
//! bits that has only five is found wrongly more often. All eight in words of their own is worse than either, since words
//! then fill too evenly. So a word is drawn freely, and within a
//! word no bit twice.

use pds_hash::mix;

/// Bits of a line: 64 bytes.
pub(crate) const LINE_BITS: u32 = 512;

/// Bits that are drawn at a time.
pub(crate) const ROUND: u32 = 8;

/// An odd multiplier for each bit of a round, drawn by the mixer.
pub(crate) const SALTS: [u32; ROUND as usize] = {
    let mut salts = [0; ROUND as usize];
    let mut i = 0;
    while i < salts.len() {
        salts[i] = (mix(i as u64 + 1) >> 32) as u32 | 1;
        i += 1;
    }
    salts
};

/// Where in [`STEPS`] a round may start.
pub(crate) const STARTS: usize = 32;

/// 3^i mod 31, in the top five bits. Any eight in a row differ, and no two stretches differ by the same amounts.
pub(crate) const STEPS: [u32; STARTS + ROUND as usize - 1] = {
    let mut steps = [0; STARTS + ROUND as usize - 1];
    let (mut i, mut power) = (0, 1);
    while i < steps.len() {
        steps[i] = power << 27;
        power = power * 3 % 31;
        i += 1;
    }
    steps
};

/// The eight bits of a round, of which the first few are a key's.
///
/// With x\[i\] = salt\[i\] times the low half of the hash: bit i falls into the word of 32 bits that the top four bits of
/// x\[i\] name. Its place there is made of the next five bits of x\[word % 8\], the same for all that fall into the word,
/// plus a step that no other of the round has.
#[inline]
pub(crate) fn round(hash: u64) -> [u32; ROUND as usize] {
    let x = SALTS.map(|salt| salt.wrapping_mul(hash as u32));
    let steps = &STEPS[(hash >> 32) as usize % STARTS..];
    core::array::from_fn(|i| {
        let word = x[i] >> 28;
        let place = (x[word as usize % x.len()] << 4).wrapping_add(steps[i]) >> 27;
        32 * word + place
    })
}

/// The rounds of a key: a hash, and how many of its bits are wanted, 1 to 8.
pub(crate) struct Rounds {
    hash: u64,
    product: u64,
    left: u32,
}

impl Rounds {
    #[inline]
    pub(crate) fn new(hash: u64, k: u32) -> Self {
        Self { hash, product: hash, left: k }
    }
}

impl Iterator for Rounds {
    type Item = (u64, u32);

    #[inline]
    fn next(&mut self) -> Option<(u64, u32)> {
        /// The golden ratio, as a fraction of 2^64, made odd.
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        if self.left == 0 {
            return None;
        }
        let bits = self.left.min(ROUND);
        let hash = self.hash;
        self.left -= bits;
        // The top half of a product depends on every bit of the hash.
        self.product = self.product.wrapping_mul(ODD);
        self.hash = self.product.rotate_left(32);
        Some((hash, bits))
    }
}

/// Calls with each of the `k` bits of a hash, 0..512; those of a round differ, those of two rounds may meet.
#[inline]
pub(crate) fn for_each(hash: u64, k: u32, mut visit: impl FnMut(u32)) {
    for (hash, bits) in Rounds::new(hash, k) {
        for &bit in &round(hash)[..bits as usize] {
            visit(bit);
        }
    }
}

#[cfg(test)]
mod tests {
    use pds_testkit::{DistinctKeys, laws};

    use super::*;

    #[test]
    fn the_bits_of_a_round_differ() {
        for hash in DistinctKeys::new(1).range(0..200_000) {
            let mut bits = round(hash);
            bits.sort_unstable();
            assert!(bits.is_sorted_by(|a, b| a < b) && bits[7] < LINE_BITS, "{bits:?}");
        }
    }

    #[test]
    fn any_eight_steps_in_a_row_differ() {
        for stretch in STEPS.windows(8) {
            assert!((1..8).all(|i| !stretch[..i].contains(&stretch[i])));
        }
    }

    #[test]
    fn every_bit_of_a_line_is_drawn_alike_in_every_place_of_a_round() {
        for place in 0..8 {
            let mut counts = [0; LINE_BITS as usize];
            for hash in DistinctKeys::new(2).range(0..400_000) {
                counts[round(hash)[place] as usize] += 1;
            }
            laws::chi_square_uniform(&counts).assert(&std::format!("place {place}"));
        }
    }
}
