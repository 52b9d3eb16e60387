//! The counts of the symbols, which the coded form begins with.
//!
//! ```text
//! least symbol u8 | greatest symbol u8 | their counts and those between, but for the last: Golomb bits
//! ```
//!
//! Neighbours have counts of like size: each is written in the order that its neighbour below suggests. The last count
//! is what is missing to the number of symbols, which both sides know.

use alloc::vec::Vec;

use super::{MALFORMED, MAX_ALPHABET};
use crate::Error;
use crate::bits::{Reader, Writer};

/// How often each symbol occurs; symbols beyond the greatest alphabet are left out.
pub(crate) fn count(symbols: &[u8]) -> [u32; MAX_ALPHABET] {
    // A table for each place in a group: runs of one symbol do not wait for one counter.
    let mut tables = [[0u32; 256]; 4];
    let (groups, rest) = symbols.as_chunks::<4>();
    for group in groups {
        for (table, &symbol) in tables.iter_mut().zip(group) {
            table[usize::from(symbol)] += 1;
        }
    }
    for &symbol in rest {
        tables[0][usize::from(symbol)] += 1;
    }
    core::array::from_fn(|symbol| tables.iter().map(|table| table[symbol]).sum())
}

/// Appends counts, not all of them zero.
pub(super) fn write(counts: &[u32], out: &mut Vec<u8>) {
    let used = |&count: &u32| count > 0;
    let first = counts.iter().position(used).unwrap_or(0);
    let last = counts.iter().rposition(used).unwrap_or(0);
    out.extend_from_slice(&[first as u8, last as u8]);
    let mut bits = Writer::new(out);
    for symbol in first..last {
        // The first is not zero.
        let surplus = counts[symbol] - u32::from(symbol == first);
        bits.put_golomb(surplus, order(counts, first, symbol));
    }
    bits.finish();
}

/// Reads counts that sum to `total`, into zeros; gives the bytes behind them.
pub(super) fn read<'a>(bytes: &'a [u8], total: usize, counts: &mut [u32]) -> Result<&'a [u8], Error> {
    let (&[first, last], rest) = bytes.split_first_chunk().ok_or(MALFORMED)?;
    let (first, last) = (usize::from(first), usize::from(last));
    if first > last || last >= counts.len() {
        return Err(MALFORMED);
    }
    let mut bits = Reader::new(rest);
    let mut left = u32::try_from(total).map_err(|_| MALFORMED)?;
    for symbol in first..last {
        let count =
            bits.take_golomb(order(counts, first, symbol)).ok_or(MALFORMED)? + u32::from(symbol == first);
        left = left.checked_sub(count).ok_or(MALFORMED)?;
        counts[symbol] = count;
    }
    // A last symbol that does not occur would not have been the last.
    if left == 0 {
        return Err(MALFORMED);
    }
    counts[last] = left;
    bits.finish().ok_or(MALFORMED)
}

/// The order in which the count of a symbol is written: log2 of its neighbour's, as tails halve from one to the next.
fn order(counts: &[u32], first: usize, symbol: usize) -> u32 {
    /// Alphabets above this one hold ranks with two flags: there the neighbour is the one with the same flags.
    const RANKS: usize = 64;
    let stride = if counts.len() > RANKS { 4 } else { 1 };
    let below = symbol.saturating_sub(stride).max(first);
    if below == symbol { 0 } else { counts[below].checked_ilog2().unwrap_or(0) }
}
