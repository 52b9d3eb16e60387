//! The byte form: slots of a key, bits of a slot, keys, shape and seed; payload, the slots, little-endian.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::layout::Layout;
use crate::params::Raw;
use crate::{Error, Fingerprint, KeyHasher, Sketch, Slot, StaticFilter, StaticParams};

/// The newest version of the body.
const VERSION: u8 = 1;

/// A checked envelope.
pub(crate) struct Opened<'a, L, S> {
    pub(crate) header: Header,
    pub(crate) params: StaticParams<L, S>,
    pub(crate) seed: u64,
    pub(crate) payload: &'a [u8],
}

/// Opens the envelope and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open<L: Layout, S: Slot>(bytes: &[u8]) -> Result<Opened<'_, L, S>, Error> {
    let (header, (raw, seed), payload) = wire::open::<(Raw<L::Raw>, u64)>(L::KIND, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    let params = StaticParams::<L, S>::try_from_raw(raw)?;
    if payload.len() as u64 != params.size_bytes() {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok(Opened { header, params, seed, payload })
}

impl<L: Layout, S: Slot> StaticParams<L, S> {
    /// The shape of a filter's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload's checksum.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|opened| opened.params)
    }
}

impl<L: Layout, S: Slot, H: Fingerprint> Sketch for StaticFilter<L, S, H> {
    const KIND: Kind = L::KIND;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let body = (self.params().to_raw(), self.seed());
        wire::seal(L::KIND, VERSION, CACHE_LINE, self.hasher().fingerprint(), &body, |payload| {
            payload.extend_from_slice(self.slots());
        })
    }

    /// [`Error::Incompatible`] names what differs if the bytes are of a filter with other slots: `arity` or `bits`.
    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let Opened { header, params, seed, payload } = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        Ok(Self::from_parts(params, seed, payload.into(), hasher))
    }
}

/// The envelope, as bytes.
impl<L: Layout, S: Slot, H: Fingerprint> Serialize for StaticFilter<L, S, H> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, L: Layout, S: Slot, H: KeyHasher + Default> Deserialize<'de> for StaticFilter<L, S, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
