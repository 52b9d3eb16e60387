//! The form in which fuzzers hold envelopes: without checksums, which no mutation would get right.
//!
//! Where the two checksums stand in an envelope, an *unsealed* one has the offset of its payload (4 bytes, little-endian)
//! and 4 bytes without meaning; its hasher is whatever the type's default is.

use pds_core::{Fingerprint, wire};
use pds_hash::WyHasher;
use pds_testkit::{payload_start, reseal};

/// Where the offset of the payload stands.
const START: std::ops::Range<usize> = 16..20;
/// Where the fingerprint of the hasher stands.
const FINGERPRINT: std::ops::Range<usize> = 8..16;

/// The unsealed form of a valid envelope; `None` for other bytes.
pub fn unsealed(envelope: &[u8]) -> Option<Vec<u8>> {
    let start = u32::try_from(payload_start(envelope)?).ok()?;
    let mut bytes = envelope.to_vec();
    bytes[START].copy_from_slice(&start.to_le_bytes());
    Some(bytes)
}

/// Makes an envelope of an unsealed one: right magic, hasher and checksums, for whatever else it holds.
///
/// The payload begins `shift` bytes behind where the bytes say, as far as there are so many. `None` if they are shorter
/// than a header.
pub fn sealed(unsealed: &[u8], shift: i64) -> Option<Vec<u8>> {
    let body = unsealed.len().checked_sub(wire::HEADER_LEN)?;
    let stored = u32::from_le_bytes(unsealed[START].try_into().ok()?);
    let start = i64::from(stored).checked_add(shift)?.clamp(wire::HEADER_LEN as i64, unsealed.len() as i64);
    debug_assert!(start as usize - wire::HEADER_LEN <= body);
    let mut bytes = unsealed.to_vec();
    bytes[..wire::MAGIC.len()].copy_from_slice(&wire::MAGIC);
    // Kinds from DDSketch on hash nothing.
    let hashes = wire::Kind(bytes[4]).0 < wire::Kind::DDSKETCH.0;
    let fingerprint = if hashes { WyHasher::default().fingerprint() } else { 0 };
    bytes[FINGERPRINT].copy_from_slice(&fingerprint.to_le_bytes());
    reseal(&mut bytes, start as usize);
    Some(bytes)
}

/// Two unsealed envelopes as one input of [`merge`](crate::merge()): the length of the first, 2 bytes, and both.
pub fn pair(left: &[u8], right: &[u8]) -> Vec<u8> {
    let cut = u16::try_from(left.len()).unwrap_or(u16::MAX);
    [&cut.to_le_bytes(), &left[..usize::from(cut)], right].concat()
}

/// The two parts of a [`pair`]; `None` if there are none.
pub(crate) fn parts(pair: &[u8]) -> Option<(&[u8], &[u8])> {
    let (cut, rest) = pair.split_first_chunk()?;
    let cut = usize::from(u16::from_le_bytes(*cut)).min(rest.len());
    Some(rest.split_at(cut))
}

#[cfg(test)]
mod tests {
    use pds_bloom::prelude::*;

    use super::*;

    #[test]
    fn an_envelope_comes_back_as_it_was() {
        let mut filter = BloomFilter::new(BloomParams::for_fpr(100, 0.01).unwrap());
        filter.insert(&1u64);
        let bytes = filter.to_bytes();
        assert_eq!(sealed(&unsealed(&bytes).unwrap(), 0), Some(bytes.clone()));
        let both = pair(&bytes, &[1, 2, 3]);
        assert_eq!(parts(&both), Some((&*bytes, &[1, 2, 3][..])));
    }
}
