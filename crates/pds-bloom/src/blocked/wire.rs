//! The byte form: parameters as lines, k and design rate; payload, the lines.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::line::{LINE_BYTES, Line};
use crate::{BlockedBloomFilter, BlockedBloomParams, Error, Fingerprint, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// Opens the envelope and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, BlockedBloomParams, &[u8]), Error> {
    let (header, params, payload) = wire::open::<BlockedBloomParams>(Kind::BLOCKED_BLOOM, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    if payload.len() as u64 != params.size_bytes() {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok((header, params, payload))
}

impl BlockedBloomParams {
    /// The shape of a filter's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload's checksum.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, params, _)| params)
    }
}

impl<H: Fingerprint> Sketch for BlockedBloomFilter<H> {
    const KIND: Kind = Kind::BLOCKED_BLOOM;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        wire::seal(
            Kind::BLOCKED_BLOOM,
            VERSION,
            CACHE_LINE,
            self.hasher().fingerprint(),
            &self.params(),
            |payload| {
                put_lines(payload, self.lines());
            },
        )
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, params, payload) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        Ok(Self::from_parts(params, lines(payload).collect(), hasher))
    }
}

/// Appends lines as they lie.
pub(crate) fn put_lines(payload: &mut Vec<u8>, lines: &[Line]) {
    payload.reserve(size_of_val(lines));
    payload.extend(lines.iter().flat_map(|line| line.0));
}

/// The lines of a payload; bytes beyond the last whole line are left out.
pub(crate) fn lines(payload: &[u8]) -> impl ExactSizeIterator<Item = Line> + '_ {
    payload.as_chunks::<LINE_BYTES>().0.iter().map(|line| Line(*line))
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for BlockedBloomFilter<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for BlockedBloomFilter<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
