//! The set: an open-addressed table with a bound on probing.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::token::{EMPTY, Token};

/// Slots of the smallest table.
const LEAST: usize = 4;

/// Slots that are looked at for a token. Of tokens that nobody chose one in 10^8 finds all of them taken, in a full table;
/// tables of so many slots or fewer always have a free one among them.
pub(crate) const MAX_PROBES: usize = 64;

/// Of a token in a tree: half of the places in its nodes may be free.
pub(crate) const SPILLED_BYTES: usize = 12;

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
/// Finding a token takes a few steps, of a width of the token's own. But the function that says which is public, and whoever
/// chooses hashes, or writes bytes, can fill slots with some tokens and add others whose searches run through all these, one
/// after another, whatever the way from slot to slot. So a search ends after [`MAX_PROBES`] slots, and a token that finds them
/// taken is kept in a tree: no insertion takes more than that and the logarithm of the number of tokens.
///
/// A slot is never given up: a token is in the table or in the tree, not in both.
#[derive(Clone, Debug)]
pub(crate) struct TokenSet {
    slots: Box<[u32]>,
    len: usize,
    /// What found no slot.
    spilled: BTreeSet<Token>,
}

impl TokenSet {
    pub(crate) fn new() -> Self {
        Self { slots: Box::default(), len: 0, spilled: BTreeSet::new() }
    }

    /// An empty set with room for so many tokens.
    pub(crate) fn with_capacity(count: usize) -> Self {
        let slots = if count == 0 { Box::default() } else { vec![EMPTY; capacity(count)].into_boxed_slice() };
        Self { slots, len: 0, spilled: BTreeSet::new() }
    }

    /// Adds a token, unless the set already has `limit` others.
    #[inline]
    pub(crate) fn insert(&mut self, token: Token, limit: usize) -> Added {
        let vacant = match self.find(token) {
            Found::Here => return Added::Known,
            Found::Vacant(slot) => slot,
            Found::NoTable => self.slots.len(),
            Found::Crowded => return self.insert_crowded(token, limit),
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
        match self.find(token) {
            Found::Here => true,
            Found::Crowded => self.spilled.contains(&token),
            Found::Vacant(_) | Found::NoTable => false,
        }
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The tokens, in no order that would mean anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Token> + '_ {
        self.slots.iter().filter_map(|&bits| Token::from_bits(bits)).chain(self.spilled.iter().copied())
    }

    /// The tokens in order.
    pub(crate) fn sorted(&self) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(self.len);
        tokens.extend(self.iter());
        tokens.sort_unstable();
        tokens
    }

    /// Bytes of the table, and about as many as its tree takes, if it has one.
    pub(crate) fn size_bytes(&self) -> usize {
        size_of_val(&*self.slots) + self.spilled.len() * SPILLED_BYTES
    }

    #[inline]
    fn find(&self, token: Token) -> Found {
        let mask = self.slots.len().wrapping_sub(1);
        let (mut slot, step) = search(token);
        for _ in 0..MAX_PROBES {
            slot &= mask;
            let Some(&bits) = self.slots.get(slot) else { return Found::NoTable };
            #[cfg(test)]
            super::hostile::count_probe();
            if bits == token.bits() {
                return Found::Here;
            }
            if bits == EMPTY {
                return Found::Vacant(slot);
            }
            slot = slot.wrapping_add(step);
        }
        Found::Crowded
    }

    /// As [`TokenSet::insert`], for a token that is in none of its slots, all of which are taken.
    #[cold]
    #[inline(never)]
    fn insert_crowded(&mut self, token: Token, limit: usize) -> Added {
        if self.spilled.contains(&token) {
            return Added::Known;
        }
        if self.len >= limit {
            return Added::Full;
        }
        self.len += 1;
        if self.len <= max_len(self.slots.len()) {
            self.spilled.insert(token);
        } else {
            self.grow_and_put(token);
        }
        Added::New
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
        match self.find(token) {
            Found::Vacant(slot) => self.slots[slot] = token.bits(),
            Found::Crowded => _ = self.spilled.insert(token),
            Found::Here | Found::NoTable => {}
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
    /// Other tokens are in all slots that were looked at.
    Crowded,
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
/// product that every bit of the token reaches, so that weak hashes spread as well. The step is odd: of a table of
/// [`MAX_PROBES`] slots or fewer it passes all.
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

#[cfg(test)]
mod hostile_tests {
    use super::super::hostile::{probes_of, tokens};
    use super::*;

    /// Slots of the table when it is full of the limit's tokens.
    const SLOTS: usize = 1 << 12;

    fn hostile_set() -> (Vec<Token>, TokenSet) {
        let tokens = tokens(SLOTS);
        let mut set = TokenSet::with_capacity(tokens.len());
        for &token in &tokens {
            let (added, probes) = probes_of(|| set.insert(token, usize::MAX));
            assert!(added == Added::New && probes <= MAX_PROBES);
        }
        (tokens, set)
    }

    #[test]
    fn tokens_chosen_to_meet_take_no_more_than_the_bound_and_are_kept() {
        let (tokens, mut set) = hostile_set();
        assert_eq!(set.slots.len(), SLOTS);
        assert!(set.spilled.len() > SLOTS / 4, "the recipe does what it is for: {}", set.spilled.len());
        for &token in &tokens {
            assert!(set.contains(token));
            let (added, probes) = probes_of(|| set.insert(token, tokens.len()));
            assert!(added == Added::Known && probes <= MAX_PROBES);
        }
        let model: BTreeSet<Token> = tokens.iter().copied().collect();
        assert_eq!((set.len(), model.len()), (tokens.len(), tokens.len()));
        assert!(set.sorted().iter().eq(&model));
        // Others than these are not there.
        assert!(
            (0..20_000).map(|i| Token::of(i << 7)).all(|token| set.contains(token) == model.contains(&token))
        );
    }

    #[test]
    fn a_set_is_the_same_grown_built_in_bulk_and_united() {
        let (tokens, set) = hostile_set();
        let mut grown = TokenSet::new();
        let ((), probes) = probes_of(|| {
            for &token in tokens.iter().rev() {
                assert_eq!(grown.insert(token, tokens.len()), Added::New);
            }
        });
        // Each is moved once on average while the table grows.
        assert!(probes <= 3 * MAX_PROBES * tokens.len(), "{probes}");
        assert!(grown == set);
        assert_eq!(grown.insert(Token::of(3), tokens.len()), Added::Full);
        let mut united = TokenSet::new();
        let (left, right) = tokens.split_at(tokens.len() / 3);
        for part in [left, right, &tokens[5..100]] {
            let mut other = TokenSet::new();
            for &token in part {
                other.insert(token, usize::MAX);
            }
            assert!(united.union_with(&other, tokens.len()));
        }
        assert!(united == set);
        // One that is full, and one token that is not in it, chosen as the others were.
        let mut smaller = TokenSet::with_capacity(tokens.len());
        for &token in &tokens[1..] {
            smaller.insert(token, usize::MAX);
        }
        assert!(!smaller.union_with(&set, tokens.len() - 1));
        assert!(smaller != set && set.len() == smaller.len() + 1);
    }

    #[test]
    fn growth_takes_what_was_spilled_along() {
        let (tokens, mut set) = hostile_set();
        let more = Token::of(u64::MAX / 3);
        assert!(!set.contains(more));
        assert_eq!(set.insert(more, usize::MAX), Added::New);
        assert_eq!(set.slots.len(), 2 * SLOTS);
        assert!(tokens.iter().all(|&token| set.contains(token)) && set.contains(more));
        assert_eq!(set.iter().count(), tokens.len() + 1);
    }
}
