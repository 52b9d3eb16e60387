//! The byte form: shape, half-life, landmark and total as parameters; payload, the cells row after row.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::sketch::{MOST, Mass};
use super::{DecayingCountMin, DecayingCountMinParams};
use crate::{Error, Fingerprint, KeyHasher, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// The landmark is a floor of what is within 2^52.
const LANDMARKS: i64 = 1 << 52;

/// By how much the sum of a row may differ from the total, in relation to it. Both are sums in double precision, and each
/// addition of a stream may round by 2^-53: room for 2^45 of them that all round to the same side.
const ROUNDING: f64 = 1.0 / 256.0;

#[derive(Serialize, Deserialize)]
struct Body {
    params: DecayingCountMinParams,
    landmark: i64,
    total: f64,
}

/// An envelope whose header, parameters and lengths were checked.
#[derive(Clone, Copy)]
pub(crate) struct Opened<'a> {
    pub(crate) header: Header,
    pub(crate) params: DecayingCountMinParams,
    pub(crate) mass: Mass,
    pub(crate) payload: &'a [u8],
}

/// Opens the envelope; the payload is not looked at.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let malformed = |field| Err(Error::Malformed { field });
    let (header, body, payload) = wire::open::<Body>(Kind::DECAYING_COUNT_MIN, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return malformed("alignment");
    }
    let Body { params, landmark, total } = body;
    // Neither -0.0 nor a NaN is one of them.
    let empty = total.to_bits() == 0;
    if !(empty || (1.0..=MOST).contains(&total)) {
        return malformed("total");
    }
    if landmark.abs_diff(0) > LANDMARKS.unsigned_abs() || empty && landmark != 0 {
        return malformed("landmark");
    }
    if payload.len() as u64 != params.size_bytes() {
        return malformed("payload length");
    }
    Ok(Opened { header, params, mass: Mass { landmark, total }, payload })
}

impl<'a> Opened<'a> {
    /// Checks the payload: the checksum, and that each row has weights that sum up to the total.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.payload)?;
        let total = self.mass.total;
        for row in self.payload.chunks_exact(self.params.table().width() as usize * size_of::<f64>()) {
            let mut sum = 0.0;
            for cell in cells(row) {
                if !(cell.is_sign_positive() && cell <= MOST) {
                    return Err(Error::Malformed { field: "cells" });
                }
                sum += cell;
            }
            if (sum - total).abs() > total * ROUNDING {
                return Err(Error::Malformed { field: "row sums" });
            }
        }
        Ok(())
    }

    pub(crate) fn cells(&self) -> impl ExactSizeIterator<Item = f64> + use<'a> {
        cells(self.payload)
    }

    /// The cell at a position; 0 for what is no weight, in bytes that were tampered with.
    #[inline]
    pub(crate) fn cell(&self, position: usize) -> f64 {
        let (words, _) = self.payload.as_chunks();
        let cell = f64::from_le_bytes(words[position]);
        if cell > 0.0 { cell.min(MOST) } else { 0.0 }
    }
}

fn cells(bytes: &[u8]) -> impl ExactSizeIterator<Item = f64> {
    wire::words(bytes).map(f64::from_bits)
}

impl DecayingCountMinParams {
    /// The shape of a sketch's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for hasher and what
    /// [`DecayingCountMinView::verify`](crate::DecayingCountMinView::verify) checks.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|opened| opened.params)
    }
}

/// Bytes with a cell that is NaN, infinite, negative or -0.0, or with a row whose sum differs from the total beyond
/// rounding, are refused as [`Error::Malformed`].
impl<H: Fingerprint> Sketch for DecayingCountMin<H> {
    const KIND: Kind = Kind::DECAYING_COUNT_MIN;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let Mass { landmark, total } = self.mass;
        let body = Body { params: self.params, landmark, total };
        wire::seal(Self::KIND, VERSION, CACHE_LINE, self.hasher.fingerprint(), &body, |payload| {
            payload.reserve(size_of_val(&*self.cells));
            payload.extend(self.cells.iter().flat_map(|cell| cell.to_le_bytes()));
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let opened = open(bytes)?;
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        opened.verify()?;
        let Opened { params, mass, .. } = opened;
        Ok(Self { params, cells: opened.cells().collect(), mass, hasher })
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for DecayingCountMin<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for DecayingCountMin<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
