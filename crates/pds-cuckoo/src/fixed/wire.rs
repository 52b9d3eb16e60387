//! The byte form: parameters and number of entries; payload, the table.

use alloc::vec::Vec;

use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::stored::Borrowed;
use crate::{CuckooFilter, CuckooParams, Error, Fingerprint, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// What stands before the payload.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Body {
    params: CuckooParams,
    len: u64,
}

/// Opens the envelope and checks parameters, lengths and the range of the count; the payload is not looked at.
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, Borrowed<'_, CuckooParams>), Error> {
    let (header, body, payload) = wire::open::<Body>(Kind::CUCKOO, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    if body.len > body.params.slots() {
        return Err(Error::Malformed { field: "count" });
    }
    if payload.len() as u64 != body.params.size_bytes() {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok((header, Borrowed::over(body.params, body.params.geometry(), body.len, payload)))
}

impl CuckooParams {
    /// The shape of a filter's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, stored)| stored.params())
    }
}

impl<H: Fingerprint> Sketch for CuckooFilter<H> {
    const KIND: Kind = Kind::CUCKOO;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let body = Body { params: self.params(), len: self.len() };
        wire::seal(Kind::CUCKOO, VERSION, CACHE_LINE, self.hasher().fingerprint(), &body, |payload| {
            payload.extend_from_slice(self.stored().table().bytes());
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, stored) = open(bytes)?;
        stored.with_hasher(&header, hasher)?.into_owned(&header).map(Self::from_stored)
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for CuckooFilter<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for CuckooFilter<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
