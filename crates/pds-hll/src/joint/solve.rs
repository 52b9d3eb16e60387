//! The rates that make the registers likeliest, and how well they are known.

use libm::{exp, log};

use super::likelihood::{Expansion, Likelihood};

/// Symmetric.
type Matrix = [[f64; 3]; 3];

/// Below so many keys a part counts as empty.
const NO_KEYS: f64 = 1e-6;

/// Most steps, taken or refused, each of one look at the likelihood: a dozen suffices even for small intersections; the
/// rest is for rates that go to zero by degrees and for sizes known far better than the registers tell.
const MOST_STEPS: usize = 100;

/// Gain in the logarithm of the likelihood below which there is no point in going on: a standard deviation gains 1/2.
const NO_GAIN: f64 = 1e-9;

/// The longest step of a logarithm of a rate: farther away the quadratic model says nothing.
const LONGEST: f64 = 2.0;

/// The rates of the greatest likelihood, by Newton's method in their logarithms, damped where the likelihood is not
/// concave and shortened where a step goes too far. Ends after [`MOST_STEPS`] whatever happens, and is finite.
pub(super) fn maximize(likelihood: &Likelihood, start: [f64; 3]) -> [f64; 3] {
    /// Damping to begin with where some is needed, and the factor up and down.
    const DAMPING: f64 = 1e-3;
    const FACTOR: f64 = 8.0;
    /// No step so short gains anything.
    const HOPELESS: f64 = 1e12;
    let mut logs = start.map(|rate| log(rate.max(NO_KEYS)));
    let mut here = in_logs(likelihood, logs);
    let mut damping = 0.0;
    // Steps that are refused count too: each costs a look at the likelihood, or less.
    for _ in 0..MOST_STEPS {
        let tried = step(&here, damping).map(|step| (step, in_logs(likelihood, moved(logs, step))));
        if let Some((step, next)) = tried
            && next.value >= here.value
        {
            let expected = dot(here.gradient, step);
            logs = moved(logs, step);
            here = next;
            damping = if damping < DAMPING { 0.0 } else { damping / FACTOR };
            if expected < NO_GAIN {
                break;
            }
        } else {
            damping = (damping * FACTOR).max(DAMPING);
            if damping > HOPELESS {
                break;
            }
        }
    }
    logs.map(exp).map(|rate| if rate > 2.0 * NO_KEYS { rate } else { 0.0 })
}

/// Variances and covariances of the logarithms of the numbers of keys; infinite for a part that is empty or not known.
///
/// The inverse of the observed information, less the variance of Poisson numbers: here the numbers are what they are.
pub(super) fn covariance(likelihood: &Likelihood, rates: [f64; 3]) -> Matrix {
    /// Information on a logarithm below which nothing is known of it.
    const NOTHING: f64 = 1e-6;
    /// Fewer keys than one: the logarithm is no measure for them.
    const LEAST: f64 = 0.5;
    let information =
        in_logs(likelihood, rates.map(|rate| log(rate.max(NO_KEYS)))).hessian.map(|row| row.map(|h| -h));
    let known: [bool; 3] = core::array::from_fn(|i| rates[i] >= LEAST && information[i][i] > NOTHING);
    let mut reduced = information;
    for i in 0..3 {
        for j in 0..3 {
            if !(known[i] && known[j]) {
                reduced[i][j] = if i == j { 1.0 } else { 0.0 };
            }
        }
    }
    let Some(factor) = cholesky(reduced) else { return [[f64::INFINITY; 3]; 3] };
    let mut covariance = [[0.0; 3]; 3];
    for j in 0..3 {
        let mut unit = [0.0; 3];
        unit[j] = 1.0;
        let column = solve(&factor, unit);
        for i in 0..3 {
            covariance[i][j] = column[i];
        }
    }
    for i in 0..3 {
        covariance[i][i] =
            if known[i] { (covariance[i][i] - 1.0 / rates[i]).max(0.0) } else { f64::INFINITY };
    }
    covariance
}

/// The likelihood by the logarithms of the rates.
fn in_logs(likelihood: &Likelihood, logs: [f64; 3]) -> Expansion {
    let rates = logs.map(exp);
    let mut at = likelihood.at(rates);
    for (slope, rate) in at.gradient.iter_mut().zip(rates) {
        *slope *= rate;
    }
    for i in 0..3 {
        for j in 0..3 {
            at.hessian[i][j] *= rates[i] * rates[j];
        }
        at.hessian[i][i] += at.gradient[i];
    }
    at
}

/// Where the quadratic model has its maximum, no farther than [`LONGEST`]; `None` if it has none.
fn step(here: &Expansion, damping: f64) -> Option<[f64; 3]> {
    /// Damps what has no curvature of its own.
    const FLAT: f64 = 1e-3;
    let mut curvature = here.hessian.map(|row| row.map(|h| -h));
    for (i, row) in curvature.iter_mut().enumerate() {
        row[i] += damping * (row[i].abs() + FLAT);
    }
    let step = solve(&cholesky(curvature)?, here.gradient);
    let longest = step.iter().fold(0.0f64, |longest, part| longest.max(part.abs()));
    if !longest.is_finite() {
        return None;
    }
    let scale = if longest > LONGEST { LONGEST / longest } else { 1.0 };
    Some(step.map(|part| part * scale))
}

fn moved(logs: [f64; 3], step: [f64; 3]) -> [f64; 3] {
    /// e^-30 of a key is none; e^60 keys are more than there are hashes.
    const RANGE: (f64, f64) = (-30.0, 60.0);
    core::array::from_fn(|i| (logs[i] + step[i]).clamp(RANGE.0, RANGE.1))
}

fn dot(left: [f64; 3], right: [f64; 3]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// The lower triangle whose square the matrix is; `None` if it is not positive definite.
fn cholesky(matrix: Matrix) -> Option<Matrix> {
    let mut lower = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..=i {
            let rest = matrix[i][j] - (0..j).map(|k| lower[i][k] * lower[j][k]).sum::<f64>();
            if i == j {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                lower[i][i] = libm::sqrt(rest);
            } else {
                lower[i][j] = rest / lower[j][j];
            }
        }
    }
    Some(lower)
}

/// Solves for a right-hand side, by the factor of [`cholesky`].
fn solve(lower: &Matrix, mut side: [f64; 3]) -> [f64; 3] {
    for i in 0..3 {
        side[i] = (side[i] - (0..i).map(|k| lower[i][k] * side[k]).sum::<f64>()) / lower[i][i];
    }
    for i in (0..3).rev() {
        side[i] = (side[i] - (i + 1..3).map(|k| lower[k][i] * side[k]).sum::<f64>()) / lower[i][i];
    }
    side
}
