//! The order of a batch: later memory is asked for before earlier memory is looked at.

/// How many turns lie between asking for a line and looking at it: the time of a read from memory, and then some.
pub(crate) const AHEAD: usize = 64;

/// Calls `fetch` with each number below `count`, and `visit` with it [`AHEAD`] turns later.
///
/// Always inlined, into functions that were compiled for more than the least processor too.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn rolling(count: usize, mut fetch: impl FnMut(usize), mut visit: impl FnMut(usize)) {
    for turn in 0..count.min(AHEAD) {
        fetch(turn);
    }
    for turn in 0..count {
        if turn + AHEAD < count {
            fetch(turn + AHEAD);
        }
        visit(turn);
    }
}
