//! The byte form: see [`crate::stored`].

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, Header, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::registers::Registers;
use crate::{Error, Fingerprint, KeyHasher, Sketch, UllParams, UltraLogLog, stored};

/// The newest version of the body.
const VERSION: u8 = 1;

/// A written state where its bytes lie.
pub(super) type Stored<'a> = stored::Stored<'a, Registers>;

/// Opens a sketch's bytes and checks parameters and lengths; the payload's checksum is not checked.
pub(super) fn open(bytes: &[u8]) -> Result<(Header, Stored<'_>), Error> {
    stored::open(Kind::ULTRA_LOG_LOG, VERSION, bytes)
}

impl UllParams {
    /// The precision of a sketch's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, stored)| Self::of(stored.params()))
    }
}

impl<H: Fingerprint> Sketch for UltraLogLog<H> {
    const KIND: Kind = Kind::ULTRA_LOG_LOG;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let (body, payload) = stored::write(self.state());
        wire::seal(Self::KIND, VERSION, UNALIGNED, self.hasher().fingerprint(), &body, |bytes| {
            bytes.extend_from_slice(&payload);
        })
    }

    /// Whatever decodes is a state that some keys reach, in the one form in which it is written.
    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, stored) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(stored.payload())?;
        Ok(Self::from_state(stored.read()?, hasher))
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for UltraLogLog<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for UltraLogLog<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
