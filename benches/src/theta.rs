//! Theta sketches: ours and each peer's, as they take keys in, as sets, and as bytes.

use datasketches::common::NumStdDev;
use datasketches::theta as peer;
use pds_testkit::laws::{self, Verdict};
use pds_testkit::{DistinctKeys, SplitMix64};
use pds_theta::prelude::*;
use pds_theta::{difference, intersection, jaccard, union};

use crate::report::{Gate, Role};

/// A sketch that takes keys in.
pub trait Update: Sized {
    /// The crate, and how it is used.
    const NAME: &'static str;
    /// Which part it has in a comparison.
    const ROLE: Role = Role::Peer;

    /// With k = 2^`lg_k`.
    fn new(lg_k: u8) -> Self;
    /// Counts keys, or hashes.
    fn extend(&mut self, keys: &[u64]);
    /// The estimate.
    fn estimate(&self) -> f64;
    /// What it writes, at its shortest.
    fn bytes(&mut self) -> Vec<u8>;
}

/// A set in the form that operations are quickest on.
pub trait Set: Sized {
    /// The crate, and the form.
    const NAME: &'static str;
    /// Which part it has in a comparison.
    const ROLE: Role = Role::Peer;
    /// What operations give.
    type Answer;

    /// Of these keys.
    fn of(lg_k: u8, keys: &[u64]) -> Self;
    /// In any of them.
    fn union(lg_k: u8, sets: &[&Self]) -> Self::Answer;
    /// In both.
    fn intersection(&self, other: &Self) -> Self::Answer;
    /// In this alone.
    fn difference(&self, other: &Self) -> Self::Answer;
    /// The share of either that is in both.
    fn jaccard(&self, other: &Self) -> f64;
    /// Where the number of keys lies, at three standard deviations.
    fn bounds(answer: &Self::Answer) -> (f64, f64);
    /// The bytes of this form.
    fn encode(&self) -> Vec<u8>;
    /// The set of these bytes.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

/// Streams of the gates.
const STREAMS: u64 = 200;

/// The part of normal variables beyond three standard deviations.
const BEYOND_THREE: f64 = 0.0027;

/// The gate of taking in: exact below k, also if keys come again; at 8 k the root mean square of the relative error is at most
/// 1/sqrt(k - 1), by the chi-square law over 200 streams.
pub fn gate_update<U: Update>(lg_k: u8) -> Gate {
    let k = 1u64 << lg_k;
    let estimate = |stream: u64, count: u64, again: bool| {
        let keys: Vec<u64> = DistinctKeys::new(stream).range(0..count).collect();
        let mut sketch = U::new(lg_k);
        sketch.extend(&keys);
        if again {
            sketch.extend(&keys);
        }
        sketch.estimate()
    };
    let few = k / 2 - 1;
    let wrong = (0..STREAMS).filter(|&stream| estimate(stream, few, true) != few as f64).count();
    let exact = laws::all_hold(wrong as u64, STREAMS);
    if !exact.pass {
        return Gate::of(0.0, f64::NAN, "fewer than k keys are not counted exactly", exact);
    }
    let many = 8 * k;
    let errors: Vec<f64> =
        (0..STREAMS).map(|stream| estimate(stream, many, stream % 2 == 0) / many as f64 - 1.0).collect();
    let verdict = laws::rmse_at_most(&errors, 1.0 / ((k - 1) as f64).sqrt());
    Gate::of(0.0, laws::rmse(&errors), "the error at 8 k is above 1/sqrt(k - 1)", verdict)
}

/// The gate of sets: of 200 pairs that have half their keys in common the true union, intersection and difference lie within the
/// bounds at three standard deviations as often as promised, the Jaccard index within five, and bytes decode to what was
/// encoded.
pub fn gate_set<S: Set>(lg_k: u8) -> Gate {
    let k = 1u64 << lg_k;
    let half = 4 * k;
    let (mut union, mut intersection, mut difference, mut index, mut code) = (0, 0, 0, 0, 0);
    let mut errors = Vec::new();
    let mut bytes = 0;
    for stream in 0..STREAMS {
        let (left, right) = pair::<S>(lg_k, stream, half);
        let outside = |answer: &S::Answer, truth: u64| {
            let (low, high) = S::bounds(answer);
            u64::from(!(low <= truth as f64 && truth as f64 <= high))
        };
        union += outside(&S::union(lg_k, &[&left, &right]), 3 * half);
        intersection += outside(&left.intersection(&right), half);
        difference += outside(&left.difference(&right), half);
        let error = left.jaccard(&right) - 1.0 / 3.0;
        // The deviation of a share of a third among k.
        index += u64::from(error.abs() > 5.0 * (2.0 / 9.0 / k as f64).sqrt());
        errors.push(3.0 * error);
        let encoded = left.encode();
        code += u64::from(S::decode(&encoded).is_none_or(|decoded| decoded.encode() != encoded));
        bytes = encoded.len();
    }
    let within = |outside: u64| laws::rate_at_most(outside, STREAMS, BEYOND_THREE);
    let claims: [(&str, Verdict); 5] = [
        ("unions lie outside their bounds", within(union)),
        ("intersections lie outside their bounds", within(intersection)),
        ("differences lie outside their bounds", within(difference)),
        ("the Jaccard index is off by five deviations", laws::all_hold(index, STREAMS)),
        ("bytes do not decode to what was encoded", laws::all_hold(code, STREAMS)),
    ];
    let error = laws::rmse(&errors);
    let last = claims.len() - 1;
    let (promise, verdict) = claims
        .into_iter()
        .enumerate()
        .find(|(at, claim)| !claim.1.pass || *at == last)
        .map(|(_, claim)| claim)
        .expect("there are claims");
    Gate::of(bytes as f64, error, promise, verdict)
}

/// Two sets with twice `half` keys each, `half` of them in both.
pub fn pair<S: Set>(lg_k: u8, stream: u64, half: u64) -> (S, S) {
    let keys: Vec<u64> = DistinctKeys::new(1000 + stream).range(0..3 * half).collect();
    let half = half as usize;
    (S::of(lg_k, &keys[..2 * half]), S::of(lg_k, &keys[half..]))
}

/// Streams of so many keys each: enough of them that no predictor learns what the next key does.
pub fn streams(keys: u64) -> Vec<Vec<u64>> {
    let count = (1_000_000 / keys).clamp(4, 256);
    (0..count).map(|stream| DistinctKeys::new(2000 + stream).range(0..keys).collect()).collect()
}

/// Streams in which keys come ten times, in random order.
pub fn repeated(keys: u64) -> Vec<Vec<u64>> {
    let again = |stream: Vec<u64>| {
        let mut random = SplitMix64::new(stream[0]);
        (0..10 * stream.len()).map(|_| stream[random.below(keys) as usize]).collect()
    };
    streams(keys).into_iter().take(32).map(again).collect()
}

fn params(lg_k: u8) -> ThetaParams {
    ThetaParams::with_lg_k(lg_k).expect("a usual size")
}

/// Implements [`Update`] for one of ours, with its own way of taking in.
macro_rules! ours {
    ($type:ident, $name:literal, $role:expr, $extend:expr) => {
        impl Update for $type {
            const NAME: &'static str = $name;
            const ROLE: Role = $role;

            fn new(lg_k: u8) -> Self {
                Self(ThetaSketch::new(params(lg_k)))
            }
            #[inline]
            fn extend(&mut self, keys: &[u64]) {
                $extend(&mut self.0, keys);
            }
            fn estimate(&self) -> f64 {
                self.0.estimate()
            }
            fn bytes(&mut self) -> Vec<u8> {
                self.0.to_bytes()
            }
        }
    };
}

/// Ours, keyed.
pub struct Ours(ThetaSketch);
ours!(Ours, "pds-theta", Role::Ours, |sketch: &mut ThetaSketch, keys: &[u64]| {
    for key in keys {
        sketch.insert(key);
    }
});
/// Ours over hashes, which the peer has no way to take.
pub struct OursHashes(ThetaSketch);
ours!(OursHashes, "pds-theta, hashes", Role::Beside, |sketch: &mut ThetaSketch, hashes: &[u64]| {
    for hash in hashes {
        sketch.insert_hash(*hash);
    }
});
/// Ours over batches of hashes.
pub struct OursBatch(ThetaSketch);
ours!(OursBatch, "pds-theta, hashes in batches", Role::Beside, |sketch: &mut ThetaSketch, hashes: &[u64]| {
    sketch.insert_batch(hashes)
});

fn builder(lg_k: u8) -> peer::ThetaSketch {
    peer::ThetaSketchBuilder::default().lg_k(lg_k).build().expect("a usual size")
}

/// datasketches, with its own hasher and growth.
pub struct Datasketches(peer::ThetaSketch);

impl Update for Datasketches {
    const NAME: &'static str = "datasketches";

    fn new(lg_k: u8) -> Self {
        Self(builder(lg_k))
    }
    #[inline]
    fn extend(&mut self, keys: &[u64]) {
        for key in keys {
            self.0.update(*key);
        }
    }
    fn estimate(&self) -> f64 {
        self.0.estimate()
    }
    fn bytes(&mut self) -> Vec<u8> {
        self.0.trim();
        self.0.compact(true).serialize_compressed()
    }
}

impl Set for CompactTheta {
    const NAME: &'static str = "pds-theta";
    const ROLE: Role = Role::Ours;
    type Answer = Self;

    fn of(lg_k: u8, keys: &[u64]) -> Self {
        let mut sketch = Ours::new(lg_k);
        Update::extend(&mut sketch, keys);
        sketch.0.compact()
    }
    fn union(_: u8, sets: &[&Self]) -> Self {
        let sources: Vec<&dyn ThetaSource<_>> = sets.iter().map(|&set| set as _).collect();
        union(&sources).expect("equal hashers")
    }
    fn intersection(&self, other: &Self) -> Self {
        intersection(&[self, other]).expect("equal hashers")
    }
    fn difference(&self, other: &Self) -> Self {
        difference(self, &[other]).expect("equal hashers")
    }
    fn jaccard(&self, other: &Self) -> f64 {
        jaccard(self, other).expect("equal hashers").estimate()
    }
    fn bounds(answer: &Self) -> (f64, f64) {
        answer.bounds(3.0)
    }
    fn encode(&self) -> Vec<u8> {
        self.to_bytes()
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        Self::from_bytes(bytes).ok()
    }
}

/// Ours as bytes, which every operation reads where they are.
pub struct Stored(Vec<u8>);

impl Stored {
    fn view(&self) -> ThetaView<'_> {
        CompactTheta::view(&self.0).expect("its own bytes")
    }
}

impl Set for Stored {
    const NAME: &'static str = "pds-theta, views of bytes";
    const ROLE: Role = Role::Variant;
    type Answer = CompactTheta;

    fn of(lg_k: u8, keys: &[u64]) -> Self {
        Self(CompactTheta::of(lg_k, keys).to_bytes())
    }
    fn union(_: u8, sets: &[&Self]) -> CompactTheta {
        let views: Vec<ThetaView<'_>> = sets.iter().map(|set| set.view()).collect();
        let sources: Vec<&dyn ThetaSource<_>> = views.iter().map(|view| view as _).collect();
        union(&sources).expect("equal hashers")
    }
    fn intersection(&self, other: &Self) -> CompactTheta {
        intersection(&[&self.view(), &other.view()]).expect("equal hashers")
    }
    fn difference(&self, other: &Self) -> CompactTheta {
        difference(&self.view(), &[&other.view()]).expect("equal hashers")
    }
    fn jaccard(&self, other: &Self) -> f64 {
        jaccard(&self.view(), &other.view()).expect("equal hashers").estimate()
    }
    fn bounds(answer: &CompactTheta) -> (f64, f64) {
        answer.bounds(3.0)
    }
    fn encode(&self) -> Vec<u8> {
        self.0.clone()
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        CompactTheta::view(bytes).ok().map(|_| Self(bytes.to_owned()))
    }
}

impl Set for peer::CompactThetaSketch {
    const NAME: &'static str = "datasketches";
    type Answer = Self;

    fn of(lg_k: u8, keys: &[u64]) -> Self {
        let mut sketch = builder(lg_k);
        keys.iter().for_each(|key| sketch.update(*key));
        // As ours: no more than k hashes.
        sketch.trim();
        sketch.compact(true)
    }
    fn union(lg_k: u8, sets: &[&Self]) -> Self {
        let mut union = peer::ThetaUnionBuilder::default().lg_k(lg_k).build().expect("a usual size");
        for &set in sets {
            union.update(set).expect("equal seeds");
        }
        union.to_sketch(true)
    }
    fn intersection(&self, other: &Self) -> Self {
        let mut intersection = peer::ThetaIntersection::default();
        intersection.update(self).expect("equal seeds");
        intersection.update(other).expect("equal seeds");
        intersection.to_sketch(true).expect("two sketches went in")
    }
    fn difference(&self, other: &Self) -> Self {
        peer::ThetaANotB::default().compute(self, other, true).expect("equal seeds")
    }
    fn jaccard(&self, other: &Self) -> f64 {
        peer::ThetaJaccardSimilarity::default().compute(self, other).expect("equal seeds").estimate()
    }
    fn bounds(answer: &Self) -> (f64, f64) {
        (answer.lower_bound(NumStdDev::Three), answer.upper_bound(NumStdDev::Three))
    }
    fn encode(&self) -> Vec<u8> {
        self.serialize_compressed()
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        Self::deserialize(bytes).ok()
    }
}
