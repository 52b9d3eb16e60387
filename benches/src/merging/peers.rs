//! The peers: datasketches, each by the union it keeps for this, and what else has a byte form.

use datasketches::cpc::{CpcSketch, CpcUnion};
use datasketches::hll::{HllSketch, HllType, HllUnion};
use datasketches::theta::{CompactThetaSketch, ThetaSketchBuilder, ThetaUnion, ThetaUnionBuilder};

use super::{P, Part, shares};
use crate::quantile_peers::{DsDigest, DsKll, SketchesDd};
use crate::quantiles::{Contender, filled};

/// Its distinct counts, four or eight bits a register.
pub struct DsHll<const BITS: u8>(HllSketch);

impl<const BITS: u8> DsHll<BITS> {
    const TYPE: HllType = if BITS == 4 { HllType::Hll4 } else { HllType::Hll8 };
}

impl<const BITS: u8> Part for DsHll<BITS> {
    const NAME: &'static str = if BITS == 4 { "datasketches (HLL_4)" } else { "datasketches (HLL_8)" };
    type Item = u64;
    type Whole = HllUnion;

    fn of(keys: &[u64]) -> Self {
        let mut sketch = HllSketch::new(P, Self::TYPE).expect("a usual precision");
        keys.iter().for_each(|key| sketch.update(key));
        Self(sketch)
    }
    fn whole() -> HllUnion {
        HllUnion::new(P).expect("a usual precision")
    }
    fn merge(whole: &mut HllUnion, part: &Self) {
        whole.update(&part.0);
    }
    fn answers(whole: &mut HllUnion) -> Vec<f64> {
        vec![whole.estimate()]
    }
    fn encode(&mut self) -> Vec<u8> {
        self.0.serialize()
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        HllSketch::deserialize(bytes).ok().map(Self)
    }
}

/// Its compressed distinct counts.
pub struct DsCpc(CpcSketch);

impl Part for DsCpc {
    const NAME: &'static str = "datasketches (CPC)";
    type Item = u64;
    type Whole = CpcUnion;

    fn of(keys: &[u64]) -> Self {
        let mut sketch = CpcSketch::new(P).expect("a usual precision");
        keys.iter().for_each(|key| sketch.update(key));
        Self(sketch)
    }
    fn whole() -> CpcUnion {
        CpcUnion::new(P).expect("a usual precision")
    }
    fn merge(whole: &mut CpcUnion, part: &Self) {
        whole.update(&part.0).expect("equal seeds");
    }
    fn answers(whole: &mut CpcUnion) -> Vec<f64> {
        vec![whole.to_sketch().estimate()]
    }
    fn encode(&mut self) -> Vec<u8> {
        self.0.serialize()
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        CpcSketch::deserialize(bytes).ok().map(Self)
    }
}

/// Its ordered compact theta sketches, written at their shortest or as they are.
pub struct DsTheta<const COMPRESSED: bool>(CompactThetaSketch);

impl<const COMPRESSED: bool> Part for DsTheta<COMPRESSED> {
    const NAME: &'static str = if COMPRESSED { "datasketches" } else { "datasketches, 8 bytes a hash" };
    type Item = u64;
    type Whole = ThetaUnion;

    fn of(keys: &[u64]) -> Self {
        let mut sketch = ThetaSketchBuilder::default().lg_k(P).build().expect("a usual size");
        keys.iter().for_each(|key| sketch.update(*key));
        // As ours: no more than k hashes.
        sketch.trim();
        Self(sketch.compact(true))
    }
    fn whole() -> ThetaUnion {
        ThetaUnionBuilder::default().lg_k(P).build().expect("a usual size")
    }
    fn merge(whole: &mut ThetaUnion, part: &Self) {
        whole.update(&part.0).expect("equal seeds");
    }
    fn answers(whole: &mut ThetaUnion) -> Vec<f64> {
        vec![whole.to_sketch(false).estimate()]
    }
    fn encode(&mut self) -> Vec<u8> {
        if COMPRESSED { self.0.serialize_compressed() } else { self.0.serialize() }
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        CompactThetaSketch::deserialize(bytes).ok().map(Self)
    }
}

/// A quantile sketch that merges into another of its kind.
pub struct Quantile<C>(C);

impl<C: Contender> Part for Quantile<C> {
    const NAME: &'static str = C::NAME;
    type Item = f64;
    type Whole = C;

    fn of(values: &[f64]) -> Self {
        Self(filled(values))
    }
    fn whole() -> C {
        C::new()
    }
    fn merge(whole: &mut C, part: &Self) {
        assert!(whole.merge(&part.0), "equal parameters");
    }
    fn answers(whole: &mut C) -> Vec<f64> {
        let view = whole.view();
        shares().map(|q| C::quantile(&view, q)).collect()
    }
    fn encode(&mut self) -> Vec<u8> {
        self.0.encode().expect("it has a byte form")
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        C::decode(bytes).map(Self)
    }
}

/// Its t-digests of compression 200.
pub type DsDigestUnion = Quantile<DsDigest<200>>;
/// Its KLL sketches of k = 200.
pub type DsKllUnion = Quantile<DsKll>;
/// `sketches-ddsketch`, in the byte form of the Java library.
pub type JavaDd = Quantile<SketchesDd>;
