//! The bits are those of other programs, for values by type.
//!
//! Run by `cargo test --workspace`, where the feature is on, or with `--features parquet`.
#![cfg(feature = "parquet")]

use pds_bloom::prelude::*;
use pds_bloom::{ParquetHasher, WyHasher};

type Filter = SplitBlockBloomFilter<ParquetHasher>;

fn filter(blocks: u64) -> Filter {
    Filter::with_hasher(SplitBlockParams::with_shape(blocks).expect("a valid shape"), ParquetHasher)
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits"))
        .collect()
}

// Bitsets by the crate `parquet` 60.1.0 without default features: `Sbbf::new_with_num_of_bytes(32 * blocks)`, then
// `insert(&value)` for each value (`ByteArray::from(text)` for the texts), then `write_bitset`.

const I32: ([i32; 5], &str) =
    ([0, 1, -1, i32::MIN, i32::MAX], "048108208000402c4a4000000650400058200004142020000408400204284020");

const I64: ([i64; 5], &str) = (
    [0, 1, -1, i64::MIN, i64::MAX],
    concat!(
        "01020000000001040030000000000202100008000200001000404000084000000004000a004800022800000200040210",
        "10000024040008084000100000010042",
    ),
);

const F32: ([f32; 5], &str) = (
    [0.0, -0.0, 1.5, f32::INFINITY, f32::from_bits(0x7fc0_0001)],
    "00000c30808040088b0020002240088010300900910004000208400100224000",
);

const F64: ([f64; 5], &str) = (
    [0.0, -0.0, 1.5, f64::INFINITY, f64::from_bits(0x7ff8_0000_0000_0001)],
    concat!(
        "010200040000050400304000010002021100080082000010004040000840000800000018000000900410000010000001",
        "20040000000001400010000200240000",
    ),
);

const TEXTS: ([&str; 5], &str) = (
    ["", "a", "hello", "Parquet", "a value of more than thirty-two bytes, for the long loop"],
    concat!(
        "000010100802000000040040808000000202000000004080020000100000000904000000004000000000800000010000",
        "000000080000002000004000100000000000000000000000000000000000000000000000000000000000000000000000",
        "00000420010002000200000200100010004002000000400100000028000000c0",
    ),
);

// Bitsets by the crates `sbbf-rs-safe` 0.3.2 and `twox-hash` 2.1.5, whose number of blocks is no power of two:
// `Filter::from_bytes(&[0; 32 * blocks])`, then `insert_hash(XxHash64::oneshot(0, &(v * v * v).to_le_bytes()))` for v in
// 0..20i64, then `as_bytes`.

const CUBES: [(u64, &str); 2] = [
    (
        3,
        concat!(
            "000a22200404000721208020004010061004022004028012804090010240044081000c1c0a810422101002320e409200",
            "010500458640000cc2060014010d4048820a80830d04600125c0801250414110230085a08224120112400a8419408208",
        ),
    ),
    (
        7,
        concat!(
            "000002000000000100008000004000000004000000008000800000000200000000022020040000062120000000001006",
            "1000002000020012004010010040044080080804020504001000022008408000000102418440000402068000000c0408",
            "000004100880000000100020040010000104000006000000800000040100400001000008000000220000001202000200",
            "00040004000000084000001000010040800880020c042000244000101001401000008580820410001040028010008208",
            "0202008101004001018080024040011023000020802002010240080419400000",
        ),
    ),
];

#[test]
fn every_type_sets_the_bits_that_parquet_sets() {
    let mut ints = filter(1);
    let mut longs = filter(2);
    let mut floats = filter(1);
    let mut doubles = filter(2);
    let mut texts = filter(4);
    I32.0.iter().for_each(|&value| _ = ints.insert_i32(value));
    I64.0.iter().for_each(|&value| _ = longs.insert_i64(value));
    F32.0.iter().for_each(|&value| _ = floats.insert_f32(value));
    F64.0.iter().for_each(|&value| _ = doubles.insert_f64(value));
    TEXTS.0.iter().for_each(|text| _ = texts.insert_bytes(text.as_bytes()));
    for (filter, hex) in [(ints, I32.1), (longs, I64.1), (floats, F32.1), (doubles, F64.1), (texts, TEXTS.1)]
    {
        assert_eq!(filter.to_bitset(), bytes(hex));
    }
}

#[test]
fn any_number_of_blocks_is_filled_as_by_others() {
    for (blocks, hex) in CUBES {
        let mut filter = filter(blocks);
        (0..20i64).for_each(|v| _ = filter.insert_i64(v * v * v));
        assert_eq!(filter.to_bitset(), bytes(hex));
    }
}

#[test]
fn bitsets_of_others_answer_where_they_lie_and_owned() {
    let [ints, longs, floats, doubles, texts] = [I32.1, I64.1, F32.1, F64.1, TEXTS.1].map(bytes);
    let view = |set| SplitBlockBloomView::of_bitset(set, ParquetHasher).expect("whole blocks");
    let owned = |set| Filter::from_bitset(set, ParquetHasher).expect("whole blocks");
    let [i32s, i64s, f32s, f64s, bytes] = [&ints[..], &longs, &floats, &doubles, &texts].map(view);
    assert!(I32.0.iter().all(|&value| i32s.contains_i32(value)) && !i32s.contains_i32(2));
    assert!(I64.0.iter().all(|&value| i64s.contains_i64(value)) && !i64s.contains_i64(2));
    assert!(F32.0.iter().all(|&value| f32s.contains_f32(value)) && !f32s.contains_f32(2.0));
    assert!(F64.0.iter().all(|&value| f64s.contains_f64(value)) && !f64s.contains_f64(2.0));
    assert!(TEXTS.0.iter().all(|text| bytes.contains_bytes(text.as_bytes())) && !bytes.contains_bytes(b"b"));
    let [i32s, i64s, f32s, f64s, bytes] = [&ints[..], &longs, &floats, &doubles, &texts].map(owned);
    assert!(I32.0.iter().all(|&value| i32s.contains_i32(value)) && !i32s.contains_i32(2));
    assert!(I64.0.iter().all(|&value| i64s.contains_i64(value)) && !i64s.contains_i64(2));
    assert!(F32.0.iter().all(|&value| f32s.contains_f32(value)) && !f32s.contains_f32(2.0));
    assert!(F64.0.iter().all(|&value| f64s.contains_f64(value)) && !f64s.contains_f64(2.0));
    assert!(TEXTS.0.iter().all(|text| bytes.contains_bytes(text.as_bytes())) && !bytes.contains_bytes(b"b"));
}

/// Known values of XXH64 with seed 0.
#[test]
fn the_hash_is_the_published_one() {
    for (text, hash) in
        [("", 0xef46_db37_51d8_e999), ("a", 0xd24e_c4f1_a98c_6e5b), ("abc", 0x44bc_2cf5_ad77_0999)]
    {
        assert_eq!(ParquetHasher.hash_bytes(text.as_bytes()), hash);
    }
    for value in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
        assert_eq!(ParquetHasher.hash_u64(value), ParquetHasher.hash_bytes(&value.to_le_bytes()));
    }
}

/// Keys are canonical over types, Parquet's values are not.
#[test]
fn keys_are_no_values_of_parquet() {
    let hash = |insert: fn(&mut Filter)| {
        let mut filter = filter(8);
        insert(&mut filter);
        filter.to_bitset()
    };
    assert_ne!(hash(|f| _ = f.insert(&5i32)), hash(|f| _ = f.insert_i32(5)));
    assert_eq!(hash(|f| _ = f.insert(&5i64)), hash(|f| _ = f.insert_i64(5)));
    assert_ne!(hash(|f| _ = f.insert(&-0.0f64)), hash(|f| _ = f.insert_f64(-0.0)));
    assert_eq!(hash(|f| _ = f.insert("text")), hash(|f| _ = f.insert_bytes(b"text")));
}

#[test]
fn the_envelope_names_the_hasher() {
    let mut filter = filter(3);
    filter.insert_i32(1);
    let bytes = filter.to_bytes();
    assert!(matches!(SplitBlockBloomFilter::<WyHasher>::from_bytes(&bytes), Err(Error::Hasher { .. })));
    assert_eq!(<Filter as Sketch>::from_bytes(&bytes).unwrap(), filter);
}
