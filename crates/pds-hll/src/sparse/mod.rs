//! The few first keys, one by one: a set of tokens of their hashes.
//!
//! A token holds so much of a hash that registers of any precision can be had from it later. That two keys share a
//! token is so rare that a set of tokens counts them almost exactly.

mod code;
pub(crate) mod count;
#[cfg(test)]
pub(crate) mod hostile;
mod set;
mod token;

pub(crate) use code::{Tokens, encode, most_bytes};
pub(crate) use set::{Added, TokenSet};
#[cfg(all(feature = "std", target_has_atomic = "8", target_has_atomic = "32"))]
pub(crate) use set::{MAX_PROBES, SPILLED_BYTES};
#[cfg(all(target_has_atomic = "8", target_has_atomic = "32"))]
pub(crate) use set::{capacity, search};
#[cfg(all(target_has_atomic = "8", target_has_atomic = "32"))]
pub(crate) use token::EMPTY;
pub(crate) use token::{INDEX_BITS, MAX_RANK, Token};
