//! The byte form: shape, cell width, total and flags as parameters; payload, the cells row after row.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::tally::{Rows, Tally, sum_of};
use crate::{Cell, CountMinParams, CountMinSketch, Error, Fingerprint, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// Views are queried where they lie, as filters are: aligned, no cell straddles two cache lines. It costs less than
/// 64 bytes.
const ALIGNMENT: u8 = CACHE_LINE;

/// Flag: some cell was asked to hold more than it can.
const CELLS_SATURATED: u8 = 1;

/// Flag: so was the total.
const TOTAL_SATURATED: u8 = 2;

/// Flag: the rows sum up to the total at most.
const AT_MOST: u8 = 4;

/// Flag beside that: a row may sum up to more, but no cell holds more.
const LOOSE: u8 = 8;

impl Tally {
    pub(crate) fn flags(&self) -> u8 {
        let flag = |set, flag| if set { flag } else { 0 };
        flag(self.cells_saturated, CELLS_SATURATED)
            | flag(self.total_saturated, TOTAL_SATURATED)
            | flag(self.rows >= Rows::AtMost, AT_MOST)
            | flag(self.rows == Rows::Loose, LOOSE)
    }

    /// Total and flags as written, if there is such a tally.
    pub(crate) fn from_flags(total: u64, flags: u8) -> Result<Self, Error> {
        let rows = match flags & !(CELLS_SATURATED | TOTAL_SATURATED) {
            0 => Rows::Exact,
            AT_MOST => Rows::AtMost,
            both if both == AT_MOST | LOOSE => Rows::Loose,
            _ => return Err(Error::Malformed { field: "flags" }),
        };
        let total_saturated = flags & TOTAL_SATURATED != 0;
        if total_saturated && total != u64::MAX {
            return Err(Error::Malformed { field: "total" });
        }
        Ok(Self { total, total_saturated, cells_saturated: flags & CELLS_SATURATED != 0, rows })
    }
}

#[derive(Serialize, Deserialize)]
struct Body {
    params: CountMinParams,
    cell_bytes: u8,
    total: u64,
    flags: u8,
}

/// An envelope whose header, parameters and lengths were checked.
#[derive(Clone, Copy)]
pub(crate) struct Opened<'a> {
    pub(crate) header: Header,
    pub(crate) params: CountMinParams,
    pub(crate) tally: Tally,
    pub(crate) payload: &'a [u8],
}

/// Opens the envelope of a sketch with such cells; the payload is not looked at.
pub(crate) fn open<C: Cell>(kind: Kind, bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let (opened, cell_bytes) = open_any(kind, bytes)?;
    same_cells::<C>(cell_bytes)?;
    Ok(opened)
}

/// Refuses cells of another width.
pub(crate) fn same_cells<C: Cell>(cell_bytes: u8) -> Result<(), Error> {
    if cell_bytes == C::BYTES { Ok(()) } else { Err(Error::Incompatible { field: "cell_bytes" }) }
}

/// Whether there are such cells.
pub(crate) fn known_cells(cell_bytes: u8) -> Result<(), Error> {
    if [u8::BYTES, u16::BYTES, u32::BYTES, u64::BYTES].contains(&cell_bytes) {
        Ok(())
    } else {
        Err(Error::Malformed { field: "cell_bytes" })
    }
}

/// Opens the envelope of a sketch with any cells, whose bytes are returned too.
pub(crate) fn open_any(kind: Kind, bytes: &[u8]) -> Result<(Opened<'_>, u8), Error> {
    let malformed = |field| Err(Error::Malformed { field });
    let (header, body, payload) = wire::open::<Body>(kind, VERSION, bytes)?;
    if header.alignment != ALIGNMENT {
        return malformed("alignment");
    }
    known_cells(body.cell_bytes)?;
    let params = body.params;
    let tally = Tally::from_flags(body.total, body.flags)?;
    if kind == Kind::CONSERVATIVE_COUNT_MIN && tally.rows == Rows::Exact {
        return malformed("flags");
    }
    // No overflow: the gate keeps a table of 8-byte cells within the address space.
    if payload.len() as u64 != params.cells() * u64::from(body.cell_bytes) {
        return malformed("payload length");
    }
    Ok((Opened { header, params, tally, payload }, body.cell_bytes))
}

impl Opened<'_> {
    /// Checks the payload: the checksum, and that the rows are those of some stream with this total and flags.
    pub(crate) fn verify<C: Cell>(&self) -> Result<(), Error> {
        self.header.verify(self.payload)?;
        check::<C>(self.tally, self.params, self.payload)
    }
}

/// Checks that the rows of a table are those of some stream with this total and flags.
pub(crate) fn check<C: Cell>(tally: Tally, params: CountMinParams, table: &[u8]) -> Result<(), Error> {
    let rows = table.chunks_exact(params.width() as usize * usize::from(C::BYTES));
    tally.check(rows.map(|row| sum_of(cells::<C>(row))))
}

/// The cells of little-endian bytes.
pub(crate) fn cells<C: Cell>(bytes: &[u8]) -> impl ExactSizeIterator<Item = C> {
    bytes.chunks_exact(usize::from(C::BYTES)).map(|cell| C::read(cell, 0))
}

impl<C: Cell, H: Fingerprint> CountMinSketch<C, H> {
    /// The envelope of a sketch whose bytes have this form.
    pub(crate) fn seal(&self, kind: Kind) -> Vec<u8> {
        let (params, tally) = (self.params, self.tally);
        let body = Body { params, cell_bytes: C::BYTES, total: tally.total, flags: tally.flags() };
        wire::seal(kind, VERSION, ALIGNMENT, self.hasher.fingerprint(), &body, |payload| {
            C::write(&self.cells, payload);
        })
    }

    /// The owned decode of such an envelope.
    pub(crate) fn unseal(kind: Kind, bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let opened = open::<C>(kind, bytes)?;
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        opened.verify::<C>()?;
        let Opened { params, tally, payload, .. } = opened;
        Ok(Self { params, cells: cells(payload).collect(), tally, hasher })
    }
}

impl CountMinParams {
    /// The shape of a sketch's bytes, plain or conservative and whatever its cells, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher, cells and what [`CountMinView::verify`] checks.
    ///
    /// [`CountMinView::verify`]: crate::CountMinView::verify
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        let kind = wire::peek(bytes)?.kind;
        let kind = if kind == Kind::CONSERVATIVE_COUNT_MIN { kind } else { Kind::COUNT_MIN };
        open_any(kind, bytes).map(|(opened, _)| opened.params)
    }
}

/// Bytes of a sketch with other cells are refused as [`Error::Incompatible`] in `cell_bytes`; bytes whose rows do not
/// sum up to the total as [`Error::Malformed`].
impl<C: Cell, H: Fingerprint> Sketch for CountMinSketch<C, H> {
    const KIND: Kind = Kind::COUNT_MIN;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        self.seal(Self::KIND)
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        Self::unseal(Self::KIND, bytes, hasher)
    }
}

/// The envelope, as bytes.
impl<C: Cell, H: Fingerprint> Serialize for CountMinSketch<C, H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, C: Cell, H: KeyHasher + Default> Deserialize<'de> for CountMinSketch<C, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
