//! Merging: cells and totals add up.

use crate::params::same_shape;
use crate::{Cell, CountMinParams, CountMinSketch, Error, ExactMerge, Fingerprint, Merge};

impl<C: Cell, H: Fingerprint> CountMinSketch<C, H> {
    pub(crate) fn compatible(&self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.same_as(other.params)
    }
}

impl CountMinParams {
    /// Whether tables of the two shapes can be added up.
    pub(crate) fn same_as(self, other: Self) -> Result<(), Error> {
        let shape = |params: Self| (params.width(), params.depth(), params.delta());
        same_shape(shape(self), shape(other))
    }
}

/// The cells add up, and saturate.
///
/// Each merge of sketches that were [halved](CountMinSketch::halve) may lose one more to rounding.
impl<C: Cell, H: Fingerprint> Merge for CountMinSketch<C, H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        let mut saturated = false;
        let cells = self.cells.iter_mut().zip(&other.cells);
        // No cell exceeds the total: while the sum of the totals fits a cell, so does every sum of cells.
        if self.tally.total.checked_add(other.tally.total).is_some_and(|total| total <= C::MAX.into()) {
            cells.for_each(|(mine, &theirs)| mine.add_within(theirs.into()));
        } else {
            cells.for_each(|(mine, &theirs)| saturated |= mine.add(theirs));
        }
        self.tally.merge(other.tally, saturated);
        Ok(())
    }
}

/// Of sketches whose counts were only ever added, or were taken back before a cell saturated.
impl<C: Cell, H: Fingerprint> ExactMerge for CountMinSketch<C, H> {}
