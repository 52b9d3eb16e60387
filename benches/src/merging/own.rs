//! Ours.

use pds_hll::{HllParams, HyperLogLog};
use pds_quantiles::{DDSketch, DDSketchParams, KllSketch, QuantileSketch, Quantiles, TDigest, TDigestParams};
use pds_theta::{ThetaParams, ThetaSketch};

use super::{Own, P, shares};
use crate::quantiles::ALPHA;

/// Distinct counts of precision 12.
pub struct Hll;

impl Own for Hll {
    const NAME: &'static str = "pds-hll";
    type Item = u64;
    type Sketch = HyperLogLog;

    fn empty() -> HyperLogLog {
        HyperLogLog::new(HllParams::with_precision(P).expect("a usual precision"))
    }
    fn extend(sketch: &mut HyperLogLog, keys: &[u64]) {
        sketch.extend(keys);
    }
    fn answers(sketch: &HyperLogLog) -> Vec<f64> {
        vec![sketch.estimate()]
    }
}

/// Theta sketches of k = 4096.
pub struct Theta;

impl Own for Theta {
    const NAME: &'static str = "pds-theta";
    type Item = u64;
    type Sketch = ThetaSketch;

    fn empty() -> ThetaSketch {
        ThetaSketch::new(ThetaParams::with_lg_k(P).expect("a usual size"))
    }
    fn extend(sketch: &mut ThetaSketch, keys: &[u64]) {
        sketch.extend(keys);
    }
    fn answers(sketch: &ThetaSketch) -> Vec<f64> {
        vec![sketch.estimate()]
    }
}

/// Implements [`Own`] for a quantile sketch.
macro_rules! quantiles {
    ($type:ident: $sketch:ident, $new:expr) => {
        impl Own for $type {
            const NAME: &'static str = "pds-quantiles";
            type Item = f64;
            type Sketch = $sketch;

            fn empty() -> $sketch {
                $new
            }
            fn extend(sketch: &mut $sketch, values: &[f64]) {
                for &value in values {
                    QuantileSketch::insert(sketch, value);
                }
            }
            fn answers(sketch: &$sketch) -> Vec<f64> {
                let snapshot = sketch.snapshot();
                shares().map(|q| snapshot.quantile(q).unwrap_or(f64::NAN)).collect()
            }
        }
    };
}

/// `DDSketch`es of 1%, the cubic mapping.
pub struct Dd;
quantiles!(Dd: DDSketch, DDSketch::new(DDSketchParams::for_accuracy(ALPHA).expect("1%")));

/// t-digests of compression 200.
pub struct Digest;
quantiles!(Digest: TDigest, TDigest::new(TDigestParams::with_compression(200).expect("a usual compression")));

/// KLL sketches of k = 200.
pub struct Kll;
quantiles!(Kll: KllSketch, KllSketch::default());
