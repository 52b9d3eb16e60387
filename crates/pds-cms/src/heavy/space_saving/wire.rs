//! The byte form: capacity, total and length as parameters; payload, the columns of counts and errors, and the keys.

use alloc::vec::Vec;

use pds_core::wire::{self, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{SpaceSaving, SpaceSavingParams};
use crate::heavy::WireKey;
use crate::heavy::entries::{Reader, check_order, put_column, put_keys};
use crate::heavy::ranked::Ranked;
use crate::heavy::roster::Slot;
use crate::heavy::total::Total;
use crate::{Error, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct Body {
    capacity: u32,
    total: u64,
    total_saturated: bool,
    len: u32,
}

impl SpaceSavingParams {
    /// The shape of a summary's bytes, whatever its keys, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher and payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        let (_, body, _) = wire::open::<Body>(Kind::SPACE_SAVING, VERSION, bytes)?;
        body.params()
    }
}

impl Body {
    fn params(&self) -> Result<SpaceSavingParams, Error> {
        SpaceSavingParams::with_capacity(self.capacity).map_err(|_| Error::Malformed { field: "params" })
    }
}

/// Bytes that no stream or merge gives are refused as [`Error::Malformed`]: counts out of order, errors above the least
/// count, sums above the total, keys twice, keys that are none.
///
/// Counts are listed with the greatest first, equal ones by the hashes of their keys. So equal summaries have equal
/// bytes, in whatever order they came to be, unless two of their keys share a hash and a count.
impl<K: WireKey, H: KeyHasher> Sketch for SpaceSaving<K, H> {
    const KIND: Kind = Kind::SPACE_SAVING;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let body = Body {
            capacity: self.params.capacity(),
            total: self.total.sum,
            total_saturated: self.total.saturated,
            len: self.len() as u32,
        };
        let ranking = self.ranked.roster().ranking();
        wire::seal(Self::KIND, VERSION, UNALIGNED, self.hasher.fingerprint(), &body, |payload| {
            put_column(payload, ranking.iter().map(|slot| slot.count));
            put_column(payload, ranking.iter().map(|slot| slot.extra));
            put_keys(payload, ranking.iter().map(|slot| &slot.key));
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, body, payload) =
            wire::open_owned::<Body>(Self::KIND, VERSION, hasher.fingerprint(), bytes)?;
        if header.alignment != UNALIGNED {
            return Err(Error::Malformed { field: "alignment" });
        }
        let params = body.params()?;
        let total = Total { sum: body.total, saturated: body.total_saturated };
        if !total.is_valid() {
            return Err(Error::Malformed { field: "total" });
        }
        if body.len > params.capacity() {
            return Err(Error::Malformed { field: "len" });
        }
        let mut reader = Reader::new(payload);
        let (counts, errors) = (reader.column(body.len.into())?, reader.column(body.len.into())?);
        check_counts(counts.clone(), errors.clone(), total, body.len == params.capacity())?;
        let keys = reader.keys::<K>(body.len.into())?;
        let slot = |((key, count), error)| {
            let hash = hasher.hash_key(&key);
            Slot { key, hash, count, extra: error }
        };
        let slots: Vec<Slot<K, u64>> = keys.into_iter().zip(counts).zip(errors).map(slot).collect();
        check_order(slots.iter().map(|slot| (slot.count, slot.hash)))?;
        let ranked = Ranked::of(params.capacity(), slots);
        if !ranked.roster().is_distinct() {
            return Err(Error::Malformed { field: "keys" });
        }
        Ok(Self { params, ranked, total, hasher })
    }
}

/// Checks that counts, the least of them last, and errors are those of some stream with this total.
fn check_counts(
    counts: impl ExactSizeIterator<Item = u64> + Clone,
    errors: impl Iterator<Item = u64>,
    total: Total,
    full: bool,
) -> Result<(), Error> {
    // While a counter is free, none was taken over, and every count is exact.
    let least = if full { counts.clone().min().unwrap_or(0) } else { 0 };
    if errors.into_iter().any(|error| error > least) {
        return Err(Error::Malformed { field: "error" });
    }
    let sum: u128 = counts.map(u128::from).sum();
    let total_sum = u128::from(total.sum);
    // Saturated counts may sum up to anything from the greatest total on; a merge that cuts keeps less than the total.
    let possible = match (full, total.saturated) {
        (true, true) => true,
        (true, false) => sum <= total_sum,
        (false, true) => sum >= total_sum,
        (false, false) => sum == total_sum,
    };
    if possible { Ok(()) } else { Err(Error::Malformed { field: "sum of counts" }) }
}

/// The envelope, as bytes.
impl<K: WireKey, H: KeyHasher> Serialize for SpaceSaving<K, H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, K: WireKey, H: KeyHasher + Default> Deserialize<'de> for SpaceSaving<K, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
