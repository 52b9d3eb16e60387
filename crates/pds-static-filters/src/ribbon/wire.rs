//! The byte form: columns, keys, seeds and layers; payload, the words, layer by layer.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::geometry::{BUCKET, Geometry, Shape, WIDTH};
use crate::build::MAX_ATTEMPTS;
use crate::{Error, Fingerprint, KeyHasher, RibbonFilter, RibbonParams, Sketch, limits};

/// The newest version of the body.
const VERSION: u8 = 1;

/// A checked envelope.
pub(crate) struct Opened<'a> {
    pub(crate) header: Header,
    pub(crate) params: RibbonParams,
    pub(crate) shape: Shape,
    pub(crate) geometry: Geometry,
    pub(crate) payload: &'a [u8],
}

/// Opens the envelope and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let (header, shape, payload) = wire::open::<Shape>(Kind::RIBBON, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    let malformed = Error::Malformed { field: "params" };
    let params = RibbonParams::of(&shape).map_err(|_| malformed)?;
    let depth = shape.depth();
    let (layers, rest) = shape.blocks.split_at(depth);
    let bumping = layers.get(..depth.wrapping_sub(usize::from(shape.complete))).ok_or(malformed)?;
    // Layers that bump consist of whole buckets; those behind the last are none.
    let whole = bumping.iter().all(|&blocks| u64::from(blocks) % (BUCKET / WIDTH) == 0);
    let attempts = if shape.complete { MAX_ATTEMPTS } else { 1 };
    let rows: u64 = layers.iter().map(|&blocks| u64::from(blocks) * WIDTH).sum();
    if rest.iter().any(|&blocks| blocks != 0)
        || !whole
        || shape.attempt >= attempts
        || shape.keys > rows
        || (shape.keys == 0) != layers.is_empty()
        || (shape.keys == 0 && shape.seed != 0)
    {
        return Err(malformed);
    }
    let geometry = Geometry::new(&shape).ok_or(malformed)?;
    let size = limits::allocatable(geometry.size()).map_err(|_| malformed)?;
    if payload.len() as u64 != size {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok(Opened { header, params, shape, geometry, payload })
}

impl RibbonParams {
    /// The columns of a filter's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload's checksum.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|opened| opened.params)
    }
}

impl<H: Fingerprint> Sketch for RibbonFilter<H> {
    const KIND: Kind = Kind::RIBBON;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        wire::seal(Kind::RIBBON, VERSION, CACHE_LINE, self.hasher.fingerprint(), &self.shape, |payload| {
            payload.reserve_exact(self.bytes.len());
            payload.extend_from_slice(&self.bytes);
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let Opened { header, params, shape, geometry, payload } = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        Ok(Self { params, shape, geometry, bytes: payload.into(), hasher })
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for RibbonFilter<H> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for RibbonFilter<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
