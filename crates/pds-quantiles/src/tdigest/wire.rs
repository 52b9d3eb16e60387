//! The byte form: compression, count, refusals and number of centroids as parameters. Payload: the means, 8 bytes each; a
//! bit per centroid that says whether it is an atom, from the least of each byte upwards; the weights as LEB128.
//!
//! Means are not shortened to `f32`: atoms are values that were taken in, and decoding changes no answer.

use alloc::vec::Vec;

use pds_core::wire::{self, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Centroid, TDigest, TDigestParams};
use crate::varint::{put_varint, take_varint};
use crate::{Error, Finite, Quantiles, Sketch};

/// The newest version of the body.
const VERSION: u8 = 1;

/// Bytes that a centroid of a usual digest takes, with its bit; weights of more than 3 take the vector another step.
const ROOM: usize = 8 + 1 + 3;

#[derive(Serialize, Deserialize)]
struct Body {
    compression: u32,
    count: u64,
    rejected: u64,
    centroids: u32,
}

impl Body {
    fn params(&self) -> Result<TDigestParams, Error> {
        TDigestParams::with_compression(self.compression).map_err(|_| malformed("params"))
    }
}

impl TDigestParams {
    /// The parameters of a digest's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what is wrong with the payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        wire::open::<Body>(Kind::T_DIGEST, VERSION, bytes)?.1.params()
    }
}

/// Bytes of more centroids than the compression, or of such as no digest has, are refused as [`Error::Malformed`].
impl Sketch for TDigest {
    const KIND: Kind = Kind::T_DIGEST;
    type Hasher = ();

    fn to_bytes(&self) -> Vec<u8> {
        let centroids = self.compressed();
        let body = Body {
            compression: self.params().compression(),
            count: self.count(),
            rejected: self.rejections(),
            centroids: centroids.len() as u32,
        };
        wire::seal(Kind::T_DIGEST, VERSION, UNALIGNED, 0, &body, |payload| {
            payload.reserve(centroids.len() * ROOM);
            let begin = payload.len();
            payload.resize(begin + 8 * centroids.len(), 0);
            for (mean, centroid) in payload[begin..].chunks_exact_mut(8).zip(centroids.iter()) {
                mean.copy_from_slice(&centroid.mean().to_le_bytes());
            }
            for eight in centroids.chunks(8) {
                let bits =
                    eight.iter().rev().fold(0, |bits, centroid| bits << 1 | u8::from(centroid.is_atom()));
                payload.push(bits);
            }
            for centroid in centroids.iter() {
                put_varint(payload, centroid.weight());
            }
        })
    }

    fn from_bytes_with(bytes: &[u8], (): ()) -> Result<Self, Error> {
        let (header, body, payload) = wire::open_owned::<Body>(Kind::T_DIGEST, VERSION, 0, bytes)?;
        if header.alignment != UNALIGNED {
            return Err(malformed("alignment"));
        }
        let params = body.params()?;
        if body.centroids > body.compression || (body.centroids == 0) != (body.count == 0) {
            return Err(malformed("centroids"));
        }
        let centroids = read_centroids(body.centroids as usize, payload)?;
        let weights = centroids.iter().map(Centroid::weight);
        let count = weights.fold(0u128, |sum, weight| sum + u128::from(weight));
        if count != u128::from(body.count) {
            return Err(malformed("count"));
        }
        Ok(Self::from_parts(params, centroids, body.count, body.rejected))
    }
}

/// `n` centroids as a digest has them: in order, ends known, each value of an atom in one.
fn read_centroids(n: usize, payload: &[u8]) -> Result<Vec<Centroid>, Error> {
    let length = malformed("payload length");
    let (means, rest) = payload.split_at_checked(8 * n).ok_or(length)?;
    let (bits, mut weights) = rest.split_at_checked(n.div_ceil(8)).ok_or(length)?;
    if !n.is_multiple_of(8) && bits.last().is_some_and(|bits| bits >> (n % 8) != 0) {
        return Err(malformed("padding"));
    }
    // A weight takes a byte at least: what is allocated is bounded by what is there.
    if weights.len() < n {
        return Err(length);
    }
    let mut centroids: Vec<Centroid> = Vec::with_capacity(n);
    for (i, mean) in wire::words(means).enumerate() {
        let value = f64::from_bits(mean);
        // The bits of -0.0 are not those that come back.
        if Finite::new(value).is_none_or(|value| value.get().to_bits() != mean) {
            return Err(malformed("mean"));
        }
        let weight = take_varint(&mut weights).ok_or(malformed("weight"))?;
        let atom = bits[i / 8] >> (i % 8) & 1 == 1;
        // An end is a value that occurred; a cluster is made of two values at least.
        if weight < if atom { 1 } else { 2 } || (!atom && (i == 0 || i == n - 1)) {
            return Err(malformed("weight"));
        }
        let centroid = if atom { Centroid::atom(value, weight) } else { Centroid::cluster(value, weight) };
        let disorder =
            |last: &Centroid| last.mean() > value || (last.is_atom() && atom && last.has_mean(value));
        if centroids.last().is_some_and(disorder) {
            return Err(malformed("order"));
        }
        centroids.push(centroid);
    }
    if weights.is_empty() { Ok(centroids) } else { Err(length) }
}

fn malformed(field: &'static str) -> Error {
    Error::Malformed { field }
}

/// The envelope, as bytes.
impl Serialize for TDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded.
impl<'de> Deserialize<'de> for TDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
