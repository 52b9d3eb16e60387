//! To and from the exponential histograms of OpenTelemetry.

use alloc::vec::Vec;

use super::bins::Bins;
use super::params::DDSketchParams;
use super::query::Summary;
use super::sketch::DDSketch;
use super::store::{Side, Slot, Store};
use crate::{Error, Quantiles};

/// The data of an exponential histogram as OpenTelemetry defines it, field by field as in its protocol.
///
/// Bucket `i` of a sign holds the magnitudes above `base^i` up to `base^(i + 1)`, where `base = 2^(2^-scale)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExponentialHistogram {
    /// The resolution: 2^scale buckets for each doubling.
    pub scale: i32,
    /// Values of a magnitude of at most `zero_threshold`.
    pub zero_count: u64,
    /// The greatest magnitude that may be counted as zero.
    pub zero_threshold: f64,
    /// The sum of all values, if known.
    pub sum: Option<f64>,
    /// The least value, if known.
    pub min: Option<f64>,
    /// The greatest value, if known.
    pub max: Option<f64>,
    /// Values above the threshold.
    pub positive: Buckets,
    /// Magnitudes of values below the negative threshold.
    pub negative: Buckets,
}

/// Consecutive buckets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// The index of the first count.
    pub offset: i32,
    /// A count for each index from `offset` on.
    pub counts: Vec<u64>,
}

/// The index of key 0, in units of 2^scale: exponents are shifted by 1024.
const BIAS_BITS: u32 = 10;

/// Buckets that are listed for an occupied one at most, beyond a constant: a list has no gaps.
const MAX_LISTED: u64 = 1 << 20;

/// The coarsest scale of OpenTelemetry.
const MIN_SCALE: i32 = -10;

impl DDSketch {
    /// The histogram with the same buckets and counts.
    ///
    /// Exact, with one difference at the edges: a bin here holds its lower edge, a bucket there its upper one. An edge is a
    /// float only where it is a power of two: a value that is exactly a power of two stands one bucket above the one that an
    /// OpenTelemetry library would count it in, by an edge that is its own. The error bound holds for either.
    ///
    /// # Errors
    ///
    /// [`Error::Incompatible`] where sketch and format differ and something would be lost: in `base`, if the parameters are not those of
    /// [`DDSketchParams::for_scale`]; in `collapsed bins`, if bins at one end have become one; in `scale`, if bins were
    /// joined below the coarsest scale there is; in `span`, if the buckets, which list every index in between, would be more
    /// than 2^20.
    pub fn to_exponential_histogram(&self) -> Result<ExponentialHistogram, Error> {
        let lost = |field| Error::Incompatible { field };
        let summary = &self.summary;
        let base_scale = summary.params.scale().ok_or(lost("base"))?;
        let lowest_and_highest = self.store.lowest().zip(self.store.highest());
        let whole =
            |(lowest, highest)| summary.slot(summary.min) == lowest && summary.slot(summary.max) == highest;
        if !lowest_and_highest.is_none_or(whole) {
            return Err(lost("collapsed bins"));
        }
        let scale = i32::from(base_scale) - summary.shift.cast_signed();
        if scale < MIN_SCALE {
            return Err(lost("scale"));
        }
        // Whole: the scale is at least -10.
        let bias = 1i64 << (i64::from(BIAS_BITS) + i64::from(scale));
        let buckets = |bins: &Bins| {
            let Some((first, last)) = bins.ends() else { return Ok(Buckets::default()) };
            let span = u64::from(last - first) + 1;
            if span > MAX_LISTED {
                return Err(lost("span"));
            }
            let mut counts = alloc::vec![0; span as usize];
            bins.iter().for_each(|(key, count)| counts[(key - first) as usize] = count);
            Ok(Buckets { offset: (i64::from(first) - bias) as i32, counts })
        };
        Ok(ExponentialHistogram {
            scale,
            zero_count: self.store.zero,
            zero_threshold: f64::MIN_POSITIVE.next_down(),
            sum: self.sum(),
            min: self.min(),
            max: self.max(),
            positive: buckets(&self.store.positive)?,
            negative: buckets(&self.store.negative)?,
        })
    }

    /// The sketch with the bins and counts of a histogram. It merges with sketches of
    /// [`DDSketchParams::for_scale`]`(scale)`; the sum is that of the bins.
    ///
    /// Where the histogram does not know its extremes, the outer edges of its outermost buckets stand for them:
    /// [`Quantiles::min`] and [`Quantiles::max`] are then bounds, but for rounding. The extremes of a single value are one: the
    /// one that is known, or what stands for its bin. Where it knows them, an extreme that is a
    /// power of two comes into the bin that it has here. Other values at an edge are as in
    /// [`DDSketch::to_exponential_histogram`].
    ///
    /// # Errors
    ///
    /// [`Error::Incompatible`] where histogram and sketch differ and something would be lost: in `scale`, if it is not 0 to
    /// [`DDSketchParams::MAX_SCALE`]; in `zero_threshold`, if normal floats are counted as zero; in `subnormal
    /// numbers`, if there are buckets for such; in `max_bins`, if more
    /// buckets are occupied than [`DDSketchParams::DEFAULT_MAX_BINS`]. [`Error::Overflow`] if the counts exceed
    /// `u64::MAX` together; [`Error::NonFinite`] if an extreme is not finite; [`Error::Malformed`] in `buckets` for an index
    /// that no float has, and in `extremes` if a bucket lies beyond them.
    pub fn from_exponential_histogram(histogram: &ExponentialHistogram) -> Result<Self, Error> {
        let lost = |field| Error::Incompatible { field };
        let scale = u8::try_from(histogram.scale).map_err(|_| lost("scale"))?;
        let params = DDSketchParams::for_scale(scale).map_err(|_| lost("scale"))?;
        if !(0.0..f64::MIN_POSITIVE).contains(&histogram.zero_threshold) {
            return Err(lost("zero_threshold"));
        }
        let bias = 1i64 << (BIAS_BITS + u32::from(scale));
        let (mut count, mut store) = (histogram.zero_count, Store::default());
        store.zero = histogram.zero_count;
        let (first, last) = (params.grid.key(f64::MIN_POSITIVE), params.grid.last_key());
        for (buckets, bins) in
            [(&histogram.positive, &mut store.positive), (&histogram.negative, &mut store.negative)]
        {
            for (index, &n) in (i64::from(buckets.offset)..).zip(&buckets.counts).filter(|&(_, &n)| n > 0) {
                // The least subnormal number is 2^-1074.
                let is_subnormal = index + bias < first.into() && index >= -(1075 << scale);
                if is_subnormal {
                    return Err(lost("subnormal numbers"));
                }
                let key = u32::try_from(index + bias).ok().filter(|key| (first..=last).contains(key));
                let key = key.ok_or(Error::Malformed { field: "buckets" })?;
                count = count.checked_add(n).ok_or(Error::Overflow)?;
                bins.add(key, n);
            }
        }
        if store.occupied() as u64 > params.max_bins().into() {
            return Err(lost("max_bins"));
        }
        let mut summary =
            Summary { params, shift: 0, count, rejected: 0, min: f64::INFINITY, max: f64::NEG_INFINITY };
        settle_extremes(histogram, &mut summary, &mut store)?;
        Ok(Self::from_parts(summary, store))
    }
}

/// Takes over the extremes, or makes them of the outermost bins.
///
/// An extreme that is a power of two was counted one bucket nearer to zero than its own bin. If it is the least magnitude,
/// all of that bucket is equal to it, and moves; if it is the greatest, one value of the bucket is.
fn settle_extremes(
    histogram: &ExponentialHistogram,
    summary: &mut Summary,
    store: &mut Store,
) -> Result<(), Error> {
    for extreme in [histogram.min, histogram.max].into_iter().flatten() {
        if !extreme.is_finite() {
            return Err(Error::NonFinite);
        }
    }
    let Some((lowest, highest)) = store.lowest().zip(store.highest()) else { return Ok(()) };
    let (min, max) = (histogram.min.map(|min| min + 0.0), histogram.max.map(|max| max + 0.0));
    if let Some(min) = min {
        move_edge(summary, store, min, lowest, min > 0.0);
    }
    if let Some(max) = max {
        move_edge(summary, store, max, highest, max < 0.0);
    }
    let Some((lowest, highest)) = store.lowest().zip(store.highest()) else { return Ok(()) };
    let (low, high) = (edges_of(summary, lowest).0, edges_of(summary, highest).1);
    (summary.min, summary.max) = (low, high);
    let single = summary.count == 1;
    let (min, max) = match (min, max) {
        (Some(min), Some(max)) => (min, max),
        (Some(value), None) | (None, Some(value)) if single => (value, value),
        // An edge is within rounding: it may be inside of the extreme that is known.
        (Some(min), None) => (min, high.max(min)),
        (None, Some(max)) => (low.min(max), max),
        (None, None) if single => (summary.value(lowest), summary.value(lowest)),
        (None, None) => (low, high),
    };
    if min <= max && (!single || min >= max) && summary.slot(min) == lowest && summary.slot(max) == highest {
        (summary.min, summary.max) = (min, max);
        Ok(())
    } else {
        Err(Error::Malformed { field: "extremes" })
    }
}

/// Moves an extreme out of the bucket that it was counted in, if its own bin is the next one away from zero.
fn move_edge(summary: &Summary, store: &mut Store, value: f64, counted: Slot, is_least_magnitude: bool) {
    let own = summary.slot(value);
    let next = match counted.side() {
        Side::Positive(key) => Slot::positive(key + 1),
        Side::Negative(key) => Slot::negative(key + 1),
        Side::Zero => return,
    };
    let is_power_of_two = value.abs().to_bits() << 12 == 0;
    if own != next || !is_power_of_two {
        return;
    }
    let all = store.take(counted);
    let moved = if is_least_magnitude { all } else { all.min(1) };
    for (slot, n) in [(own, moved), (counted, all - moved)] {
        if n > 0 {
            store.add(slot, n);
        }
    }
}

/// The least and the greatest number of a bin, within rounding, but in the bin.
fn edges_of(summary: &Summary, slot: Slot) -> (f64, f64) {
    match slot.side() {
        Side::Zero => (0.0, 0.0),
        Side::Positive(key) => summary.params.grid.inner_edges(key),
        Side::Negative(key) => {
            let (low, high) = summary.params.grid.inner_edges(key);
            (-high, -low)
        }
    }
}
