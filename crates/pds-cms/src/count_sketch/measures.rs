//! What the rows say of the stream as a whole.

use pds_hash::MAX_ROWS;

use super::cell::median;
use super::{CountSketch, CountSketchParams, SignedCell};
use crate::{Error, Fingerprint};

impl<C: SignedCell, H: Fingerprint> CountSketch<C, H> {
    /// The second frequency moment F2, the sum over all keys of the square of their counts: the median of what the rows say.
    /// In a row the error is zero in expectation, and of a relative standard deviation of at most sqrt(2 / width).
    ///
    /// Time in the size of the table.
    ///
    /// # Source
    ///
    /// `[AlonMatiasSzegedy99]`, with many columns in place of many sketches `[ThorupZhang04]`.
    pub fn f2(&self) -> u128 {
        f2_of(self.cells.chunks_exact(self.params.width() as usize).map(|row| row.iter().copied()))
    }

    /// The inner product of two streams, the sum over all keys of the product of their counts: the median of what the rows
    /// say. In a row the error is zero in expectation, with a variance of at most 2 F2 G2 / width.
    ///
    /// Time in the size of the table.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`](crate::Merge::merge), save for the weight.
    pub fn inner_product(&self, other: &Self) -> Result<i128, Error> {
        self.compatible(other)?;
        let width = self.params.width() as usize;
        let rows = self.cells.chunks_exact(width).zip(other.cells.chunks_exact(width));
        // At most the product of the weights, which is below 2^126.
        Ok(median_of_rows(rows.map(|(mine, theirs)| {
            let cells = mine.iter().zip(theirs);
            cells.map(|(&a, &b)| i128::from(a.into()) * i128::from(b.into())).sum()
        })))
    }

    /// The error in counts, floor(epsilon sqrt(F2)): an estimate errs by more with a chance of at most delta per key.
    ///
    /// F2 is [what the rows say](CountSketch::f2), so that the bound has their error; where the width is small, or a few keys
    /// make up F2, it is a guide rather than a certainty. Time in the size of the table.
    pub fn error_bound(&self) -> u64 {
        error_bound(self.params, self.f2())
    }
}

/// The median over rows of the sum of the squares of their cells.
pub(crate) fn f2_of<C: SignedCell>(rows: impl Iterator<Item = impl Iterator<Item = C>>) -> u128 {
    median_of_rows(rows.map(|row| {
        let squares = row.map(|cell| u128::from(cell.into().unsigned_abs()).pow(2));
        // At most the square of the weight, which is below 2^126, but in bytes that were tampered with.
        squares.fold(0, u128::saturating_add)
    }))
}

pub(crate) fn error_bound(params: CountSketchParams, f2: u128) -> u64 {
    (params.epsilon() * libm::sqrt(f2 as f64)) as u64
}

/// An estimate less and plus its error.
pub(crate) fn around(estimate: i64, error: u64) -> (i64, i64) {
    (estimate.saturating_sub_unsigned(error), estimate.saturating_add_unsigned(error))
}

fn median_of_rows<T: Ord + Copy + Default>(rows: impl Iterator<Item = T>) -> T {
    let mut values = [T::default(); MAX_ROWS];
    let depth = values.iter_mut().zip(rows).map(|(value, row)| *value = row).count();
    median(&mut values[..depth])
}
