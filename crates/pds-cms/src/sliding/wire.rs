//! The byte form: shape, cell width, generation, and total and flags of each pane as parameters; payload, the tables.
//!
//! Of both, generation g has the place g mod B, where B is the number of panes.

use alloc::vec::Vec;

use pds_core::wire::{self, CACHE_LINE, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::pane::sealed::Inner;
use super::{Pane, SlidingCountMin, SlidingCountMinParams, SlidingCountMinView};
use crate::cell::sealed::Counter;
use crate::count_min::wire::{cells, check, known_cells};
use crate::tally::{Rows, Tally};
use crate::{Cell, CountMinParams, CountMinSketch, Error, Fingerprint, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct Body {
    pane: CountMinParams,
    cell_bytes: u8,
    /// The kind of the panes.
    kind: u8,
    generation: u64,
    /// Total and flags of each pane: two bytes at least there, sixteen here.
    #[serde(deserialize_with = "wire::at_most::<{ SlidingCountMinParams::MAX_PANES as usize }, _, _>")]
    tallies: Vec<(u64, u8)>,
}

/// An envelope whose header, parameters and lengths were checked.
pub(crate) struct Opened<'a> {
    pub(crate) header: wire::Header,
    pub(crate) params: SlidingCountMinParams,
    pub(crate) cell_bytes: u8,
    /// Of the panes.
    pub(crate) kind: Kind,
    pub(crate) generation: u64,
    /// One for each pane: at least one.
    pub(crate) tallies: Vec<Tally>,
    pub(crate) payload: &'a [u8],
}

impl<'a> Opened<'a> {
    /// The bytes of each pane's table.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.payload.chunks_exact(self.payload.len() / self.tallies.len())
    }

    /// Checks the payload: the checksum, and that the rows of each pane are those of its total.
    pub(crate) fn verify<C: Cell>(&self) -> Result<(), Error> {
        self.header.verify(self.payload)?;
        let mut panes = self.tables().zip(&self.tallies);
        panes.try_for_each(|(table, &tally)| check::<C>(tally, self.params.pane(), table))
    }
}

/// Opens the envelope and checks parameters and lengths; the payload is not looked at.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let malformed = |field| Error::Malformed { field };
    let (header, body, payload) = wire::open::<Body>(Kind::SLIDING_COUNT_MIN, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(malformed("alignment"));
    }
    known_cells(body.cell_bytes)?;
    let panes = u32::try_from(body.tallies.len()).map_err(|_| malformed("params"))?;
    let params = SlidingCountMinParams::with_panes(body.pane, panes).map_err(|_| malformed("params"))?;
    let (kind, rows) = match Kind(body.kind) {
        Kind::COUNT_MIN => (Kind::COUNT_MIN, Rows::Exact),
        Kind::CONSERVATIVE_COUNT_MIN => (Kind::CONSERVATIVE_COUNT_MIN, Rows::AtMost),
        _ => return Err(malformed("pane kind")),
    };
    let tallies = body.tallies.iter().map(|&(total, flags)| Tally::from_flags(total, flags));
    let tallies = tallies.collect::<Result<Vec<_>, _>>()?;
    // Panes are never halved, and those of generations before the first are empty.
    if tallies.iter().any(|tally| tally.rows != rows) {
        return Err(malformed("flags"));
    }
    let begun = usize::try_from(body.generation).map_or(tallies.len(), |last| last.saturating_add(1));
    if tallies.iter().skip(begun).any(|&tally| tally != Tally::new(rows)) {
        return Err(malformed("generation"));
    }
    // No overflow: the gate keeps the tables of 8-byte cells within the address space.
    if payload.len() as u64 != params.pane().cells() * u64::from(panes) * u64::from(body.cell_bytes) {
        return Err(malformed("payload length"));
    }
    let (cell_bytes, generation) = (body.cell_bytes, body.generation);
    Ok(Opened { header, params, cell_bytes, kind, generation, tallies, payload })
}

impl SlidingCountMinParams {
    /// The shape of a window's bytes, whatever its panes and cells, in time of the number of panes.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher, panes, cells and payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|opened| opened.params)
    }
}

/// Bytes of a window with other cells are refused as [`Error::Incompatible`] in `cell_bytes`, of other panes in `pane`;
/// bytes whose rows are not those of their totals as [`Error::Malformed`].
impl<S: Pane> Sketch for SlidingCountMin<S> {
    const KIND: Kind = Kind::SLIDING_COUNT_MIN;
    type Hasher = S::Hasher;

    fn to_bytes(&self) -> Vec<u8> {
        let tables = || self.panes().iter().map(S::table);
        let body = Body {
            pane: self.params().pane(),
            cell_bytes: <S as Inner>::Cell::BYTES,
            kind: S::KIND.0,
            generation: self.generation(),
            tallies: tables().map(|table| (table.tally.total, table.tally.flags())).collect(),
        };
        let fingerprint = self.hasher().fingerprint();
        wire::seal(Self::KIND, VERSION, CACHE_LINE, fingerprint, &body, |payload| {
            tables().for_each(|table| <S as Inner>::Cell::write(&table.cells, payload));
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: S::Hasher) -> Result<Self, Error> {
        let opened = SlidingCountMinView::<S>::open(bytes, hasher.clone())?.into_opened();
        opened.verify::<<S as Inner>::Cell>()?;
        let params = opened.params.pane();
        let panes = opened.tables().zip(&opened.tallies).map(|(table, &tally)| {
            let (cells, hasher) = (cells(table).collect(), hasher.clone());
            S::of_table(CountMinSketch { params, cells, tally, hasher })
        });
        Ok(Self::from_parts(panes.collect(), opened.generation))
    }
}

/// The envelope, as bytes.
impl<S: Pane> Serialize for SlidingCountMin<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, S: Pane> Deserialize<'de> for SlidingCountMin<S>
where
    S::Hasher: KeyHasher + Default,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
