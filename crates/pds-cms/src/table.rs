//! Where a hash falls in a table, and the query, written once over owned cells and borrowed bytes.

use pds_hash::{MAX_ROWS, column};

use crate::{Cell, CountMinParams};

/// The cell of a hash in each row; rows lie one after another.
#[inline]
pub(crate) fn positions(params: CountMinParams, hash: u64) -> impl Iterator<Item = usize> {
    let width = params.width();
    // A shape has no more rows than there are multipliers: said here, the compiler need not check it per row.
    let depth = (params.depth() as usize).min(MAX_ROWS);
    (0..depth).map(move |row| row * width as usize + column(hash, row, width) as usize)
}

/// The least of the cells of a hash.
#[inline]
pub(crate) fn least<C: Cell>(params: CountMinParams, hash: u64, cell: impl Fn(usize) -> C) -> C {
    positions(params, hash).fold(C::MAX, |least, position| least.min(cell(position)))
}

/// Adds one to the cells of each hash, row by row: the counts must be known to fit.
///
/// The hashes then meet one multiplier and one row at a time, and their cells are fetched side by side.
pub(crate) fn insert_by_rows<C: Cell>(params: CountMinParams, cells: &mut [C], hashes: &[u64]) {
    let width = params.width();
    for (row, cells) in cells.chunks_exact_mut(width as usize).enumerate() {
        for &hash in hashes {
            cells[column(hash, row, width) as usize].add_within(1);
        }
    }
}
