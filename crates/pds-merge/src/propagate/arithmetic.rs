//! Sums, differences, quotients and overlaps of estimates.

use super::Bounded;
use crate::Error;

/// The sum. If each interval holds its truth, this one holds the sum of them, whatever they have to do with one another.
///
/// ```text
/// estimate = sum e_i,   low = sum l_i,   high = sum h_i
/// ```
///
/// * Intervals that hold with probability 1 - d_i each: this one holds with 1 - sum d_i or more.
/// * Direction: too wide rather than too narrow. [`sum_independent`] is narrower, and needs a reason.
/// * Distinct counts of groups that overlap have no sum: merge the sketches.
/// * To within the rounding of one addition a term. No terms give 0.
///
/// # Errors
///
/// [`Error::NonFinite`] if a sum overflows.
///
/// # Source
///
/// Interval arithmetic: `[Moore66]`.
pub fn sum(terms: impl IntoIterator<Item = Bounded>) -> Result<Bounded, Error> {
    let [estimate, low, high] = terms.into_iter().fold([0.0; 3], |[estimate, low, high], term| {
        [estimate + term.estimate(), low + term.low(), high + term.high()]
    });
    Bounded::new(estimate, low, high)
}

/// The sum of estimates whose errors are independent: each side's half widths add up by their squares.
///
/// ```text
/// estimate = sum e_i,   low = estimate - sqrt(sum (e_i - l_i)^2),   high = estimate + sqrt(sum (h_i - e_i)^2)
/// ```
///
/// * Assumes independent, unbiased, near-normal errors, and intervals of one confidence, such as the same number of standard
///   deviations in all; it then has that confidence too. Sketches that share keys under one hasher err together: for
///   those take [`sum`].
/// * Nothing for bounds that hold for certain, or that are one-sided by nature, as a count-min sketch's: their errors do not
///   cancel. The sum of such errors may lie outside.
/// * Direction: never wider than [`sum`]; where the assumption fails, too narrow.
///
/// # Errors
///
/// [`Error::NonFinite`] if a sum overflows.
///
/// # Source
///
/// `[ZouDonner08]`; for bounds at equal distances it is the root of the sum of squares of any book on errors.
pub fn sum_independent(terms: impl IntoIterator<Item = Bounded>) -> Result<Bounded, Error> {
    let zero = (Bounded::exact(0.0)?, (0.0, 0.0));
    let (dependent, (below, above)) =
        terms.into_iter().try_fold(zero, |(total, (below, above)), term| -> Result<_, Error> {
            let (down, up) = term.half_widths();
            Ok((sum([total, term])?, (libm::hypot(below, down), libm::hypot(above, up))))
        })?;
    within(dependent, below, above)
}

/// The difference `a - b`. If both intervals hold their truths, this one holds the difference of them.
///
/// ```text
/// estimate = e_a - e_b,   low = l_a - h_b,   high = h_a - l_b
/// ```
///
/// May be negative; for what one set has and another has not, take the union less the other.
/// Direction and confidence as of [`sum`].
///
/// # Errors
///
/// [`Error::NonFinite`] if a difference overflows.
///
/// # Source
///
/// Interval arithmetic: `[Moore66]`.
pub fn difference(a: Bounded, b: Bounded) -> Result<Bounded, Error> {
    sum([a, negative(b)?])
}

/// The difference `a - b` of estimates whose errors are independent: [`sum_independent`] of `a` and `-b`, under its
/// assumptions.
///
/// ```text
/// low = e_a - e_b - sqrt((e_a - l_a)^2 + (h_b - e_b)^2),   high = e_a - e_b + sqrt((h_a - e_a)^2 + (e_b - l_b)^2)
/// ```
///
/// # Errors
///
/// [`Error::NonFinite`] if a difference overflows.
///
/// # Source
///
/// `[ZouDonner08]`.
pub fn difference_independent(a: Bounded, b: Bounded) -> Result<Bounded, Error> {
    sum_independent([a, negative(b)?])
}

/// The quotient `a / b`. If both intervals hold their truths, this one holds the quotient of them.
///
/// ```text
/// estimate = e_a / e_b,   low, high = the least and the greatest of l_a / l_b, l_a / h_b, h_a / l_b, h_a / h_b
/// ```
///
/// Direction and confidence as of [`sum`]. Numbers of any sign, but that the interval of `b` must not hold 0: there is no
/// bound on the quotient then, and this says so rather than give infinity. The estimate of a quotient is biased upwards by
/// about (s / e_b)^2 of itself, where s is the standard deviation of `b`.
///
/// # Errors
///
/// [`Error::Parameter`] if the interval of `b` holds 0; [`Error::NonFinite`] if a quotient overflows.
///
/// # Source
///
/// Interval arithmetic: `[Moore66]`.
pub fn ratio(a: Bounded, b: Bounded) -> Result<Bounded, Error> {
    nonzero(b)?;
    let ends = [a.low() / b.low(), a.low() / b.high(), a.high() / b.low(), a.high() / b.high()];
    let low = ends.into_iter().fold(f64::INFINITY, f64::min);
    let high = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
    Bounded::new(a.estimate() / b.estimate(), low, high)
}

/// The quotient `a / b` of positive estimates whose errors are independent: relative half widths add up by their squares, to
/// first order (the delta method).
///
/// ```text
/// r = e_a / e_b,   low = r - r sqrt(((e_a - l_a) / e_a)^2 + ((h_b - e_b) / e_b)^2)
///                  high = r + r sqrt(((h_a - e_a) / e_a)^2 + ((e_b - l_b) / e_b)^2),   both within those of ratio(a, b)
/// ```
///
/// * Assumes what [`sum_independent`] does, and relative errors that are small: what is left out is of the order of their
///   squares.
/// * Not for a part and its whole, whose errors go together.
/// * Direction: never wider than [`ratio`]; where an assumption fails, too narrow.
///
/// # Errors
///
/// [`Error::Parameter`] if the estimate of `a` is not above 0, or the interval of `b` not altogether;
/// [`Error::NonFinite`] if a quotient overflows.
///
/// # Source
///
/// `[Taylor97]`, chapter 3, applied to each side as by `[ZouDonner08]`.
pub fn ratio_independent(a: Bounded, b: Bounded) -> Result<Bounded, Error> {
    let bounds = ratio(a, b)?;
    if a.estimate() <= 0.0 {
        return Err(Error::Parameter { name: "numerator", value: a.estimate(), domain: "above 0" });
    }
    if b.low() <= 0.0 {
        return Err(Error::Parameter { name: "denominator", value: b.low(), domain: "above 0" });
    }
    let relative = |x: Bounded| {
        let (below, above) = x.half_widths();
        (below / x.estimate(), above / x.estimate())
    };
    let ((a_below, a_above), (b_below, b_above)) = (relative(a), relative(b));
    let below = bounds.estimate() * libm::hypot(a_below, b_above);
    let above = bounds.estimate() * libm::hypot(a_above, b_below);
    within(bounds, below, above)
}

/// The size of the intersection of two sets, from their sizes and that of their union. If the three intervals hold their
/// truths, this one holds the size.
///
/// ```text
/// |a and b| = |a| + |b| - |a or b|,   clamped to [0, min(|a|, |b|)]
/// low = max(0, l_a + l_b - h_u),   high = min(h_a + h_b - l_u, h_a, h_b)
/// ```
///
/// The errors are those of the three sizes, however small the intersection: one of 1% of a union drowns an intersection of
/// 1% of it. Where the structure has an estimator of its own, as `HyperLogLog` and `ThetaSketch`, that one does better.
/// Direction and confidence as of [`sum`].
///
/// # Errors
///
/// [`Error::Incompatible`] if no sets have such sizes, as when the union is smaller than one of them;
/// [`Error::NonFinite`] if a sum overflows.
///
/// # Source
///
/// Inclusion and exclusion, in interval arithmetic: `[Moore66]`.
pub fn inclusion_exclusion(a: Bounded, b: Bounded, union: Bounded) -> Result<Bounded, Error> {
    // No union is smaller than a part of it, whatever the bounds of the overlap say.
    if union.high() < a.low().max(b.low()) {
        return Err(Error::Incompatible { field: "union" });
    }
    let raw = difference(sum([a, b])?, union)?;
    let low = raw.low().max(0.0);
    let high = raw.high().min(a.high()).min(b.high());
    if low > high {
        return Err(Error::Incompatible { field: "union" });
    }
    let estimate = raw.estimate().min(a.estimate()).min(b.estimate()).max(0.0);
    Bounded::new(estimate.clamp(low, high), low, high)
}

/// The estimate of `bounds` with an interval of these half widths, which does not leave that of `bounds`.
fn within(bounds: Bounded, below: f64, above: f64) -> Result<Bounded, Error> {
    let estimate = bounds.estimate();
    Bounded::new(estimate, (estimate - below).max(bounds.low()), (estimate + above).min(bounds.high()))
}

fn negative(x: Bounded) -> Result<Bounded, Error> {
    Bounded::new(-x.estimate(), -x.high(), -x.low())
}

fn nonzero(b: Bounded) -> Result<(), Error> {
    if b.contains(0.0) {
        return Err(Error::Parameter {
            name: "denominator",
            value: b.low(),
            domain: "an interval without 0",
        });
    }
    Ok(())
}
