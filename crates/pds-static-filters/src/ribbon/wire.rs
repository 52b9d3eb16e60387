//! The byte form: columns, keys, layers and the last layer's attempt; payload, the words, layer by layer.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::geometry::{BUCKET, Geometry, MAX_LAYERS, WIDTH};
use crate::build::MAX_ATTEMPTS;
use crate::{Error, Fingerprint, KeyHasher, RibbonFilter, RibbonParams, Sketch, limits};

/// The newest version of the body.
const VERSION: u8 = 1;

/// What is written of the shape.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Body {
    columns: u32,
    /// In 2^16ths: the share of blocks with one column more.
    extra: u32,
    keys: u64,
    /// The seed of the last layer, if it passes nothing on; else 0.
    attempt: u32,
    /// Whether the last layer passes nothing on.
    complete: bool,
    /// Blocks of each layer; 0 where there is none.
    blocks: [u32; MAX_LAYERS],
}

/// A checked envelope.
pub(crate) struct Opened<'a> {
    pub(crate) header: Header,
    pub(crate) params: RibbonParams,
    pub(crate) keys: u64,
    pub(crate) geometry: Geometry,
    pub(crate) attempt: u32,
    pub(crate) payload: &'a [u8],
}

/// Opens the envelope and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let (header, body, payload) = wire::open::<Body>(Kind::RIBBON, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    let malformed = Error::Malformed { field: "params" };
    let params = RibbonParams::new(body.columns, body.extra).map_err(|_| malformed)?;
    let depth = body.blocks.iter().position(|&blocks| blocks == 0).unwrap_or(MAX_LAYERS);
    let (layers, rest) = body.blocks.split_at(depth);
    let last = usize::from(body.complete);
    let bumping = layers.get(..depth.wrapping_sub(last)).ok_or(malformed)?;
    // Layers that bump consist of whole buckets; those behind the last are none.
    let whole = bumping.iter().all(|&blocks| u64::from(blocks) % (BUCKET / WIDTH) == 0);
    let attempts = if body.complete { MAX_ATTEMPTS } else { 1 };
    let rows: u64 = layers.iter().map(|&blocks| u64::from(blocks) * WIDTH).sum();
    if rest.iter().any(|&blocks| blocks != 0)
        || !whole
        || body.attempt >= attempts
        || body.keys > rows
        || (body.keys == 0) != layers.is_empty()
    {
        return Err(malformed);
    }
    let geometry = Geometry::new(layers, body.columns, body.extra, body.complete);
    let size = limits::allocatable(u128::from(geometry.words()) * 8).map_err(|_| malformed)?;
    if payload.len() as u64 != size {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok(Opened { header, params, keys: body.keys, geometry, attempt: body.attempt, payload })
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
        let (columns, extra) = self.params.shape();
        let body = Body {
            columns,
            extra,
            keys: self.keys,
            attempt: self.attempt,
            complete: self.geometry.complete(),
            blocks: self.geometry.blocks(),
        };
        wire::seal(Kind::RIBBON, VERSION, CACHE_LINE, self.hasher.fingerprint(), &body, |payload| {
            payload.extend_from_slice(&self.bytes);
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let Opened { header, params, keys, geometry, attempt, payload } = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        Ok(Self { params, keys, geometry, attempt, bytes: payload.into(), hasher })
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
