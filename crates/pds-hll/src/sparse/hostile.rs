//! Tokens that somebody has chosen to meet in the table, and a counter of the slots that are looked at.

use alloc::vec::Vec;
use core::cell::Cell;

use super::set::search;
use super::token::Token;

std::thread_local! {
    static PROBES: Cell<usize> = const { Cell::new(0) };
}

pub(crate) fn count_probe() {
    PROBES.set(PROBES.get() + 1);
}

/// What it gives, and how many slots it has looked at.
pub(crate) fn probes_of<T>(act: impl FnOnce() -> T) -> (T, usize) {
    let before = PROBES.get();
    let given = act();
    (given, PROBES.get() - before)
}

/// As many as fill a table of so many slots: half of them start at slots in a row and take steps of any width; the others
/// start in this row and take steps of one, so that they have to go to its end and on to that of their own.
pub(crate) fn tokens(slots: usize) -> Vec<Token> {
    let limit = slots / 4 * 3;
    let run = limit / 2 + 1;
    let mask = slots - 1;
    let mut row = alloc::vec![None; run];
    let mut through = Vec::new();
    for token in (0..1 << 25).filter_map(Token::from_bits) {
        let (start, step) = search(token);
        let start = start & mask;
        if start >= run {
            continue;
        }
        if step & mask == 1 {
            through.push(token);
        } else if row[start].is_none() {
            row[start] = Some(token);
        }
        if through.len() >= limit - run && row.iter().all(Option::is_some) {
            break;
        }
    }
    let mut tokens: Vec<Token> = row.into_iter().flatten().collect();
    assert_eq!(tokens.len(), run, "a token for every slot");
    tokens.extend(through);
    tokens.truncate(limit);
    assert_eq!(tokens.len(), limit, "enough tokens");
    tokens
}
