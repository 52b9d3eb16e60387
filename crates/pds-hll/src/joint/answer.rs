//! What a comparison of two sketches says.

use alloc::boxed::Box;
use core::cmp::Ordering;

use super::likelihood::{BOTH, LEFT, Likelihood, RIGHT};
use super::likely::Likely;
use super::size::{Size, widened};
use super::{magnitude, solve};

/// Two sets compared, by [`HyperLogLog::joint`](crate::HyperLogLog::joint): their intersection, what each has alone, their
/// union and their similarity, each with an estimate and with bounds.
///
/// * Error: two-sided. It depends on the share of the intersection: relative to it, the error grows as the share falls
///   (table `hll-intersection`), and [`Part::bounds`] say by how much.
/// * No estimate is what the two sketches rule out: an intersection or what one set has alone is neither negative nor above
///   the estimate of that set, a union is neither below that of either set nor above their sum.
/// * Comparing the other way round gives the same answers.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Keys of the left set alone, of the right one alone, of both.
    parts: [f64; 3],
    union: f64,
    jaccard: f64,
    sizes: [Size; 2],
    /// The left set is the one that was asked about second.
    swapped: bool,
    basis: Basis,
}

/// What the parts are known from.
#[derive(Clone, Debug)]
enum Basis {
    /// Tokens, so many of them in both sets.
    Counted { common: usize, tokens: [usize; 2], union: Size },
    /// One of the sets is empty, the other is the union.
    Apart,
    /// Registers that can rise no further.
    Unknown,
    /// Registers.
    Likely(Likely),
}

/// One number of a [`Joint`].
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    joint: &'a Joint,
    which: Which,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Alone(usize),
    Both,
    Union,
    Jaccard,
}

impl Joint {
    /// The keys of both sets.
    pub fn intersection(&self) -> Part<'_> {
        Part { joint: self, which: Which::Both }
    }

    /// The keys of the first set that the second has not.
    pub fn left_only(&self) -> Part<'_> {
        Part { joint: self, which: Which::Alone(if self.swapped { RIGHT } else { LEFT }) }
    }

    /// The keys of the second set that the first has not.
    pub fn right_only(&self) -> Part<'_> {
        Part { joint: self, which: Which::Alone(if self.swapped { LEFT } else { RIGHT }) }
    }

    /// The keys of either set.
    pub fn union(&self) -> Part<'_> {
        Part { joint: self, which: Which::Union }
    }

    /// The similarity of `[Jaccard12]`: the share of the union that is in both sets, 0 to 1; 0 for two empty sets.
    pub fn jaccard(&self) -> Part<'_> {
        Part { joint: self, which: Which::Jaccard }
    }

    /// Whether the sketches tell anything of the intersection: false if neither an empty one nor the largest possible one
    /// lies a standard deviation from the most likely. The estimate of the intersection is then no more than one of many
    /// possible numbers; the bounds say which.
    pub fn is_determined(&self) -> bool {
        match &self.basis {
            Basis::Counted { .. } | Basis::Apart => true,
            Basis::Unknown => false,
            Basis::Likely(likely) => likely.is_determined(),
        }
    }

    pub(super) fn counted(tokens: [usize; 2], common: usize) -> Self {
        let sizes = tokens.map(Size::of_tokens);
        let union = Size::of_tokens(tokens[LEFT] + tokens[RIGHT] - common);
        let [left, right] = sizes.map(|size| size.estimate);
        // Without a token in common there is no key in common.
        let both = if common == 0 { 0.0 } else { left + right - union.estimate };
        Self::new([left - both, right - both, both], sizes, Basis::Counted { common, tokens, union })
    }

    pub(super) fn apart(sizes: [Size; 2]) -> Self {
        let [left, right] = sizes.map(|size| size.estimate);
        Self::new([left, right, 0.0], sizes, Basis::Apart)
    }

    pub(super) fn unknown(sizes: [Size; 2]) -> Self {
        Self { basis: Basis::Unknown, ..Self::apart(sizes) }
    }

    /// `order`: that of the question; the sizes, and the sides of the likelihood, are given in ascending order.
    pub(super) fn most_likely(sizes: [Size; 2], order: Ordering, likelihood: Box<Likelihood>) -> Self {
        let [left, right] = sizes.map(|size| size.estimate);
        // Half of the smaller set in common: from the middle the way is short to either side.
        let both = 0.5 * left.min(right);
        let mut rates = solve::maximize(&likelihood, [left - both, right - both, both]);
        if order == Ordering::Equal {
            let alone = 0.5 * (rates[LEFT] + rates[RIGHT]);
            rates = [alone, alone, rates[BOTH]];
        }
        let joint = Self::new(rates, sizes, Basis::Likely(Likely::new(likelihood, rates)));
        Self { swapped: order == Ordering::Greater, ..joint }
    }

    /// Estimates that the sizes allow.
    fn new(parts: [f64; 3], sizes: [Size; 2], basis: Basis) -> Self {
        let [left, right] = sizes.map(|size| size.estimate);
        let union = parts[LEFT] + parts[RIGHT] + parts[BOTH];
        // Of the parts as they are: their scale, which may differ by a hair from that of the sizes, is not in it.
        let jaccard = jaccard(parts[BOTH], union);
        let union = union.clamp(left.max(right), left + right);
        let parts = [
            parts[LEFT].clamp(0.0, left),
            parts[RIGHT].clamp(0.0, right),
            parts[BOTH].clamp(0.0, left.min(right)),
        ];
        Self { parts, union, jaccard, sizes, swapped: false, basis }
    }
}

impl Part<'_> {
    /// The most likely value, finite unless a sketch is saturated: then the part that is not in both is infinite with it.
    pub fn estimate(&self) -> f64 {
        match self.which {
            Which::Alone(side) => self.joint.parts[side],
            Which::Both => self.joint.parts[BOTH],
            Which::Union => self.joint.union,
            Which::Jaccard => self.joint.jaccard,
        }
    }

    /// Where the value lies, as far as it is possible at all: an intersection between 0 and the upper bound of the smaller
    /// set, a similarity between 0 and 1.
    ///
    /// The estimate n becomes n e^(-kappa s) to n e^(kappa s), s being its predicted relative error. Where s is large, or
    /// the part may be empty, the bounds go from the least to the greatest value that is not less likely than kappa standard
    /// deviations of a normal distribution, and the errors of the sizes of both sets move them further out: where the
    /// registers tell nothing, they hold all that is possible. While keys are counted one by one, n less and more `kappa`
    /// standard deviations of the number of keys that share their 32 bits with another; two sets that share none have no
    /// key in common for certain.
    ///
    /// * `kappa`: width in standard deviations. A negative `kappa` counts as its magnitude, NaN as infinity; 0 gives the
    ///   estimate.
    ///
    /// # Source
    ///
    /// Likelihood: `[Ertl17]`.
    pub fn bounds(&self, kappa: f64) -> (f64, f64) {
        let kappa = magnitude(kappa);
        let estimate = self.estimate();
        if kappa == 0.0 {
            return (estimate, estimate);
        }
        let (low, high) = match &self.joint.basis {
            Basis::Counted { common, tokens, union } => self.counted(*common, *tokens, union, kappa),
            Basis::Apart => self.apart(kappa),
            Basis::Unknown => self.possible(kappa),
            Basis::Likely(likely) => likely.bounds(self.which, &self.joint.sizes, kappa),
        };
        let (least, most) = self.possible(kappa);
        // The estimates of the two sketches and those of the comparison come of different formulas.
        (low.clamp(least, most).min(estimate), high.clamp(least, most).max(estimate))
    }

    /// What no bound may leave.
    fn possible(&self, kappa: f64) -> (f64, f64) {
        let [left, right] = self.joint.sizes.map(|size| size.bounds(kappa));
        match self.which {
            Which::Alone(side) => (0.0, [left.1, right.1][side]),
            Which::Both => (0.0, left.1.min(right.1)),
            Which::Union => (left.0.max(right.0), left.1 + right.1),
            Which::Jaccard => (0.0, 1.0),
        }
    }

    fn counted(&self, common: usize, tokens: [usize; 2], union: &Size, kappa: f64) -> (f64, f64) {
        let spread = widened(kappa, union.deviation);
        let both = match common {
            0 => (0.0, 0.0),
            _ => ((self.joint.parts[BOTH] - spread).max(0.0), self.joint.parts[BOTH] + spread),
        };
        match self.which {
            Which::Alone(side) if common == 0 => self.joint.sizes[side].bounds(kappa),
            // Keys alone on the left are those of the union less those of the right. Tokens that the right one has not
            // are keys that it has not.
            Which::Alone(side) => {
                let estimate = self.joint.parts[side];
                ((estimate - spread).max((tokens[side] - common) as f64), estimate + spread)
            }
            Which::Both => both,
            Which::Union => union.bounds(kappa),
            Which::Jaccard => {
                let (least, most) = union.bounds(kappa);
                (jaccard(both.0, most), jaccard(both.1, least))
            }
        }
    }

    fn apart(&self, kappa: f64) -> (f64, f64) {
        let [left, right] = self.joint.sizes.map(|size| size.bounds(kappa));
        match self.which {
            Which::Alone(side) => [left, right][side],
            Which::Both | Which::Jaccard => (0.0, 0.0),
            Which::Union => (left.0 + right.0, left.1 + right.1),
        }
    }
}

fn jaccard(both: f64, union: f64) -> f64 {
    if both > 0.0 && union > 0.0 { (both / union).clamp(0.0, 1.0) } else { 0.0 }
}
