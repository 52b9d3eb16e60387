//! The byte form: lengths, and the bound of what is not listed, as parameters; payload, the sketch's own byte form, the
//! column of listed counts, and the keys.

use alloc::vec::Vec;
use core::iter::repeat;

use pds_core::wire::{self, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{TopK, TopKParams};
use crate::heavy::WireKey;
use crate::heavy::entries::{open, peek, put_column, put_keys};
use crate::heavy::ranked::Ranked;
use crate::heavy::roster::Slot;
use crate::{ConservativeCountMin, Error, KeyHasher, Sketch, count_min};

/// The newest version of the body.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct Body {
    k: u32,
    unlisted: u64,
    len: u32,
    sketch_len: u64,
}

impl TopKParams {
    /// The shape of a list's bytes, whatever its keys, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher, bound, length and payload; of the sketch within, the shape is
    /// looked at alone.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        let (_, body, mut payload) = peek::<Body>(Kind::TOP_K, VERSION, bytes)?;
        let sketch = payload.bytes(body.sketch_len)?;
        let sketch = count_min::wire::open::<u32>(Kind::CONSERVATIVE_COUNT_MIN, sketch)?;
        Self::with_sketch(body.k, sketch.params).map_err(|_| Error::Malformed { field: "params" })
    }
}

/// Bytes that no stream or merge gives are refused as [`Error::Malformed`]: counts out of order or above what the sketch
/// says, keys twice, keys that are none; and what the sketch within refuses, by its own error.
impl<K: WireKey, H: KeyHasher> Sketch for TopK<K, H> {
    const KIND: Kind = Kind::TOP_K;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let sketch = self.sketch.to_bytes();
        let body = Body {
            k: self.params.k(),
            unlisted: self.unlisted,
            len: self.len() as u32,
            sketch_len: sketch.len() as u64,
        };
        let ranking = self.ranked.roster().ranking();
        wire::seal(Self::KIND, VERSION, UNALIGNED, self.hasher().fingerprint(), &body, |payload| {
            payload.extend_from_slice(&sketch);
            put_column(payload, ranking.iter().map(|slot| slot.count));
            put_keys(payload, ranking.iter().map(|slot| &slot.key));
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (body, mut reader) = open::<Body>(Self::KIND, VERSION, hasher.fingerprint(), bytes)?;
        let sketch = ConservativeCountMin::from_bytes_with(reader.bytes(body.sketch_len)?, hasher.clone())?;
        let params = TopKParams::with_sketch(body.k, sketch.params())
            .map_err(|_| Error::Malformed { field: "params" })?;
        if body.len > params.k() {
            return Err(Error::Malformed { field: "len" });
        }
        // While there is room, every key that was counted is listed.
        if body.unlisted > if body.len < params.k() { 0 } else { sketch.total() } {
            return Err(Error::Malformed { field: "unlisted" });
        }
        let counts = reader.column(body.len.into())?;
        let slots: Vec<Slot<K>> = reader.slots(counts, repeat(()), &hasher)?;
        if slots.iter().any(|slot| slot.count > sketch.estimate_hash(slot.hash)) {
            return Err(Error::Malformed { field: "count" });
        }
        if slots.is_empty() != sketch.is_empty() {
            return Err(Error::Malformed { field: "len" });
        }
        let ranked = Ranked::of(params.k(), slots);
        ranked.roster().check_distinct()?;
        Ok(Self { params, sketch, ranked, unlisted: body.unlisted })
    }
}

/// The envelope, as bytes.
impl<K: WireKey, H: KeyHasher> Serialize for TopK<K, H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, K: WireKey, H: KeyHasher + Default> Deserialize<'de> for TopK<K, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
