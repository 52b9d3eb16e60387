//! From targets, or from a raw shape, to validated parameters.

use pds_hash::{MAX_ROWS, most_items};
use serde::{Deserialize, Serialize};

use crate::{Cell, Error};

/// The shape of a count-min table, and the chance of failure that its error refers to.
///
/// A value of this type is valid: a sketch of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct CountMinParams {
    width: u64,
    depth: u32,
    delta: f64,
    /// What the other three say, at hand for every query of bounds.
    epsilon: f64,
}

impl CountMinParams {
    /// Most rows: as many as the hash is spread over independently.
    pub const MAX_DEPTH: u32 = MAX_ROWS as u32;

    /// Most cells: what the address space of this platform holds in one allocation of 8-byte cells.
    pub const MAX_CELLS: u64 = most_items(8, usize::BITS);

    /// The smallest table whose estimates exceed the truth by more than `eps` times the total with a chance of at
    /// most `delta` per key.
    ///
    /// For each number of rows d the width is w = ceil(delta^(-1/d) / eps), so that (1 / (w eps))^d <= delta; the
    /// least number of cells w d is taken, and within 3% of it the fewest rows, since each row costs time. The
    /// published shape, [`CountMinParams::textbook`], mostly has more cells. The chance includes that of two keys
    /// sharing a 64-bit hash.
    ///
    /// * `eps`: error as a share of the total of all counts, within (0, 1);
    /// * `delta`: chance per key that the error is larger, within (0, 1).
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `eps` or `delta` is NaN or outside (0, 1), if `delta` is so low that 64-bit hashes
    /// cannot meet it (near 1 / (`eps` 2^64)), or if the table would exceed [`CountMinParams::MAX_CELLS`].
    ///
    /// # Source
    ///
    /// Markov's inequality per row, as `[CormodeMuthukrishnan05, Theorem 1]`, with a factor other than e per row.
    pub fn for_error(eps: f64, delta: f64) -> Result<Self, Error> {
        let own_share = reachable(eps, delta)?;
        let shapes =
            (1..=Self::MAX_DEPTH).filter_map(|depth| Some((least_width(depth, eps, own_share)?, depth)));
        let (width, depth) = smallest(shapes).ok_or(too_small(eps))?;
        Self::validated(width, depth, delta)
    }

    /// The published shape: w = ceil(e / eps) columns and d = ceil(ln(1 / delta)) rows.
    ///
    /// Whole quotients stay whole: an `eps` of `E / 256.0` gives 256 columns, whatever the last bit of a logarithm
    /// or division.
    ///
    /// # Errors
    ///
    /// As [`CountMinParams::for_error`]; also if `delta` asks for more than [`CountMinParams::MAX_DEPTH`] rows,
    /// that is below e^-16, some 1.1e-7.
    ///
    /// # Source
    ///
    /// `[CormodeMuthukrishnan05, 3]`.
    pub fn textbook(eps: f64, delta: f64) -> Result<Self, Error> {
        reachable(eps, delta)?;
        let depth = libm::ceil(-libm::log(delta) * (1.0 - ROUNDING_SLACK)).max(1.0);
        if depth > f64::from(Self::MAX_DEPTH) {
            return Err(Error::Parameter { name: "delta", value: delta, domain: "at least e^-16 (16 rows)" });
        }
        let width = libm::ceil(core::f64::consts::E / eps * (1.0 - ROUNDING_SLACK));
        if width > (Self::MAX_CELLS / u64::from(depth as u32)) as f64 {
            return Err(too_small(eps));
        }
        Self::validated(width as u64, depth as u32, delta)
    }

    /// A raw shape of `depth` rows of `width` cells. Its error is stated for the chance of failure e^-`depth`, by
    /// convention: then epsilon is e / `width`, as in the published shape.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `depth` is 0 or above [`CountMinParams::MAX_DEPTH`], or if `width` is 0 or the table
    /// would exceed [`CountMinParams::MAX_CELLS`].
    pub fn with_shape(width: u64, depth: u32) -> Result<Self, Error> {
        Self::validated(width, depth, libm::exp(-f64::from(depth)))
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(width: u64, depth: u32, delta: f64) -> Result<Self, Error> {
        if !(1..=Self::MAX_DEPTH).contains(&depth) {
            return Err(Error::Parameter { name: "depth", value: f64::from(depth), domain: "1 to 16" });
        }
        if !(1..=Self::MAX_CELLS / u64::from(depth)).contains(&width) {
            return Err(Error::Parameter {
                name: "width",
                value: width as f64,
                domain: "1 up to CountMinParams::MAX_CELLS / depth",
            });
        }
        within_0_and_1("delta", delta)?;
        let epsilon = libm::pow(delta, -1.0 / f64::from(depth)) / width as f64;
        Ok(Self { width, depth, delta, epsilon })
    }

    /// Cells of a row.
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// Rows.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Cells of the table: width times depth.
    pub const fn cells(&self) -> u64 {
        self.width * self.depth as u64
    }

    /// Chance per key that an estimate errs by more than [`CountMinParams::epsilon`] times the total: as it was
    /// asked for, or e^-depth for a raw shape.
    pub const fn delta(&self) -> f64 {
        self.delta
    }

    /// The error, as a share of the total, that an estimate exceeds with a chance of at most
    /// [`CountMinParams::delta`]: delta^(-1/depth) / width. It is that of the very shape, at most what was asked
    /// for.
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The error in counts at this total, floor(epsilon total). An error is a whole number: it exceeds this one
    /// exactly if it exceeds epsilon times the total.
    #[inline]
    pub fn error_bound(&self, total: u64) -> u64 {
        floor_of_product(self.epsilon, total)
    }

    /// Bytes of the table: what a sketch of this shape allocates with such cells.
    ///
    /// ```
    /// let params = pds_cms::CountMinParams::textbook(0.001, 0.01)?;
    /// assert_eq!((params.size_bytes::<u32>(), params.size_bytes::<u64>()), (54_380, 108_760));
    /// # Ok::<(), pds_cms::Error>(())
    /// ```
    pub const fn size_bytes<C: Cell>(&self) -> u64 {
        self.cells() * C::BYTES as u64
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Shape {
    width: u64,
    depth: u32,
    delta: f64,
}

impl TryFrom<Shape> for CountMinParams {
    type Error = Error;

    fn try_from(Shape { width, depth, delta }: Shape) -> Result<Self, Error> {
        Self::validated(width, depth, delta)
    }
}

impl From<CountMinParams> for Shape {
    fn from(CountMinParams { width, depth, delta, .. }: CountMinParams) -> Self {
        Self { width, depth, delta }
    }
}

/// floor(`share` `total`), at most 2^64 - 1, of exactly these two numbers: a floating point product would round totals
/// above 2^53. `share` is positive and normal, or infinite.
#[inline]
pub(crate) fn floor_of_product(share: f64, total: u64) -> u64 {
    const MANTISSA_BITS: i32 = 52;
    const BIAS: i32 = 1023;
    let bits = share.to_bits();
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1) | 1 << MANTISSA_BITS;
    let exponent = (bits >> MANTISSA_BITS) as i32 - BIAS - MANTISSA_BITS;
    let shift = exponent.unsigned_abs();
    let product = u128::from(mantissa) * u128::from(total);
    let floor = if exponent < 0 {
        product.checked_shr(shift).unwrap_or(0)
    } else if product == 0 || shift <= product.leading_zeros() {
        product << shift.min(127)
    } else {
        u128::MAX
    };
    u64::try_from(floor).unwrap_or(u64::MAX)
}

/// Relative slack of sizing, so that the last bit of a power or logarithm cannot move a shape whose exact value is
/// whole.
const ROUNDING_SLACK: f64 = 1e-12;

/// The number of hashes: 2^64.
pub(crate) const HASHES: f64 = 18_446_744_073_709_551_616.0;

/// Of shapes, each a width and a depth, the first that has hardly more cells than the smallest. Those with fewer rows are
/// to come first: every row costs an access per key.
pub(crate) fn smallest(shapes: impl Iterator<Item = (u64, u32)> + Clone) -> Option<(u64, u32)> {
    /// How many more cells, in per cent of the fewest, fewer rows are worth.
    const PER_CENT_FOR_FEWER_ROWS: u128 = 3;
    let cells = |(width, depth): (u64, u32)| u128::from(width) * u128::from(depth);
    let fewest = shapes.clone().map(cells).min()?;
    let mut shapes = shapes;
    shapes.find(|&shape| cells(shape) * 100 <= fewest * (100 + PER_CENT_FOR_FEWER_ROWS))
}

/// Checks that tables of two shapes, each a width, a depth and a delta, can be added up.
pub(crate) fn same_shape(mine: (u64, u32, f64), other: (u64, u32, f64)) -> Result<(), Error> {
    let differs = |field| Err(Error::Incompatible { field });
    if mine.0 != other.0 {
        differs("width")
    } else if mine.1 != other.1 {
        differs("depth")
    } else if mine.2.to_bits() != other.2.to_bits() {
        differs("delta")
    } else {
        Ok(())
    }
}

/// The fewest columns that keep the promise with so many rows; `None` if the table would be too large.
fn least_width(depth: u32, eps: f64, delta: f64) -> Option<u64> {
    let rows = f64::from(depth);
    let most = CountMinParams::MAX_CELLS / u64::from(depth);
    let width = libm::ceil(libm::pow(delta, -1.0 / rows) / eps * (1.0 + ROUNDING_SLACK));
    // Half of the slack, so that the last bit of this power does not move a shape either.
    let kept =
        |width: u64| libm::pow(1.0 / (width as f64 * eps), rows) <= delta * (1.0 - ROUNDING_SLACK / 2.0);
    let width = if width <= most as f64 { width as u64 } else { return None };
    [width, width + 1].into_iter().find(|&width| kept(width) && width <= most)
}

/// The share of `delta` that is left to the rows once keys with a shared hash, which meet in all of them, have had
/// theirs: by Markov's inequality 1 / (eps 2^64).
fn reachable(eps: f64, delta: f64) -> Result<f64, Error> {
    /// Below this share, sizing would pay many cells for the last of it.
    const LEAST_SHARE: f64 = 0.5;
    within_0_and_1("eps", eps)?;
    within_0_and_1("delta", delta)?;
    if 1.0 / eps > CountMinParams::MAX_CELLS as f64 {
        return Err(too_small(eps));
    }
    let own_share = delta - 1.0 / (eps * HASHES);
    if own_share >= delta * LEAST_SHARE {
        Ok(own_share)
    } else {
        Err(Error::Parameter {
            name: "delta",
            value: delta,
            domain: "at least 2 / (eps * 2^64) (64-bit hashes)",
        })
    }
}

/// Checks that a share or a chance lies within (0, 1).
pub(crate) fn within_0_and_1(name: &'static str, value: f64) -> Result<(), Error> {
    // A NaN is in no range.
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(Error::Parameter { name, value, domain: "above 0, below 1" })
    }
}

fn too_small(eps: f64) -> Error {
    Error::Parameter { name: "eps", value: eps, domain: "a table of at most CountMinParams::MAX_CELLS cells" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In cells of any size.
    #[test]
    fn on_every_platform_the_most_cells_can_be_allocated() {
        assert_eq!(CountMinParams::MAX_CELLS, isize::MAX as u64 / 8);
        assert_eq!([32, 64].map(|pointer_bits| most_items(8, pointer_bits)), [(1 << 28) - 1, (1 << 60) - 1]);
    }

    #[test]
    fn the_bound_is_the_floor_of_the_exact_product() {
        assert_eq!(floor_of_product(0.5, u64::MAX), u64::MAX / 2);
        assert_eq!(floor_of_product(0.75, (1 << 62) + 3), (3 << 60) + 2);
        assert_eq!(floor_of_product(1.0, u64::MAX), u64::MAX);
        assert_eq!(floor_of_product(1.5, u64::MAX), u64::MAX);
        assert_eq!(floor_of_product(0.1, 10), 1, "0.1 is a little above a tenth");
        assert_eq!(floor_of_product(0.3, 10), 2, "0.3 is a little below three tenths");
        assert_eq!(floor_of_product(f64::MIN_POSITIVE, u64::MAX), 0);
        assert_eq!([floor_of_product(f64::INFINITY, 1), floor_of_product(f64::INFINITY, 0)], [u64::MAX, 0]);
        assert_eq!(floor_of_product(f64::exp2(63.0), 1), 1 << 63);
        let third = CountMinParams::with_shape(3, 1).expect("a valid shape");
        assert_eq!(third.error_bound(2_305_843_021_559_372_854), 2_089_310_394_927_980_457);
    }
}
