//! What else the cells say: the debiased estimate, products of streams, and how full the table is.

use alloc::vec::Vec;

use pds_hash::MAX_ROWS;

use crate::{Cell, CountMinParams, CountMinSketch, Error, Fingerprint, Key, KeyHasher, table};

impl<C: Cell, H: KeyHasher> CountMinSketch<C, H> {
    /// How often the key occurred, less what its cells owe to other keys on average (count-mean-min): for rare keys, which
    /// [`CountMinSketch::estimate`] gives as the noise of the table.
    ///
    /// In each row, c - (N - c) / (w - 1), with c the cell of the key, N the total and w the width; of these the median,
    /// kept within 0 and [`CountMinSketch::estimate`]. The error has either sign and no bound, for keys much more frequent
    /// than others it is larger than that of the estimate, and saturated counts add to it. In a table of one column nothing
    /// is known of other keys, and the answer is the estimate.
    ///
    /// # Source
    ///
    /// `[DengRafiei07]`.
    #[inline]
    pub fn estimate_debiased<K: Key + ?Sized>(&self, key: &K) -> f64 {
        self.estimate_debiased_hash(self.hasher.hash_key(key))
    }
}

impl<C: Cell, H: Fingerprint> CountMinSketch<C, H> {
    /// As [`CountMinSketch::estimate_debiased`], for a hash by this sketch's hasher.
    pub fn estimate_debiased_hash(&self, hash: u64) -> f64 {
        debiased(self.params, self.tally.total, self.estimate_hash(hash), hash, |position| {
            self.cells[position].into()
        })
    }

    /// The inner product of two streams, the sum over all keys of the product of their counts (the size of a join): never
    /// below the truth, and above it by more than epsilon times the product of the totals with a chance of at most delta.
    ///
    /// Time in the size of the table.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`](crate::Merge::merge); [`Error::Overflow`] if one of the sketches is
    /// [saturated](CountMinSketch::is_saturated), since counts are then lost.
    ///
    /// # Source
    ///
    /// `[CormodeMuthukrishnan05, 4.2]`.
    pub fn inner_product(&self, other: &Self) -> Result<u128, Error> {
        self.compatible(other)?;
        if self.is_saturated() || other.is_saturated() {
            return Err(Error::Overflow);
        }
        let width = self.params.width() as usize;
        let rows = self.cells.chunks_exact(width).zip(other.cells.chunks_exact(width));
        let products = rows.map(|(mine, theirs)| {
            let cells = mine.iter().zip(theirs).map(|(&a, &b)| u128::from(a.into()) * u128::from(b.into()));
            // No more than the product of the totals, unless saturated cells were halved.
            cells.fold(0u128, u128::saturating_add)
        });
        Ok(products.min().unwrap_or(0))
    }

    /// Lower and upper bound of the inner product of two streams: [`CountMinSketch::inner_product`], which is certain, and
    /// that less epsilon times the product of the totals, which holds with a chance of at least 1 - delta.
    ///
    /// # Errors
    ///
    /// As [`CountMinSketch::inner_product`].
    pub fn inner_product_bounds(&self, other: &Self) -> Result<(u128, u128), Error> {
        /// More than what the products in double precision may be short of.
        const ROUNDING: f64 = 1.0 + 1e-15;
        let upper = self.inner_product(other)?;
        let error = self.params.epsilon() * self.total() as f64 * other.total() as f64 * ROUNDING;
        Ok((upper.saturating_sub(error as u128), upper))
    }

    /// The second frequency moment, the sum over all keys of the square of their counts: the
    /// [inner product](CountMinSketch::inner_product) of the stream with itself. Never below the truth.
    /// [`CountSketch::f2`](crate::CountSketch::f2) errs less.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the sketch is [saturated](CountMinSketch::is_saturated).
    pub fn f2(&self) -> Result<u128, Error> {
        self.inner_product(self)
    }

    /// How many cells are at their greatest count, once one of them has been asked to hold more; 0 before. Counts
    /// them: time in the size of the table.
    pub fn saturated_cells(&self) -> u64 {
        if !self.tally.cells_saturated {
            return 0;
        }
        self.cells.iter().filter(|&&cell| cell == C::MAX).count() as u64
    }

    /// Share of the cells that hold a count, within 0..=1. Counts them: time in the size of the table.
    pub fn fill_ratio(&self) -> f64 {
        fill_ratio(self.cells.iter().copied())
    }

    /// The share of each row's cells that hold a count: with good hashes near 1 - (1 - 1/w)^n for n keys, in every row.
    pub fn row_fill_ratios(&self) -> Vec<f64> {
        let rows = self.cells.chunks_exact(self.params.width() as usize);
        rows.map(|row| fill_ratio(row.iter().copied())).collect()
    }
}

/// Share of some cells that hold a count.
pub(crate) fn fill_ratio<C: Cell>(cells: impl ExactSizeIterator<Item = C>) -> f64 {
    let all = cells.len();
    cells.filter(|&cell| cell != C::default()).count() as f64 / all as f64
}

/// See [`CountMinSketch::estimate_debiased`].
pub(crate) fn debiased(
    params: CountMinParams,
    total: u64,
    estimate: u64,
    hash: u64,
    cell: impl Fn(usize) -> u64,
) -> f64 {
    if params.width() == 1 {
        return estimate as f64;
    }
    let others = (params.width() - 1) as f64;
    let mut estimates = [0.0; MAX_ROWS];
    let mut depth = 0;
    for (row, position) in estimates.iter_mut().zip(table::positions(params, hash)) {
        let cell = cell(position);
        *row = cell as f64 - total.saturating_sub(cell) as f64 / others;
        depth += 1;
    }
    let rows = &mut estimates[..depth];
    rows.sort_unstable_by(f64::total_cmp);
    let median = f64::midpoint(rows[(depth - 1) / 2], rows[depth / 2]);
    median.clamp(0.0, estimate as f64)
}
