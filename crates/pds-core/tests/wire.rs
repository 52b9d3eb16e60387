//! The envelope keeps its bytes, and refuses every other.

use pds_core::{Error, Fingerprint, Sketch, wire};
use proptest::prelude::*;

type Params = (u64, u32);

const KIND: wire::Kind = wire::Kind(200);

fn sealed(alignment: u8, params: Params, words: &[u64]) -> Vec<u8> {
    wire::seal(KIND, 3, alignment, 0x0123_4567_89ab_cdef, &params, |out| wire::put_words(out, words))
}

fn open_whole(bytes: &[u8]) -> Result<(Params, Vec<u64>), Error> {
    let (_, params, payload) = wire::open_owned::<Params>(KIND, 3, 0x0123_4567_89ab_cdef, bytes)?;
    if payload.len() % 8 != 0 {
        return Err(Error::Malformed { field: "payload length" });
    }
    Ok((params, wire::words(payload).collect()))
}

#[test]
fn the_layout_is_the_documented_one() {
    let bytes = sealed(wire::CACHE_LINE, (300, 7), &[0x1122_3344_5566_7788]);
    let mut expected = b"PDS1\xc8\x03\x06\x00\xef\xcd\xab\x89\x67\x45\x23\x01".to_vec();
    expected.extend_from_slice(&bytes[16..24]);
    expected.extend_from_slice(&[0xac, 0x02, 0x07]);
    expected.resize(64, 0);
    expected.extend_from_slice(b"\x88\x77\x66\x55\x44\x33\x22\x11");
    assert_eq!(bytes, expected);
    let body: Vec<u8> = [&bytes[..16], &bytes[24..64]].concat();
    assert_eq!(bytes[16..20], crc32fast::hash(&body).to_le_bytes());
    assert_eq!(bytes[20..24], crc32fast::hash(&bytes[64..]).to_le_bytes());
}

#[test]
fn every_kind_keeps_its_number() {
    let filters = [
        wire::Kind::BLOOM,
        wire::Kind::SPLIT_BLOCK_BLOOM,
        wire::Kind::BLOCKED_BLOOM,
        wire::Kind::COUNTING_BLOOM,
        wire::Kind::SCALABLE_BLOOM,
        wire::Kind::WINDOWED_BLOOM,
        wire::Kind::CUCKOO,
        wire::Kind::GROWABLE_CUCKOO,
    ];
    assert_eq!(filters.map(|kind| kind.0), [1, 2, 3, 4, 5, 6, 7, 8]);
    let static_filters = [wire::Kind::BINARY_FUSE, wire::Kind::XOR, wire::Kind::RIBBON];
    assert_eq!(static_filters.map(|kind| kind.0), [9, 10, 11]);
    let sketches = [wire::Kind::HYPER_LOG_LOG, wire::Kind::COUNT_MIN];
    assert_eq!(sketches.map(|kind| kind.0), [16, 32]);
    let thetas = [wire::Kind::THETA, wire::Kind::THETA_RESULT];
    assert_eq!(thetas.map(|kind| kind.0), [19, 20]);
    let quantiles = [wire::Kind::DDSKETCH, wire::Kind::T_DIGEST, wire::Kind::KLL];
    assert_eq!(quantiles.map(|kind| kind.0), [48, 49, 50]);
}

#[test]
fn every_mutation_of_one_byte_is_refused() {
    for alignment in [wire::UNALIGNED, wire::CACHE_LINE] {
        let bytes = sealed(alignment, (300, 7), &[1, 2, 3]);
        for at in 0..bytes.len() {
            for flip in 1..=255 {
                let mut mutated = bytes.clone();
                mutated[at] ^= flip;
                assert!(open_whole(&mutated).is_err(), "byte {at} ^ {flip:#x} went unnoticed");
            }
        }
    }
}

#[test]
fn every_truncation_and_every_extension_is_refused() {
    for alignment in [wire::UNALIGNED, wire::CACHE_LINE] {
        let bytes = sealed(alignment, (300, 7), &[1, 2, 3]);
        for len in 0..bytes.len() {
            assert!(open_whole(&bytes[..len]).is_err(), "{len} bytes were enough");
        }
        for extra in 0..=255 {
            assert!(open_whole(&[&bytes[..], &[extra]].concat()).is_err());
        }
    }
}

#[test]
fn a_list_that_is_too_long_is_refused_before_the_rest_is_read() {
    use std::cell::Cell;

    thread_local!(static READ: Cell<usize> = const { Cell::new(0) });

    #[derive(Debug, PartialEq, serde::Serialize)]
    struct Item(u8);

    impl<'de> serde::Deserialize<'de> for Item {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            READ.set(READ.get() + 1);
            u8::deserialize(deserializer).map(Self)
        }
    }

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Few(#[serde(deserialize_with = "wire::at_most::<3, _, _>")] Vec<Item>);

    for len in 0..=3 {
        let few = Few((0..len).map(Item).collect());
        let bytes = wire::seal(KIND, 1, wire::UNALIGNED, 9, &few, |_| {});
        assert_eq!(wire::open::<Few>(KIND, 1, &bytes).expect("not too long").1, few);
    }
    for len in [4, 5, 1_000] {
        let many: Vec<u8> = vec![7; len];
        let bytes = wire::seal(KIND, 1, wire::UNALIGNED, 9, &many, |_| {});
        READ.set(0);
        assert_eq!(wire::open::<Few>(KIND, 1, &bytes).unwrap_err(), Error::Malformed { field: "params" });
        assert_eq!(READ.get(), 4, "items read of {len}");
    }
}

#[test]
fn an_overlong_encoding_of_the_parameters_is_refused() {
    // (5, 7) with 5 written in two bytes, under valid checksums.
    let mut bytes = wire::seal(KIND, 3, wire::UNALIGNED, 9, &[0x85u8, 0x00, 0x07], |_| {});
    assert_eq!(postcard::from_bytes::<Params>(&bytes[24..]).expect("postcard takes it"), (5, 7));
    assert_eq!(wire::open::<Params>(KIND, 3, &bytes).unwrap_err(), Error::Malformed { field: "params" });
    bytes[24] = 0x05;
    bytes.remove(25);
    assert_eq!(wire::open::<Params>(KIND, 3, &bytes).unwrap_err(), Error::Checksum);
}

#[test]
fn each_fault_has_its_error() {
    let bytes = sealed(wire::CACHE_LINE, (300, 7), &[1]);
    let with = |at: usize, value: u8| {
        let mut changed = bytes.clone();
        changed[at] = value;
        open_whole(&changed).unwrap_err()
    };
    assert_eq!(with(0, b'p'), Error::Malformed { field: "magic" });
    assert_eq!(with(4, 1), Error::Kind { expected: 200, found: 1 });
    assert_eq!(with(5, 0), Error::Version { found: 0, newest: 3 });
    assert_eq!(with(5, 4), Error::Version { found: 4, newest: 3 });
    assert_eq!(with(5, 2), Error::Checksum);
    assert_eq!(with(6, 3), Error::Malformed { field: "alignment" });
    assert_eq!(with(7, 1), Error::Malformed { field: "reserved" });
    assert_eq!(with(40, 1), Error::Malformed { field: "padding" });
    assert_eq!(with(64, 9), Error::Checksum);
    assert_eq!(open_whole(&bytes[..23]).unwrap_err(), Error::Malformed { field: "length" });
    assert_eq!(open_whole(&bytes[..63]).unwrap_err(), Error::Malformed { field: "length" });
    let other = wire::open_owned::<Params>(KIND, 3, 1, &bytes).unwrap_err();
    assert_eq!(other, Error::Hasher { expected: 1, found: 0x0123_4567_89ab_cdef });
}

#[test]
fn errors_compare_by_content_and_a_nan_equals_itself() {
    let nan = |domain| Error::Parameter { name: "fpr", value: f64::NAN, domain };
    assert_eq!(nan("a"), nan("a"));
    assert_ne!(nan("a"), nan("b"));
    assert_ne!(Error::Checksum, Error::Full);
    assert_ne!(Error::Construction { attempts: 1 }, Error::Construction { attempts: 2 });
    assert_eq!(Error::Malformed { field: "x" }.to_string(), "malformed bytes: x");
    let other = Error::Kind { expected: 1, found: 200 };
    assert_eq!(other.to_string(), "bytes of kind 200, expected kind 1 (Bloom filter)");
    assert_eq!(
        Error::Unmergeable { kind: 43 }.to_string(),
        "structures of kind 43 (HeavyKeeper) do not merge"
    );
}

/// Four bytes that hash nothing.
#[derive(Debug, PartialEq)]
struct Four([u8; 4]);

impl Sketch for Four {
    const KIND: wire::Kind = KIND;
    type Hasher = ();

    fn to_bytes(&self) -> Vec<u8> {
        wire::seal(KIND, 1, wire::UNALIGNED, ().fingerprint(), &(), |out| out.extend_from_slice(&self.0))
    }

    fn from_bytes_with(bytes: &[u8], (): ()) -> Result<Self, Error> {
        let (_, (), payload) = wire::open_owned(KIND, 1, 0, bytes)?;
        payload.try_into().map(Self).map_err(|_| Error::Malformed { field: "payload length" })
    }
}

impl serde::Serialize for Four {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Four {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}

#[test]
fn serde_carries_the_envelope_in_binary_and_in_text() {
    let four = Four(*b"data");
    let binary = postcard::to_allocvec(&four).expect("bytes encode");
    assert!(binary.ends_with(&four.to_bytes()));
    assert_eq!(postcard::from_bytes::<Four>(&binary).expect("what was written reads"), four);
    let text = serde_json::to_string(&four).expect("bytes encode");
    assert_eq!(serde_json::from_str::<Four>(&text).expect("what was written reads"), four);
    assert!(serde_json::from_str::<Four>("[80, 68, 83]").is_err());
    assert!(serde_json::from_str::<Four>("\"PDS1\"").is_err());
}

proptest! {
    #[test]
    fn what_is_sealed_opens(aligned: bool, params: Params, words: Vec<u64>) {
        let alignment = if aligned { wire::CACHE_LINE } else { wire::UNALIGNED };
        let bytes = sealed(alignment, params, &words);
        prop_assert_eq!(open_whole(&bytes), Ok((params, words)));
        let header = wire::peek(&bytes).expect("a header");
        prop_assert_eq!((header.kind, header.version, header.alignment), (KIND, 3, alignment));
    }

    #[test]
    fn arbitrary_bytes_never_panic(mut bytes: Vec<u8>, honest_start: bool) {
        if honest_start && bytes.len() > 6 {
            bytes[..6].copy_from_slice(b"PDS1\xc8\x03");
        }
        let _ = wire::peek(&bytes);
        prop_assert!(open_whole(&bytes).is_err());
    }
}
