//! What a sketch answers when nothing particular is asked.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::display::{rounded, text_or_hex};

/// Bounds of distinct counts hold the truth as surely as a normal variable lies within so many standard errors: 99.7%.
#[cfg(any(feature = "hll", feature = "theta"))]
pub(super) const KAPPA: f64 = 3.0;

/// Keys of a list that an answer has.
#[cfg(feature = "cms")]
pub(super) const TOP: usize = 10;

/// The main answer of a sketch, by what it is for.
///
/// `Display` shows it to people, on one line, or on one line for each key of a list, keys as a [`Value`] shows them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// Of filters: which keys are in a set.
    Membership {
        /// How many keys are in it. Distinct keys, estimated, for Bloom filters (infinite when every bit is set); entries,
        /// exactly, for cuckoo and static filters. `None` for windowed filters, which know it of each generation alone.
        keys: Option<f64>,
        /// The rate of false positives as it stands, a probability. There are no false negatives.
        fpr: f64,
        /// Whether the filter is fuller than it should be; never for static ones.
        saturated: bool,
    },
    /// Of sketches that count distinct keys.
    Distinct {
        /// The estimate, in keys.
        estimate: f64,
        /// The true number lies at or above it,
        low: f64,
        /// and at or below it, as surely as a normal variable lies within `kappa` standard errors.
        high: f64,
        /// Of `low` and `high`.
        kappa: f64,
    },
    /// Of sketches that count how often keys occur.
    Frequencies {
        /// The sum of all counts, or of their absolute values for a count-sketch; `u64::MAX` stands for "that or more".
        /// `None` for a decaying sketch, where it depends on the time of the question.
        total: Option<u64>,
        /// By how much an estimate may be below the truth: 0 for all but the count-sketch.
        below: u64,
        /// By how much it may be above; fails for a key with a chance of at most `delta`. `None` where a cell or the total
        /// has saturated, and for a decaying sketch. It says nothing of a sketch that was halved after a cell had saturated,
        /// which is not told: the lower ones of [`bounds_hash`](crate::AnySketch::bounds_hash) are then all 0.
        above: Option<u64>,
        /// A chance, per key.
        delta: f64,
    },
    /// Of lists of the keys that occur most often.
    #[cfg(feature = "cms")]
    HeavyHitters {
        /// The sum of all counts; `u64::MAX` stands for "that or more".
        total: u64,
        /// How many keys are listed.
        listed: usize,
        /// The first ten, the most frequent first, with bounds of their counts. Keys are their canonical bytes: integers
        /// have 8, little-endian.
        top: Vec<pds_cms::HeavyHitter<Vec<u8>>>,
        /// A key that is not listed has occurred at most so often; `None` where that is not known.
        unlisted: Option<u64>,
    },
    /// Of sketches of values. `None` while there are no values.
    Quantiles {
        /// How many values, by weight.
        count: u64,
        /// The least, exactly.
        min: Option<Value>,
        /// The median.
        p50: Option<Value>,
        /// The quantile 0.9.
        p90: Option<Value>,
        /// The quantile 0.99.
        p99: Option<Value>,
        /// The greatest, exactly.
        max: Option<Value>,
    },
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Membership { keys, fpr, saturated } => {
                if let Some(keys) = keys {
                    write!(f, "{} keys, ", rounded(*keys))?;
                }
                let saturated = if *saturated { ", saturated" } else { "" };
                write!(f, "false positives at a rate of {}{saturated}", rounded(*fpr))
            }
            Self::Distinct { estimate, low, high, kappa } => {
                let [estimate, low, high] = [estimate, low, high].map(|keys| rounded(*keys));
                write!(f, "{estimate} distinct keys, within {low} to {high} at {kappa} standard errors")
            }
            Self::Frequencies { total, below, above, delta } => {
                if let Some(total) = total {
                    write!(f, "{total} counted, ")?;
                }
                write!(f, "estimates too low by at most {below}")?;
                if let Some(above) = above {
                    write!(f, ", too high by at most {above} but with a chance of {}", rounded(*delta))?;
                }
                Ok(())
            }
            #[cfg(feature = "cms")]
            Self::HeavyHitters { total, listed, top, unlisted } => {
                write!(f, "{total} counted, {listed} keys listed")?;
                if let Some(unlisted) = unlisted {
                    write!(f, ", others at most {unlisted} times")?;
                }
                for hit in top {
                    let (key, lower, upper) = (text_or_hex(&hit.key), hit.lower, hit.upper);
                    write!(f, "\n{key}: {} ({lower} to {upper})", hit.estimate)?;
                }
                Ok(())
            }
            Self::Quantiles { count, min, p50, p90, p99, max } => {
                write!(f, "{count} values")?;
                let quantiles = [("min", min), ("p50", p50), ("p90", p90), ("p99", p99), ("max", max)];
                for (name, value) in quantiles {
                    if let Some(value) = value {
                        write!(f, ", {name} {value}")?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// A value of a sketch of quantiles, of the type that its bytes name.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Value {
    /// A finite floating-point number.
    F64(f64),
    /// An unsigned integer.
    U64(u64),
    /// A signed integer.
    I64(i64),
    /// A text.
    Text(String),
    /// A byte string.
    Bytes(Vec<u8>),
}

/// Numbers with all their digits. Texts and byte strings in quotes, or in hexadecimal if they are no texts, or have control
/// characters; of those longer than 100 characters, or bytes, the beginning and the length.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::F64(value) => value.fmt(f),
            Self::U64(value) => value.fmt(f),
            Self::I64(value) => value.fmt(f),
            Self::Text(value) => f.pad(&text_or_hex(value.as_bytes())),
            Self::Bytes(value) => f.pad(&text_or_hex(value)),
        }
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::F64(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::U64(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}
