//! What a sketch is, for tools.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use pds_core::wire::Kind;

use super::MergeLaw;
use super::display::rounded;

/// The error that a structure states of itself, from its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Stated {
    /// Greatest rate of false positives that a filter was designed for, a probability; for static filters the rate.
    FalsePositiveRate(f64),
    /// Standard error of an estimate of many distinct keys, as a share of the truth. Two-sided.
    RelativeStandardError(f64),
    /// Estimates exceed the truth by at most `epsilon` times the total, but with a chance of `delta`. They are never too
    /// low, or, of [`Kind::MISRA_GRIES`], the other way round.
    ShareOfTotal {
        /// Share of the total.
        epsilon: f64,
        /// Chance per key; 0 means for certain.
        delta: f64,
    },
    /// Estimates err by at most `epsilon` times the square root of the sum of the squared counts, but with a chance of
    /// `delta`. Two-sided.
    ShareOfNorm {
        /// Share of the norm.
        epsilon: f64,
        /// Chance per key.
        delta: f64,
    },
    /// The rank of a quantile errs by at most `epsilon`, as a share of the count, but with a chance of
    /// 1 - `confidence`. Two-sided.
    Rank {
        /// Share of the count.
        epsilon: f64,
        /// The chance that it holds.
        confidence: f64,
    },
    /// A quantile errs by at most `alpha` times the truth, for certain, for all `q` of a range. Two-sided.
    RelativeValue {
        /// Share of the true quantile.
        alpha: f64,
        /// The least `q` of the range.
        valid_from_q: f64,
        /// The greatest `q` of the range.
        valid_to_q: f64,
    },
}

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = rounded;
        f.pad(&match *self {
            Self::FalsePositiveRate(rate) => format!("false positives at a rate of {}", number(rate)),
            Self::RelativeStandardError(error) => format!("standard error {} of the truth", number(error)),
            Self::ShareOfTotal { epsilon, delta } => {
                format!("{} of the total, delta {}", number(epsilon), number(delta))
            }
            Self::ShareOfNorm { epsilon, delta } => {
                format!("{} of the norm, delta {}", number(epsilon), number(delta))
            }
            Self::Rank { epsilon, confidence } => {
                format!("rank within {}, confidence {}", number(epsilon), number(confidence))
            }
            Self::RelativeValue { alpha, valid_from_q, valid_to_q } => {
                let [from, to] = [valid_from_q, valid_to_q].map(number);
                format!("value within {} of the truth, q from {from} to {to}", number(alpha))
            }
        })
    }
}

/// What a sketch is: kind, parameters, hasher, sizes and what it states of itself.
///
/// `Display` shows it to people as an aligned list, one line for each item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// The kind of the envelope.
    pub kind: Kind,
    /// The name of its type.
    pub name: &'static str,
    /// The version of the body that is written.
    pub version: u8,
    /// Names and values of the parameters, in the words of the structure, and numbers with all their digits. What has to
    /// agree for a merge is among them, under the name that [`Error::Incompatible`](crate::Error::Incompatible) gives.
    pub parameters: Vec<(&'static str, String)>,
    /// Of the hasher; 0 where nothing is hashed.
    pub fingerprint: u64,
    /// What a merge promises.
    pub merge_law: MergeLaw,
    /// Share of what there is room for that is taken, 0 to 1: bits of Bloom filters, slots of cuckoo filters, cells of
    /// count-min sketches, counters of lists. `None` for the others.
    pub fill: Option<f64>,
    /// The error that the structure states; `None` where its shape states none.
    pub error: Option<Stated>,
    /// Bytes that the decoded sketch has allocated.
    pub size_bytes: usize,
    /// Bytes of its byte form.
    pub encoded_bytes: usize,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut items: Vec<(&str, String)> = Vec::new();
        items.push(("structure", self.name.to_string()));
        items.push(("kind", format!("{}, version {}", self.kind.0, self.version)));
        items.extend(self.parameters.iter().map(|(name, value)| (*name, value.clone())));
        let hashes = self.fingerprint != 0;
        items.extend(hashes.then(|| ("hasher", format!("{:#018x}", self.fingerprint))));
        items.push(("merge", self.merge_law.to_string()));
        items.extend(self.fill.map(|fill| ("fill", rounded(fill))));
        items.extend(self.error.map(|error| ("error", error.to_string())));
        items.push(("bytes in memory", self.size_bytes.to_string()));
        items.push(("bytes encoded", self.encoded_bytes.to_string()));
        let width = items.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (line, (name, value)) in items.iter().enumerate() {
            let end = if line == 0 { "" } else { "\n" };
            write!(f, "{end}{name:width$}  {value}")?;
        }
        Ok(())
    }
}
