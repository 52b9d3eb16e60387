//! The byte form: shape, cell width and total weight as parameters; payload, the cells row after row.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CountSketch, CountSketchParams, SignedCell};
use crate::{Error, Fingerprint, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct Body {
    params: CountSketchParams,
    cell_bytes: u8,
    weight: u64,
}

/// An envelope whose header, parameters and lengths were checked.
#[derive(Clone, Copy)]
pub(crate) struct Opened<'a> {
    pub(crate) header: Header,
    pub(crate) params: CountSketchParams,
    pub(crate) weight: u64,
    pub(crate) payload: &'a [u8],
}

/// Opens the envelope of a sketch with such cells; the payload is not looked at.
pub(crate) fn open<C: SignedCell>(bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let (opened, cell_bytes) = open_any(bytes)?;
    if cell_bytes == C::BYTES { Ok(opened) } else { Err(Error::Incompatible { field: "cell_bytes" }) }
}

fn open_any(bytes: &[u8]) -> Result<(Opened<'_>, u8), Error> {
    let malformed = |field| Err(Error::Malformed { field });
    let (header, body, payload) = wire::open::<Body>(Kind::COUNT_SKETCH, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return malformed("alignment");
    }
    let greatest = match body.cell_bytes {
        i32::BYTES => i32::MAX_WEIGHT,
        i64::BYTES => i64::MAX_WEIGHT,
        _ => return malformed("cell_bytes"),
    };
    let params = body.params;
    if body.weight > greatest {
        return malformed("weight");
    }
    // No overflow: the gate keeps a table of 8-byte cells within the address space.
    if payload.len() as u64 != params.cells() * u64::from(body.cell_bytes) {
        return malformed("payload length");
    }
    Ok((Opened { header, params, weight: body.weight, payload }, body.cell_bytes))
}

impl<'a> Opened<'a> {
    /// Checks the payload: the checksum, and that the rows are those of some stream of this weight.
    ///
    /// Each count makes one cell of a row differ by itself: the |cells| of a row sum up to the weight at most, and to an even
    /// number less.
    pub(crate) fn verify<C: SignedCell>(&self) -> Result<(), Error> {
        self.header.verify(self.payload)?;
        let weight = u128::from(self.weight);
        for row in self.payload.chunks_exact(self.params.width() as usize * usize::from(C::BYTES)) {
            let sum = cells::<C>(row).map(|cell| u128::from(cell.into().unsigned_abs())).sum::<u128>();
            if sum > weight || (weight - sum) % 2 != 0 {
                return Err(Error::Malformed { field: "row sums" });
            }
        }
        Ok(())
    }

    pub(crate) fn cells<C: SignedCell>(&self) -> impl ExactSizeIterator<Item = C> + use<'a, C> {
        cells(self.payload)
    }
}

/// The cells of little-endian bytes.
pub(crate) fn cells<C: SignedCell>(bytes: &[u8]) -> impl ExactSizeIterator<Item = C> {
    bytes.chunks_exact(usize::from(C::BYTES)).map(|cell| C::read(cell, 0))
}

impl CountSketchParams {
    /// The shape of a sketch's bytes, whatever its cells, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher, cells and what
    /// [`CountSketchView::verify`](crate::CountSketchView::verify) checks.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open_any(bytes).map(|(opened, _)| opened.params)
    }
}

/// Bytes of a sketch with other cells are refused as [`Error::Incompatible`] in `cell_bytes`; bytes with rows that no
/// stream of the weight has as [`Error::Malformed`].
impl<C: SignedCell, H: Fingerprint> Sketch for CountSketch<C, H> {
    const KIND: Kind = Kind::COUNT_SKETCH;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let body = Body { params: self.params, cell_bytes: C::BYTES, weight: self.weight };
        wire::seal(Self::KIND, VERSION, CACHE_LINE, self.hasher.fingerprint(), &body, |payload| {
            C::write(&self.cells, payload);
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let opened = open::<C>(bytes)?;
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        opened.verify::<C>()?;
        let Opened { params, weight, .. } = opened;
        Ok(Self { params, cells: opened.cells().collect(), weight, hasher })
    }
}

/// The envelope, as bytes.
impl<C: SignedCell, H: Fingerprint> Serialize for CountSketch<C, H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, C: SignedCell, H: KeyHasher + Default> Deserialize<'de> for CountSketch<C, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
