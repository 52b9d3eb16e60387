//! The byte form: parameters as words, k and design rate; payload, the words.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{BloomFilter, BloomParams, Error, Fingerprint, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// Opens the envelope and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, BloomParams, &[u8]), Error> {
    let (header, params, payload) = wire::open::<BloomParams>(Kind::BLOOM, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    if payload.len() as u64 != params.size_bytes() {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok((header, params, payload))
}

impl BloomParams {
    /// The shape of a filter's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload's checksum.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, params, _)| params)
    }
}

impl<H: Fingerprint> Sketch for BloomFilter<H> {
    const KIND: Kind = Kind::BLOOM;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        wire::seal(Kind::BLOOM, VERSION, CACHE_LINE, self.hasher().fingerprint(), &self.params(), |payload| {
            wire::put_words(payload, self.words());
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, params, payload) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        Ok(Self::from_parts(params, wire::words(payload).collect(), hasher))
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for BloomFilter<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for BloomFilter<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
