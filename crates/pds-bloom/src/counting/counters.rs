//! The counters of a line, four bits for each of its bits, and the cells of a key.
//!
//! The counter of bit i is half of byte i / 2: the low half if i is even, the high half if it is odd.

use crate::blocked::line::{LINE_BYTES, Line};
use crate::blocked::probes::{self, LINE_BITS, ROUND};

/// Bits of a counter.
const COUNTER_BITS: u32 = 4;

/// Lines that hold the counters of one line.
pub(crate) const COUNTER_LINES: usize = COUNTER_BITS as usize;

/// The counters of one line: 256 bytes.
pub(crate) type Counters = [Line; COUNTER_LINES];

/// No key is counted.
pub(crate) const NONE: Counters = [Line::EMPTY; COUNTER_LINES];

/// The greatest count. A counter that got there may have missed some, and is never taken back.
const STICKY: u8 = 15;

/// Calls with each cell of a hash once: rounds that meet in a bit count it once.
#[inline]
pub(crate) fn for_each_cell(hash: u64, k: u32, mut visit: impl FnMut(u32)) {
    if k <= ROUND {
        return probes::for_each(hash, k, visit);
    }
    let mut seen = [0u64; LINE_BITS as usize / 64];
    probes::for_each(hash, k, |cell| {
        let (word, bit) = (&mut seen[(cell / 64) as usize % (LINE_BITS as usize / 64)], 1 << (cell % 64));
        if *word & bit == 0 {
            *word |= bit;
            visit(cell);
        }
    });
}

/// The byte of a cell's counter, and how far it is shifted there.
#[inline]
fn byte(counters: &mut Counters, cell: u32) -> (&mut u8, u32) {
    let at = (cell / 2) as usize;
    (&mut counters[at / LINE_BYTES % COUNTER_LINES].0[at % LINE_BYTES], cell % 2 * COUNTER_BITS)
}

/// Counts one more.
#[inline]
pub(crate) fn add(counters: &mut Counters, cell: u32) {
    let (byte, shift) = byte(counters, cell);
    *byte += u8::from(*byte >> shift & STICKY < STICKY) << shift;
}

/// Counts one less, unless the counter is sticky or 0; true if none is left.
#[inline]
pub(crate) fn take(counters: &mut Counters, cell: u32) -> bool {
    let (byte, shift) = byte(counters, cell);
    let count = *byte >> shift & STICKY;
    *byte -= u8::from((1..STICKY).contains(&count)) << shift;
    count <= 1
}

/// Adds all counters of another line; a sum above the greatest count sticks there.
pub(crate) fn merge(mine: &mut Counters, theirs: &Counters) {
    // Line by line: one chain of all bytes would be added one by one.
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        for (mine, theirs) in mine.0.iter_mut().zip(&theirs.0) {
            let low = ((*mine & STICKY) + (*theirs & STICKY)).min(STICKY);
            let high = ((*mine >> COUNTER_BITS) + (*theirs >> COUNTER_BITS)).min(STICKY);
            *mine = high << COUNTER_BITS | low;
        }
    }
}

/// How many counters of a line of counters have the greatest count.
pub(crate) fn sticky(counters: &[u8; LINE_BYTES]) -> u64 {
    let sticks = |half: u8| u64::from(half & STICKY == STICKY);
    counters.iter().map(|byte| sticks(*byte) + sticks(*byte >> COUNTER_BITS)).sum()
}

/// Whether a line has the bits of its counters that are not 0, and no others.
pub(crate) fn agree(line: &Line, counters: &Counters) -> bool {
    // Four bytes of counters for a byte of bits.
    let counters = counters.iter().flat_map(|line| line.0.as_chunks::<{ COUNTER_LINES }>().0);
    line.0.iter().zip(counters).all(|(bits, counters)| {
        (0..8).all(|i| {
            let count = counters[i / 2] >> (i as u32 % 2 * COUNTER_BITS) & STICKY;
            (count > 0) == (bits >> i & 1 == 1)
        })
    })
}
