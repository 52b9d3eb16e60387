//! Bytes that no sketch wrote, behind right checksums.

use pds_cms::prelude::*;
use pds_cms::{Fingerprint, WyHasher};
use pds_core::wire::{CACHE_LINE, Kind, UNALIGNED, seal};

/// The parameters as they are encoded: width, depth, delta, bytes of a cell, total, flags.
type Body = (u64, u32, f64, u8, u64, u8);

const CELLS_SATURATED: u8 = 1;
const TOTAL_SATURATED: u8 = 2;
const FULL: u64 = u32::MAX as u64;

fn sealed<P: serde::Serialize>(alignment: u8, body: &P, cells: &[u64]) -> Vec<u8> {
    seal(Kind::COUNT_MIN, 1, alignment, WyHasher::default().fingerprint(), body, |payload| {
        payload.extend(
            cells.iter().flat_map(|&cell| u32::try_from(cell).expect("a cell of 4 bytes").to_le_bytes()),
        );
    })
}

fn bytes(body: Body, cells: &[u64]) -> Vec<u8> {
    sealed(CACHE_LINE, &body, cells)
}

/// What the owned decode says; a view says the same when opened or when verified.
fn decode(bytes: &[u8]) -> Result<CountMinSketch, Error> {
    let decoded = CountMinSketch::from_bytes(bytes);
    let viewed = CountMinSketch::view(bytes).and_then(|view| view.verify().and_then(|()| view.to_owned()));
    assert_eq!(viewed, decoded);
    if let Ok(sketch) = &decoded {
        assert_eq!(sketch.to_bytes(), bytes);
        assert_eq!(CountMinParams::peek(bytes), Ok(sketch.params()));
    }
    decoded
}

/// Two rows of two cells.
fn rows(total: u64, flags: u8, cells: [u64; 4]) -> Result<CountMinSketch, Error> {
    decode(&bytes((2, 2, 0.1, 4, total, flags), &cells))
}

fn malformed(field: &'static str) -> Result<CountMinSketch, Error> {
    Err(Error::Malformed { field })
}

#[test]
fn a_row_sums_up_to_the_total() {
    assert_eq!(rows(5, 0, [2, 3, 5, 0]).unwrap().total(), 5);
    assert!(rows(0, 0, [0; 4]).unwrap().is_empty());
    for cells in [[2, 4, 5, 0], [2, 3, 4, 0], [0, 0, 5, 0], [FULL, FULL, 5, 0]] {
        assert_eq!(rows(5, 0, cells), malformed("row sums"));
    }
    // A cell may be full to the brim without a flag: there is no count that stands for something else.
    let brim = rows(FULL, 0, [FULL, 0, 0, FULL]).unwrap();
    assert!(!brim.is_saturated());
}

#[test]
fn a_saturated_row_sums_up_to_less() {
    let total = FULL + 10;
    let saturated = rows(total, CELLS_SATURATED, [FULL, 4, FULL, 10]).unwrap();
    assert_eq!((saturated.is_saturated(), saturated.saturated_cells()), (true, 2));
    // A row without a full cell has lost nothing.
    assert_eq!(rows(total, CELLS_SATURATED, [FULL, 0, FULL - 1, 10]), malformed("row sums"));
    assert!(rows(total, CELLS_SATURATED, [FULL, 0, FULL - 1, 11]).is_ok());
    assert_eq!(rows(total, CELLS_SATURATED, [FULL, 11, FULL, 10]), malformed("row sums"));
    assert_eq!(rows(total, 0, [FULL, 4, FULL, 10]), malformed("row sums"));
    // A flag that nothing shows.
    assert_eq!(rows(total, CELLS_SATURATED, [FULL, 10, FULL, 10]), malformed("flags"));
    assert_eq!(rows(5, CELLS_SATURATED, [2, 3, 5, 0]), malformed("flags"));
    assert_eq!(rows(0, CELLS_SATURATED, [0; 4]), malformed("flags"));
}

#[test]
fn a_saturated_total_is_the_greatest_and_saturates_narrow_cells() {
    let both = CELLS_SATURATED | TOTAL_SATURATED;
    assert!(rows(u64::MAX, both, [FULL, 7, FULL, FULL]).is_ok());
    assert_eq!(rows(u64::MAX - 1, both, [FULL, 7, FULL, FULL]), malformed("total"));
    assert_eq!(rows(u64::MAX, both, [FULL, 7, 8, 9]), malformed("row sums"));
    assert_eq!(rows(u64::MAX, TOTAL_SATURATED, [FULL, 7, FULL, FULL]), malformed("row sums"));
}

/// The flags of a halved sketch, and of one that had been saturated.
#[test]
fn halved_rows_sum_up_to_the_total_at_most() {
    const AT_MOST: u8 = 4;
    const LOOSE: u8 = AT_MOST | 8;
    assert!(rows(5, AT_MOST, [2, 3, 0, 1]).is_ok());
    assert_eq!(rows(5, AT_MOST, [2, 4, 5, 0]), malformed("row sums"));
    assert_eq!(rows(5, AT_MOST | CELLS_SATURATED, [2, 3, 5, 0]), malformed("flags"));
    assert!(rows(FULL, AT_MOST | CELLS_SATURATED, [FULL, 0, 5, 0]).is_ok());
    assert!(rows(5, LOOSE, [5, 5, 5, 5]).is_ok());
    assert_eq!(rows(5, LOOSE, [5, 6, 5, 5]), malformed("row sums"));
    assert!(rows(u64::MAX, AT_MOST | TOTAL_SATURATED, [1, 2, 3, 4]).is_ok());
    assert_eq!(rows(9, AT_MOST | TOTAL_SATURATED, [1, 2, 3, 4]), malformed("total"));
}

#[test]
fn parameters_pass_the_gate_of_the_constructors() {
    let decode_body = |body: Body| decode(&bytes(body, &[0; 4]));
    assert!(decode_body((2, 2, 0.1, 4, 0, 0)).is_ok());
    for (width, depth) in [(0, 2), (2, 0), (2, 17), (1 << 62, 2), (u64::MAX, 1), (u64::MAX, u32::MAX)] {
        assert_eq!(decode_body((width, depth, 0.1, 4, 0, 0)), malformed("params"));
    }
    for delta in [f64::NAN, -0.1, -0.0, 0.0, 1.0, f64::INFINITY] {
        assert_eq!(decode_body((2, 2, delta, 4, 0, 0)), malformed("params"));
    }
    let large = if usize::BITS < 64 { 1 << 20 } else { 1 << 40 };
    for (width, depth) in [(2, 1), (1, 2), (2, 3), (large, 4), (CountMinParams::MAX_CELLS, 1)] {
        assert_eq!(decode_body((width, depth, 0.1, 4, 0, 0)), malformed("payload length"));
    }
    for cell_bytes in [0, 3, 5, 16, 255] {
        assert_eq!(decode_body((2, 2, 0.1, cell_bytes, 0, 0)), malformed("cell_bytes"));
    }
    for (depth, cell_bytes) in [(1, 8), (4, 2), (8, 1)] {
        let refused = decode_body((2, depth, 0.1, cell_bytes, 0, 0));
        assert_eq!(refused, Err(Error::Incompatible { field: "cell_bytes" }));
    }
    for flags in [8, 16, 0x80, 0xff] {
        assert_eq!(decode_body((2, 2, 0.1, 4, 0, flags)), malformed("flags"));
    }
    assert_eq!(
        decode(&sealed(UNALIGNED, &(2u64, 2u32, 0.1, 4u8, 0u64, 0u8), &[0; 4])),
        malformed("alignment")
    );
    assert!(decode(&sealed(CACHE_LINE, &(2u64, 2u32), &[0; 4])).is_err());
}

#[test]
fn a_view_answers_at_any_address() {
    let mut sketch = CountMinSketch::new(CountMinParams::with_shape(5, 3).unwrap());
    sketch.extend(0..50u64);
    let bytes = sketch.to_bytes();
    for offset in 0..8 {
        let moved = [&[0xff; 8][..offset], &bytes].concat();
        let view = CountMinSketch::view(&moved[offset..]).unwrap();
        assert!((0..60u64).all(|key| view.bounds(&key) == sketch.bounds(&key)));
    }
}
