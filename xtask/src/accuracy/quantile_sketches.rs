//! What the quantile experiments share: streams of values, the sketches, and exact quantiles.

use pds_quantiles::{
    DDSketch, DDSketchParams, Error, KllParams, KllSketch, Mapping, Merge, Quantiles, Sketch, TDigest,
    TDigestParams,
};
use pds_testkit::{ExactQuantiles, SplitMix64, Values};

/// The accuracy of the `DDSketch`es.
pub(super) const ALPHA: f64 = 0.01;

/// A pattern of values of the tables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Uniform,
    LogNormal,
    Pareto,
    Exponential,
    Bimodal,
    Ascending,
    Descending,
    AllEqual,
    FourValued,
    SignMixed,
    Extreme,
}

impl Stream {
    pub(super) const ALL: [Self; 11] = [
        Self::Uniform,
        Self::LogNormal,
        Self::Pareto,
        Self::Exponential,
        Self::Bimodal,
        Self::Ascending,
        Self::Descending,
        Self::AllEqual,
        Self::FourValued,
        Self::SignMixed,
        Self::Extreme,
    ];

    /// The pattern of an input of a cell.
    pub(super) fn of(input: f64) -> Self {
        Self::ALL[input as usize]
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::LogNormal => "log-normal",
            Self::Pareto => "Pareto",
            Self::Exponential => "exponential",
            Self::Bimodal => "bimodal",
            Self::Ascending => "ascending",
            Self::Descending => "descending",
            Self::AllEqual => "all equal",
            Self::FourValued => "four values",
            Self::SignMixed => "sign-mixed",
            Self::Extreme => "1e-300 to 1e300",
        }
    }

    /// Whether it has a density, in random order, within some orders of magnitude: what a t-digest is made for.
    pub(super) fn is_smooth(self) -> bool {
        matches!(self, Self::Uniform | Self::LogNormal | Self::Pareto | Self::Exponential | Self::Bimodal)
    }

    /// Whether it has at most four distinct values.
    pub(super) fn is_discrete(self) -> bool {
        matches!(self, Self::AllEqual | Self::FourValued)
    }

    /// The first `n` values of a seed.
    pub(super) fn values(self, seed: u64, n: usize) -> Vec<f64> {
        let of = |values: Values| values.stream(seed).take(n).collect();
        let mut random = SplitMix64::new(seed);
        let mut draw = |next: &dyn Fn(&mut SplitMix64) -> f64| (0..n).map(|_| next(&mut random)).collect();
        match self {
            Self::Uniform => of(Values::Uniform { low: 0.0, high: 1.0 }),
            Self::LogNormal => of(Values::LogNormal { mu: 0.0, sigma: 1.0 }),
            Self::Pareto => of(Values::Pareto { shape: 1.0, minimum: 1.0 }),
            Self::Exponential => draw(&|random| -libm::log(1.0 - random.next_f64())),
            // Answers of a cache near 1, and one in ten from a disk near 150.
            Self::Bimodal => draw(&|random| {
                let (mu, sigma) = if random.below(10) == 0 { (5.0, 0.5) } else { (0.0, 0.25) };
                libm::exp(mu + sigma * random.next_normal())
            }),
            Self::Ascending => of(Values::Sorted { first: 1.0, step: 1.0 }),
            Self::Descending => of(Values::Sorted { first: n as f64, step: -1.0 }),
            Self::AllEqual => of(Values::Constant(0.1)),
            Self::FourValued => draw(&|random| [1.0, 3.0, 9.0, 1000.0][random.below(4) as usize]),
            Self::SignMixed => of(Values::SignMixed { mu: 0.0, sigma: 1.0 }),
            Self::Extreme => draw(&|random| libm::pow(10.0, 600.0 * random.next_f64() - 300.0)),
        }
    }
}

/// A sketch with its parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Cubic,
    Log,
    Digest100,
    Digest200,
    Kll,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Cubic, Self::Log, Self::Digest100, Self::Digest200, Self::Kll];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cubic => "DDSketch, 1%, cubic",
            Self::Log => "DDSketch, 1%, log",
            Self::Digest100 => "t-digest, 100",
            Self::Digest200 => "t-digest, 200",
            Self::Kll => "KLL, k = 200",
        }
    }

    pub(super) fn is_ddsketch(self) -> bool {
        matches!(self, Self::Cubic | Self::Log)
    }

    pub(super) fn is_digest(self) -> bool {
        matches!(self, Self::Digest100 | Self::Digest200)
    }

    /// One sketch of all values, in one pass.
    pub(super) fn sketch(self, values: &[f64], seed: u64) -> Made {
        match self {
            Self::Cubic | Self::Log => {
                let mut sketch = DDSketch::new(self.ddsketch());
                sketch.extend(values);
                Made::DDSketch(sketch)
            }
            Self::Digest100 | Self::Digest200 => {
                let delta = if self == Self::Digest100 { 100 } else { 200 };
                let params = TDigestParams::with_compression(delta).expect("a usual compression");
                let mut sketch = TDigest::new(params);
                sketch.extend(values.iter().copied());
                Made::TDigest(sketch)
            }
            Self::Kll => {
                let mut sketch: KllSketch = KllSketch::with_seed(KllParams::default(), seed);
                sketch.extend(values.iter().copied());
                Made::Kll(sketch)
            }
        }
    }

    fn ddsketch(self) -> DDSketchParams {
        let mapping = if self == Self::Log { Mapping::Log } else { Mapping::Cubic };
        DDSketchParams::for_accuracy(ALPHA).expect("a usual accuracy").with_mapping(mapping)
    }
}

/// Any of the sketches.
pub(super) enum Made {
    DDSketch(DDSketch),
    TDigest(TDigest),
    Kll(KllSketch),
}

impl Made {
    /// Answers to many questions.
    pub(super) fn snapshot(&self) -> Box<dyn Quantiles> {
        match self {
            Self::DDSketch(sketch) => Box::new(sketch.snapshot()),
            Self::TDigest(sketch) => Box::new(sketch.snapshot()),
            Self::Kll(sketch) => Box::new(sketch.snapshot()),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::DDSketch(sketch) => sketch.to_bytes(),
            Self::TDigest(sketch) => sketch.to_bytes(),
            Self::Kll(sketch) => sketch.to_bytes(),
        }
    }

    /// Merges the bytes of a sketch of the same kind, as they arrive from elsewhere.
    pub(super) fn merge_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::DDSketch(sketch) => sketch.merge(&DDSketch::from_bytes(bytes)?),
            Self::TDigest(sketch) => sketch.merge(&TDigest::from_bytes(bytes)?),
            Self::Kll(sketch) => sketch.merge(&KllSketch::from_bytes(bytes)?),
        }
    }
}

/// Shares are tenths of a thousandth here: `q = share / SHARES`, so that ranks are integers.
pub(super) const SHARES: usize = 10_000;

/// The exact quantile `share / SHARES`: the least value with at least so many at or below it.
pub(super) fn exact_quantile(exact: &ExactQuantiles, share: usize) -> f64 {
    let n = exact.sorted().len();
    exact.sorted()[(share * n).div_ceil(SHARES).max(1) - 1]
}

/// How far off an estimate is, as a share of the value.
pub(super) fn relative(estimate: f64, value: f64) -> f64 {
    if estimate == value { 0.0 } else { ((estimate - value) / value).abs() }
}
