//! The byte form: capacity, total, error and length as parameters; payload, the column of counts, and the keys.

use alloc::vec::Vec;
use core::iter::repeat;

use pds_core::wire::{self, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{MisraGries, MisraGriesParams};
use crate::heavy::WireKey;
use crate::heavy::entries::{open, peek, put_column, put_keys};
use crate::heavy::roster::{Roster, Slot};
use crate::heavy::total::Total;
use crate::{Error, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct Body {
    params: MisraGriesParams,
    total: Total,
    offset: u64,
    len: u32,
}

impl MisraGriesParams {
    /// The shape of a summary's bytes, whatever its keys, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher, total, length and payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        let (_, body, _) = peek::<Body>(Kind::MISRA_GRIES, VERSION, bytes)?;
        Ok(body.params)
    }
}

/// Bytes that no stream or merge gives are refused as [`Error::Malformed`]: counts out of order, counts and errors that
/// sum up to more than the total, keys twice, keys that are none.
///
/// Counts are listed with the greatest first, equal ones by the hashes of their keys. So equal summaries have equal
/// bytes, in whatever order they came to be, unless two of their keys share a hash and a count.
impl<K: WireKey, H: KeyHasher> Sketch for MisraGries<K, H> {
    const KIND: Kind = Kind::MISRA_GRIES;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let body =
            Body { params: self.params, total: self.total, offset: self.offset, len: self.len() as u32 };
        let ranking = self.roster.ranking();
        wire::seal(Self::KIND, VERSION, UNALIGNED, self.hasher.fingerprint(), &body, |payload| {
            put_column(payload, ranking.iter().map(|slot| slot.count));
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
        let counts = reader.column(len.into())?;
        check_sum(counts.clone(), body.offset, params, total)?;
        let slots: Vec<Slot<K>> = reader.slots(counts, repeat(()), &hasher)?;
        let roster = Roster::of(slots);
        roster.check_distinct()?;
        Ok(Self { params, roster, offset: body.offset, total, hasher })
    }
}

/// Checks that a stream with this total may have left these counts after cuts of this offset: each cut was taken from as
/// many counters as the divisor says, at least.
fn check_sum(
    counts: impl Iterator<Item = u64>,
    offset: u64,
    params: MisraGriesParams,
    total: Total,
) -> Result<(), Error> {
    let counted: u128 = counts.map(u128::from).sum();
    let taken = u128::from(offset) * u128::from(params.divisor());
    let sum = u128::from(total.sum);
    // Where nothing was taken, nothing is missing. Where the total is saturated, counts and error may be so too.
    let possible = match (offset, total.saturated) {
        (0, false) => counted == sum,
        (0, true) => counted >= sum,
        (_, false) => counted + taken <= sum,
        (_, true) => true,
    };
    if possible { Ok(()) } else { Err(Error::Malformed { field: "sum of counts" }) }
}

/// The envelope, as bytes.
impl<K: WireKey, H: KeyHasher> Serialize for MisraGries<K, H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, K: WireKey, H: KeyHasher + Default> Deserialize<'de> for MisraGries<K, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
