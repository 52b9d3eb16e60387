//! Fewer blocks, after the fact.

use super::block::{BLOCK_BYTES, Block};
use super::metrics::Census;
use crate::targets::rate;
use crate::{Error, Fingerprint, SplitBlockBloomFilter};

impl<H: Fingerprint> SplitBlockBloomFilter<H> {
    /// Makes one block of each `factor` adjacent ones.
    ///
    /// The filter is then the one that its keys would have given in a filter of [`SplitBlockParams::fold`]'s shape, to the
    /// byte: a hash falls into block floor(x), x a multiple of the number of blocks, and floor(floor(x) / factor) is
    /// floor(x / factor). The rate that it was designed for stays, so that filters folded from different sizes to one
    /// merge with others of that shape and rate; [`SplitBlockBloomFilter::is_saturated`] judges by the new number of
    /// blocks.
    ///
    /// [`SplitBlockParams::fold`]: crate::SplitBlockParams::fold
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `factor` is 0 or does not divide the number of blocks; `self` is then unchanged.
    pub fn fold(&mut self, factor: u64) -> Result<(), Error> {
        let params = self.params.fold(factor)?;
        if factor > 1 {
            self.blocks = folded(&self.blocks, factor).map(Block).collect();
            self.params = params;
        }
        Ok(())
    }

    /// Folds by the largest divisor of the number of blocks that leaves
    /// [`estimated_fpr`](SplitBlockBloomFilter::estimated_fpr) at most `fpr`, and returns it; 1 if there is none. For a
    /// filter sized before the number of its keys was known.
    ///
    /// Reads the filter once for each divisor that is tried, and changes nothing until the divisor is found. A power of
    /// two of blocks ([`SplitBlockParams::to_power_of_two`]) has many divisors; a prime number has none.
    ///
    /// [`SplitBlockParams::to_power_of_two`]: crate::SplitBlockParams::to_power_of_two
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `fpr` is NaN or outside (0, 1).
    pub fn fold_to(&mut self, fpr: f64) -> Result<u64, Error> {
        let fpr = rate(fpr)?;
        let blocks = self.params.blocks();
        // From the largest factor, the fewest blocks: those that are too few are given up soon.
        let keeps = |left: u64| Census::at_most(fpr, left, folded(&self.blocks, blocks / left)).is_some();
        let left = divisors(blocks).find(|&left| left == blocks || keeps(left)).unwrap_or(blocks);
        self.fold(blocks / left)?;
        Ok(blocks / left)
    }
}

/// The union of each `factor` adjacent blocks; a factor of at least 1.
fn folded(blocks: &[Block], factor: u64) -> impl Iterator<Item = [u8; BLOCK_BYTES]> {
    blocks.chunks(factor as usize).map(|adjacent| {
        let mut union = [0; BLOCK_BYTES];
        for Block(bytes) in adjacent {
            union.iter_mut().zip(bytes).for_each(|(union, byte)| *union |= byte);
        }
        union
    })
}

/// The divisors of a number, upwards.
fn divisors(number: u64) -> impl Iterator<Item = u64> {
    let small = move || (1..=number.isqrt()).filter(move |divisor| number.is_multiple_of(*divisor));
    let large = move || {
        (1..=number.isqrt())
            .rev()
            .filter(move |divisor| number.is_multiple_of(*divisor))
            .map(move |d| number / d)
    };
    small().chain(large().skip(usize::from(number.isqrt().pow(2) == number)))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn divisors_are_all_there_once_and_in_order() {
        for number in 1..500u64 {
            let expected: Vec<u64> = (1..=number).filter(|divisor| number % divisor == 0).collect();
            assert_eq!(divisors(number).collect::<Vec<_>>(), expected);
        }
    }
}
