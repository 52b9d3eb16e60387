//! From targets, or from a raw shape, to validated parameters.

use serde::{Deserialize, Serialize};

use super::SignedCell;
use crate::params::{HASHES, same_shape, smallest, within_0_and_1};
use crate::{CountMinParams, Error};

/// The shape of a count-sketch, and the chance of failure that its error refers to.
///
/// # Law
///
/// Let F2 be the sum over all keys of the square of their counts. In a row of w columns a key's estimate is off by the signed
/// counts of the keys that share its cell: zero in expectation, with either sign alike, and a variance of at most F2 / w. By
/// Chebyshev's inequality the error exceeds eps sqrt(F2) on one given side with a chance of at most q = 1 / (2 w eps^2). The
/// median of d rows exceeds it only if more than half of them do, so that
///
/// ```text
/// P(|estimate - count| > eps sqrt(F2)) <= 2 P(Binomial(d, q) >= (d + 1) / 2) <= delta
/// ```
///
/// A value of this type is valid: a sketch of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct CountSketchParams {
    width: u64,
    depth: u32,
    delta: f64,
    /// What the other three say, at hand for every query of bounds.
    epsilon: f64,
}

impl CountSketchParams {
    /// Most rows: odd, and no more than there are of a count-min table.
    pub const MAX_DEPTH: u32 = (CountMinParams::MAX_DEPTH - 1) | 1;

    /// Most cells: what the address space of this platform holds in one allocation of 8-byte cells.
    pub const MAX_CELLS: u64 = CountMinParams::MAX_CELLS;

    /// The smallest table whose estimates are off by more than `eps` times sqrt(F2) with a chance of at most `delta` per key:
    /// see [the law](Self#law).
    ///
    /// For each odd number of rows the least width that keeps the law is found; of these shapes the one with the fewest
    /// cells is taken, and within 3% of it the one with the fewest rows, since each row costs time. The chance includes that
    /// of two keys sharing a 64-bit hash.
    ///
    /// * `eps`: error as a share of sqrt(F2), the Euclidean norm of the counts, within (0, 1);
    /// * `delta`: chance per key that the error is larger, within (0, 1).
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `eps` or `delta` is NaN or outside (0, 1), if `delta` is so low that 64-bit hashes cannot
    /// meet it (near 1 / (`eps`^2 2^64)), or if the table would exceed [`CountSketchParams::MAX_CELLS`].
    ///
    /// # Source
    ///
    /// `[CharikarChenFarachColton02]`, with Chebyshev's inequality and the binomial tail in place of their constants.
    pub fn for_error(eps: f64, delta: f64) -> Result<Self, Error> {
        within_0_and_1("eps", eps)?;
        within_0_and_1("delta", delta)?;
        let too_small = Error::Parameter {
            name: "eps",
            value: eps,
            domain: "a table of at most CountSketchParams::MAX_CELLS cells",
        };
        if 1.0 / eps / eps > Self::MAX_CELLS as f64 {
            return Err(too_small);
        }
        // At most 1 / eps^2 keys have a count beyond eps sqrt(F2): any of them may share the key's hash.
        let own_share = delta - 1.0 / (eps * eps * HASHES);
        if own_share < delta / 2.0 {
            return Err(Error::Parameter {
                name: "delta",
                value: delta,
                domain: "at least 2 / (eps^2 * 2^64) (64-bit hashes)",
            });
        }
        let shapes = (1..=Self::MAX_DEPTH)
            .step_by(2)
            .filter_map(|depth| Some((least_width(depth, eps, own_share)?, depth)));
        let (width, depth) = smallest(shapes).ok_or(too_small)?;
        Self::validated(width, depth, delta)
    }

    /// A raw shape of `depth` rows, an odd number, of `width` cells. Its error is stated for two standard deviations of a
    /// row, epsilon = 2 / sqrt(`width`), and the chance of failure that the law gives them with so many rows.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `depth` is even or above [`CountSketchParams::MAX_DEPTH`], or if `width` is 0 or the table
    /// would exceed [`CountSketchParams::MAX_CELLS`].
    pub fn with_shape(width: u64, depth: u32) -> Result<Self, Error> {
        /// Chebyshev's chance of two standard deviations or more on one side.
        const ONE_SIDE: f64 = 0.125;
        check_depth(depth)?;
        Self::validated(width, depth, 2.0 * tail(depth, ONE_SIDE))
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(width: u64, depth: u32, delta: f64) -> Result<Self, Error> {
        check_depth(depth)?;
        if !(1..=Self::MAX_CELLS / u64::from(depth)).contains(&width) {
            return Err(Error::Parameter {
                name: "width",
                value: width as f64,
                domain: "1 up to CountSketchParams::MAX_CELLS / depth",
            });
        }
        within_0_and_1("delta", delta)?;
        let epsilon = 1.0 / libm::sqrt(2.0 * one_side(depth, delta) * width as f64);
        Ok(Self { width, depth, delta, epsilon })
    }

    /// Cells of a row.
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// Rows: an odd number.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Cells of the table: width times depth.
    pub const fn cells(&self) -> u64 {
        self.width * self.depth as u64
    }

    /// Chance per key that an estimate errs by more than [`CountSketchParams::epsilon`] times sqrt(F2).
    pub const fn delta(&self) -> f64 {
        self.delta
    }

    /// The error, as a share of sqrt(F2), that an estimate exceeds with a chance of at most [`CountSketchParams::delta`]. It is
    /// that of the very shape, at most what was asked for.
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Bytes of the table: what a sketch of this shape allocates with such cells.
    pub const fn size_bytes<C: SignedCell>(&self) -> u64 {
        self.cells() * C::BYTES as u64
    }

    /// Whether tables of the two shapes can be added up.
    pub(crate) fn same_as(self, other: Self) -> Result<(), Error> {
        same_shape((self.width, self.depth, self.delta), (other.width, other.depth, other.delta))
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Shape {
    width: u64,
    depth: u32,
    delta: f64,
}

impl TryFrom<Shape> for CountSketchParams {
    type Error = Error;

    fn try_from(Shape { width, depth, delta }: Shape) -> Result<Self, Error> {
        Self::validated(width, depth, delta)
    }
}

impl From<CountSketchParams> for Shape {
    fn from(CountSketchParams { width, depth, delta, .. }: CountSketchParams) -> Self {
        Self { width, depth, delta }
    }
}

fn check_depth(depth: u32) -> Result<(), Error> {
    if depth % 2 == 1 && depth <= CountSketchParams::MAX_DEPTH {
        Ok(())
    } else {
        Err(Error::Parameter { name: "depth", value: f64::from(depth), domain: "an odd number, 1 to 15" })
    }
}

/// The chance that more than half of `depth` rows fail, if each does with a chance of `q`. By sums and products alone, so
/// that it is the same number everywhere.
fn tail(depth: u32, q: f64) -> f64 {
    let power = |base: f64, exponent: u32| (0..exponent).fold(1.0, |power, _| power * base);
    let mut ways = 1.0;
    let mut tail = 0.0;
    for failures in 0..=depth {
        if failures > depth / 2 {
            tail += ways * power(q, failures) * power(1.0 - q, depth - failures);
        }
        ways = ways * f64::from(depth - failures) / f64::from(failures + 1);
    }
    tail
}

/// The greatest chance of a row to fail on one side that keeps the chance of the median to fail on either within `delta`.
fn one_side(depth: u32, delta: f64) -> f64 {
    let kept = |q| 2.0 * tail(depth, q) <= delta;
    // The tail of 1/2 is 1/2, and delta is below 1.
    let (mut good, mut bad) = (0.0, 0.5);
    loop {
        let middle = f64::midpoint(good, bad);
        if middle <= good || middle >= bad {
            // Of a delta next to 0 nothing may be kept but 0: the least number then stands for it.
            return good.max(f64::MIN_POSITIVE);
        }
        if kept(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
}

/// The fewest columns that keep the promise with so many rows; `None` if the table would be too large.
fn least_width(depth: u32, eps: f64, delta: f64) -> Option<u64> {
    let most = CountSketchParams::MAX_CELLS / u64::from(depth);
    let width = libm::ceil(1.0 / (2.0 * one_side(depth, delta) * eps * eps));
    let width = if width <= most as f64 { width as u64 } else { return None };
    let kept = |width: u64| 2.0 * tail(depth, 1.0 / (2.0 * width as f64 * eps * eps)) <= delta;
    // Rounding may have left the quotient just below a whole number.
    [width, width + 1].into_iter().find(|&width| kept(width) && width <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_binomial_one() {
        assert!((tail(1, 0.3) - 0.3).abs() < 1e-15);
        assert!((tail(3, 0.1) - 0.028).abs() < 1e-15);
        for depth in (1..=15).step_by(2) {
            assert!((tail(depth, 0.5) - 0.5).abs() < 1e-15);
            assert!((tail(depth, 1.0) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn the_share_of_a_side_is_the_greatest() {
        for (depth, delta) in [(1, 0.01), (3, 0.01), (5, 1e-6), (15, 0.5), (7, 0.999)] {
            let q = one_side(depth, delta);
            assert!(2.0 * tail(depth, q) <= delta && 2.0 * tail(depth, q * (1.0 + 1e-12)) > delta);
        }
    }
}
