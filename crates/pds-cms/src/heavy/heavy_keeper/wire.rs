//! The byte form: shape, state of the chances, total and length as parameters; payload, the buckets, the column of listed
//! counts, and the keys.

use alloc::vec::Vec;
use core::iter::repeat;

use pds_core::wire::{self, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::bucket::{Bucket, CELLS};
use super::chance::Chance;
use super::{HeavyKeeper, HeavyKeeperParams};
use crate::heavy::WireKey;
use crate::heavy::entries::{open, peek, put_column, put_keys};
use crate::heavy::ranked::Ranked;
use crate::heavy::roster::Slot;
use crate::heavy::total::Total;
use crate::{Error, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct Body {
    params: HeavyKeeperParams,
    state: u64,
    total: Total,
    len: u32,
}

impl HeavyKeeperParams {
    /// The shape of a keeper's bytes, whatever its keys, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher, total, length and payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        let (_, body, _) = peek::<Body>(Kind::HEAVY_KEEPER, VERSION, bytes)?;
        Ok(body.params)
    }
}

/// Bytes that no stream leaves are refused as [`Error::Malformed`]: counts out of order or above the total, cells that are
/// taken while the list has room, a fingerprint twice in a bucket, keys twice, keys that are none.
///
/// The state of the chances is written too. A keeper that was read from bytes may still take another course than the one
/// that was written, where several listed keys have the least count.
impl<K: WireKey, H: KeyHasher> Sketch for HeavyKeeper<K, H> {
    const KIND: Kind = Kind::HEAVY_KEEPER;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let body = Body {
            params: self.params,
            state: self.chance.state(),
            total: self.total,
            len: self.len() as u32,
        };
        let ranking = self.ranked.roster().ranking();
        wire::seal(Self::KIND, VERSION, UNALIGNED, self.hasher.fingerprint(), &body, |payload| {
            payload.reserve(size_of_val(&*self.buckets));
            for bucket in &self.buckets {
                payload
                    .extend(bucket.fingerprints.iter().chain(&bucket.counts).flat_map(|x| x.to_le_bytes()));
            }
            put_column(payload, ranking.iter().map(|slot| slot.count));
            put_keys(payload, ranking.iter().map(|slot| &slot.key));
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (body, mut reader) = open::<Body>(Self::KIND, VERSION, hasher.fingerprint(), bytes)?;
        let Body { params, total, len, .. } = body;
        total.check()?;
        if len > params.k() {
            return Err(Error::Malformed { field: "len" });
        }
        let cells = reader.bytes(params.cells() * 8)?;
        let buckets: Vec<Bucket> = cells.chunks_exact(CELLS * 8).map(read).collect();
        let valid = |bucket: &Bucket| {
            if len < params.k() { *bucket == Bucket::default() } else { bucket.is_valid(total.sum) }
        };
        if !buckets.iter().all(valid) {
            return Err(Error::Malformed { field: "cells" });
        }
        let counts = reader.column(len.into())?;
        if counts.clone().any(|count| count > total.sum) {
            return Err(Error::Malformed { field: "count" });
        }
        let slots: Vec<Slot<K>> = reader.slots(counts, repeat(()), &hasher)?;
        let ranked = Ranked::of(params.k(), slots);
        ranked.roster().check_distinct()?;
        let chance = Chance::new(params.base(), body.state);
        Ok(Self { params, buckets: buckets.into_boxed_slice(), ranked, chance, total, hasher })
    }
}

/// A bucket of its 64 bytes.
fn read(bytes: &[u8]) -> Bucket {
    let (words, _) = bytes.as_chunks::<4>();
    let word = |at: usize| u32::from_le_bytes(words[at]);
    Bucket {
        fingerprints: core::array::from_fn(word),
        counts: core::array::from_fn(|cell| word(CELLS + cell)),
    }
}

/// The envelope, as bytes.
impl<K: WireKey, H: KeyHasher> Serialize for HeavyKeeper<K, H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, K: WireKey, H: KeyHasher + Default> Deserialize<'de> for HeavyKeeper<K, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
