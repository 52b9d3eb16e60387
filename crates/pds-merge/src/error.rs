//! Which sketch of many was refused, and what came of the others.

use alloc::vec::Vec;
use core::fmt;

use crate::Error;

/// The sketch of a list that was refused, and why.
///
/// What had been merged before it is kept by whoever holds it: a refused sketch changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeError {
    /// Its position in the list, from 0.
    pub index: usize,
    /// What is wrong with it, or differs from those before it.
    pub error: Error,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sketch {}: {}", self.index, self.error)
    }
}

impl core::error::Error for MergeError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// What a lenient merge of a list gives: the sketch of all that fit the first one, and those that did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged<S> {
    /// The merged sketch; `None` if none was taken.
    pub sketch: Option<S>,
    /// How many were taken.
    pub taken: usize,
    /// Those that were not, by position.
    pub refused: Vec<MergeError>,
}

impl<S> Merged<S> {
    /// Of this sketch, or of none yet; nothing was taken or refused.
    pub(crate) fn onto(sketch: Option<S>) -> Self {
        Self { sketch, taken: 0, refused: Vec::new() }
    }

    /// Counts the next one as taken, or lists it as refused.
    pub(crate) fn count(&mut self, result: Result<(), Error>) -> Result<(), MergeError> {
        let index = self.taken + self.refused.len();
        match result {
            Ok(()) => self.taken += 1,
            Err(error) => self.refused.push(MergeError { index, error }),
        }
        result.map_err(|error| MergeError { index, error })
    }

    /// The merged sketch if all were taken.
    ///
    /// # Errors
    ///
    /// The first refusal.
    pub fn all(self) -> Result<Option<S>, MergeError> {
        match self.refused.first() {
            None => Ok(self.sketch),
            Some(&error) => Err(error),
        }
    }
}
