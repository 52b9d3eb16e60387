//! The byte form: capacity, total and length as parameters; payload, the columns of counts and errors, and the keys.

use alloc::vec::Vec;

use pds_core::wire::{self, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{SpaceSaving, SpaceSavingParams};
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
    params: SpaceSavingParams,
    total: Total,
    len: u32,
}

impl SpaceSavingParams {
    /// The shape of a summary's bytes, whatever its keys, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher, total, length and payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        let (_, body, _) = peek::<Body>(Kind::SPACE_SAVING, VERSION, bytes)?;
        Ok(body.params)
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
        let body = Body { params: self.params, total: self.total, len: self.len() as u32 };
        let ranking = self.ranked.roster().ranking();
        wire::seal(Self::KIND, VERSION, UNALIGNED, self.hasher.fingerprint(), &body, |payload| {
            put_column(payload, ranking.iter().map(|slot| slot.count));
            put_column(payload, ranking.iter().map(|slot| slot.extra));
            put_keys(payload, ranking.iter().map(|slot| &slot.key));
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (body, mut reader) = open::<Body>(Self::KIND, VERSION, hasher.fingerprint(), bytes)?;
        let Body { params, total, len, .. } = body;
        total.check()?;
        if len > params.capacity() {
            return Err(Error::Malformed { field: "len" });
        }
        let (counts, errors) = (reader.column(len.into())?, reader.column(len.into())?);
        check_counts(counts.clone(), errors.clone(), total, len == params.capacity())?;
        let slots: Vec<Slot<K, u64>> = reader.slots(counts, errors, &hasher)?;
        let ranked = Ranked::of(params.capacity(), slots);
        ranked.roster().check_distinct()?;
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
