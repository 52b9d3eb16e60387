//! Where a hash falls in a table, and the query, written once over owned cells and borrowed bytes.

use pds_hash::{MAX_ROWS, column};

use crate::{Cell, CountMinParams};

/// The cell of a hash in each row of so many columns; rows lie one after another.
#[inline]
pub(crate) fn positions_in(width: u64, depth: u32, hash: u64) -> impl Iterator<Item = usize> {
    // A shape has no more rows than there are multipliers: said here, the compiler need not check it per row.
    let depth = (depth as usize).min(MAX_ROWS);
    (0..depth).map(move |row| row * width as usize + column(hash, row, width) as usize)
}

/// The cell of a hash in each row.
#[inline]
pub(crate) fn positions(params: CountMinParams, hash: u64) -> impl Iterator<Item = usize> {
    positions_in(params.width(), params.depth(), hash)
}

/// The least of the cells of a hash.
#[inline]
pub(crate) fn least<C: Cell>(params: CountMinParams, hash: u64, cell: impl Fn(usize) -> C) -> C {
    positions(params, hash).fold(C::MAX, |least, position| least.min(cell(position)))
}
