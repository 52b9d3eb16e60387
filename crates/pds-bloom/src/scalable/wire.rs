//! The byte form: parameters and the layers' shapes; payload, the layers' bits one after the other.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::layer::{Filter, Layer, LayerParams, Shape};
use super::params::{self, ScalableBloomParams};
use crate::blocked::wire as lines;
use crate::{BlockedBloomFilter, BloomFilter, Error, Fingerprint, KeyHasher, ScalableBloomFilter, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// What stands in front of the payload.
#[derive(Serialize, Deserialize)]
struct Head {
    shape: params::Shape,
    /// The shapes of the layers.
    #[serde(deserialize_with = "wire::at_most::<{ ScalableBloomParams::MAX_LAYERS }, _, _>")]
    layers: Vec<LayerParams>,
}

/// The opened envelope: parameters, and each layer's shape with its bytes.
pub(super) struct Opened<'a> {
    pub(super) header: Header,
    pub(super) params: ScalableBloomParams,
    pub(super) layers: Vec<(LayerParams, &'a [u8])>,
    pub(super) payload: &'a [u8],
}

/// Opens the envelope and checks parameters and lengths; neither the payload's checksum is checked nor whether the layers
/// keep the rates that they name.
pub(super) fn open(bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let (header, head, payload) = wire::open::<Head>(Kind::SCALABLE_BLOOM, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    let malformed = Err(Error::Malformed { field: "layers" });
    let Some(first) = head.layers.first() else { return malformed };
    let params = ScalableBloomParams::read(head.shape, *first)?;
    let spent: f64 = head.layers.iter().map(LayerParams::fpr).sum();
    if spent > params.design_fpr()
        || payload.len() as u64 > params.max_bytes()
        || !head.layers.iter().all(|layer| params.has_layer_for(layer.keys()))
    {
        return malformed;
    }
    let mut rest = payload;
    let mut layers = Vec::with_capacity(head.layers.len());
    for params in head.layers {
        let length = usize::try_from(params.size_bytes()).map_err(|_| LENGTH)?;
        let (bits, behind) = rest.split_at_checked(length).ok_or(LENGTH)?;
        layers.push((params, bits));
        rest = behind;
    }
    if rest.is_empty() { Ok(Opened { header, params, layers, payload }) } else { Err(LENGTH) }
}

const LENGTH: Error = Error::Malformed { field: "payload length" };

impl ScalableBloomParams {
    /// The parameters in a filter's bytes, in time of the number of layers.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload's checksum.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|opened| opened.params)
    }
}

impl<H: Fingerprint> Sketch for ScalableBloomFilter<H> {
    const KIND: Kind = Kind::SCALABLE_BLOOM;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let layers = self.layers.iter().map(|layer| layer.params).collect();
        let head = Head { shape: self.params.into(), layers };
        let fingerprint = self.hasher.fingerprint();
        wire::seal(Self::KIND, VERSION, CACHE_LINE, fingerprint, &head, |payload| {
            for layer in &self.layers {
                match &layer.filter {
                    Filter::Blocked(filter) => lines::put_lines(payload, filter.lines()),
                    Filter::Classic(filter) => wire::put_words(payload, filter.words()),
                }
            }
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let opened = open(bytes)?;
        same_hasher(hasher.fingerprint(), opened.header.fingerprint)?;
        opened.header.verify(opened.payload)?;
        let mut layers = Vec::with_capacity(opened.layers.len());
        for (params, bits) in opened.layers {
            params.check()?;
            let hasher = hasher.clone();
            let filter = match params.shape() {
                Shape::Blocked(shape) => Filter::Blocked(BlockedBloomFilter::from_parts(
                    shape,
                    lines::lines(bits).collect(),
                    hasher,
                )),
                Shape::Classic(shape) => {
                    Filter::Classic(BloomFilter::from_parts(shape, wire::words(bits).collect(), hasher))
                }
            };
            layers.push(Layer::of(params, filter));
        }
        Ok(Self { params: opened.params, layers, exhausted: false, hasher })
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for ScalableBloomFilter<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for ScalableBloomFilter<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
