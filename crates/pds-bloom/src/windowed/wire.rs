//! The byte form: parameters as lines of one generation, k, number of generations, total design rate, and the number of
//! the current generation; payload, the lines.
//!
//! Line b of a generation n follows the other lines b: it is line b G + n mod G of the payload, where G is the number of
//! generations. The current generation is n, and n - 1 to n - G + 1 are the older ones; the line that has the place of a
//! generation below 0 is one that was never written.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::blocked::wire::{lines, put_lines};
use crate::{Error, Fingerprint, KeyHasher, Sketch, WindowedBloomFilter, WindowedBloomParams};

/// The newest version of the body.
const VERSION: u8 = 1;

/// What stands before the payload.
#[derive(Serialize, Deserialize)]
struct Head {
    params: WindowedBloomParams,
    generation: u64,
}

/// Opens the envelope and checks parameters and lengths; the payload's checksum is not checked. Any generation is
/// possible.
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, WindowedBloomParams, u64, &[u8]), Error> {
    let (header, head, payload) = wire::open::<Head>(Kind::WINDOWED_BLOOM, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    if payload.len() as u64 != head.params.size_bytes() {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok((header, head.params, head.generation, payload))
}

impl WindowedBloomParams {
    /// The shape of a filter's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload's checksum.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, params, ..)| params)
    }
}

impl<H: Fingerprint> Sketch for WindowedBloomFilter<H> {
    const KIND: Kind = Kind::WINDOWED_BLOOM;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let head = Head { params: self.params(), generation: self.generation() };
        let fingerprint = self.hasher().fingerprint();
        wire::seal(Kind::WINDOWED_BLOOM, VERSION, CACHE_LINE, fingerprint, &head, |payload| {
            put_lines(payload, self.lines());
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, params, generation, payload) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        Ok(Self::from_parts(params, generation, lines(payload).collect(), hasher))
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for WindowedBloomFilter<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for WindowedBloomFilter<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
