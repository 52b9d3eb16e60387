//! The grid of bins: which bin a magnitude falls into, and which magnitudes a bin holds.

use core::f64::consts::{LN_2, SQRT_2};

/// How a value finds its bin. All of them keep the accuracy; they differ in speed and in the number of bins.
///
/// A mapping lays bins of equal width on `exponent + L(fraction)` of a float `2^exponent (1 + fraction)`, where L
/// approaches the binary logarithm of 1 + fraction. The worse it approaches it, the narrower the narrowest bin is for
/// the accuracy of the widest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// The logarithm itself: the fewest bins, each of the same relative width.
    Log,
    /// `L(s) = s`: 1/ln 2, that is 44 %, more bins.
    Linear,
    /// `L(s) = s (4 - s) / 3`: 3/(4 ln 2), 8 %, more bins.
    Quadratic,
    /// `L(s) = s (6 s^2 - 21 s + 50) / 35`: 7/(10 ln 2), 1 %, more bins.
    #[default]
    Cubic,
}

/// What is taken off alpha, so that no rounding can exceed it.
///
/// With numbers below 2^11 to the left of the point, position and edges are each a few units of 2^-42 off, in units of
/// a factor of about e: less than a third of this together.
const ROUNDING: f64 = 1e-12;

/// Digits of the fraction of a float.
const FRACTION_BITS: u32 = 52;

/// What exponents are shifted by, to be positive: the least that is a power of two, so that it stays whole when bins are
/// joined in pairs, ten times and more.
const BIAS: u32 = 1024;

/// Coefficients of the cubic.
const CUBIC: [f64; 3] = [6.0 / 35.0, -21.0 / 35.0, 50.0 / 35.0];

/// A mapping with its resolution: bin `k` holds the magnitudes of positions `k / multiplier` to `(k + 1) / multiplier`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    pub(super) mapping: Mapping,
    /// Bins per unit of the position, about a doubling.
    multiplier: f64,
    /// Of a grid for a scale.
    scale: Option<u8>,
}

impl Grid {
    /// The coarsest grid of accuracy `alpha`; not a call of libm, so that it is the same for ever.
    pub(super) fn for_alpha(mapping: Mapping, alpha: f64) -> Self {
        // ln((1 + a) / (1 - a)), the width of a bin of accuracy a.
        let width = 2.0 * atanh(alpha - ROUNDING);
        let multiplier = match mapping {
            Mapping::Log => LN_2 / width,
            Mapping::Linear => 1.0 / width,
            Mapping::Quadratic => 0.75 / width,
            Mapping::Cubic => 0.7 / width,
        };
        Self { mapping, multiplier, scale: None }
    }

    /// The grid of powers of 2^(2^-scale).
    pub(super) fn for_scale(scale: u8) -> Self {
        Self { mapping: Mapping::Log, multiplier: (1u64 << scale) as f64, scale: Some(scale) }
    }

    /// The accuracy of [`Grid::for_scale`].
    pub(super) fn alpha_of_scale(scale: u8) -> f64 {
        tanh(LN_2 / 2.0 / (1u64 << scale) as f64) + ROUNDING
    }

    /// The bin of a positive normal number.
    #[inline]
    pub(super) fn key(self, magnitude: f64) -> u32 {
        let bits = magnitude.to_bits();
        let exponent = (bits >> FRACTION_BITS) as u32 + (BIAS - 1023);
        let significand = f64::from_bits(bits & ((1 << FRACTION_BITS) - 1) | 1f64.to_bits());
        let s = significand - 1.0;
        let position = match self.mapping {
            Mapping::Cubic => ((CUBIC[0] * s + CUBIC[1]) * s + CUBIC[2]) * s,
            Mapping::Log => return self.key_by_log(exponent, significand),
            Mapping::Linear => s,
            Mapping::Quadratic => s * (4.0 - s) / 3.0,
        };
        ((f64::from(exponent) + position) * self.multiplier) as u32
    }

    /// Out of line: an insertion by another mapping is faster without its body.
    #[inline(never)]
    fn key_by_log(self, exponent: u32, significand: f64) -> u32 {
        let position = log2(significand);
        match self.scale {
            None => ((f64::from(exponent) + position) * self.multiplier) as u32,
            // Powers of two are edges, and no rounding takes a value across one.
            Some(scale) => (exponent << scale) + ((position * self.multiplier) as u32).min((1 << scale) - 1),
        }
    }

    /// The greatest key there is.
    pub(super) fn last_key(self) -> u32 {
        self.key(f64::MAX)
    }

    /// The magnitudes of a bin, after `shift` joins in pairs: from the first to the second, within rounding.
    pub(super) fn edges(self, key: u32, shift: u32) -> (f64, f64) {
        let edge = |key: u64| self.edge(key << shift).clamp(f64::MIN_POSITIVE, f64::MAX);
        (edge(u64::from(key)), edge(u64::from(key) + 1))
    }

    /// As [`Grid::edges`], but certain to hold every magnitude of the bin.
    pub(super) fn outer_edges(self, key: u32, shift: u32) -> (f64, f64) {
        let (low, high) = self.edges(key, shift);
        (low * (1.0 - ROUNDING), (high * (1.0 + ROUNDING)).min(f64::MAX))
    }

    /// The least and the greatest magnitude of a bin within rounding, both of them in the bin.
    pub(super) fn inner_edges(self, key: u32) -> (f64, f64) {
        let (low, high) = self.edges(key, 0);
        let low = if self.key(low) == key { low } else { low * (1.0 + ROUNDING) };
        let high = if self.key(high) == key { high } else { high * (1.0 - ROUNDING) };
        (low, high)
    }

    /// The number whose relative distance to all magnitudes of a bin is least: the harmonic mean of its edges, which is
    /// `2 gamma^(k + 1) / (gamma + 1)` for a bin from `gamma^k` to `gamma^(k + 1)`.
    pub(super) fn centre(self, key: u32, shift: u32) -> f64 {
        let (low, high) = self.edges(key, shift);
        (low * (2.0 / (1.0 + low / high))).clamp(low, high)
    }

    /// The lower edge of a bin: the inverse of [`Grid::key`].
    fn edge(self, key: u64) -> f64 {
        let position = key as f64 / self.multiplier;
        if position >= f64::from(2 * BIAS) {
            return f64::INFINITY;
        }
        let whole = position as u32;
        let rest = position - f64::from(whole);
        let significand = match self.mapping {
            Mapping::Log => libm::exp2(rest),
            Mapping::Linear => 1.0 + rest,
            // The root of s (4 - s) = 3 rest that is at most 1, without cancellation.
            Mapping::Quadratic => 1.0 + 3.0 * rest / (2.0 + libm::sqrt(4.0 - 3.0 * rest)),
            Mapping::Cubic => 1.0 + cubic_root(rest),
        };
        libm::scalbn(significand, whole.cast_signed() - BIAS.cast_signed())
    }
}

/// The accuracy of bins joined in pairs `shift` times.
pub(super) fn joined_alpha(alpha: f64, shift: u32) -> f64 {
    (0..shift).fold(alpha, |alpha, _| 2.0 * alpha / (1.0 + alpha * alpha))
}

/// The binary logarithm on [1, 2), within a few units of 2^-53, by the series of `atanh((x - r) / (x + r))` around `r`,
/// the root of 2. Not libm's, lest another version of it moves a value into another bin.
fn log2(x: f64) -> f64 {
    let ratio = (x - SQRT_2) / (x + SQRT_2);
    let square = ratio * ratio;
    // Two sums that do not wait for each other.
    let even = polynomial(&EVEN_TERMS, square * square);
    let odd = polynomial(&ODD_TERMS, square * square);
    0.5 + ratio * (even + odd * square)
}

/// Terms of 0.0295^k / (2 k + 1) for k = 0, 2, .. 10 and 1, 3, .. 9: the next one is below 2^-58.
const EVEN_TERMS: [f64; 6] = terms(0);
const ODD_TERMS: [f64; 5] = terms(1);

/// Every other coefficient of the series of the logarithm.
const fn terms<const N: usize>(first: usize) -> [f64; N] {
    let mut terms = [0.0; N];
    let mut i = 0;
    while i < N {
        terms[i] = 2.0 / LN_2 / (2 * (first + 2 * i) + 1) as f64;
        i += 1;
    }
    terms
}

fn polynomial<const N: usize>(terms: &[f64; N], x: f64) -> f64 {
    terms.iter().rev().fold(0.0, |sum, term| sum * x + term)
}

/// The s in [0, 1] at which the cubic is `t`, by Newton's method: the slope is between 1.4 and 0.7.
fn cubic_root(t: f64) -> f64 {
    /// Errors of 0.07, 2e-3, 5e-6 and so on.
    const STEPS: u32 = 6;
    let [a, b, c] = CUBIC;
    let root = (0..STEPS).fold(t, |root, _| {
        let excess = ((a * root + b) * root + c) * root - t;
        root - excess / ((3.0 * a * root + 2.0 * b) * root + c)
    });
    root.clamp(0.0, 1.0)
}

/// The inverse hyperbolic tangent on [0, 1/2], by its series, smallest term first.
fn atanh(x: f64) -> f64 {
    /// x^55 / 55 is below 2^-60 x.
    const LAST: u32 = 27;
    let square = x * x;
    x * (0..=LAST).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1))
}

/// The hyperbolic tangent on [0, 1/2], by the series of sine and cosine.
fn tanh(x: f64) -> f64 {
    const TERMS: u32 = 10;
    let square = x * x;
    // 1 + x^2 / (a (a + 1)) (1 + x^2 / ((a + 2) (a + 3)) (..)).
    let series = |first: u32| {
        (0..TERMS).rev().fold(1.0, |sum, k| {
            let factor = first + 2 * k;
            1.0 + sum * square / f64::from(factor * (factor + 1))
        })
    };
    x * series(2) / series(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_are_the_functions() {
        for i in 0..=1000 {
            let x = f64::from(i) / 2000.0;
            assert!((atanh(x) - libm::atanh(x)).abs() <= 4.0 * f64::EPSILON * x, "atanh {x}");
            assert!((tanh(x) - libm::tanh(x)).abs() <= 4.0 * f64::EPSILON * x, "tanh {x}");
        }
    }

    #[test]
    fn the_logarithm_is_the_logarithm() {
        for i in 0..100_000 {
            let x = 1.0 + f64::from(i) / 100_000.0;
            assert!((log2(x) - libm::log2(x)).abs() <= 3.0 * f64::EPSILON, "{x}");
        }
    }

    #[test]
    fn the_cubic_and_its_root_are_inverse() {
        for i in 0..=1000 {
            let position = f64::from(i) / 1000.0;
            let root = cubic_root(position);
            let cubic = ((CUBIC[0] * root + CUBIC[1]) * root + CUBIC[2]) * root;
            assert!((cubic - position).abs() < 1e-15, "{position}");
        }
    }

    #[test]
    fn the_cubic_is_nowhere_flatter_than_its_multiplier_allows() {
        for i in 0..=100_000 {
            let s = f64::from(i) / 100_000.0;
            let slope = (3.0 * CUBIC[0] * s + 2.0 * CUBIC[1]) * s + CUBIC[2];
            assert!((1.0 + s) * slope >= 10.0 / 7.0 - 1e-12, "{s}");
            assert!((1.0 + s) * (4.0 - 2.0 * s) / 3.0 >= 4.0 / 3.0 - 1e-12, "{s}");
        }
    }

    #[test]
    fn joining_pairs_squares_the_ratio() {
        let ratio = |alpha: f64| (1.0 + alpha) / (1.0 - alpha);
        assert!((ratio(joined_alpha(0.01, 3)) / libm::pow(ratio(0.01), 8.0) - 1.0).abs() < 1e-13);
        assert!((joined_alpha(0.01, 0) - 0.01).abs() < f64::EPSILON);
    }

    /// Grids decide bytes: they may never move.
    #[test]
    fn the_grids_are_pinned() {
        let pinned: [(Mapping, f64, u64); 14] = [
            (Mapping::Log, 0.01, 0x4041_53fe_7c12_6103),
            (Mapping::Linear, 0.01, 0x4048_ffc9_62a7_e02f),
            (Mapping::Quadratic, 0.01, 0x4042_bfd7_09fd_e823),
            (Mapping::Cubic, 1e-6, 0x4115_5cc1_6666_760f),
            (Mapping::Cubic, 1e-4, 0x40ab_5800_030e_efce),
            (Mapping::Cubic, 0.001, 0x4075_dfff_8608_7966),
            (Mapping::Cubic, 0.005, 0x4051_7ff6_715d_759f),
            (Mapping::Cubic, 0.01, 0x4041_7fd9_c50f_1ced),
            (Mapping::Cubic, 0.02, 0x4031_7f67_1100_3524),
            (Mapping::Cubic, 0.05, 0x401b_fa05_ce50_996a),
            (Mapping::Cubic, 0.1, 0x400b_e80a_e8d5_55d1),
            (Mapping::Cubic, 0.5, 0x3fe4_63ad_029d_f0f1),
            (Mapping::Log, 1e-6, 0x4115_2737_bf56_99da),
            (Mapping::Log, 0.5, 0x3fe4_3093_9835_6b1f),
        ];
        for (mapping, alpha, bits) in pinned {
            let multiplier = Grid::for_alpha(mapping, alpha).multiplier;
            assert_eq!(multiplier.to_bits(), bits, "{mapping:?} {alpha} {multiplier}");
        }
        let scales: [(u8, u64); 5] = [
            (0, 0x3fd5_5555_5555_9bb3),
            (1, 0x3fc5_f619_980c_cff3),
            (5, 0x3f86_2e0a_29a0_1991),
            (10, 0x3f36_2e42_f1de_2f26),
            (18, 0x3eb6_2e44_1873_c3cd),
        ];
        for (scale, bits) in scales {
            assert_eq!(Grid::alpha_of_scale(scale).to_bits(), bits, "{scale}");
        }
    }
}
