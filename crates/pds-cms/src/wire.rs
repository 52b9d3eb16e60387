//! The byte form: shape, cell width, total and flags as parameters; payload, the cells row after row.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::tally::Tally;
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

#[derive(Serialize, Deserialize)]
struct Body {
    width: u64,
    depth: u32,
    delta: f64,
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
pub(crate) fn open<C: Cell>(bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let (opened, cell_bytes) = open_any(bytes)?;
    if cell_bytes == C::BYTES { Ok(opened) } else { Err(Error::Incompatible { field: "cell_bytes" }) }
}

/// Opens the envelope of a sketch with any cells, whose bytes are returned too.
fn open_any(bytes: &[u8]) -> Result<(Opened<'_>, u8), Error> {
    let malformed = |field| Err(Error::Malformed { field });
    let (header, body, payload) = wire::open::<Body>(Kind::COUNT_MIN, VERSION, bytes)?;
    if header.alignment != ALIGNMENT {
        return malformed("alignment");
    }
    if body.cell_bytes != u32::BYTES && body.cell_bytes != u64::BYTES {
        return malformed("cell_bytes");
    }
    let Ok(params) = CountMinParams::validated(body.width, body.depth, body.delta) else {
        return malformed("params");
    };
    if body.flags & !(CELLS_SATURATED | TOTAL_SATURATED) != 0 {
        return malformed("flags");
    }
    let tally = Tally {
        total: body.total,
        total_saturated: body.flags & TOTAL_SATURATED != 0,
        cells_saturated: body.flags & CELLS_SATURATED != 0,
    };
    if tally.total_saturated && tally.total != u64::MAX {
        return malformed("total");
    }
    // No overflow: the gate keeps a table of 8-byte cells within the address space.
    if payload.len() as u64 != params.cells() * u64::from(body.cell_bytes) {
        return malformed("payload length");
    }
    Ok((Opened { header, params, tally, payload }, body.cell_bytes))
}

impl<'a> Opened<'a> {
    /// Checks the payload: the checksum, and that the rows are those of some stream with this total and flags.
    pub(crate) fn verify<C: Cell>(&self) -> Result<(), Error> {
        self.header.verify(self.payload)?;
        let mut saturates = false;
        for row in self.payload.chunks_exact(self.params.width() as usize * usize::from(C::BYTES)) {
            let (mut sum, mut greatest) = (0, C::default());
            for cell in cells::<C>(row) {
                sum += u128::from(cell.into());
                greatest = greatest.max(cell);
            }
            saturates |= self.check_row(sum, greatest == C::MAX)?;
        }
        if saturates == self.tally.cells_saturated {
            Ok(())
        } else {
            Err(Error::Malformed { field: "flags" })
        }
    }

    /// Whether a row may have lost counts to a saturated cell; an error if its sum is not one of the total's.
    fn check_row(&self, sum: u128, has_greatest: bool) -> Result<bool, Error> {
        let Tally { total, total_saturated, cells_saturated } = self.tally;
        let total = u128::from(total);
        let (exact, short) = if total_saturated { (sum > total, true) } else { (sum == total, sum < total) };
        let saturates = cells_saturated && has_greatest && short;
        if exact || saturates { Ok(saturates) } else { Err(Error::Malformed { field: "row sums" }) }
    }

    fn cells<C: Cell>(&self) -> impl ExactSizeIterator<Item = C> + use<'a, C> {
        cells(self.payload)
    }
}

fn cells<C: Cell>(bytes: &[u8]) -> impl ExactSizeIterator<Item = C> {
    bytes.chunks_exact(usize::from(C::BYTES)).map(|cell| C::read(cell, 0))
}

impl CountMinParams {
    /// The shape of a sketch's bytes, whatever its cells, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher, cells and what [`CountMinView::verify`] checks.
    ///
    /// [`CountMinView::verify`]: crate::CountMinView::verify
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open_any(bytes).map(|(opened, _)| opened.params)
    }
}

/// Bytes of a sketch with other cells are refused as [`Error::Incompatible`] in `cell_bytes`; bytes whose rows do not
/// sum up to the total as [`Error::Malformed`].
impl<C: Cell, H: Fingerprint> Sketch for CountMinSketch<C, H> {
    const KIND: Kind = Kind::COUNT_MIN;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let (params, tally) = (self.params(), self.tally());
        let flag = |set, flag| if set { flag } else { 0 };
        let body = Body {
            width: params.width(),
            depth: params.depth(),
            delta: params.delta(),
            cell_bytes: C::BYTES,
            total: tally.total,
            flags: flag(tally.cells_saturated, CELLS_SATURATED)
                | flag(tally.total_saturated, TOTAL_SATURATED),
        };
        wire::seal(Kind::COUNT_MIN, VERSION, ALIGNMENT, self.hasher().fingerprint(), &body, |payload| {
            C::write(self.cells(), payload);
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let opened = open::<C>(bytes)?;
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        opened.verify::<C>()?;
        Ok(Self::from_parts(opened.params, opened.cells().collect(), opened.tally, hasher))
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
