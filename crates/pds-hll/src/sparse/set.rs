//! The set: an open-addressed table.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::token::{EMPTY, Token};

/// Slots of the smallest table.
const LEAST: usize = 4;

/// What became of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It was there.
    Known,
    /// It is now.
    New,
    /// It is not there, and there is no room for it within the limit: nothing changed.
    Full,
}

/// Distinct tokens. The table's size depends on their number alone, and there is none for none.
///
/// Finding a token takes a few steps, of a width of the token's own: to make the searches of many tokens meet time and again,
/// whoever chooses the hashes has to make both start and width agree, and that few tokens do. The steps are never more than
/// there are tokens, and the owner's limit bounds their number.
#[derive(Clone, Debug)]
pub(crate) struct TokenSet {
    slots: Box<[u32]>,
    len: usize,
}

impl TokenSet {
    pub(crate) fn new() -> Self {
        Self { slots: Box::default(), len: 0 }
    }

    /// An empty set with room for so many tokens.
    pub(crate) fn with_capacity(count: usize) -> Self {
        let slots = if count == 0 { Box::default() } else { vec![EMPTY; capacity(count)].into_boxed_slice() };
        Self { slots, len: 0 }
    }

    /// Adds a token, unless the set already has `limit` others.
    #[inline]
    pub(crate) fn insert(&mut self, token: Token, limit: usize) -> Added {
        let vacant = match self.find(token) {
            Found::Here => return Added::Known,
            Found::Vacant(slot) => slot,
            Found::NoTable => self.slots.len(),
        };
        if self.len >= limit {
            return Added::Full;
        }
        self.len += 1;
        if self.len <= max_len(self.slots.len()) {
            self.slots[vacant] = token.bits();
        } else {
            self.grow_and_put(token);
        }
        Added::New
    }

    /// Adds the tokens of another set. False if that makes more than `limit`: then some are missing.
    pub(crate) fn union_with(&mut self, other: &Self, limit: usize) -> bool {
        // The union has no fewer.
        self.reserve(other.len.min(limit));
        other.iter().all(|token| self.insert(token, limit) != Added::Full)
    }

    /// Whether the token is there.
    pub(crate) fn contains(&self, token: Token) -> bool {
        matches!(self.find(token), Found::Here)
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The tokens, in no order that would mean anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Token> + '_ {
        self.slots.iter().filter_map(|&bits| Token::from_bits(bits))
    }

    /// The tokens in order.
    pub(crate) fn sorted(&self) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(self.len);
        tokens.extend(self.iter());
        tokens.sort_unstable();
        tokens
    }

    /// Bytes of the table.
    pub(crate) fn size_bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    #[inline]
    fn find(&self, token: Token) -> Found {
        let mask = self.slots.len().wrapping_sub(1);
        let (mut slot, step) = search(token);
        slot &= mask;
        // Ends: a quarter of the slots is empty, and an odd step passes all of them.
        while let Some(&bits) = self.slots.get(slot) {
            if bits == token.bits() {
                return Found::Here;
            }
            if bits == EMPTY {
                return Found::Vacant(slot);
            }
            slot = slot.wrapping_add(step) & mask;
        }
        Found::NoTable
    }

    /// Room for so many tokens.
    fn reserve(&mut self, count: usize) {
        if count > max_len(self.slots.len()) {
            let mut larger = Self::with_capacity(count);
            self.iter().for_each(|token| larger.put(token));
            larger.len = self.len;
            *self = larger;
        }
    }

    /// For a token that is new and counted already.
    #[cold]
    #[inline(never)]
    fn grow_and_put(&mut self, token: Token) {
        self.reserve(self.len);
        self.put(token);
    }

    /// Writes a token that is not there; there is room.
    fn put(&mut self, token: Token) {
        if let Found::Vacant(slot) = self.find(token) {
            self.slots[slot] = token.bits();
        }
    }
}

/// Equal sets, whatever the order of insertion.
impl PartialEq for TokenSet {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().all(|token| other.contains(token))
    }
}

enum Found {
    Here,
    Vacant(usize),
    NoTable,
}

/// Slots of the table of so many tokens, 1 or more: three in four are used at most.
pub(crate) const fn capacity(count: usize) -> usize {
    let slots = (count * 4).div_ceil(3).next_power_of_two();
    if slots < LEAST { LEAST } else { slots }
}

/// Most tokens in so many slots.
const fn max_len(slots: usize) -> usize {
    slots / 4 * 3
}

/// Where the search for a token starts and how wide its steps are, before reduction to the table: different bits of a
/// product that every bit of the token reaches, so that weak hashes spread as well. The step is odd.
#[inline]
pub(crate) fn search(token: Token) -> (usize, usize) {
    /// 2^64 over the golden ratio.
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let product = u64::from(token.bits()).wrapping_mul(ODD);
    // The table of the greatest precision has 2^16 slots.
    ((product >> 32) as usize, (product >> 48) as usize | 1)
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn of(hashes: &[u64]) -> TokenSet {
        let mut set = TokenSet::new();
        for &hash in hashes {
            set.insert(Token::of(hash), usize::MAX);
        }
        set
    }

    /// Many alike, many different.
    fn hashes() -> impl Strategy<Value = Vec<u64>> {
        prop_oneof![
            vec(any::<u64>(), 0..600),
            vec(0..300u64, 0..600),
            vec((0..40u32).prop_map(|z| u64::MAX >> z), 0..60)
        ]
    }

    proptest! {
        #[test]
        fn the_set_is_the_standard_librarys(hashes in hashes(), limit in 0..700usize) {
            let mut model = BTreeSet::new();
            let mut set = TokenSet::new();
            for &hash in &hashes {
                let token = Token::of(hash);
                let expected = match (model.contains(&token), model.len() < limit) {
                    (true, _) => Added::Known,
                    (false, true) => Added::New,
                    (false, false) => Added::Full,
                };
                if expected == Added::New {
                    model.insert(token);
                }
                prop_assert_eq!(set.insert(token, limit), expected);
                prop_assert_eq!(set.len(), model.len());
            }
            prop_assert!(set.sorted().iter().eq(model.iter()));
            prop_assert!(model.iter().all(|&token| set.contains(token)));
            let slots = if model.is_empty() { 0 } else { capacity(model.len()) };
            prop_assert_eq!(set.size_bytes(), 4 * slots);
        }

        #[test]
        fn a_union_has_both_or_says_so(a in hashes(), b in hashes(), limit in 0..1000usize) {
            let whole = of(&[&a[..], &b].concat());
            let mut union = of(&a);
            let fits = union.union_with(&of(&b), limit.max(union.len()));
            prop_assert_eq!(fits, whole.len() <= limit.max(of(&a).len()));
            if fits {
                prop_assert!(union == whole);
                prop_assert_eq!(union.size_bytes(), whole.size_bytes());
            }
        }
    }
}
