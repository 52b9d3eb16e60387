//! The byte form: parameters, doublings done and number of entries; payload, the table.

use alloc::vec::Vec;

use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::stored::Borrowed;
use crate::{Error, Fingerprint, GrowableCuckooFilter, GrowableCuckooParams, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// What stands before the payload.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Body {
    params: GrowableCuckooParams,
    /// Doublings done.
    doublings: u32,
    len: u64,
}

/// Opens the envelope and checks parameters, lengths and the range of the count; the payload is not looked at.
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, Borrowed<'_, GrowableCuckooParams>), Error> {
    let (header, body, payload) = wire::open::<Body>(Kind::GROWABLE_CUCKOO, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    let (done, most) = (body.doublings, body.params.doublings());
    if done > most {
        return Err(Error::Malformed { field: "doublings" });
    }
    if body.len > body.params.slots() >> (most - done) {
        return Err(Error::Malformed { field: "count" });
    }
    if payload.len() as u64 != body.params.size_bytes_after(done) {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok((header, Borrowed::over(body.params, body.params.geometry(done), body.len, payload)))
}

impl GrowableCuckooParams {
    /// The shape of a filter's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, stored)| stored.params())
    }
}

impl<H: Fingerprint> Sketch for GrowableCuckooFilter<H> {
    const KIND: Kind = Kind::GROWABLE_CUCKOO;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let body = Body { params: self.params(), doublings: self.doublings(), len: self.len() };
        wire::seal(
            Kind::GROWABLE_CUCKOO,
            VERSION,
            CACHE_LINE,
            self.hasher().fingerprint(),
            &body,
            |payload| {
                payload.extend_from_slice(self.stored().table().bytes());
            },
        )
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, stored) = open(bytes)?;
        stored.with_hasher(&header, hasher)?.into_owned(&header).map(Self::from_stored)
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for GrowableCuckooFilter<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for GrowableCuckooFilter<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
