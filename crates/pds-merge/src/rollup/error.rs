//! Why data of a time was refused.

use core::fmt;

use crate::Error;

/// Why data was refused. What it was for is as it was before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeError {
    /// The bucket of the time has expired.
    Late {
        /// The time.
        time: u64,
        /// The first time that is still accepted.
        oldest: u64,
    },
    /// The time is further ahead than is accepted.
    Ahead {
        /// The time.
        time: u64,
        /// The last time that is accepted.
        newest: u64,
    },
    /// The time is not the start of a bucket.
    Misaligned {
        /// The time.
        time: u64,
        /// The width of a bucket.
        width: u64,
    },
    /// The sketch does not fit.
    Sketch(Error),
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Late { time, oldest } => write!(f, "time {time} has expired: {oldest} is the oldest kept"),
            Self::Ahead { time, newest } => {
                write!(f, "time {time} is ahead: {newest} is the newest accepted")
            }
            Self::Misaligned { time, width } => write!(f, "time {time} is no multiple of the width {width}"),
            Self::Sketch(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TimeError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Sketch(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for TimeError {
    fn from(error: Error) -> Self {
        Self::Sketch(error)
    }
}
