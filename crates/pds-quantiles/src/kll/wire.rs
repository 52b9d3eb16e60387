//! The byte form: type of the items, k, the smallest k merged in, count, refusals, the state of the coin and the number of
//! levels as parameters. Payload: the number of items of each level as LEB128, level 0 first; minimum and maximum, unless
//! there is none; the items, the top level first.

use alloc::vec::Vec;

use pds_core::wire::{self, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::levels::{self, Levels};
use super::{KllCodec, KllParams, KllSketch};
use crate::varint::{put_varint, take_varint};
use crate::{Error, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct Body {
    item: u8,
    k: u16,
    min_k: u16,
    count: u64,
    rejected: u64,
    coin: u64,
    levels: u8,
}

impl Body {
    /// The parameters, and those that the error depends on.
    fn params(&self) -> Result<(KllParams, KllParams), Error> {
        match (KllParams::with_k(self.k), KllParams::with_k(self.min_k)) {
            (Ok(params), Ok(min_params)) if min_params <= params => Ok((params, min_params)),
            _ => Err(malformed("params")),
        }
    }
}

impl KllParams {
    /// The parameters of a sketch's bytes, whatever its items, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what is wrong with the items.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        wire::open::<Body>(Kind::KLL, VERSION, bytes)?.1.params().map(|(params, _)| params)
    }
}

/// Bytes of a sketch of other items are refused as [`Error::Incompatible`] in `item`: another type reads them.
impl<T: KllCodec> Sketch for KllSketch<T> {
    const KIND: Kind = Kind::KLL;
    type Hasher = ();

    fn to_bytes(&self) -> Vec<u8> {
        let body = Body {
            item: T::TAG,
            k: self.params().k(),
            min_k: self.min_params().k(),
            count: self.count,
            rejected: self.rejected,
            coin: self.coin.state,
            levels: self.levels.count() as u8,
        };
        wire::seal(Kind::KLL, VERSION, UNALIGNED, 0, &body, |payload| {
            for level in 0..self.levels.count() {
                put_varint(payload, self.levels.range(level).len() as u64);
            }
            for item in self.ends.iter().flat_map(|(min, max)| [min, max]).chain(self.levels.items()) {
                T::put(item, payload);
            }
        })
    }

    fn from_bytes_with(bytes: &[u8], (): ()) -> Result<Self, Error> {
        let (header, body, mut payload) = wire::open_owned::<Body>(Kind::KLL, VERSION, 0, bytes)?;
        if header.alignment != UNALIGNED {
            return Err(malformed("alignment"));
        }
        if body.item != T::TAG {
            return Err(Error::Incompatible { field: "item" });
        }
        let (params, min_params) = body.params()?;
        let sizes = read_sizes(&body, &mut payload)?;
        let mut take = || T::take(&mut payload).ok_or(malformed("item"));
        let ends = if body.count == 0 { None } else { Some((take()?, take()?)) };
        // Not reserved by what the sizes claim: an item takes bytes, and these may not be there.
        let items = (0..sizes.iter().sum()).map(|_| take()).collect::<Result<Vec<_>, _>>()?;
        if !payload.is_empty() {
            return Err(malformed("payload length"));
        }
        let levels = Levels::from_parts(params.k(), items, &sizes);
        check(&levels, ends.as_ref())?;
        Ok(Self::from_parts(params, min_params, levels, ends, [body.count, body.rejected, body.coin]))
    }
}

/// The number of items of each level, as it may be between two insertions, with the count as the sum of the weights.
fn read_sizes(body: &Body, payload: &mut &[u8]) -> Result<Vec<usize>, Error> {
    let count = usize::from(body.levels);
    if count == 0 || count > levels::MAX {
        return Err(malformed("levels"));
    }
    // All levels together have room for one more.
    let mut room = levels::capacity(body.k, count) as u64 - 1;
    let (mut sizes, mut weight) = (Vec::with_capacity(count), 0u128);
    for level in 0..count {
        let size = take_varint(payload).ok_or(malformed("levels"))?;
        room = room.checked_sub(size).ok_or(malformed("levels"))?;
        weight += u128::from(size) << level;
        sizes.push(size as usize);
    }
    // The top level is there for the sake of its items.
    if count > 1 && sizes[count - 1] == 0 {
        return Err(malformed("levels"));
    }
    if weight == u128::from(body.count) { Ok(sizes) } else { Err(malformed("count")) }
}

/// Whether the levels are sorted, and within the ends, which are known where every value is there.
fn check<S: Ord>(levels: &Levels<S>, ends: Option<&(S, S)>) -> Result<(), Error> {
    if !(1..levels.count()).all(|level| levels.level(level).is_sorted()) {
        return Err(malformed("order"));
    }
    let Some((min, max)) = ends else { return Ok(()) };
    let items = levels.items();
    let exact = levels.count() == 1;
    let within = min <= max && items.iter().all(|item| min <= item && item <= max);
    if within && (!exact || (items.contains(min) && items.contains(max))) {
        Ok(())
    } else {
        Err(malformed("ends"))
    }
}

fn malformed(field: &'static str) -> Error {
    Error::Malformed { field }
}

/// The envelope, as bytes.
impl<T: KllCodec> Serialize for KllSketch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded.
impl<'de, T: KllCodec> Deserialize<'de> for KllSketch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
