//! The envelope: one byte form for every structure.
//!
//! All numbers are little-endian.
//!
//! ```text
//!  0  magic b"PDS1"   4  kind u8   5  version u8   6  log2 of the payload's alignment   7  zero
//!  8  hasher fingerprint u64 (0: hashes nothing)
//! 16  crc32 u32 of bytes 0..16 and 24..payload     20  crc32 u32 of the payload
//! 24  postcard(params) | zero padding to the alignment, counted from byte 0 | payload: raw words
//! ```
//!
//! The first checksum covers everything but the payload, so that a view over memory-mapped bytes opens in
//! constant time; the second is checked by an owned decode, and by a view when asked to. Parameters have one
//! encoding: whatever [`open`] accepts, [`seal`] writes with the same bytes.

use alloc::vec::Vec;
use core::{fmt, marker::PhantomData};

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, Sketch, same_hasher};

/// The first four bytes of every envelope.
pub const MAGIC: [u8; 4] = *b"PDS1";

/// Bytes before the parameters.
pub const HEADER_LEN: usize = 24;

/// log2 of the payload's alignment where it has none.
pub const UNALIGNED: u8 = 0;

/// log2 of the payload's alignment of filters: 64 bytes, a cache line.
pub const CACHE_LINE: u8 = 6;

/// Which structure an envelope holds. Numbers are never reused; 192..=255 are for structures defined outside
/// this workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind(pub u8);

impl Kind {
    /// Classic Bloom filter.
    pub const BLOOM: Self = Self(1);
    /// Split-block Bloom filter.
    pub const SPLIT_BLOCK_BLOOM: Self = Self(2);
    /// Blocked Bloom filter.
    pub const BLOCKED_BLOOM: Self = Self(3);
    /// Counting Bloom filter.
    pub const COUNTING_BLOOM: Self = Self(4);
    /// Scalable Bloom filter.
    pub const SCALABLE_BLOOM: Self = Self(5);
    /// Windowed Bloom filter.
    pub const WINDOWED_BLOOM: Self = Self(6);
    /// Cuckoo filter.
    pub const CUCKOO: Self = Self(7);
    /// Growable cuckoo filter.
    pub const GROWABLE_CUCKOO: Self = Self(8);
    /// Binary fuse filter.
    pub const BINARY_FUSE: Self = Self(9);
    /// Xor filter.
    pub const XOR: Self = Self(10);
    /// Bumped ribbon filter.
    pub const RIBBON: Self = Self(11);
    /// HyperLogLog.
    pub const HYPER_LOG_LOG: Self = Self(16);
    /// UltraLogLog.
    pub const ULTRA_LOG_LOG: Self = Self(17);
    /// HyperLogLog with a running, order-dependent estimate.
    pub const STREAMING_HYPER_LOG_LOG: Self = Self(18);
    /// Theta sketch.
    pub const THETA: Self = Self(19);
    /// Result of a set operation on theta sketches.
    pub const THETA_RESULT: Self = Self(20);
    /// Count-min sketch.
    pub const COUNT_MIN: Self = Self(32);
    /// Count-min sketch with conservative update.
    pub const CONSERVATIVE_COUNT_MIN: Self = Self(33);
    /// Count-sketch.
    pub const COUNT_SKETCH: Self = Self(34);
    /// Count-min sketches of a sliding window.
    pub const SLIDING_COUNT_MIN: Self = Self(35);
    /// Count-min sketch with exponential decay.
    pub const DECAYING_COUNT_MIN: Self = Self(36);
    /// SpaceSaving summary.
    pub const SPACE_SAVING: Self = Self(40);
    /// Misra-Gries summary.
    pub const MISRA_GRIES: Self = Self(41);
    /// Top-k by a count-min sketch.
    pub const TOP_K: Self = Self(42);
    /// HeavyKeeper.
    pub const HEAVY_KEEPER: Self = Self(43);
    /// DDSketch.
    pub const DDSKETCH: Self = Self(48);
    /// t-digest.
    pub const T_DIGEST: Self = Self(49);
    /// KLL sketch.
    pub const KLL: Self = Self(50);

    /// What the specification of the byte form calls the structure; `None` for a number that it does not give out.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::BLOOM => "Bloom filter",
            Self::SPLIT_BLOCK_BLOOM => "split-block Bloom filter",
            Self::BLOCKED_BLOOM => "blocked Bloom filter",
            Self::COUNTING_BLOOM => "counting Bloom filter",
            Self::SCALABLE_BLOOM => "scalable Bloom filter",
            Self::WINDOWED_BLOOM => "windowed Bloom filter",
            Self::CUCKOO => "cuckoo filter",
            Self::GROWABLE_CUCKOO => "growable cuckoo filter",
            Self::BINARY_FUSE => "binary fuse filter",
            Self::XOR => "xor filter",
            Self::RIBBON => "ribbon filter",
            Self::HYPER_LOG_LOG => "HyperLogLog",
            Self::ULTRA_LOG_LOG => "UltraLogLog",
            Self::STREAMING_HYPER_LOG_LOG => "HyperLogLog with a running estimate",
            Self::THETA => "theta sketch",
            Self::THETA_RESULT => "result of a set operation on theta sketches",
            Self::COUNT_MIN => "count-min sketch",
            Self::CONSERVATIVE_COUNT_MIN => "count-min sketch with conservative update",
            Self::COUNT_SKETCH => "count-sketch",
            Self::SLIDING_COUNT_MIN => "count-min sketches of a sliding window",
            Self::DECAYING_COUNT_MIN => "count-min sketch with exponential decay",
            Self::SPACE_SAVING => "SpaceSaving summary",
            Self::MISRA_GRIES => "Misra-Gries summary",
            Self::TOP_K => "top-k list beside a sketch",
            Self::HEAVY_KEEPER => "HeavyKeeper",
            Self::DDSKETCH => "DDSketch",
            Self::T_DIGEST => "t-digest",
            Self::KLL => "KLL sketch",
            _ => return None,
        })
    }
}

/// The number, and the name where there is one: `16 (HyperLogLog)`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

/// What the first 24 bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The structure.
    pub kind: Kind,
    /// Version of that structure's body.
    pub version: u8,
    /// log2 of the payload's alignment.
    pub alignment: u8,
    /// Fingerprint of the hasher; 0 where nothing is hashed.
    pub fingerprint: u64,
    body_crc: u32,
    payload_crc: u32,
}

impl Header {
    /// Checks the payload's checksum, in time linear in the payload.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if it does not match.
    pub fn verify(&self, payload: &[u8]) -> Result<(), Error> {
        if crc32fast::hash(payload) == self.payload_crc { Ok(()) } else { Err(Error::Checksum) }
    }
}

/// Reads the header alone; nothing behind it is looked at, and no checksum.
///
/// # Errors
///
/// [`Error::Malformed`] if the bytes do not begin with a header: too few, wrong magic, unknown alignment or a
/// reserved byte that is not zero.
pub fn peek(bytes: &[u8]) -> Result<Header, Error> {
    let (head, _) = bytes.split_first_chunk::<HEADER_LEN>().ok_or(Error::Malformed { field: "length" })?;
    if head[..4] != MAGIC {
        return Err(Error::Malformed { field: "magic" });
    }
    if head[6] != UNALIGNED && head[6] != CACHE_LINE {
        return Err(Error::Malformed { field: "alignment" });
    }
    if head[7] != 0 {
        return Err(Error::Malformed { field: "reserved" });
    }
    Ok(Header {
        kind: Kind(head[4]),
        version: head[5],
        alignment: head[6],
        fingerprint: u64_at(head, 8),
        body_crc: u64_at(head, 16) as u32,
        payload_crc: (u64_at(head, 16) >> 32) as u32,
    })
}

/// Opens an envelope of `kind`, of versions 1 to `newest`: header, parameters, payload.
///
/// The checksum of header and parameters is checked, the payload's is not: see [`Header::verify`]. Takes time
/// in the size of the parameters alone.
///
/// # Errors
///
/// [`Error::Malformed`] as [`peek`], and if parameters or padding are not as [`seal`] writes them;
/// [`Error::Kind`], [`Error::Version`], [`Error::Checksum`].
pub fn open<'a, P: Serialize + Deserialize<'a>>(
    kind: Kind,
    newest: u8,
    bytes: &'a [u8],
) -> Result<(Header, P, &'a [u8]), Error> {
    let header = peek(bytes)?;
    if header.kind != kind {
        return Err(Error::Kind { expected: kind.0, found: header.kind.0 });
    }
    if !(1..=newest).contains(&header.version) {
        return Err(Error::Version { found: header.version, newest });
    }
    let malformed = Error::Malformed { field: "params" };
    let body = &bytes[HEADER_LEN..];
    let (params, rest) = postcard::take_from_bytes::<P>(body).map_err(|_| malformed)?;
    let params_len = body.len() - rest.len();
    // postcard accepts overlong varints: only the canonical encoding may pass.
    if postcard::to_allocvec(&params).map_err(|_| malformed)? != body[..params_len] {
        return Err(malformed);
    }
    let start = payload_start(params_len, header.alignment);
    let padding = bytes.get(HEADER_LEN + params_len..start).ok_or(Error::Malformed { field: "length" })?;
    if padding.iter().any(|&byte| byte != 0) {
        return Err(Error::Malformed { field: "padding" });
    }
    if body_crc(&bytes[..start]) != header.body_crc {
        return Err(Error::Checksum);
    }
    Ok((header, params, &bytes[start..]))
}

/// Writes an envelope; `payload` appends the payload to the bytes.
///
/// # Panics
///
/// If `alignment` is neither [`UNALIGNED`] nor [`CACHE_LINE`], or if `params` has no postcard encoding (a
/// sequence of unknown length, say): mistakes of the structure, not of its user.
pub fn seal<P: Serialize>(
    kind: Kind,
    version: u8,
    alignment: u8,
    fingerprint: u64,
    params: &P,
    payload: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    assert!(alignment == UNALIGNED || alignment == CACHE_LINE, "an alignment of the format");
    let params = postcard::to_allocvec(params).expect("parameters of a known shape have an encoding");
    let start = payload_start(params.len(), alignment);
    let mut bytes = Vec::with_capacity(start);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&[kind.0, version, alignment, 0]);
    bytes.extend_from_slice(&fingerprint.to_le_bytes());
    bytes.resize(HEADER_LEN, 0);
    bytes.extend_from_slice(&params);
    bytes.resize(start, 0);
    payload(&mut bytes);
    let crc = [body_crc(&bytes[..start]), crc32fast::hash(&bytes[start..])];
    bytes[16..20].copy_from_slice(&crc[0].to_le_bytes());
    bytes[20..24].copy_from_slice(&crc[1].to_le_bytes());
    bytes
}

/// Appends words in the payload's byte order.
pub fn put_words(bytes: &mut Vec<u8>, words: &[u64]) {
    bytes.reserve(words.len() * 8);
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// The words of a payload; bytes beyond the last whole word are left out.
pub fn words(payload: &[u8]) -> impl ExactSizeIterator<Item = u64> + '_ {
    payload.chunks_exact(8).map(|chunk| u64_at(chunk, 0))
}

/// The opening of every owned decode: opens the envelope, then checks hasher and payload.
///
/// # Errors
///
/// As [`open`], then [`Error::Hasher`] if the fingerprint is not `fingerprint`, then [`Error::Checksum`] if the
/// payload's checksum does not match.
pub fn open_owned<'a, P: Serialize + Deserialize<'a>>(
    kind: Kind,
    newest: u8,
    fingerprint: u64,
    bytes: &'a [u8],
) -> Result<(Header, P, &'a [u8]), Error> {
    let (header, params, payload) = open(kind, newest, bytes)?;
    same_hasher(fingerprint, header.fingerprint)?;
    header.verify(payload)?;
    Ok((header, params, payload))
}

/// The body of a structure's `serde::Serialize`: its envelope, as bytes.
///
/// # Errors
///
/// Whatever the serializer refuses.
pub fn serialize<S: Sketch, T: Serializer>(sketch: &S, serializer: T) -> Result<T::Ok, T::Error> {
    serializer.serialize_bytes(&sketch.to_bytes())
}

/// The body of a structure's `serde::Deserialize`: an envelope, as bytes or as a sequence of bytes, decoded
/// with the default hasher.
///
/// # Errors
///
/// Whatever the deserializer or [`Sketch::from_bytes`] refuses.
pub fn deserialize<'de, S, D>(deserializer: D) -> Result<S, D::Error>
where
    S: Sketch<Hasher: Default>,
    D: Deserializer<'de>,
{
    struct Envelope;

    impl<'de> Visitor<'de> for Envelope {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the bytes of a pds envelope")
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }

        /// Formats without a byte type, such as JSON. The length that they claim is not believed.
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<u8>, A::Error> {
            let mut bytes = Vec::new();
            while let Some(byte) = seq.next_element()? {
                bytes.push(byte);
            }
            Ok(bytes)
        }
    }

    let bytes = deserializer.deserialize_byte_buf(Envelope)?;
    S::from_bytes(&bytes).map_err(serde::de::Error::custom)
}

/// A `deserialize_with` of parameters for a list of at most `MOST` items.
///
/// A longer list is refused while it is read, before it takes memory: items may be larger here than where they are
/// written, and the length that a list claims is not believed.
///
/// ```
/// #[derive(serde::Deserialize, serde::Serialize)]
/// struct Params {
///     #[serde(deserialize_with = "pds_core::wire::at_most::<3, _, _>")]
///     layers: Vec<u64>,
/// }
/// ```
///
/// # Errors
///
/// Whatever the deserializer refuses, and a list of more than `MOST` items.
pub fn at_most<'de, const MOST: usize, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct List<const MOST: usize, T>(PhantomData<T>);

    impl<'de, const MOST: usize, T: Deserialize<'de>> Visitor<'de> for List<MOST, T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {MOST} items")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = seq.next_element()? {
                if items.len() == MOST {
                    return Err(serde::de::Error::invalid_length(MOST + 1, &self));
                }
                items.push(item);
            }
            Ok(items)
        }
    }

    deserializer.deserialize_seq(List::<MOST, T>(PhantomData))
}

fn payload_start(params_len: usize, alignment: u8) -> usize {
    (HEADER_LEN + params_len).next_multiple_of(1 << alignment)
}

/// The checksum of all that precedes the payload, without the two checksums themselves.
fn body_crc(head: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&head[..16]);
    crc.update(&head[HEADER_LEN..]);
    crc.finalize()
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[offset..offset + 8]);
    u64::from_le_bytes(word)
}
