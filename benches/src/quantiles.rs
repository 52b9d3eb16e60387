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
/// Streams that a gate judges, if chance is involved.
const STREAMS: u64 = 256;
/// The deviation of rank errors as a share of their mean, if they are magnitudes of normal ones: sqrt(pi/2 - 1).
pub const SPREAD: f64 = 0.756;
// The law of means allows Z s / sqrt(T) beyond the target: with T up to (Z SPREAD)^2 = 21 streams any mean would pass.
const _: () = {
    let least = laws::Z * SPREAD * laws::Z * SPREAD;
    assert!(STREAMS as f64 > 4.0 * least, "a mean of twice the target has to fail");
};
/// Quantiles are asked at its parts.
pub const STEPS: u64 = 1000;

/// Log-normal values of a seed.
pub fn latencies(seed: u64, n: usize) -> Vec<f64> {
    Values::LogNormal { mu: 0.0, sigma: 1.0 }.stream(seed).take(n).collect()
}

/// Every quantile within alpha of a value whose rank is next to the one asked for: definitions differ by one.
pub fn alpha_gate<C: Contender>(values: &[f64]) -> Gate {
    let mut sketch: C = filled(values);
    let bytes = sketch.encode().map_or(0, |bytes| bytes.len());
    let (view, exact) = (sketch.view(), ExactQuantiles::new(values.to_vec()));
    let answers: Vec<f64> = (1..STEPS).map(|step| C::quantile(&view, step as f64 / STEPS as f64)).collect();
    let (failures, worst) = beyond_alpha(exact.sorted(), &answers);
    let gate = Gate::of(bytes as f64, worst, "alpha", laws::all_hold(failures, STEPS - 1));
    Gate { not_for: C::NOT_FOR, ..gate }
}

/// How many of the quantiles at the thousandths are not within alpha of a value whose rank is next to the one asked for, and the
/// greatest relative error.
pub fn beyond_alpha(sorted: &[f64], quantiles: &[f64]) -> (u64, f64) {
    /// Rounding at the very edge of a bin.
    const ROUNDING: f64 = 1e-9;
    let alpha = ALPHA + ROUNDING;
    let (mut failures, mut worst) = (0, 0.0f64);
    for (step, estimate) in (1..STEPS).zip(quantiles) {
        let rank = (step as usize * sorted.len()).div_ceil(STEPS as usize) - 1;
        let (low, high) = (sorted[rank.saturating_sub(1)], sorted[(rank + 1).min(sorted.len() - 1)]);
        failures += u64::from(!(low * (1.0 - alpha) <= *estimate && *estimate <= high * (1.0 + alpha)));
        worst = worst.max((estimate / sorted[rank] - 1.0).abs());
    }
    (failures, worst)
}

/// The mean rank error of p99.9 over streams; where there is a target it is held to it.
pub fn tail_gate<C: Contender>(n: usize, target: Option<f64>) -> Gate {
    let mut bytes = 0;
    let errors: Vec<f64> = (0..STREAMS)
        .map(|seed| {
            let values = latencies(seed, n);
            let mut sketch: C = filled(&values);
            bytes = sketch.encode().map_or(0, |bytes| bytes.len());
            ExactQuantiles::new(values).rank_error(0.999, C::quantile(&sketch.view(), 0.999))
        })
        .collect();
    let (bytes, error) = (bytes as f64, laws::mean(&errors));
    let gate = match target {
        Some(target) => Gate::of(bytes, error, "rank error of p99.9", laws::mean_at_most(&errors, target)),
        None => Gate { error, ..Gate::open(bytes) },
    };
    Gate { not_for: C::NOT_FOR, ..gate }
}

/// The greatest rank error over streams: beyond the bound as often as 99% allow, and no value lost.
pub fn rank_gate<C: Contender>(n: usize) -> Gate {
    let bound = KllParams::default().rank_error();
    let (mut bytes, mut beyond, mut worst, mut lost) = (0, 0, 0.0f64, 0);
    for seed in 0..STREAMS {
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
    let mut gate = Gate::of(bytes as f64, worst, "rank error", laws::rate_at_most(beyond, STREAMS, 0.01));
    if lost > 0 {
        gate.kept = Err(format!("values lost: {}", laws::all_hold(lost, STREAMS)));
    }
    Gate { not_for: C::NOT_FOR, ..gate }
}

/// What is ours, and how it is made.
pub trait Own {
    /// As [`Contender::NAME`].
    const NAME: &'static str = "pds-quantiles";
    /// As [`Contender::ROLE`].
    const ROLE: Role = Role::Ours;
    /// The sketch.
    type Sketch: QuantileSketch + Merge + Sketch<Hasher = ()>;
    /// Its snapshot.
    type Snapshot: Quantiles;

    /// An empty one.
    fn new() -> Self::Sketch;
    /// Prepared for questions.
    fn snapshot(sketch: &Self::Sketch) -> Self::Snapshot;
}

/// Any of ours, timed.
pub struct Ours<O: Own>(O::Sketch);

impl<O: Own> Contender for Ours<O> {
    const NAME: &'static str = O::NAME;
    const ROLE: Role = O::ROLE;
    type View = O::Snapshot;

    fn new() -> Self {
        Self(O::new())
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.insert(value);
    }
    fn view(&mut self) -> O::Snapshot {
        O::snapshot(&self.0)
    }
    fn quantile(view: &O::Snapshot, q: f64) -> f64 {
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
        O::Sketch::from_bytes(bytes).ok().map(Self)
    }
}

/// Our `DDSketch`, cubic or by the logarithm.
pub type OurDd<const LOG: bool> = Ours<Dd<LOG>>;
/// Our t-digest.
pub type OurDigest<const DELTA: u32> = Ours<Digest<DELTA>>;
/// Our KLL sketch of k = 200.
pub type OurKll = Ours<Kll>;

/// Makes [`OurDd`].
pub struct Dd<const LOG: bool>;

impl<const LOG: bool> Own for Dd<LOG> {
    const NAME: &'static str = if LOG { "pds-quantiles, log" } else { "pds-quantiles, cubic" };
    const ROLE: Role = if LOG { Role::Variant } else { Role::Ours };
    type Sketch = DDSketch;
    type Snapshot = DDSketchSnapshot;

    fn new() -> DDSketch {
        let mapping = if LOG { Mapping::Log } else { Mapping::Cubic };
        DDSketch::new(DDSketchParams::for_accuracy(ALPHA).expect("1%").with_mapping(mapping))
    }
    fn snapshot(sketch: &DDSketch) -> DDSketchSnapshot {
        sketch.snapshot()
    }
}

/// Makes [`OurDigest`].
pub struct Digest<const DELTA: u32>;

impl<const DELTA: u32> Own for Digest<DELTA> {
    type Sketch = TDigest;
    type Snapshot = TDigestSnapshot;

    fn new() -> TDigest {
        TDigest::new(TDigestParams::with_compression(DELTA).expect("a usual compression"))
    }
    fn snapshot(sketch: &TDigest) -> TDigestSnapshot {
        sketch.snapshot()
    }
}

/// Makes [`OurKll`].
pub struct Kll;

impl Own for Kll {
    type Sketch = KllSketch;
    type Snapshot = KllSnapshot;

    fn new() -> KllSketch {
        KllSketch::default()
    }
    fn snapshot(sketch: &KllSketch) -> KllSnapshot {
        sketch.snapshot()
    }
}
