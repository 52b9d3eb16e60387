//! Errors of what is computed from estimates.

mod arithmetic;
mod bounded;
mod chain;

pub use arithmetic::{
    difference, difference_independent, inclusion_exclusion, ratio, ratio_independent, sum, sum_independent,
};
pub use bounded::Bounded;
pub use chain::{all_dependent, all_independent, any_dependent, any_independent};
