//! Quantile sketches: ours, and the gate of each contract. The peers are in `quantile_peers`.

use pds_quantiles::{
    DDSketch, DDSketchParams, DDSketchSnapshot, KllParams, KllSketch, KllSnapshot, Mapping, Merge,
    QuantileSketch, Quantiles, Sketch, TDigest, TDigestParams, TDigestSnapshot,
};
use pds_testkit::{ExactQuantiles, Values, laws};

use crate::report::{Gate, Role};

/// Operations at which a contender does something else, with the reason.
pub type NotFor = &'static [(&'static str, &'static str)];

/// A quantile sketch that is timed.
pub trait Contender: Sized {
    /// Crate and parameters.
    const NAME: &'static str;
    /// Its part in the comparison.
    const ROLE: Role = Role::Peer;
    /// What it is not compared in.
    const NOT_FOR: NotFor = &[];
    /// What answers many questions: the sketch itself, or a copy that is prepared for them.
    type View;

    /// An empty one.
    fn new() -> Self;
    /// Takes in a value.
    fn insert(&mut self, value: f64);
    /// Prepares for questions.
    fn view(&mut self) -> Self::View;
    /// A quantile.
    fn quantile(view: &Self::View, q: f64) -> f64;
    /// Takes in another sketch; false if it cannot.
    fn merge(&mut self, other: &Self) -> bool;
    /// Its count, if it tells.
    fn count(&self) -> Option<u64> {
        None
    }
    /// Its bytes, if it has any.
    fn encode(&mut self) -> Option<Vec<u8>> {
        None
    }
    /// From its bytes.
    fn decode(_: &[u8]) -> Option<Self> {
        None
    }
}

/// One sketch of all values.
pub fn filled<C: Contender>(values: &[f64]) -> C {
    let mut sketch = C::new();
    values.iter().for_each(|&value| sketch.insert(value));
    sketch
}

/// The accuracy that `DDSketch`es are asked for.
pub const ALPHA: f64 = 0.01;
/// The mean rank error of p99.9 that a t-digest of 200 centroids is held to.
pub const TAIL: f64 = 14e-6;
const SEEDS: u64 = 16;
const STEPS: u64 = 1000;

/// Log-normal values of a seed.
pub fn latencies(seed: u64, n: usize) -> Vec<f64> {
    Values::LogNormal { mu: 0.0, sigma: 1.0 }.stream(seed).take(n).collect()
}

/// Every quantile within alpha of a value whose rank is next to the one asked for: definitions differ by one.
pub fn alpha_gate<C: Contender>(values: &[f64]) -> Gate {
    let mut sketch: C = filled(values);
    let bytes = sketch.encode().map_or(0, |bytes| bytes.len());
    let (view, exact) = (sketch.view(), ExactQuantiles::new(values.to_vec()));
    let sorted = exact.sorted();
    /// Rounding at the very edge of a bin.
    const ROUNDING: f64 = 1e-9;
    let (mut failures, mut worst) = (0, 0.0f64);
    for step in 1..STEPS {
        let q = step as f64 / STEPS as f64;
        let estimate = C::quantile(&view, q);
        let rank = (step as usize * sorted.len()).div_ceil(STEPS as usize) - 1;
        let (low, high) = (sorted[rank.saturating_sub(1)], sorted[(rank + 1).min(sorted.len() - 1)]);
        let alpha = ALPHA + ROUNDING;
        failures += u64::from(!(low * (1.0 - alpha) <= estimate && estimate <= high * (1.0 + alpha)));
        worst = worst.max((estimate / sorted[rank] - 1.0).abs());
    }
    let gate = Gate::of(bytes as f64, worst, "alpha", laws::all_hold(failures, STEPS - 1));
    Gate { not_for: C::NOT_FOR, ..gate }
}

/// The mean rank error of p99.9 over seeds; where there is a target it is held to it.
pub fn tail_gate<C: Contender>(n: usize, target: Option<f64>) -> Gate {
    let mut bytes = 0;
    let errors: Vec<f64> = (0..SEEDS)
        .map(|seed| {
            let values = latencies(seed, n);
            let mut sketch: C = filled(&values);
            bytes = sketch.encode().map_or(0, |bytes| bytes.len());
            ExactQuantiles::new(values).rank_error(0.999, C::quantile(&sketch.view(), 0.999))
        })
        .collect();
    let verdict = laws::mean_at_most(&errors, target.unwrap_or(1.0));
    let gate = Gate::of(bytes as f64, laws::mean(&errors), "rank error of p99.9", verdict);
    Gate { not_for: C::NOT_FOR, ..gate }
}

/// The greatest rank error over seeds: beyond the bound as often as 99% allow, and no value lost.
pub fn rank_gate<C: Contender>(n: usize) -> Gate {
    let bound = KllParams::default().rank_error();
    let (mut bytes, mut beyond, mut worst, mut lost) = (0, 0, 0.0f64, 0);
    for seed in 0..SEEDS {
        let values = latencies(seed, n);
        let mut sketch: C = filled(&values);
        lost += u64::from(sketch.count().is_some_and(|count| count != n as u64));
        bytes = sketch.encode().map_or(0, |bytes| bytes.len());
        let (view, exact) = (sketch.view(), ExactQuantiles::new(values));
        let error = |step: u64| {
            let q = step as f64 / STEPS as f64;
            exact.rank_error(q, C::quantile(&view, q))
        };
        let greatest = (1..STEPS).map(error).fold(0.0, f64::max);
        beyond += u64::from(greatest > bound);
        worst = worst.max(greatest);
    }
    let mut gate = Gate::of(bytes as f64, worst, "rank error", laws::rate_at_most(beyond, SEEDS, 0.01));
    if lost > 0 {
        gate.kept = Err(format!("values lost: {}", laws::all_hold(lost, SEEDS)));
    }
    Gate { not_for: C::NOT_FOR, ..gate }
}

/// Our `DDSketch`, cubic or by the logarithm.
pub struct OurDd<const LOG: bool>(DDSketch);

impl<const LOG: bool> Contender for OurDd<LOG> {
    const NAME: &'static str = if LOG { "pds-quantiles, log" } else { "pds-quantiles, cubic" };
    const ROLE: Role = if LOG { Role::Variant } else { Role::Ours };
    type View = DDSketchSnapshot;

    fn new() -> Self {
        let mapping = if LOG { Mapping::Log } else { Mapping::Cubic };
        Self(DDSketch::new(DDSketchParams::for_accuracy(ALPHA).expect("1%").with_mapping(mapping)))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.insert(value);
    }
    fn view(&mut self) -> DDSketchSnapshot {
        self.0.snapshot()
    }
    fn quantile(view: &DDSketchSnapshot, q: f64) -> f64 {
        view.quantile(q).unwrap_or(f64::NAN)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.count())
    }
    fn encode(&mut self) -> Option<Vec<u8>> {
        Some(self.0.to_bytes())
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        DDSketch::from_bytes(bytes).ok().map(Self)
    }
}

/// Our t-digest.
pub struct OurDigest<const DELTA: u32>(TDigest);

impl<const DELTA: u32> Contender for OurDigest<DELTA> {
    const NAME: &'static str = "pds-quantiles";
    const ROLE: Role = Role::Ours;
    type View = TDigestSnapshot;

    fn new() -> Self {
        Self(TDigest::new(TDigestParams::with_compression(DELTA).expect("a usual compression")))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.insert(value);
    }
    fn view(&mut self) -> TDigestSnapshot {
        self.0.snapshot()
    }
    fn quantile(view: &TDigestSnapshot, q: f64) -> f64 {
        view.quantile(q).unwrap_or(f64::NAN)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.count())
    }
    fn encode(&mut self) -> Option<Vec<u8>> {
        Some(self.0.to_bytes())
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        TDigest::from_bytes(bytes).ok().map(Self)
    }
}

/// Our KLL sketch of k = 200.
pub struct OurKll(KllSketch);

impl Contender for OurKll {
    const NAME: &'static str = "pds-quantiles";
    const ROLE: Role = Role::Ours;
    type View = KllSnapshot;

    fn new() -> Self {
        Self(KllSketch::default())
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.insert(value);
    }
    fn view(&mut self) -> KllSnapshot {
        self.0.snapshot()
    }
    fn quantile(view: &KllSnapshot, q: f64) -> f64 {
        view.quantile(q).unwrap_or(f64::NAN)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.count())
    }
    fn encode(&mut self) -> Option<Vec<u8>> {
        Some(self.0.to_bytes())
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        KllSketch::from_bytes(bytes).ok().map(Self)
    }
}
