//! How often several filters say yes to a stranger.

use crate::Error;

/// How often all of several independent filters say yes to a stranger, from the rate of each: the product.
///
/// Five filters at 1% each: 1e-10. Assumes independent answers: filters over one key set have a seed of their own each
/// (with one seed and shape they are one filter, and the rate is that of one). Without that assumption:
/// [`all_dependent`]. No filter says yes always: 1.
///
/// # Errors
///
/// [`Error::Parameter`] if a rate is NaN or outside [0, 1].
pub fn all_independent(rates: &[f64]) -> Result<f64, Error> {
    valid(rates)?;
    Ok(rates.iter().product())
}

/// How often any of several independent filters says yes to a stranger, from the rate of each: 1 - product of (1 - p).
///
/// Five filters at 1% each: 4.90%. Assumes independent answers: filters over key sets of their own, or with a seed of their own
/// each. Without that assumption: [`any_dependent`]. To within a few units of the last digit, for small rates too. No filter
/// never says yes: 0.
///
/// # Errors
///
/// [`Error::Parameter`] if a rate is NaN or outside [0, 1].
pub fn any_independent(rates: &[f64]) -> Result<f64, Error> {
    valid(rates)?;
    // A sum of logarithms, since 1 - p drops the digits of a small p.
    let log_none: f64 = rates.iter().map(|&rate| libm::log1p(-rate)).sum();
    // Of rates of 0 it is 0, whatever the sign of its zero.
    Ok(libm::fabs(libm::expm1(log_none)))
}

/// How seldom and how often all of several filters can say yes to a stranger, whatever their answers have to do with one
/// another.
///
/// ```text
/// max(0, 1 - sum (1 - p_i)) <= all <= min p_i
/// ```
///
/// Both ends are reached by some dependence; the upper one by filters of which one's yes entails the others'. No filters:
/// (1, 1).
///
/// # Errors
///
/// [`Error::Parameter`] if a rate is NaN or outside [0, 1].
///
/// # Source
///
/// `[Frechet35]`.
pub fn all_dependent(rates: &[f64]) -> Result<(f64, f64), Error> {
    valid(rates)?;
    let least = rates.iter().fold(1.0, |least: f64, &rate| least.min(rate));
    let noes: f64 = rates.iter().map(|rate| 1.0 - rate).sum();
    // Rounding must not cross the ends.
    Ok(((1.0 - noes).max(0.0).min(least), least))
}

/// How seldom and how often any of several filters can say yes to a stranger, whatever their answers have to do with one
/// another.
///
/// ```text
/// max p_i <= any <= min(1, sum p_i)
/// ```
///
/// Five filters at 1% each: 1% to 5%. Both ends are reached by some dependence. No filters: (0, 0).
///
/// # Errors
///
/// [`Error::Parameter`] if a rate is NaN or outside [0, 1].
///
/// # Source
///
/// `[Frechet35]`; the upper end is Boole's inequality.
pub fn any_dependent(rates: &[f64]) -> Result<(f64, f64), Error> {
    valid(rates)?;
    let greatest = rates.iter().fold(0.0, |greatest: f64, &rate| greatest.max(rate));
    let sum = rates.iter().fold(0.0, |sum, rate| sum + rate);
    Ok((greatest, f64::min(sum, 1.0)))
}

fn valid(rates: &[f64]) -> Result<(), Error> {
    match rates.iter().find(|rate| !(0.0..=1.0).contains(*rate)) {
        Some(&value) => Err(Error::Parameter { name: "rate", value, domain: "0 <= rate <= 1" }),
        None => Ok(()),
    }
}
