//! The byte form: that of the mergeable sketch, with the estimate behind its parameters.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::sketch::{Running, StreamingHyperLogLog, first_estimate};
use crate::hll::wire::Stored;
use crate::sparse::count;
use crate::state::{Mode, RegisterArray};
use crate::stored::{Body, open_envelope, write};
use crate::{Error, Fingerprint, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct StreamingBody {
    body: Body,
    /// That of the tokens too, where there are tokens.
    estimate: f64,
}

impl<H: Fingerprint> Sketch for StreamingHyperLogLog<H> {
    const KIND: Kind = Kind::STREAMING_HYPER_LOG_LOG;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let (body, payload) = write(self.state());
        let body = StreamingBody { body, estimate: self.estimate() };
        wire::seal(Self::KIND, VERSION, UNALIGNED, self.hasher().fingerprint(), &body, |bytes| {
            bytes.extend_from_slice(&payload);
        })
    }

    /// An estimate that no stream leads to for certain is refused: one that is not finite, below the first one that there
    /// are registers for, or below the number of registers in use. Of tokens the estimate has but one value.
    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, StreamingBody { body, estimate }, payload) =
            open_envelope::<StreamingBody>(Self::KIND, VERSION, bytes)?;
        let stored = Stored::open(body, payload)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        let state = stored.read()?;
        let running = match state.mode() {
            Mode::Sparse(tokens) => {
                let expected = count::estimate(tokens.len());
                (estimate.to_bits() == expected.to_bits()).then_some(Running::NONE)
            }
            Mode::Dense(registers) => {
                let in_use = registers.values().iter().filter(|&&value| value > 0).count() as f64;
                let least = first_estimate(state.params()).max(in_use);
                (estimate.is_finite() && estimate >= least).then(|| Running::from(estimate, registers))
            }
        };
        let running = running.ok_or(Error::Malformed { field: "estimate" })?;
        Ok(Self::from_parts(state, running, hasher))
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for StreamingHyperLogLog<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for StreamingHyperLogLog<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
