//! What can go wrong, in one vocabulary for every crate.

use core::fmt;

use crate::wire::Kind;

/// Why an operation was refused. The operand is as it was before the call.
///
/// One vocabulary for every kind of structure: which variants an operation can give, its documentation says.
///
/// Equality compares [`Error::Parameter`]'s `value` by its bits, so that errors about a NaN are equal too.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Error {
    /// An argument lies outside its domain.
    Parameter {
        /// The argument's name.
        name: &'static str,
        /// What was given (integers above 2^53 are rounded).
        value: f64,
        /// What would have been accepted.
        domain: &'static str,
    },
    /// Two operands differ in a property that has to agree; or bytes, or another format, in one that the type asked for fixes.
    Incompatible {
        /// The property that differs.
        field: &'static str,
    },
    /// The bytes, or the other operand, belong to another hash function, seed, key or key encoding.
    Hasher {
        /// Fingerprint of the hasher that this side holds.
        expected: u64,
        /// Fingerprint of the hasher of the bytes or of the other operand.
        found: u64,
    },
    /// The bytes hold another kind of structure.
    Kind {
        /// The kind asked for; 0, which is none, where any kind that can be read would do.
        expected: u8,
        /// The kind named by the bytes.
        found: u8,
    },
    /// The bytes are of a version that this release does not know.
    Version {
        /// The version named by the bytes.
        found: u8,
        /// The newest version that this release reads.
        newest: u8,
    },
    /// The bytes are not a well-formed envelope or body.
    Malformed {
        /// The part that is wrong.
        field: &'static str,
    },
    /// A checksum of the bytes does not match.
    Checksum,
    /// No room is left.
    Full,
    /// One key has been inserted more often than the structure can tell apart.
    DuplicateLimit,
    /// The key to remove is provably absent.
    NotPresent,
    /// A count would exceed its range.
    Overflow,
    /// A value is NaN or infinite.
    NonFinite,
    /// Structures of this kind do not merge.
    Unmergeable {
        /// The kind.
        kind: u8,
    },
    /// A randomised construction found no solution.
    Construction {
        /// How many seeds were tried.
        attempts: u32,
    },
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        use Error::{
            Checksum, Construction, DuplicateLimit, Full, Hasher, Incompatible, Kind, Malformed, NonFinite,
            NotPresent, Overflow, Parameter, Unmergeable, Version,
        };
        match (*self, *other) {
            (Parameter { name, value, domain }, Parameter { name: other, value: x, domain: y }) => {
                name == other && value.to_bits() == x.to_bits() && domain == y
            }
            (Incompatible { field: a }, Incompatible { field: b })
            | (Malformed { field: a }, Malformed { field: b }) => a == b,
            (Hasher { expected: a, found: x }, Hasher { expected: b, found: y }) => a == b && x == y,
            (Kind { expected: a, found: x }, Kind { expected: b, found: y })
            | (Version { newest: a, found: x }, Version { newest: b, found: y }) => a == b && x == y,
            (Unmergeable { kind: a }, Unmergeable { kind: b }) => a == b,
            (Construction { attempts: a }, Construction { attempts: b }) => a == b,
            (Checksum, Checksum)
            | (Full, Full)
            | (DuplicateLimit, DuplicateLimit)
            | (NotPresent, NotPresent)
            | (Overflow, Overflow)
            | (NonFinite, NonFinite) => true,
            _ => false,
        }
    }
}

impl Eq for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Parameter { name, value, domain } => write!(f, "{name} is {value}, expected {domain}"),
            Self::Incompatible { field } => write!(f, "incompatible in {field}"),
            Self::Hasher { expected, found } => {
                write!(
                    f,
                    "made with hasher {found:#018x}, met by hasher {expected:#018x}: another function, seed, key or key encoding"
                )
            }
            Self::Kind { expected: 0, found } => {
                write!(f, "bytes of kind {}, which is not read here", Kind(found))
            }
            Self::Kind { expected, found } => {
                write!(f, "bytes of kind {}, expected kind {}", Kind(found), Kind(expected))
            }
            Self::Version { found, newest } => write!(f, "version {found} is unknown (newest is {newest})"),
            Self::Malformed { field } => write!(f, "malformed bytes: {field}"),
            Self::Checksum => f.write_str("checksum mismatch"),
            Self::Full => f.write_str("no room left"),
            Self::DuplicateLimit => f.write_str("too many copies of one key"),
            Self::NotPresent => f.write_str("the key is not present"),
            Self::Overflow => f.write_str("a count would overflow"),
            Self::NonFinite => f.write_str("the value is not finite"),
            Self::Unmergeable { kind } => write!(f, "structures of kind {} do not merge", Kind(kind)),
            Self::Construction { attempts } => write!(f, "no solution after {attempts} attempts"),
        }
    }
}

impl core::error::Error for Error {}
