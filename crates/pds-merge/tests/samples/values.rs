//! Sketches of values, which the keys are turned into.

use pds_core::Merge;
use pds_quantiles::{
    Collapse, DDSketch, DDSketchParams, KllCodec, KllParams, KllSketch, Mapping, TDigest, TDigestParams,
};

use super::Differs::{First, In, Not};
use super::{Samples, Typed};

/// Some above 0, some below, some no numbers.
fn value(key: u64) -> f64 {
    if key % 97 == 5 { f64::NAN } else { (key % 1009) as f64 / 8.0 - 10.0 }
}

pub(super) fn add(samples: &mut Samples) {
    fn dd(params: DDSketchParams, keys: &[u64]) -> DDSketch {
        let mut sketch = DDSketch::new(params);
        sketch.extend(keys.iter().map(|&key| value(key)));
        sketch
    }
    fn params() -> DDSketchParams {
        DDSketchParams::for_accuracy(0.01).unwrap()
    }
    let merge: Typed<DDSketch> = Some(Merge::merge);
    samples.unhashed("ddsketch", First, |keys, ()| dd(params(), keys), merge);
    samples.unhashed(
        "ddsketch, finer",
        In("alpha"),
        |keys, ()| dd(DDSketchParams::for_accuracy(0.02).unwrap(), keys),
        merge,
    );
    samples.unhashed(
        "ddsketch, logarithms",
        In("mapping"),
        |keys, ()| dd(params().with_mapping(Mapping::Log), keys),
        merge,
    );
    samples.unhashed(
        "ddsketch, fewer bins",
        In("max_bins"),
        |keys, ()| dd(params().with_max_bins(128).unwrap(), keys),
        merge,
    );
    samples.unhashed(
        "ddsketch, uniform",
        In("collapse"),
        |keys, ()| dd(params().with_collapse(Collapse::Uniform), keys),
        merge,
    );

    fn digest(compression: u32, keys: &[u64]) -> TDigest {
        let mut digest = TDigest::new(TDigestParams::with_compression(compression).unwrap());
        digest.extend(keys.iter().map(|&key| value(key)));
        digest
    }
    let merge: Typed<TDigest> = Some(Merge::merge);
    samples.unhashed("t-digest, 100", First, |keys, ()| digest(100, keys), merge);
    samples.unhashed("t-digest, 20", Not, |keys, ()| digest(20, keys), merge);

    fn kll<T: KllCodec>(k: u16, keys: &[u64], item: fn(u64) -> T) -> KllSketch<T> {
        let mut sketch = KllSketch::new(KllParams::with_k(k).unwrap());
        sketch.extend(keys.iter().map(|&key| item(key)));
        sketch
    }
    let merge: Typed<KllSketch> = Some(Merge::merge);
    samples.unhashed("kll, 40", First, |keys, ()| kll(40, keys, value), merge);
    samples.unhashed("kll, 8", Not, |keys, ()| kll(8, keys, value), merge);
    samples.unhashed::<KllSketch<u64>>(
        "kll of u64",
        In("item"),
        |keys, ()| kll(40, keys, |key| key),
        Some(Merge::merge),
    );
    samples.unhashed::<KllSketch<i64>>(
        "kll of i64",
        In("item"),
        |keys, ()| kll(40, keys, |key| 50 - key.cast_signed()),
        Some(Merge::merge),
    );
    samples.unhashed::<KllSketch<String>>(
        "kll of texts",
        In("item"),
        |keys, ()| kll(40, keys, |key| key.to_string()),
        Some(Merge::merge),
    );
    samples.unhashed::<KllSketch<Vec<u8>>>(
        "kll of bytes",
        In("item"),
        |keys, ()| kll(40, keys, |key| key.to_be_bytes().to_vec()),
        Some(Merge::merge),
    );
}
