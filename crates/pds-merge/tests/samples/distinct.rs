//! Sketches that count distinct keys.

use pds_core::Merge;
use pds_hll::{HllParams, HyperLogLog, StreamingHyperLogLog, UllParams, UltraLogLog};
use pds_merge::ListHasher;
use pds_theta::{CompactTheta, ThetaParams, ThetaSketch, intersection, union};

use super::Differs::{First, Not};
use super::{Samples, Typed, filled};

pub(super) fn add(samples: &mut Samples) {
    type Hll = HyperLogLog<ListHasher>;
    let merge: Typed<Hll> = Some(Merge::merge);
    samples.hashed(
        "hll, precision 12",
        First,
        |keys, h| filled!(Hll, HllParams::with_precision(12), keys, h),
        merge,
    );
    samples.hashed(
        "hll, precision 4",
        Not,
        |keys, h| filled!(Hll, HllParams::with_precision(4), keys, h),
        merge,
    );
    samples.hashed(
        "hll, precision 18",
        Not,
        |keys, h| filled!(Hll, HllParams::with_precision(18), keys, h),
        merge,
    );

    type Ull = UltraLogLog<ListHasher>;
    let merge: Typed<Ull> = Some(Merge::merge);
    samples.hashed(
        "ull, precision 12",
        First,
        |keys, h| filled!(Ull, UllParams::with_precision(12), keys, h),
        merge,
    );
    samples.hashed(
        "ull, precision 5",
        Not,
        |keys, h| filled!(Ull, UllParams::with_precision(5), keys, h),
        merge,
    );

    type Streaming = StreamingHyperLogLog<ListHasher>;
    samples.hashed(
        "streaming, precision 12",
        First,
        |keys, h| filled!(Streaming, HllParams::with_precision(12), keys, h),
        None,
    );
    samples.hashed(
        "streaming, precision 4",
        Not,
        |keys, h| filled!(Streaming, HllParams::with_precision(4), keys, h),
        None,
    );

    type Theta = ThetaSketch<ListHasher>;
    fn trimmed(lg_k: u8, keys: &[u64], h: ListHasher) -> Theta {
        let mut sketch = filled!(Theta, ThetaParams::with_lg_k(lg_k), keys, h);
        sketch.trim();
        sketch
    }
    let merge: Typed<Theta> = Some(Merge::merge);
    samples.hashed("theta, lg k 12", First, |keys, h| trimmed(12, keys, h), merge);
    samples.hashed("theta, lg k 5", Not, |keys, h| trimmed(5, keys, h), merge);

    /// What two overlapping parts of the keys have in common.
    fn common(lg_k: u8, keys: &[u64], h: ListHasher) -> CompactTheta<ListHasher> {
        let (half, third) = (keys.len() / 2, keys.len() / 3);
        let (left, right) = (trimmed(lg_k, &keys[third..], h.clone()), trimmed(lg_k, &keys[..half], h));
        intersection(&[&left, &right]).unwrap()
    }
    let merge: Typed<CompactTheta<ListHasher>> = Some(|left, right| {
        *left = union(&[&*left, right])?;
        Ok(())
    });
    samples.hashed("theta result, lg k 12", First, |keys, h| common(12, keys, h), merge);
    samples.hashed("theta result, lg k 5", Not, |keys, h| common(5, keys, h), merge);
}
