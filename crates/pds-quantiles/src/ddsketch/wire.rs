//! The byte form: parameters, counts and extremes as parameters of the envelope; payload, the bins of negative numbers,
//! then those of positive ones, each in the order of their values.

use alloc::vec::Vec;

use pds_core::wire::{self, Header, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::bins::Bins;
use super::mapping::Mapping;
use super::params::{Base, Collapse, DDSketchParams};
use super::query::Summary;
use super::sketch::DDSketch;
use super::store::{Slot, Store};
use crate::varint::{put_varint, take_varint};
use crate::{Error, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// A side with at most so many bins for an occupied one lists all counts, others list keys and counts.
const LISTED: u64 = 2;

#[derive(Serialize, Deserialize)]
enum BodyBase {
    Accuracy { mapping: u8, alpha: f64 },
    Scale { scale: u8 },
}

#[derive(Serialize, Deserialize)]
struct Body {
    base: BodyBase,
    max_bins: u32,
    collapse: u8,
    shift: u8,
    rejected: u64,
    count: u64,
    zero: u64,
    min: f64,
    max: f64,
    negative: Side,
    positive: Side,
}

/// Bins of one sign: the least key, how many keys from it to the greatest, how many bins are occupied, and how many bytes
/// of the payload they take. All 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Side {
    first: u32,
    span: u32,
    occupied: u32,
    bytes: u32,
}

impl Side {
    /// Whether all counts are listed.
    fn is_listed(self) -> bool {
        u64::from(self.span) <= LISTED * u64::from(self.occupied)
    }

    fn is_valid(self, last_key: u32) -> bool {
        if self.occupied == 0 {
            return self == Self::default();
        }
        let least = if self.is_listed() { self.occupied } else { self.occupied.saturating_mul(2) - 1 };
        self.span >= self.occupied
            && self.first.checked_add(self.span - 1).is_some_and(|last| last <= last_key)
            && self.bytes >= least
    }

    /// Writes the bins, which come in the order of their values.
    fn write(bins: &Bins, descending: bool, payload: &mut Vec<u8>) -> Self {
        let Some((first, last)) = bins.ends() else { return Self::default() };
        let start = payload.len();
        let mut side = Self { first, span: last - first + 1, occupied: bins.occupied() as u32, bytes: 0 };
        let mut before = None;
        let mut put = |(key, count): (u32, u64)| {
            let gap = before.map_or(0, |before: u32| before.abs_diff(key) - 1);
            if !side.is_listed() && before.is_some() {
                put_varint(payload, gap.into());
            } else if gap > 0 {
                payload.push(0);
                put_varint(payload, u64::from(gap) - 1);
            }
            put_varint(payload, count);
            before = Some(key);
        };
        if descending {
            bins.iter().rev().for_each(&mut put);
        } else {
            bins.iter().for_each(&mut put);
        }
        side.bytes = (payload.len() - start) as u32;
        side
    }
}

/// Reads the bins of one side, in the order of their values; ends where the bytes are not as they are written.
#[derive(Clone, Debug)]
struct Reader<'a> {
    bytes: &'a [u8],
    side: Side,
    /// How far the next bin is from the first that was written.
    at: u32,
    left: u32,
    descending: bool,
    failed: bool,
}

impl<'a> Reader<'a> {
    fn new(side: Side, bytes: &'a [u8], descending: bool) -> Self {
        Self { bytes, side, at: 0, left: side.occupied, descending, failed: false }
    }

    /// Whether it read all bins and all bytes.
    fn is_complete(&self) -> bool {
        !self.failed && self.left == 0 && self.bytes.is_empty() && self.at == self.side.span
    }

    fn read(&mut self) -> Option<(u32, u64)> {
        let mut gap = 0;
        let first = self.left == self.side.occupied;
        let mut count = take_varint(&mut self.bytes)?;
        if !self.side.is_listed() && !first {
            gap = count;
            count = take_varint(&mut self.bytes)?;
        } else if count == 0 && !first {
            gap = take_varint(&mut self.bytes)?.checked_add(1)?;
            count = take_varint(&mut self.bytes)?;
        }
        let at = u32::try_from(gap).ok()?.checked_add(self.at).filter(|&at| at < self.side.span)?;
        self.at = at + 1;
        self.left -= 1;
        let key =
            if self.descending { self.side.first + (self.side.span - 1 - at) } else { self.side.first + at };
        Some((key, count)).filter(|_| count > 0)
    }
}

impl Iterator for Reader<'_> {
    type Item = (u32, u64);

    fn next(&mut self) -> Option<(u32, u64)> {
        if self.failed || self.left == 0 {
            return None;
        }
        let bin = self.read();
        self.failed = bin.is_none();
        bin
    }
}

/// An envelope whose header, parameters and lengths were checked.
#[derive(Clone, Debug)]
pub(super) struct Opened<'a> {
    header: Header,
    pub(super) summary: Summary,
    zero: u64,
    negative: Reader<'a>,
    positive: Reader<'a>,
    payload: &'a [u8],
}

/// Opens the envelope; the payload is not looked at.
pub(super) fn open(bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let malformed = |field| Err(Error::Malformed { field });
    let (header, body, payload) = wire::open::<Body>(Kind::DDSKETCH, VERSION, bytes)?;
    if header.fingerprint != 0 {
        return malformed("fingerprint");
    }
    if header.alignment != UNALIGNED {
        return malformed("alignment");
    }
    let Some(params) = params_of(&body) else { return malformed("params") };
    let shift = u32::from(body.shift);
    if shift > 31 || (shift > 0 && params.collapse() != Collapse::Uniform) {
        return malformed("shift");
    }
    let last_key = params.grid.last_key() >> shift;
    let (negative, positive) = (body.negative, body.positive);
    let occupied = u64::from(negative.occupied) + u64::from(positive.occupied) + u64::from(body.zero > 0);
    if !negative.is_valid(last_key) || !positive.is_valid(last_key) || occupied > params.max_bins().into() {
        return malformed("bins");
    }
    if body.zero > body.count || (body.count > 0) != (occupied > 0) {
        return malformed("count");
    }
    let zero_bits = |x: f64| x.to_bits() == 0;
    let ordered = body.min <= body.max && body.min.is_finite() && body.max.is_finite();
    let canonical = |x: f64| x != 0.0 || zero_bits(x);
    let extremes = match body.count {
        0 => zero_bits(body.min) && zero_bits(body.max),
        1 => ordered && body.min >= body.max,
        _ => ordered,
    };
    if !(extremes && canonical(body.min) && canonical(body.max)) {
        return malformed("extremes");
    }
    if payload.len() as u64 != u64::from(negative.bytes) + u64::from(positive.bytes) {
        return malformed("payload length");
    }
    let (min, max) = if body.count == 0 { (f64::INFINITY, f64::NEG_INFINITY) } else { (body.min, body.max) };
    let summary = Summary { params, shift, count: body.count, rejected: body.rejected, min, max };
    let (left, right) = payload.split_at(negative.bytes as usize);
    Ok(Opened {
        header,
        summary,
        zero: body.zero,
        negative: Reader::new(negative, left, true),
        positive: Reader::new(positive, right, false),
        payload,
    })
}

impl<'a> Opened<'a> {
    /// The bins in the order of their values.
    pub(super) fn bins(&self) -> impl Iterator<Item = (Slot, u64)> + use<'a> {
        let zero = Some((Slot::ZERO, self.zero)).filter(|&(_, count)| count > 0);
        let negative = self.negative.clone().map(|(key, count)| (Slot::negative(key), count));
        negative.chain(zero).chain(self.positive.clone().map(|(key, count)| (Slot::positive(key), count)))
    }

    /// Checks the payload: the checksum, and that the bins are those of some values with these counts and extremes.
    pub(super) fn verify(&self) -> Result<(), Error> {
        self.scan(|_, _| {}, |_, _| {})
    }

    /// As [`Opened::verify`], with the bins of either sign as they are read: each once, whether or not what follows fails.
    fn scan(
        &self,
        mut negative: impl FnMut(u32, u64),
        mut positive: impl FnMut(u32, u64),
    ) -> Result<(), Error> {
        self.header.verify(self.payload)?;
        let mut bins = Scan::default();
        let (mut left, mut right) = (self.negative.clone(), self.positive.clone());
        for (key, count) in left.by_ref() {
            bins.take(Slot::negative(key), count);
            negative(key, count);
        }
        if self.zero > 0 {
            bins.take(Slot::ZERO, self.zero);
        }
        for (key, count) in right.by_ref() {
            bins.take(Slot::positive(key), count);
            positive(key, count);
        }
        if !left.is_complete() || !right.is_complete() {
            return Err(Error::Malformed { field: "payload" });
        }
        let summary = &self.summary;
        if bins.sum != u128::from(summary.count) {
            return Err(Error::Malformed { field: "count" });
        }
        let collapsed =
            |side| summary.params.collapse() == side && bins.occupied == summary.params.max_bins();
        let consistent = bins.ends.is_none_or(|(lowest, highest)| {
            let (min, max) = (summary.slot(summary.min), summary.slot(summary.max));
            (min == lowest || (min < lowest && collapsed(Collapse::Lowest)))
                && (max == highest || (max > highest && collapsed(Collapse::Highest)))
        });
        if consistent { Ok(()) } else { Err(Error::Malformed { field: "extremes" }) }
    }

    /// The bins, checked as by [`Opened::verify`]. What they are put into is as large as lengths allow, which were checked.
    fn store(&self) -> Result<Store, Error> {
        let bins = |side: Side| Bins::with_span(side.first, side.span, side.occupied);
        let (mut negative, mut positive) = (bins(self.negative.side), bins(self.positive.side));
        self.scan(|key, count| negative.put(key, count), |key, count| positive.put(key, count))?;
        Ok(Store { negative, positive, zero: self.zero })
    }
}

/// What all bins have in common.
#[derive(Default)]
struct Scan {
    sum: u128,
    occupied: u32,
    /// The lowest and the highest.
    ends: Option<(Slot, Slot)>,
}

impl Scan {
    /// Takes in the next bin, in the order of values.
    #[inline]
    fn take(&mut self, slot: Slot, count: u64) {
        self.sum += u128::from(count);
        self.occupied += 1;
        self.ends = Some((self.ends.map_or(slot, |(lowest, _)| lowest), slot));
    }
}

fn params_of(body: &Body) -> Option<DDSketchParams> {
    let base = match body.base {
        BodyBase::Accuracy { mapping, alpha } => {
            let mapping = match mapping {
                0 => Mapping::Log,
                1 => Mapping::Linear,
                2 => Mapping::Quadratic,
                3 => Mapping::Cubic,
                _ => return None,
            };
            Base::Accuracy { mapping, alpha }
        }
        BodyBase::Scale { scale } => Base::Scale(scale),
    };
    let collapse = match body.collapse {
        0 => Collapse::Lowest,
        1 => Collapse::Highest,
        2 => Collapse::Uniform,
        _ => return None,
    };
    let params = DDSketchParams::of_base(base).ok()?.with_max_bins(body.max_bins).ok()?;
    Some(params.with_collapse(collapse))
}

impl DDSketchParams {
    /// The parameters of a sketch's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`DDSketchView::verify`](crate::DDSketchView::verify) checks.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|opened| opened.summary.params)
    }
}

/// Bytes whose bins do not sum up to the count, or do not hold the extremes, are refused as [`Error::Malformed`].
impl Sketch for DDSketch {
    const KIND: Kind = Kind::DDSKETCH;
    type Hasher = ();

    fn to_bytes(&self) -> Vec<u8> {
        let (summary, params) = (&self.summary, self.summary.params);
        let mut bins = Vec::new();
        let negative = Side::write(&self.store.negative, true, &mut bins);
        let positive = Side::write(&self.store.positive, false, &mut bins);
        let (min, max) = if summary.count == 0 { (0.0, 0.0) } else { (summary.min, summary.max) };
        let body = Body {
            base: match params.base() {
                Base::Accuracy { mapping, alpha } => BodyBase::Accuracy {
                    mapping: match mapping {
                        Mapping::Log => 0,
                        Mapping::Linear => 1,
                        Mapping::Quadratic => 2,
                        Mapping::Cubic => 3,
                    },
                    alpha,
                },
                Base::Scale(scale) => BodyBase::Scale { scale },
            },
            max_bins: params.max_bins(),
            collapse: match params.collapse() {
                Collapse::Lowest => 0,
                Collapse::Highest => 1,
                Collapse::Uniform => 2,
            },
            shift: summary.shift as u8,
            rejected: summary.rejected,
            count: summary.count,
            zero: self.store.zero,
            min,
            max,
            negative,
            positive,
        };
        wire::seal(Kind::DDSKETCH, VERSION, UNALIGNED, 0, &body, |payload| payload.extend_from_slice(&bins))
    }

    fn from_bytes_with(bytes: &[u8], (): ()) -> Result<Self, Error> {
        let opened = open(bytes)?;
        let store = opened.store()?;
        Ok(Self::from_parts(opened.summary, store))
    }
}

/// The envelope, as bytes.
impl Serialize for DDSketch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded.
impl<'de> Deserialize<'de> for DDSketch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
