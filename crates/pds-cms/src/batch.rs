//! Many hashes at a time, with the memory of later ones fetched ahead.

use pds_hash::column;

use crate::arch::prefetch;
use crate::table::positions_in;

/// Tables below this size live in the first two caches, where a prefetch only costs.
const PREFETCH_BYTES: usize = 1 << 19;

/// How many hashes lie between asking for the cells of one and looking at them.
const AHEAD: usize = 32;

/// Where a table lies and what shape it has: enough to ask for its memory, whoever holds it meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Place<T> {
    base: *const T,
    large: bool,
    width: u64,
    depth: u32,
}

impl<T> Place<T> {
    pub(crate) fn of(cells: &[T], width: u64, depth: u32) -> Self {
        Self { base: cells.as_ptr(), large: size_of_val(cells) >= PREFETCH_BYTES, width, depth }
    }

    #[inline]
    fn fetch(&self, hash: u64) {
        positions_in(self.width, self.depth, hash).for_each(|position| prefetch(self.base, position));
    }

    /// Calls `visit` with each number below `hashes` and its hash, the cells of later hashes being on their way.
    #[inline]
    pub(crate) fn visit(self, hashes: &[u64], mut visit: impl FnMut(usize, u64)) {
        if !self.large {
            return hashes.iter().enumerate().for_each(|(i, &hash)| visit(i, hash));
        }
        hashes.iter().take(AHEAD).for_each(|&hash| self.fetch(hash));
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + AHEAD) {
                self.fetch(later);
            }
            visit(i, hash);
        }
    }
}

/// Calls `count` with the cell of each hash in each row, row by row: for updates that look at no other row.
///
/// The hashes then meet one multiplier and one row at a time, and their cells are fetched side by side.
#[inline]
pub(crate) fn by_rows<T>(
    cells: &mut [T],
    width: u64,
    hashes: &[u64],
    mut count: impl FnMut(usize, &mut T, usize),
) {
    let ahead = size_of_val(cells) >= PREFETCH_BYTES;
    for (row, cells) in cells.chunks_exact_mut(width as usize).enumerate() {
        for (i, &hash) in hashes.iter().enumerate() {
            if ahead && let Some(&later) = hashes.get(i + AHEAD) {
                prefetch(cells.as_ptr(), column(later, row, width) as usize);
            }
            count(row, &mut cells[column(hash, row, width) as usize], i);
        }
    }
}
