//! The byte form: the precision as parameter; payload, the registers in six bits each.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, Header, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::histogram::MAX_VALUE;
use crate::registers::Registers;
use crate::{Error, Fingerprint, HllParams, HyperLogLog, KeyHasher, Sketch, packed};

/// The newest version of the body.
const VERSION: u8 = 1;

/// Opens the envelope and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, HllParams, &[u8]), Error> {
    // A precision out of range does not deserialise.
    let (header, params, payload) = wire::open::<HllParams>(Kind::HYPER_LOG_LOG, VERSION, bytes)?;
    if header.alignment != UNALIGNED {
        return Err(Error::Malformed { field: "alignment" });
    }
    if payload.len() != params.payload_bytes() {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok((header, params, payload))
}

impl HllParams {
    /// The precision of a sketch's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, params, _)| params)
    }
}

impl<H: Fingerprint> Sketch for HyperLogLog<H> {
    const KIND: Kind = Kind::HYPER_LOG_LOG;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let fingerprint = self.hasher().fingerprint();
        wire::seal(Kind::HYPER_LOG_LOG, VERSION, UNALIGNED, fingerprint, &self.params(), |payload| {
            packed::pack(self.registers(), payload);
        })
    }

    /// Any registers up to the greatest value are a state that some keys reach, so nothing more is checked of them.
    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, params, payload) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        let mut values = Vec::with_capacity(params.registers());
        for group in packed::unpack(payload) {
            values.extend_from_slice(&group);
        }
        if values.iter().fold(0, |greatest, &value| value.max(greatest)) > MAX_VALUE {
            return Err(Error::Malformed { field: "registers" });
        }
        Ok(Self::from_parts(params, Registers::from_values(values.into_boxed_slice()), hasher))
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for HyperLogLog<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for HyperLogLog<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
