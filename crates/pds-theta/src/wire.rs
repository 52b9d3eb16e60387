//! The byte forms: size, threshold and count as parameters; payload, the hashes in a Rice code.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, Header, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::reading::{EXACT, Limits, Reading};
use crate::rice::{self, Decoder};
use crate::table::Table;
use crate::{CompactTheta, Error, Fingerprint, KeyHasher, Sketch, ThetaParams, ThetaSketch};

/// The newest version of both bodies.
const VERSION: u8 = 1;

/// Hashes that are decoded at once.
const RUN: usize = 64;

/// The parameters, once checked.
#[derive(Clone, Copy)]
pub(crate) struct Body {
    pub(crate) params: ThetaParams,
    pub(crate) reading: Reading,
    pub(crate) limits: Limits,
}

/// The parameters of a sketch as they are written: no threshold while it is exact.
#[derive(Serialize, Deserialize)]
struct SketchShape {
    params: ThetaParams,
    reading: ReadingShape,
}

/// Those of a result; the limits are those of an intersection or difference.
#[derive(Serialize, Deserialize)]
struct CompactShape {
    params: ThetaParams,
    reading: ReadingShape,
    estimate: Option<f64>,
    count: Option<u32>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct ReadingShape {
    retained: u32,
    theta: Option<u64>,
}

impl From<Reading> for ReadingShape {
    fn from(reading: Reading) -> Self {
        // At most 2^26 hashes are retained.
        Self { retained: reading.retained as u32, theta: Some(reading.theta).filter(|&theta| theta != EXACT) }
    }
}

impl ReadingShape {
    /// The reading, if hashes above 0 can be so many below such a threshold, and up to k.
    fn checked(self, k: usize) -> Result<Reading, Error> {
        let retained = u64::from(self.retained);
        let theta = self.theta.unwrap_or(EXACT);
        let possible = retained <= k as u64 && retained < theta && self.theta != Some(EXACT);
        if possible { Ok(Reading { retained, theta }) } else { Err(Error::Malformed { field: "threshold" }) }
    }
}

/// Opens the envelope of a sketch and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, Body, &[u8]), Error> {
    let (header, shape, payload) = wire::open::<SketchShape>(Kind::THETA, VERSION, bytes)?;
    let k = shape.params.k();
    let reading = shape.reading.checked(k)?;
    // A sketch that has rejected something retains k.
    if !reading.is_exact() && reading.retained != k as u64 {
        return Err(Error::Malformed { field: "count" });
    }
    let body = Body { params: shape.params, reading, limits: Limits::NONE };
    checked(header, body, payload)
}

/// As [`open`], for the result of a set operation.
pub(crate) fn open_compact(bytes: &[u8]) -> Result<(Header, Body, &[u8]), Error> {
    let (header, shape, payload) = wire::open::<CompactShape>(Kind::THETA_RESULT, VERSION, bytes)?;
    let reading = shape.reading.checked(shape.params.k())?;
    let written = |limit: Option<f64>| limit.unwrap_or(f64::INFINITY);
    let limits = Limits { estimate: written(shape.estimate), count: written(shape.count.map(f64::from)) };
    // A source has kept all that the result has, one without keys leaves a result without, and what does not bind is not
    // written. An infinite limit is none.
    let least = (reading.retained as f64).max(1.0);
    let most = (1u64 << ThetaParams::MAX_LG_K) as f64;
    let plausible = limits == limits.binding(reading)
        && shape.estimate.is_none_or(|estimate| estimate >= least && estimate.is_finite())
        && shape.count.is_none_or(|_| limits.count >= least && limits.count <= most);
    if !plausible {
        return Err(Error::Malformed { field: "limits" });
    }
    checked(header, Body { params: shape.params, reading, limits }, payload)
}

fn checked(header: Header, body: Body, payload: &[u8]) -> Result<(Header, Body, &[u8]), Error> {
    if header.alignment != UNALIGNED {
        return Err(Error::Malformed { field: "alignment" });
    }
    if !rice::length_is_possible(body.reading.theta, body.reading.retained, payload.len()) {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok((header, body, payload))
}

/// The hashes of a payload, all of them or none.
fn hashes<T>(
    reading: Reading,
    payload: &[u8],
    collect: impl FnOnce(&mut Decoder<'_>) -> T,
) -> Result<T, Error> {
    let mut decoder = Decoder::new(reading.theta, reading.retained, payload);
    let collected = collect(&mut decoder);
    if decoder.is_complete() { Ok(collected) } else { Err(Error::Malformed { field: "hashes" }) }
}

pub(crate) fn compact<H: Fingerprint>(
    body: Body,
    payload: &[u8],
    hasher: H,
) -> Result<CompactTheta<H>, Error> {
    let hashes = hashes(body.reading, payload, |decoder| {
        let mut all = Vec::with_capacity(body.reading.retained as usize);
        all.extend(decoder);
        all
    })?;
    Ok(CompactTheta::from_parts(body.params, body.reading.theta, hashes, body.limits, hasher))
}

impl ThetaParams {
    /// The size of a sketch's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, body, _)| body.params)
    }
}

/// The bytes are those of the trimmed sketch.
impl<H: Fingerprint> Sketch for ThetaSketch<H> {
    const KIND: Kind = Kind::THETA;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let (theta, hashes) = self.sorted();
        let reading = Reading { retained: hashes.len() as u64, theta };
        let shape = SketchShape { params: self.params(), reading: reading.into() };
        let fingerprint = self.hasher().fingerprint();
        wire::seal(Kind::THETA, VERSION, UNALIGNED, fingerprint, &shape, |payload| {
            rice::encode(theta, &hashes, payload);
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, body, payload) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        let table = hashes(body.reading, payload, |decoder| {
            let mut table = Table::for_len(body.reading.retained as usize, body.params.k());
            // Ascending, and so all different. Decoded by runs: either loop has all registers.
            let mut run = [0; RUN];
            loop {
                let mut len = 0;
                for (place, hash) in run.iter_mut().zip(&mut *decoder) {
                    *place = hash;
                    len += 1;
                }
                if len == 0 {
                    return table;
                }
                table.insert_all(&run[..len]);
            }
        })?;
        Ok(Self::from_parts(body.params, body.reading.theta, table, hasher))
    }

    /// No table is made of the other's hashes, and those beyond this sketch's threshold are not kept.
    fn merge_encoded(&mut self, bytes: &[u8], hasher: H) -> Result<(), Error> {
        let (header, body, payload) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        let threshold = self.threshold();
        // To the end, since bytes that are none of a sketch are refused as a whole.
        let below = hashes(body.reading, payload, |decoder| {
            decoder.filter(|&hash| hash < threshold).collect::<Vec<_>>()
        })?;
        same_hasher(self.hasher().fingerprint(), header.fingerprint)?;
        self.take(body.params, body.reading.theta, &below);
        Ok(())
    }
}

impl<H: Fingerprint> Sketch for CompactTheta<H> {
    const KIND: Kind = Kind::THETA_RESULT;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let shape = CompactShape {
            params: self.params(),
            reading: self.reading().into(),
            estimate: Some(self.limits().estimate).filter(|limit| limit.is_finite()),
            // The count of a source: at most 2^26.
            count: Some(self.limits().count).filter(|limit| limit.is_finite()).map(|count| count as u32),
        };
        let fingerprint = self.hasher().fingerprint();
        wire::seal(Kind::THETA_RESULT, VERSION, UNALIGNED, fingerprint, &shape, |payload| {
            rice::encode(self.reading().theta, self.hashes(), payload);
        })
    }

    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, body, payload) = open_compact(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(payload)?;
        compact(body, payload, hasher)
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for ThetaSketch<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for ThetaSketch<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for CompactTheta<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for CompactTheta<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
