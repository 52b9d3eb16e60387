//! A sketch over borrowed bytes.

use alloc::vec::Vec;
use core::fmt;

use super::params::DDSketchParams;
use super::query;
use super::sketch::DDSketch;
use super::snapshot::DDSketchSnapshot;
use super::wire::{self, Opened};
use crate::{Contract, Error, QuantileRule, Quantiles, RankRule, Sketch};

/// A sketch answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum and the lengths, in constant time. Any payload is safe to query; that it
/// is the payload that was written is what [`DDSketchView::verify`] checks, in time linear in it. So is a question; for many
/// questions, take a [`DDSketchView::snapshot`].
#[derive(Clone)]
pub struct DDSketchView<'a> {
    opened: Opened<'a>,
    bytes: &'a [u8],
}

impl<'a> DDSketchView<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        Ok(Self { opened: wire::open(bytes)?, bytes })
    }

    /// As [`DDSketch::params`].
    pub fn params(&self) -> DDSketchParams {
        self.opened.summary.params
    }

    /// As [`DDSketch::alpha`].
    pub fn alpha(&self) -> f64 {
        self.opened.summary.alpha()
    }

    /// As [`DDSketch::bins`].
    pub fn bins(&self) -> impl Iterator<Item = (f64, u64)> + 'a {
        let summary = self.opened.summary;
        self.opened.bins().map(move |(slot, count)| (summary.value(slot), count))
    }

    /// As [`DDSketch::snapshot`]: owned, and independent of the bytes.
    pub fn snapshot(&self) -> DDSketchSnapshot {
        DDSketchSnapshot::new(self.opened.summary, self.opened.bins())
    }

    /// Checks the payload: its checksum, that the bins sum up to the count, and that they hold the extremes.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written, [`Error::Malformed`] if it is no sketch's.
    pub fn verify(&self) -> Result<(), Error> {
        self.opened.verify()
    }

    /// An owned sketch with the same bins.
    ///
    /// # Errors
    ///
    /// As [`DDSketchView::verify`].
    pub fn to_owned(&self) -> Result<DDSketch, Error> {
        <DDSketch as Sketch>::from_bytes(self.bytes)
    }

    fn find(&self, index: u64) -> Option<query::Place> {
        query::find(self.opened.bins(), index)
    }
}

impl Quantiles for DDSketchView<'_> {
    fn count(&self) -> u64 {
        self.opened.summary.count
    }

    fn rejected(&self) -> u64 {
        self.opened.summary.rejected
    }

    fn min(&self) -> Option<f64> {
        self.opened.summary.min()
    }

    fn max(&self) -> Option<f64> {
        self.opened.summary.max()
    }

    fn sum(&self) -> Option<f64> {
        self.opened.summary.sum(self.opened.bins())
    }

    fn quantile_by(&self, q: f64, rule: QuantileRule) -> Option<f64> {
        self.opened.summary.quantile(q, rule, |index| self.find(index))
    }

    fn quantiles(&self, qs: &[f64]) -> Vec<Option<f64>> {
        self.opened.summary.quantiles(qs, self.opened.bins())
    }

    fn rank_by(&self, value: f64, rule: RankRule) -> Option<f64> {
        self.opened.summary.rank(value, rule, |slot| query::rank_of(self.opened.bins(), slot))
    }

    fn bounds(&self, q: f64) -> Option<(f64, f64)> {
        self.opened.summary.bounds(q, |index| self.find(index))
    }

    fn contract(&self) -> Contract {
        let mut bins = self.opened.bins();
        let first = bins.next();
        self.opened.summary.contract(first.map(|first| (first, bins.last().unwrap_or(first))))
    }
}

/// Shows parameters and extremes, not the bins.
impl fmt::Debug for DDSketchView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DDSketchView")
            .field("params", &self.params())
            .field("count", &self.count())
            .field("min", &self.min())
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}
