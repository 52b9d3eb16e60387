//! Surgery on envelopes: changes behind the checksums, so that what lies past them is tested too.
//!
//! Written against the layout alone, not against `pds_core::wire`, whose mistakes it would share.

/// Bytes before the parameters.
const HEADER_LEN: usize = 24;
/// Where the checksum of header, parameters and padding stands.
const BODY_CRC: usize = 16;
/// Where the checksum of the payload stands.
const PAYLOAD_CRC: usize = 20;
/// Where log2 of the payload's alignment stands.
const ALIGNMENT: usize = 6;

/// Where the payload of a valid envelope starts: at the first offset at which both checksums match.
///
/// None if there is no such offset. The envelope alone does not say it: the parameters do, by their length.
pub fn payload_start(bytes: &[u8]) -> Option<usize> {
    let head = bytes.get(..HEADER_LEN)?;
    let mut body = crc32fast::Hasher::new();
    body.update(&head[..BODY_CRC]);
    let mut start = HEADER_LEN;
    loop {
        // Below, one byte more at a time.
        if body.clone().finalize() == u32_at(head, BODY_CRC)
            && crc32fast::hash(&bytes[start..]) == u32_at(head, PAYLOAD_CRC)
        {
            return Some(start);
        }
        body.update(bytes.get(start..=start)?);
        start += 1;
    }
}

/// Makes both checksums right again, after any change; `payload_start` as before or as changed.
///
/// Does nothing to bytes that end before `payload_start`, or that have no header.
pub fn reseal(bytes: &mut [u8], payload_start: usize) {
    if payload_start < HEADER_LEN || bytes.len() < payload_start {
        return;
    }
    let mut body = crc32fast::Hasher::new();
    body.update(&bytes[..BODY_CRC]);
    body.update(&bytes[HEADER_LEN..payload_start]);
    let payload = crc32fast::hash(&bytes[payload_start..]);
    bytes[BODY_CRC..BODY_CRC + 4].copy_from_slice(&body.finalize().to_le_bytes());
    bytes[PAYLOAD_CRC..PAYLOAD_CRC + 4].copy_from_slice(&payload.to_le_bytes());
}

/// An envelope with the kind, version, alignment and hasher of `bytes`, any bytes as parameters, zero padding
/// to the alignment, any payload and right checksums.
///
/// # Panics
///
/// If `bytes` has no header.
pub fn forge(bytes: &[u8], params: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut forged = bytes[..HEADER_LEN].to_vec();
    let alignment = 1usize << (bytes[ALIGNMENT] & 15);
    forged.extend_from_slice(params);
    forged.resize(forged.len().next_multiple_of(alignment), 0);
    let start = forged.len();
    forged.extend_from_slice(payload);
    reseal(&mut forged, start);
    forged
}

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    bytes[offset..offset + 4].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use pds_core::wire::{self, CACHE_LINE, Kind, UNALIGNED};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_start_is_found_and_resealing_gives_what_sealing_gives(
            params: (u64, u8),
            payload: Vec<u8>,
            aligned: bool,
            noise: u64,
        ) {
            let alignment = if aligned { CACHE_LINE } else { UNALIGNED };
            let bytes = wire::seal(Kind(255), 3, alignment, noise, &params, |out| out.extend(&payload));
            let start = payload_start(&bytes);
            prop_assert_eq!(start, Some(bytes.len() - payload.len()));

            let mut spoiled = bytes.clone();
            spoiled[BODY_CRC..HEADER_LEN].copy_from_slice(&noise.to_le_bytes());
            reseal(&mut spoiled, start.unwrap());
            prop_assert_eq!(&spoiled, &bytes);

            let other = wire::seal(Kind(255), 3, alignment, noise, &(), |_| ());
            let (_, _, opened) = wire::open::<(u64, u8)>(Kind(255), 3, &bytes).unwrap();
            let params = wire::seal(Kind(255), 3, UNALIGNED, noise, &params, |_| ())[HEADER_LEN..].to_vec();
            prop_assert_eq!(forge(&other, &params, opened), bytes);
        }

        #[test]
        fn bytes_that_are_no_envelope_have_no_start_and_no_seal(bytes: Vec<u8>, start in 0..64usize) {
            prop_assert_eq!(payload_start(&bytes), None);
            let mut resealed = bytes.clone();
            reseal(&mut resealed, start);
            prop_assert!(resealed == bytes || (start >= HEADER_LEN && start <= bytes.len()));
        }
    }
}
