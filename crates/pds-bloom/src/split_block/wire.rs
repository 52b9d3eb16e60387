//! The byte forms: the envelope, with parameters as blocks and design rate and the bitset as payload; and the bitset.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, CACHE_LINE, Header, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::block::{BLOCK_BYTES, Block};
use crate::{Error, Fingerprint, KeyHasher, Sketch, SplitBlockBloomFilter, SplitBlockParams};

/// The newest version of the body.
const VERSION: u8 = 1;

/// The blocks of borrowed bytes.
type Blocks<'a> = &'a [[u8; BLOCK_BYTES]];

/// Opens the envelope and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, SplitBlockParams, Blocks<'_>), Error> {
    let (header, params, payload) = wire::open::<SplitBlockParams>(Kind::SPLIT_BLOCK_BLOOM, VERSION, bytes)?;
    if header.alignment != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    match payload.as_chunks() {
        (blocks, []) if blocks.len() as u64 == params.blocks() => Ok((header, params, blocks)),
        _ => Err(Error::Malformed { field: "payload length" }),
    }
}

/// The shape and the blocks of a bitset.
pub(crate) fn bitset(bytes: &[u8]) -> Result<(SplitBlockParams, Blocks<'_>), Error> {
    match bytes.as_chunks() {
        ([], _) | (_, [_, ..]) => Err(Error::Malformed { field: "bitset length" }),
        (blocks, []) => Ok((SplitBlockParams::with_shape(blocks.len() as u64)?, blocks)),
    }
}

impl SplitBlockParams {
    /// The shape of a filter's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload's checksum.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, params, _)| params)
    }
}

impl<H: Fingerprint> SplitBlockBloomFilter<H> {
    /// A filter of a bitset of the format, such as the one in a Parquet file: a raw shape.
    ///
    /// A bitset says nothing of its hashes: that they were made by `hasher` is up to the caller.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if its length is 0 or no multiple of 32, [`Error::Parameter`] if it has more than
    /// [`SplitBlockParams::MAX_BLOCKS`].
    pub fn from_bitset(bitset: &[u8], hasher: H) -> Result<Self, Error> {
        let (params, blocks) = self::bitset(bitset)?;
        Ok(Self::from_parts(params, blocks.iter().copied().map(Block).collect(), hasher))
    }

    /// The bitset alone, without an envelope: what a Parquet file has after the header of a Bloom filter.
    pub fn to_bitset(&self) -> Vec<u8> {
        self.blocks.iter().flat_map(|block| block.0).collect()
    }
}

impl<H: Fingerprint> Sketch for SplitBlockBloomFilter<H> {
    const KIND: Kind = Kind::SPLIT_BLOCK_BLOOM;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        wire::seal(Self::KIND, VERSION, CACHE_LINE, self.hasher().fingerprint(), &self.params, |payload| {
            payload.reserve_exact(self.size_bytes());
            self.blocks.iter().for_each(|block| payload.extend_from_slice(&block.0));
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, params, blocks) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(blocks.as_flattened())?;
        Ok(Self::from_parts(params, blocks.iter().copied().map(Block).collect(), hasher))
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for SplitBlockBloomFilter<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for SplitBlockBloomFilter<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
