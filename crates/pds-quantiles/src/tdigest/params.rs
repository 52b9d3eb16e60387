//! The one parameter of a digest, and what it costs.

use serde::{Deserialize, Serialize};

use super::Centroid;
use crate::{Error, Finite};

/// How many centroids a digest may keep: more of them answer more precisely.
///
/// A value of this type is valid: a digest of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct TDigestParams {
    compression: u32,
}

impl TDigestParams {
    /// The least compression: below, the tails that a digest is made for have no centroids left.
    pub const MIN_COMPRESSION: u32 = 20;

    /// The greatest compression: some megabytes.
    pub const MAX_COMPRESSION: u32 = 65_536;

    /// The compression of [`TDigestParams::default`].
    pub const DEFAULT_COMPRESSION: u32 = 200;

    /// Of at most `compression` centroids in bytes and answers; twice as many are kept while values come in, so that what
    /// merging and compressing again and again costs stays small.
    ///
    /// The error of the rank of an extreme quantile falls with 1/`compression`^2, that of the median with
    /// 1/`compression` or faster. Data of at most `compression` distinct values is kept exactly.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `compression` is not within [`TDigestParams::MIN_COMPRESSION`] to
    /// [`TDigestParams::MAX_COMPRESSION`].
    pub fn with_compression(compression: u32) -> Result<Self, Error> {
        if (Self::MIN_COMPRESSION..=Self::MAX_COMPRESSION).contains(&compression) {
            Ok(Self { compression })
        } else {
            let value = f64::from(compression);
            Err(Error::Parameter { name: "compression", value, domain: "20 to 65536" })
        }
    }

    /// The greatest number of centroids in bytes and answers.
    pub fn compression(&self) -> u32 {
        self.compression
    }

    /// The most bytes that centroids and values take in memory between two calls.
    pub fn size_bytes(&self) -> usize {
        // A vector that grew to its capacity may have room for twice as many.
        2 * ((self.working() + self.pending_room()) * size_of::<Centroid>()
            + self.buffer() * size_of::<Finite>())
    }

    /// Centroids that are kept while values come in.
    pub(crate) fn working(self) -> usize {
        2 * self.compression as usize
    }

    /// Values that wait to be compressed. Most of the time of an insertion goes into sorting and compressing them;
    /// beyond some multiples of the centroids it does not fall any more.
    pub(crate) fn buffer(self) -> usize {
        8 * self.compression as usize
    }

    /// Centroids that wait to be compressed: weighted values, and those of digests that were merged in.
    pub(crate) fn pending(self) -> usize {
        4 * self.compression as usize
    }

    /// Room for those that wait, one digest more, and the centroids that they are sorted with.
    pub(crate) fn pending_room(self) -> usize {
        self.pending() + 2 * self.working()
    }
}

/// A compression of [`TDigestParams::DEFAULT_COMPRESSION`].
impl Default for TDigestParams {
    fn default() -> Self {
        Self { compression: Self::DEFAULT_COMPRESSION }
    }
}

impl TryFrom<u32> for TDigestParams {
    type Error = Error;

    fn try_from(compression: u32) -> Result<Self, Error> {
        Self::with_compression(compression)
    }
}

impl From<TDigestParams> for u32 {
    fn from(params: TDigestParams) -> Self {
        params.compression
    }
}
