//! Accuracy to grid and limits: the one gate of validation.

use super::mapping::{Grid, Mapping};
use crate::Error;

/// What a sketch does with more bins than its limit. Each is a function of the values alone, not of their order, so that
/// merging stays exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Collapse {
    /// The lowest bins become one: the greatest values keep their accuracy. Lowest by value: of a sketch with negative
    /// numbers, the most negative.
    #[default]
    Lowest,
    /// The highest bins become one: the least values keep their accuracy.
    Highest,
    /// All bins are joined in pairs, as often as it takes: every value keeps the same accuracy, a lower one. `[EpicocoEtAl20]`.
    Uniform,
}

/// How fine the bins are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Accuracy { mapping: Mapping, alpha: f64 },
    Scale(u8),
}

/// Accuracy, mapping and limit of a [`DDSketch`](crate::DDSketch). Sketches with equal parameters merge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DDSketchParams {
    base: Base,
    alpha: f64,
    pub(super) grid: Grid,
    max_bins: u32,
    collapse: Collapse,
}

impl DDSketchParams {
    /// The finest accuracy.
    pub const MIN_ALPHA: f64 = 1e-6;
    /// The coarsest accuracy.
    pub const MAX_ALPHA: f64 = 0.5;
    /// The least limit: bins joined in pairs come down to two of each sign and zero.
    pub const MIN_MAX_BINS: u32 = 8;
    /// The greatest limit.
    pub const MAX_MAX_BINS: u32 = 1 << 24;
    /// The limit unless another is chosen: 65,536 bins, 2 MiB at most by [`DDSketchParams::max_size_bytes`]. At an accuracy of
    /// 1 %, bins in a row then span e^1300: no data of the physical world reach it.
    pub const DEFAULT_MAX_BINS: u32 = 1 << 16;
    /// The finest scale of [`DDSketchParams::for_scale`]; the next one is finer than [`DDSketchParams::MIN_ALPHA`].
    pub const MAX_SCALE: u8 = 18;

    /// Quantiles within `alpha` times their value: 0.01 for 1 %. Cubic mapping; at most 65,536 bins
    /// ([`DDSketchParams::DEFAULT_MAX_BINS`]), the lowest of which collapse.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `alpha` is in [1e-6, 0.5].
    pub fn for_accuracy(alpha: f64) -> Result<Self, Error> {
        Self::of_base(Base::Accuracy { mapping: Mapping::default(), alpha })
    }

    /// The bins of an OpenTelemetry exponential histogram: powers of `2^(2^-scale)`, by the logarithm. Accuracy 1/3 at scale
    /// 0, and about 0.35 / 2^scale beyond.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `scale` is above [`DDSketchParams::MAX_SCALE`].
    pub fn for_scale(scale: u8) -> Result<Self, Error> {
        Self::of_base(Base::Scale(scale))
    }

    pub(super) fn of_base(base: Base) -> Result<Self, Error> {
        let (alpha, grid) = match base {
            Base::Accuracy { mapping, alpha } => {
                if !(Self::MIN_ALPHA..=Self::MAX_ALPHA).contains(&alpha) {
                    return Err(Error::Parameter { name: "alpha", value: alpha, domain: "1e-6 to 0.5" });
                }
                (alpha, Grid::for_alpha(mapping, alpha))
            }
            Base::Scale(scale) => {
                if scale > Self::MAX_SCALE {
                    return Err(Error::Parameter { name: "scale", value: scale.into(), domain: "0 to 18" });
                }
                (Grid::alpha_of_scale(scale), Grid::for_scale(scale))
            }
        };
        Ok(Self { base, alpha, grid, max_bins: Self::DEFAULT_MAX_BINS, collapse: Collapse::default() })
    }

    /// With another mapping. Parameters for a scale become those for its accuracy, unless it is [`Mapping::Log`].
    #[must_use]
    pub fn with_mapping(self, mapping: Mapping) -> Self {
        if self.mapping() == mapping {
            return self;
        }
        let base = Base::Accuracy { mapping, alpha: self.alpha };
        Self { base, grid: Grid::for_alpha(mapping, self.alpha), ..self }
    }

    /// With another limit of occupied bins, those of both signs and zero together.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `max_bins` is in 8..=2^24.
    pub fn with_max_bins(self, max_bins: u32) -> Result<Self, Error> {
        if !(Self::MIN_MAX_BINS..=Self::MAX_MAX_BINS).contains(&max_bins) {
            return Err(Error::Parameter { name: "max_bins", value: max_bins.into(), domain: "8 to 2^24" });
        }
        Ok(Self { max_bins, ..self })
    }

    /// With another way to keep to the limit.
    #[must_use]
    pub fn with_collapse(self, collapse: Collapse) -> Self {
        Self { collapse, ..self }
    }

    /// The accuracy: greatest relative error, before any collapse.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The mapping.
    pub fn mapping(&self) -> Mapping {
        self.grid.mapping
    }

    /// The scale, of parameters for one.
    pub fn scale(&self) -> Option<u8> {
        match self.base {
            Base::Scale(scale) => Some(scale),
            Base::Accuracy { .. } => None,
        }
    }

    /// The limit of occupied bins.
    pub fn max_bins(&self) -> u32 {
        self.max_bins
    }

    /// How the limit is kept to.
    pub fn collapse(&self) -> Collapse {
        self.collapse
    }

    /// Bytes of the bins at most, whatever the values: 32 for each bin of the limit, or 24 and 96 KiB, the greater of the two.
    /// What values need is mostly far less: see [`QuantileSketch::size_bytes`](crate::QuantileSketch::size_bytes).
    pub fn max_size_bytes(&self) -> usize {
        super::bins::max_size_bytes(self.max_bins as usize)
    }

    pub(super) fn base(&self) -> Base {
        self.base
    }

    /// Checks that sketches with these parameters have the same bins.
    ///
    /// # Errors
    ///
    /// [`Error::Incompatible`] names what differs.
    pub(super) fn same(&self, other: &Self) -> Result<(), Error> {
        let differs = |field| Err(Error::Incompatible { field });
        if self.mapping() != other.mapping() {
            differs("mapping")
        } else if self.alpha.to_bits() != other.alpha.to_bits() || self.base != other.base {
            differs("alpha")
        } else if self.max_bins != other.max_bins {
            differs("max_bins")
        } else if self.collapse != other.collapse {
            differs("collapse")
        } else {
            Ok(())
        }
    }
}
