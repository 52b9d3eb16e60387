//! Bytes that no structure wrote, behind right checksums.

use pds_cms::WyHasher;
use pds_cms::prelude::*;
use pds_core::wire::{CACHE_LINE, Kind, UNALIGNED, seal};

/// Keys in the order of their hashes, the greatest first: that of a list of equal counts.
fn keys() -> [u64; 4] {
    let mut keys = [1u64, 2, 3, 4];
    keys.sort_by_key(|key| std::cmp::Reverse(WyHasher::default().hash_key(key)));
    keys
}

fn sealed<P: serde::Serialize>(kind: Kind, body: &P, payload: &[u8]) -> Vec<u8> {
    seal(kind, 1, UNALIGNED, WyHasher::default().fingerprint(), body, |bytes| {
        bytes.extend_from_slice(payload);
    })
}

/// Columns, then keys of 8 bytes.
fn payload(columns: &[&[u64]], keys: &[u64]) -> Vec<u8> {
    let lengths = vec![8u64; keys.len()];
    let words = columns.iter().copied().flatten().chain(&lengths).chain(keys);
    words.flat_map(|word| word.to_le_bytes()).collect()
}

fn malformed<T>(field: &'static str) -> Result<T, Error> {
    Err(Error::Malformed { field })
}

/// Of capacity 3 unless said otherwise: capacity, total, whether that is saturated, length.
fn saving(body: (u32, u64, bool, u32), counts: &[u64], errors: &[u64], keys: &[u64]) -> Result<usize, Error> {
    let bytes = sealed(Kind::SPACE_SAVING, &body, &payload(&[counts, errors], keys));
    SpaceSaving::<u64>::from_bytes(&bytes).map(|read| {
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(SpaceSavingParams::peek(&bytes), Ok(read.params()));
        read.len()
    })
}

#[test]
fn space_saving_refuses_what_no_stream_gives() {
    let [a, b, c, d] = keys();
    assert_eq!(saving((3, 9, false, 3), &[4, 3, 2], &[2, 0, 1], &[a, b, c]), Ok(3));
    // A merge keeps less than the total; a stream's summary with room keeps it all.
    assert_eq!(saving((3, 10, false, 3), &[4, 3, 2], &[2, 0, 1], &[a, b, c]), Ok(3));
    assert_eq!(saving((3, 8, false, 3), &[4, 3, 2], &[2, 0, 1], &[a, b, c]), malformed("sum of counts"));
    assert_eq!(saving((4, 9, false, 3), &[4, 3, 2], &[0; 3], &[a, b, c]), Ok(3));
    assert_eq!(saving((4, 10, false, 3), &[4, 3, 2], &[0; 3], &[a, b, c]), malformed("sum of counts"));
    assert_eq!(saving((4, 9, false, 3), &[4, 3, 2], &[1, 0, 0], &[a, b, c]), malformed("error"));
    assert_eq!(saving((3, 9, false, 3), &[4, 3, 2], &[3, 0, 0], &[a, b, c]), malformed("error"));
    assert_eq!(saving((3, 9, false, 3), &[3, 4, 2], &[0; 3], &[a, b, c]), malformed("order"));
    assert_eq!(saving((3, 9, false, 3), &[3, 3, 3], &[0; 3], &[b, a, c]), malformed("order"));
    assert_eq!(saving((3, 7, false, 3), &[4, 3, 0], &[0; 3], &[a, b, c]), malformed("count"));
    assert_eq!(saving((3, 9, false, 3), &[4, 3, 2], &[0; 3], &[a, b, a]), malformed("keys"));
    assert_eq!(saving((3, 9, false, 3), &[3, 3, 3], &[0; 3], &[a, a, b]), malformed("keys"));
    assert_eq!(saving((3, 10, false, 4), &[4, 3, 2, 1], &[0; 4], &[a, b, c, d]), malformed("len"));
    assert_eq!(saving((3, 9, true, 3), &[4, 3, 2], &[0; 3], &[a, b, c]), malformed("total"));
    assert_eq!(saving((3, u64::MAX, true, 3), &[u64::MAX, 3, 2], &[0; 3], &[a, b, c]), Ok(3));
    assert_eq!(saving((4, u64::MAX, true, 3), &[4, 3, 2], &[0; 3], &[a, b, c]), malformed("sum of counts"));
    assert_eq!(saving((0, 0, false, 0), &[], &[], &[]), malformed("params"));
    assert_eq!(saving((u32::MAX, 0, false, 0), &[], &[], &[]), malformed("params"));
    // A capacity is no allocation.
    assert_eq!(saving((1 << 28, 4, false, 1), &[4], &[0], &[a]), Ok(1));
}

#[test]
fn lengths_beyond_the_payload_are_refused() {
    let [a, b, _, _] = keys();
    assert_eq!(saving((1 << 28, 4, false, 1 << 28), &[4], &[0], &[a]), malformed("payload length"));
    assert_eq!(saving((3, 4, false, 1), &[4], &[0], &[a, b]), malformed("payload length"));
    for length in [7, 9, 1 << 40, u64::MAX] {
        let bytes =
            sealed(Kind::SPACE_SAVING, &(3u32, 4u64, false, 1u32), &payload(&[&[4], &[0], &[length]], &[]));
        assert!(SpaceSaving::<u64>::from_bytes(&bytes).is_err());
    }
}

#[test]
fn keys_that_are_none_are_refused() {
    let text = |key: &[u8]| {
        let payload = [&payload(&[&[4], &[0], &[key.len() as u64]], &[]), key].concat();
        let bytes = sealed(Kind::SPACE_SAVING, &(3u32, 4u64, false, 1u32), &payload);
        SpaceSaving::<String>::from_bytes(&bytes).map(|read| read.len())
    };
    assert_eq!(text("naïve".as_bytes()), Ok(1));
    assert_eq!(text(b""), Ok(1));
    assert_eq!(text(&[0xff, 0xfe]), malformed("key"));
    let bytes = sealed(Kind::SPACE_SAVING, &(3u32, 4u64, false, 1u32), &payload(&[&[4], &[0]], &[256]));
    assert!(SpaceSaving::<u16>::from_bytes(&bytes).is_ok());
    assert!(matches!(SpaceSaving::<u8>::from_bytes(&bytes), Err(Error::Malformed { field: "key" })));
}

/// Capacity, total, whether that is saturated, error, length.
fn misra(body: (u32, u64, bool, u64, u32), counts: &[u64], keys: &[u64]) -> Result<usize, Error> {
    let bytes = sealed(Kind::MISRA_GRIES, &body, &payload(&[counts], keys));
    MisraGries::<u64>::from_bytes(&bytes).map(|read| {
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(MisraGriesParams::peek(&bytes), Ok(read.params()));
        read.len()
    })
}

#[test]
fn misra_gries_refuses_what_no_stream_gives() {
    let [a, b, c, _] = keys();
    assert_eq!(misra((3, 9, false, 0, 3), &[4, 3, 2], &[a, b, c]), Ok(3));
    assert_eq!(misra((3, 10, false, 0, 3), &[4, 3, 2], &[a, b, c]), malformed("sum of counts"));
    // Each of 5 cuts took from two counters at least.
    assert_eq!(misra((3, 19, false, 5, 3), &[4, 3, 2], &[a, b, c]), Ok(3));
    assert_eq!(misra((3, 18, false, 5, 3), &[4, 3, 2], &[a, b, c]), malformed("sum of counts"));
    assert_eq!(misra((3, 9, false, u64::MAX, 0), &[], &[]), malformed("sum of counts"));
    assert_eq!(misra((3, 4, false, 2, 0), &[], &[]), Ok(0));
    assert_eq!(misra((3, 9, false, 0, 3), &[3, 4, 2], &[a, b, c]), malformed("order"));
    assert_eq!(misra((3, 7, false, 0, 3), &[4, 3, 0], &[a, b, c]), malformed("count"));
    assert_eq!(misra((3, 9, false, 0, 3), &[4, 3, 2], &[a, b, b]), malformed("keys"));
    assert_eq!(misra((2, 9, false, 0, 3), &[4, 3, 2], &[a, b, c]), malformed("len"));
    assert_eq!(misra((3, 9, true, 0, 3), &[4, 3, 2], &[a, b, c]), malformed("total"));
    assert_eq!(misra((0, 0, false, 0, 0), &[], &[]), malformed("params"));
}

/// k, bound of what is not listed, length; beside a sketch in which these keys were counted 3 times each.
fn top(body: (u32, u64, u32), counts: &[u64], listed: &[u64]) -> Result<usize, Error> {
    let mut sketch = ConservativeCountMin::new(CountMinParams::with_shape(64, 4).expect("a legal shape"));
    for key in keys() {
        sketch.insert_n(&key, 3);
    }
    let sketch = sketch.to_bytes();
    let body = (body.0, body.1, body.2, sketch.len() as u64);
    let bytes = sealed(Kind::TOP_K, &body, &[sketch, payload(&[counts], listed)].concat());
    TopK::<u64>::from_bytes(&bytes).map(|read| {
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(TopKParams::peek(&bytes), Ok(read.params()));
        read.len()
    })
}

#[test]
fn top_k_refuses_what_no_stream_gives() {
    let [a, b, c, d] = keys();
    assert_eq!(top((3, 3, 3), &[3, 3, 3], &[a, b, c]), Ok(3));
    assert_eq!(top((5, 0, 4), &[3, 3, 3, 3], &[a, b, c, d]), Ok(4));
    assert_eq!(top((5, 3, 4), &[3, 3, 3, 3], &[a, b, c, d]), malformed("unlisted"));
    assert_eq!(top((3, 13, 3), &[3, 3, 3], &[a, b, c]), malformed("unlisted"));
    assert_eq!(top((3, 3, 3), &[4, 3, 3], &[a, b, c]), malformed("count"));
    assert_eq!(top((3, 3, 3), &[3, 3, 0], &[a, b, c]), malformed("count"));
    assert_eq!(top((3, 3, 3), &[2, 3, 3], &[a, b, c]), malformed("order"));
    assert_eq!(top((3, 3, 3), &[3, 3, 3], &[a, b, b]), malformed("keys"));
    assert_eq!(top((2, 3, 3), &[3, 3, 3], &[a, b, c]), malformed("len"));
    assert_eq!(top((3, 0, 0), &[], &[]), malformed("len"));
    assert_eq!(top((0, 0, 0), &[], &[]), malformed("params"));
}

#[test]
fn what_the_sketch_within_refuses_is_refused() {
    let list = TopK::<u64>::new(TopKParams::for_error(3, 0.5, 0.5).unwrap());
    let plain = CountMinSketch::new(list.params().sketch()).to_bytes();
    let bytes = sealed(Kind::TOP_K, &(3u32, 0u64, 0u32, plain.len() as u64), &plain);
    assert!(matches!(TopK::<u64>::from_bytes(&bytes), Err(Error::Kind { .. })));
    assert!(matches!(TopKParams::peek(&bytes), Err(Error::Kind { .. })));
    let seeded = WyHasher::with_seed(3);
    let other = ConservativeCountMin::<u32, _>::with_hasher(list.params().sketch(), seeded).to_bytes();
    let bytes = sealed(Kind::TOP_K, &(3u32, 0u64, 0u32, other.len() as u64), &other);
    assert!(matches!(TopK::<u64>::from_bytes(&bytes), Err(Error::Hasher { .. })));
    let bytes = sealed(Kind::TOP_K, &(3u32, 0u64, 0u32, u64::MAX), &other);
    assert!(matches!(TopK::<u64>::from_bytes(&bytes), Err(Error::Malformed { field: "payload length" })));
    assert_eq!(TopKParams::peek(&bytes), malformed("payload length"));
}

/// Empty structures whose payload begins at a cache line, which none of them writes.
#[test]
fn an_alignment_that_is_never_written_is_refused_and_has_no_shape() {
    fn aligned<P: serde::Serialize>(kind: Kind, body: &P, payload: &[u8]) -> Vec<u8> {
        seal(kind, 1, CACHE_LINE, WyHasher::default().fingerprint(), body, |bytes| {
            bytes.extend_from_slice(payload);
        })
    }
    let refused = Error::Malformed { field: "alignment" };
    let bytes = aligned(Kind::SPACE_SAVING, &(3u32, 0u64, false, 0u32), &[]);
    assert_eq!(SpaceSaving::<u64>::from_bytes(&bytes).unwrap_err(), refused);
    assert_eq!(SpaceSavingParams::peek(&bytes).unwrap_err(), refused);
    let bytes = aligned(Kind::MISRA_GRIES, &(3u32, 0u64, false, 0u64, 0u32), &[]);
    assert_eq!(MisraGries::<u64>::from_bytes(&bytes).unwrap_err(), refused);
    assert_eq!(MisraGriesParams::peek(&bytes).unwrap_err(), refused);
    let bytes = aligned(Kind::HEAVY_KEEPER, &(1u32, 1u32, 1.08, 0u64, 0u64, 0u64, false, 0u32), &[0; 64]);
    assert_eq!(HeavyKeeper::<u64>::from_bytes(&bytes).unwrap_err(), refused);
    assert_eq!(HeavyKeeperParams::peek(&bytes).unwrap_err(), refused);
    let sketch =
        ConservativeCountMin::new(CountMinParams::with_shape(4, 2).expect("a legal shape")).to_bytes();
    let bytes = aligned(Kind::TOP_K, &(3u32, 0u64, 0u32, sketch.len() as u64), &sketch);
    assert_eq!(TopK::<u64>::from_bytes(&bytes).unwrap_err(), refused);
    assert_eq!(TopKParams::peek(&bytes).unwrap_err(), refused);
}

/// A list of one key in one bucket: base, total, fingerprints, counts, listed counts.
fn keeper(base: f64, total: u64, cells: [[u32; 8]; 2], listed: &[u64]) -> Result<usize, Error> {
    let cells = cells.iter().flatten().flat_map(|cell| cell.to_le_bytes()).collect();
    let body = (1u32, 1u32, base, 0u64, 5u64, total, false, listed.len() as u32);
    let payload = [cells, payload(&[listed], &[1, 2][..listed.len()])].concat();
    let bytes = sealed(Kind::HEAVY_KEEPER, &body, &payload);
    HeavyKeeper::<u64>::from_bytes(&bytes).map(|read| {
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(HeavyKeeperParams::peek(&bytes), Ok(read.params()));
        read.len()
    })
}

#[test]
fn heavy_keeper_refuses_what_no_stream_leaves() {
    let empty = [[0; 8]; 2];
    let taken = [[7, 0, 8, 0, 0, 0, 0, 0], [3, 0, 2, 0, 0, 0, 0, 0]];
    assert_eq!(keeper(1.08, 0, empty, &[]), Ok(0));
    assert_eq!(keeper(1.08, 9, taken, &[4]), Ok(1));
    assert_eq!(keeper(1.08, 9, taken, &[]), malformed("cells"));
    assert_eq!(keeper(1.08, 9, [[7, 0, 7, 0, 0, 0, 0, 0], taken[1]], &[4]), malformed("cells"));
    assert_eq!(keeper(1.08, 9, [taken[0], [3, 0, 0, 0, 0, 0, 0, 0]], &[4]), malformed("cells"));
    assert_eq!(keeper(1.08, 2, taken, &[2]), malformed("cells"));
    assert_eq!(keeper(1.08, 9, taken, &[10]), malformed("count"));
    assert_eq!(keeper(1.08, 9, taken, &[0]), malformed("count"));
    assert_eq!(keeper(1.08, 9, taken, &[4, 4]), malformed("len"));
    for base in [f64::NAN, 1.0, 0.0, 3.0] {
        assert_eq!(keeper(base, 9, taken, &[4]), malformed("params"));
    }
    let huge = (1u32, 1u32 << 24, 1.08, 0u64, 0u64, 0u64, false, 0u32);
    let bytes = sealed(Kind::HEAVY_KEEPER, &huge, &[]);
    assert!(matches!(
        HeavyKeeper::<u64>::from_bytes(&bytes),
        Err(Error::Malformed { field: "payload length" })
    ));
}
