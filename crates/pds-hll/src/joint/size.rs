//! What is known of the number of keys of one set.

use crate::histogram::Histogram;
use crate::hll::state::State;
use crate::sparse::count;
use crate::state::{Mode, RegisterArray};
use crate::{estimator, information};

/// An estimate with the error of what it was made of: tokens or registers. The number alone does not tell which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) estimate: f64,
    pub(crate) deviation: f64,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Tokens(usize),
    /// So many of them have seen a key.
    Registers(f64),
}

impl Size {
    pub(crate) fn of(state: &State) -> Self {
        match state.mode() {
            Mode::Sparse(tokens) => Self::of_tokens(tokens.len()),
            Mode::Dense(registers) => Self::of_registers(&registers.counts()),
        }
    }

    pub(crate) fn of_tokens(tokens: usize) -> Self {
        let estimate = count::estimate(tokens);
        Self { estimate, deviation: count::deviation(estimate), form: Form::Tokens(tokens) }
    }

    pub(crate) fn of_registers(histogram: &Histogram) -> Self {
        let (m, estimate) = (histogram.registers(), estimator::estimate(histogram));
        let deviation = if estimate > 0.0 { information::deviation(m, estimate) } else { 0.0 };
        Self { estimate, deviation, form: Form::Registers(m - histogram.zeros()) }
    }

    /// As a share of the estimate; 0 for no keys.
    pub(crate) fn error(&self) -> f64 {
        if self.deviation == 0.0 { 0.0 } else { self.deviation / self.estimate }
    }

    /// As [`State::bounds`].
    pub(crate) fn bounds(&self, kappa: f64) -> (f64, f64) {
        match self.form {
            Form::Tokens(tokens) => count::bounds(tokens, kappa),
            Form::Registers(in_use) => information::bounds(in_use, self.estimate, self.deviation, kappa),
        }
    }

    pub(super) fn lower(&self, kappa: f64) -> f64 {
        self.bounds(kappa).0
    }

    pub(super) fn upper(&self, kappa: f64) -> f64 {
        self.bounds(kappa).1
    }

    /// The information on the logarithm of the rate at which so many keys come: less than that on their number, for a
    /// Poisson number has a variance of its own.
    pub(super) fn information(&self) -> f64 {
        let error = self.error();
        1.0 / (error * error + 1.0 / self.estimate)
    }
}

/// `kappa` errors; none where there is no error, whatever kappa.
pub(super) fn widened(kappa: f64, error: f64) -> f64 {
    if error == 0.0 { 0.0 } else { kappa * error }
}
