//! What the coder promises, on any symbols and any bytes.

use alloc::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::frequencies::{Frequencies, RANGE};
use super::{Decoder, MAX_ALPHABET, encode};
use crate::Error;

fn coded(symbols: &[u8], alphabet: usize) -> Vec<u8> {
    let mut out = Vec::new();
    encode(symbols, alphabet, &mut out);
    out
}

fn decoded(bytes: &[u8], count: usize, alphabet: usize) -> Result<Vec<u8>, Error> {
    let decoder = Decoder::open(bytes, count, alphabet)?;
    assert_eq!(decoder.histogram().len(), alphabet);
    assert_eq!(decoder.histogram().iter().map(|&count| count as usize).sum::<usize>(), count);
    let mut symbols = alloc::vec![0; count];
    decoder.decode_into(&mut symbols)?;
    assert!(symbols.iter().all(|&symbol| usize::from(symbol) < alphabet));
    Ok(symbols)
}

/// Asserts that bytes are refused, or are those of the symbols that they decode to.
fn refused_or_canonical(bytes: &[u8], count: usize, alphabet: usize) {
    if let Ok(symbols) = decoded(bytes, count, alphabet) {
        assert!(coded(&symbols, alphabet) == bytes, "two forms of {symbols:?}");
    }
}

/// Shannon's bound, in bytes, for the symbols' own distribution.
fn entropy_bytes(symbols: &[u8]) -> f64 {
    let total = symbols.len() as f64;
    let counts = super::counts::count(symbols);
    let used = counts.iter().filter(|count| **count > 0).map(|&count| f64::from(count));
    used.map(|count| count * libm::log2(total / count)).sum::<f64>() / 8.0
}

/// Alphabets, and symbols of them: alike, skewed, few, or any.
fn lists(greatest: usize) -> impl Strategy<Value = (usize, Vec<u8>)> {
    let alphabets = prop_oneof![Just(48), Just(MAX_ALPHABET), 1..=MAX_ALPHABET];
    (alphabets, 0..=255u8, 0..=255u8, 1..=greatest).prop_flat_map(|(alphabet, a, b, count)| {
        let below = move |symbol: u8| (usize::from(symbol) % alphabet) as u8;
        let skewed = any::<u64>().prop_map(move |word| below(a).min(word.trailing_zeros() as u8));
        let few = prop_oneof![9 => Just(below(a)), 1 => Just(below(b))];
        let any = any::<u8>().prop_map(below);
        let symbols = prop_oneof![vec(skewed, count), vec(few, count), vec(any, count)];
        (Just(alphabet), symbols)
    })
}

proptest! {
    #[test]
    fn symbols_come_back((alphabet, symbols) in lists(5000)) {
        let bytes = coded(&symbols, alphabet);
        prop_assert_eq!(decoded(&bytes, symbols.len(), alphabet), Ok(symbols));
    }

    #[test]
    fn bytes_that_are_cut_or_longer_are_refused((alphabet, symbols) in lists(300), more: u8) {
        let mut bytes = coded(&symbols, alphabet);
        for len in 0..bytes.len() {
            prop_assert!(decoded(&bytes[..len], symbols.len(), alphabet).is_err());
        }
        bytes.push(more);
        prop_assert!(decoded(&bytes, symbols.len(), alphabet).is_err());
    }

    #[test]
    fn changed_bytes_are_refused_or_those_of_other_symbols((alphabet, symbols) in lists(64), mask in 1..=255u8) {
        let bytes = coded(&symbols, alphabet);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= mask;
            refused_or_canonical(&changed, symbols.len(), alphabet);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..300), count in 1..500usize, alphabet in 1..=MAX_ALPHABET) {
        refused_or_canonical(&bytes, count, alphabet);
    }

    /// A stream of any words behind counts that are right.
    #[test]
    fn any_stream_is_survived((alphabet, symbols) in lists(40), stream in vec(any::<u8>(), 0..64)) {
        let mut bytes = Vec::new();
        super::counts::write(&super::counts::count(&symbols)[..alphabet], &mut bytes);
        bytes.extend(stream);
        refused_or_canonical(&bytes, symbols.len(), alphabet);
    }

    #[test]
    fn shares_fill_the_range_and_leave_nobody_out(counts in vec(prop_oneof![0..4u32, 0..1000u32, 0..=1u32 << 18], 1..=MAX_ALPHABET)) {
        prop_assume!(counts.iter().any(|&count| count > 0));
        let frequencies = Frequencies::by_counts(&counts);
        let shares = frequencies.shares();
        prop_assert_eq!(shares.iter().map(|&share| u32::from(share)).sum::<u32>(), RANGE);
        for (symbol, &share) in shares.iter().enumerate() {
            prop_assert_eq!(share > 0, counts.get(symbol).is_some_and(|&count| count > 0));
        }
    }
}

/// As many rare symbols as common ones, where rounding takes most from the greatest.
#[test]
fn shares_fill_the_range_at_the_worst_mixture() {
    for rare in 0..MAX_ALPHABET {
        let counts: Vec<u32> =
            (0..MAX_ALPHABET).map(|symbol| if symbol < rare { 1 } else { 1 << 20 }).collect();
        let frequencies = Frequencies::by_counts(&counts);
        assert_eq!(frequencies.shares().iter().map(|&share| u32::from(share)).sum::<u32>(), RANGE);
        assert!(frequencies.shares().iter().all(|&share| share > 0));
    }
}

#[test]
fn symbols_that_are_all_one_take_two_bytes() {
    for count in [1, 16, 4096, 1 << 18] {
        for symbol in [0, 7, 191] {
            let symbols = alloc::vec![symbol; count];
            let bytes = coded(&symbols, MAX_ALPHABET);
            assert_eq!(bytes, [symbol, symbol]);
            assert_eq!(decoded(&bytes, count, MAX_ALPHABET), Ok(symbols));
        }
    }
}

/// Beyond the range a single other symbol must keep its place.
#[test]
fn the_rarest_symbol_comes_back_wherever_it_stands() {
    for count in [16, 4096, 1 << 18] {
        for at in [0, count / 2, count - 9, count - 1] {
            let mut symbols = alloc::vec![5; count];
            symbols[at] = 190;
            assert_eq!(decoded(&coded(&symbols, MAX_ALPHABET), count, MAX_ALPHABET), Ok(symbols));
        }
    }
}

/// Beside the entropy: what the states hold at the end, and the counts.
#[test]
fn the_length_is_the_entropy_and_little_more() {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    for (log2, granted) in [(4, 24.0), (8, 32.0), (12, 40.0), (14, 48.0), (18, 120.0)] {
        let symbols: Vec<u8> = (0..1 << log2)
            .map(|_| (0..8).map(|_| random().leading_zeros()).max().unwrap_or(0).min(47) as u8)
            .collect();
        let bytes = coded(&symbols, 48);
        let bound = entropy_bytes(&symbols);
        assert!((bytes.len() as f64) < bound + granted, "2^{log2}: {} bytes for {bound}", bytes.len());
        assert_eq!(decoded(&bytes, symbols.len(), 48), Ok(symbols));
    }
}
