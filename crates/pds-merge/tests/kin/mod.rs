//! Sketches of keys, which the tests share.
#![allow(dead_code)] // no test file uses all

use pds_hll::{HllParams, HyperLogLog, KeyHasher};
use pds_quantiles::prelude::*;

/// Exact by bytes, and it counts: what is merged twice shows.
pub(crate) fn dd_of(keys: &[u64]) -> DDSketch {
    let mut sketch = DDSketch::new(DDSketchParams::for_accuracy(0.01).expect("a shape"));
    sketch.extend(keys.iter().map(|&key| key as f64));
    sketch
}

pub(crate) fn hll_of(keys: &[u64]) -> HyperLogLog {
    hll_with(pds_hll::WyHasher::default(), keys)
}

pub(crate) fn hll_with<H: KeyHasher>(hasher: H, keys: &[u64]) -> HyperLogLog<H> {
    let mut sketch = HyperLogLog::with_hasher(HllParams::with_precision(5).expect("a shape"), hasher);
    for key in keys {
        sketch.insert(key);
    }
    sketch
}
