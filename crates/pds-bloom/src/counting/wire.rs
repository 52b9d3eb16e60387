//! The byte form: parameters as those of a blocked filter; payload, the lines of bits as in a blocked filter, then for
//! each line its 256 bytes of counters.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::counters::{self, COUNTER_LINES, Counters};
use crate::blocked::line::Line;
use crate::blocked::wire::{lines, put_lines};
use crate::{CountingBloomFilter, CountingBloomParams, Error, Fingerprint, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// Opens the envelope and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, CountingBloomParams, &[u8]), Error> {
    let (header, params, payload) = wire::open::<CountingBloomParams>(Kind::COUNTING_BLOOM, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    if payload.len() as u64 != params.size_bytes() {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok((header, params, payload))
}

impl CountingBloomParams {
    /// The shape of a filter's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, params, _)| params)
    }
}

/// Decoding refuses bits that are not those of the counters, with [`Error::Malformed`].
impl<H: Fingerprint> Sketch for CountingBloomFilter<H> {
    const KIND: Kind = Kind::COUNTING_BLOOM;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let (lines, counters) = self.planes();
        let fingerprint = self.hasher().fingerprint();
        wire::seal(Kind::COUNTING_BLOOM, VERSION, CACHE_LINE, fingerprint, &self.params(), |payload| {
            payload.reserve(self.size_bytes());
            put_lines(payload, lines);
            put_lines(payload, counters.as_flattened());
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, params, payload) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        // A fifth of a payload whose length was checked.
        let (bits, counters) = payload.split_at(payload.len() / (1 + COUNTER_LINES));
        let lines: Box<[Line]> = lines(bits).collect();
        let counters = counters_of(counters);
        if lines.iter().zip(&counters).all(|(line, counters)| counters::agree(line, counters)) {
            Ok(Self::from_parts(params, lines, counters, hasher))
        } else {
            Err(Error::Malformed { field: "bits and counters" })
        }
    }
}

fn counters_of(payload: &[u8]) -> Box<[Counters]> {
    let mut lines = lines(payload);
    let count = lines.len() / COUNTER_LINES;
    (0..count).map(|_| core::array::from_fn(|_| lines.next().unwrap_or(Line::EMPTY))).collect()
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for CountingBloomFilter<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for CountingBloomFilter<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
