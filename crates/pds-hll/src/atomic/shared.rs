//! Registers and tokens side by side.
//!
//! Which form a sketch has is a function of its set of keys, and threads that fill one together do not know the set: so
//! every insertion raises the register, and adds the token too while there may be few enough. Whoever reads then takes what
//! the owned sketch of these keys has.
//!
//! Why that is what it has:
//!
//! * The table of tokens is closed once its count is above the limit: so many different tokens were added, each by one
//!   thread. Insertions that find it closed leave it alone. The table has more slots than the limit, and an insertion that
//!   has passed them all and found none free has seen more tokens than the limit.
//! * An insertion looks at a bounded number of slots, as the owned set does, and then goes to a tree behind a lock, which
//!   needs `std`; without it, it passes all slots. Slots are written once: who has found all of a token's slots taken by
//!   others knows for ever that it is in none, so that a token is in a slot or in the tree, and each is counted once. A
//!   reader takes the slots and the tree. The tree's lock orders what the count orders.
//! * A reader that finds it closed sees, by the count's acquire and release, all those tokens, or the registers that were
//!   merged in before it was closed. It takes the registers, raised to the tokens that it sees: the registers of a set of
//!   keys with more tokens than the limit.
//! * A reader that finds it open sees the token of every insertion that happened before, for such an insertion did not find
//!   it closed. If it sees more than the limit all the same, it does as if it were closed.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicU32};

use super::cells::{Count, Register, Slot};
#[cfg(feature = "std")]
use super::spilled::Spilled;
use crate::HllParams;
use crate::hll::state::{State, raise_to};
use crate::registers::{Registers, value};
use crate::sparse::{EMPTY, Token, TokenSet, capacity, search};
#[cfg(feature = "std")]
use crate::sparse::{MAX_PROBES, SPILLED_BYTES};
use crate::state::{Mode, RegisterArray};

/// Slots that are looked at for a token.
#[cfg(feature = "std")]
const PROBES: usize = MAX_PROBES;
/// Without a place for others all of them.
#[cfg(not(feature = "std"))]
const PROBES: usize = usize::MAX;

pub(super) struct Shared<R = AtomicU8, S = AtomicU32, C = AtomicU32> {
    params: HllParams,
    registers: Box<[R]>,
    tokens: Tokens<S, C>,
}

/// What became of a token.
#[derive(PartialEq, Eq)]
enum Added {
    Known,
    New,
    /// There were too many to go on.
    Closed,
}

impl<R: Register, S: Slot, C: Count> Shared<R, S, C> {
    pub(super) fn empty(params: HllParams) -> Self {
        Self::with_probes(params, PROBES)
    }

    /// Looks at so many slots for a token, or at all of them.
    pub(super) fn with_probes(params: HllParams, probes: usize) -> Self {
        let registers = (0..params.registers()).map(|_| R::new(0)).collect();
        Self { params, registers, tokens: Tokens::with_probes(params.sparse_limit(), probes) }
    }

    pub(super) fn params(&self) -> HllParams {
        self.params
    }

    pub(super) fn size_bytes(&self) -> usize {
        size_of_val(&*self.registers) + self.tokens.size_bytes()
    }

    /// Takes in a hash; true if this call changed anything.
    #[inline]
    pub(super) fn insert(&self, hash: u64) -> bool {
        let index = hash as usize & (self.registers.len() - 1);
        let raised = self.registers[index].raise(value(hash));
        if self.tokens.is_closed() { raised } else { self.add(hash, raised) }
    }

    /// Out of line, that [`Shared::insert`] stays small enough to be inlined.
    #[inline(never)]
    fn add(&self, hash: u64, raised: bool) -> bool {
        match self.tokens.add(Token::of(hash)) {
            Added::Known => false,
            Added::New => true,
            Added::Closed => raised,
        }
    }

    /// Takes in a state of this precision or a higher one.
    pub(super) fn union_with(&self, other: &State) {
        match other.mode() {
            Mode::Sparse(tokens) => tokens.iter().for_each(|token| {
                self.insert(token.hash());
            }),
            Mode::Dense(theirs) => {
                for part in theirs.values().chunks_exact(self.registers.len()) {
                    for (mine, &theirs) in self.registers.iter().zip(part) {
                        mine.raise(theirs);
                    }
                }
                self.tokens.close();
            }
        }
    }

    /// What the owned sketch of the same keys has: of all whose insertion happened before, and of some of those under way.
    pub(super) fn state(&self) -> State {
        let closed = self.tokens.is_closed_for_reading();
        let tokens = self.tokens.read();
        if closed || tokens.len() > self.tokens.limit {
            let mut values: Vec<u8> = self.registers.iter().map(R::load).collect();
            raise_to(&mut values, self.params, tokens.into_iter());
            return State::dense(self.params, Registers::from_values(values.into_boxed_slice()));
        }
        let mut set = TokenSet::with_capacity(tokens.len());
        for token in tokens {
            set.insert(token, self.tokens.limit);
        }
        State::sparse(self.params, set)
    }
}

/// A table of different tokens, each added by one thread.
struct Tokens<S, C> {
    slots: Box<[S]>,
    /// Slots that are looked at for a token: if all, an odd step passes them.
    probes: usize,
    count: C,
    limit: usize,
    /// Those that found none of their slots free.
    #[cfg(feature = "std")]
    spilled: Spilled,
}

impl<S: Slot, C: Count> Tokens<S, C> {
    /// Looks at so many slots, or at all, for each.
    fn with_probes(limit: usize, probes: usize) -> Self {
        let slots = capacity(limit);
        Self {
            slots: (0..slots).map(|_| S::new(EMPTY)).collect(),
            probes: probes.min(slots),
            count: C::new(0),
            limit,
            #[cfg(feature = "std")]
            spilled: Spilled::new(),
        }
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.count.peek() as usize > self.limit
    }

    fn is_closed_for_reading(&self) -> bool {
        self.count.load() as usize > self.limit
    }

    fn close(&self) {
        self.count.raise(self.limit as u32 + 1);
    }

    fn add(&self, token: Token) -> Added {
        let mask = self.slots.len() - 1;
        let (mut place, step) = search(token);
        for _ in 0..self.probes {
            let slot = &self.slots[place & mask];
            place = place.wrapping_add(step);
            #[cfg(test)]
            crate::sparse::hostile::count_probe();
            let found = match slot.load() {
                EMPTY => slot.replace(EMPTY, token.bits()),
                bits => Err(bits),
            };
            match found {
                Ok(()) => {
                    self.count.increment();
                    return Added::New;
                }
                Err(bits) if bits == token.bits() => return Added::Known,
                Err(_) => {}
            }
        }
        #[cfg(feature = "std")]
        if self.probes < self.slots.len() {
            return self.spill(token);
        }
        Added::Closed
    }

    /// For a token all of whose slots are taken by others.
    #[cfg(feature = "std")]
    fn spill(&self, token: Token) -> Added {
        if self.spilled.insert(token) {
            self.count.increment();
            Added::New
        } else {
            Added::Known
        }
    }

    fn read(&self) -> Vec<Token> {
        let slots = self.slots.iter().filter_map(|slot| Token::from_bits(slot.load()));
        #[cfg(feature = "std")]
        let slots = slots.chain(self.spilled.tokens());
        slots.collect()
    }

    /// Bytes of the table, and of a tree as the owned set counts them.
    fn size_bytes(&self) -> usize {
        #[cfg(feature = "std")]
        let spilled = self.spilled.len() * SPILLED_BYTES;
        #[cfg(not(feature = "std"))]
        let spilled = 0;
        size_of_val(&*self.slots) + spilled
    }
}

#[cfg(all(test, feature = "std", not(miri)))]
mod tests {
    use super::*;
    use crate::sparse::hostile::{probes_of, tokens};

    #[test]
    fn tokens_chosen_to_meet_take_no_more_than_the_bound_and_are_kept() {
        let params = HllParams::with_precision(14).expect("a valid precision");
        let shared = Shared::<AtomicU8, AtomicU32, AtomicU32>::empty(params);
        let slots = shared.tokens.slots.len();
        let tokens = tokens(slots);
        assert_eq!(tokens.len(), params.sparse_limit());
        let mut owned = State::empty(params);
        for &token in &tokens {
            assert!(owned.insert(token.hash()));
            let (new, probes) = probes_of(|| shared.insert(token.hash()));
            assert!(new && probes <= MAX_PROBES, "{probes}");
        }
        assert!(shared.tokens.spilled.len() > slots / 4);
        for &token in &tokens {
            let (new, probes) = probes_of(|| shared.insert(token.hash()));
            assert!(!new && probes <= MAX_PROBES, "{probes}");
        }
        assert!(shared.state() == owned && owned.is_sparse());
        let more = u64::MAX / 3;
        assert!(shared.insert(more) && owned.insert(more));
        assert!(shared.state() == owned && !owned.is_sparse());
    }

    #[test]
    fn threads_spill_each_token_once() {
        let params = HllParams::with_precision(14).expect("a valid precision");
        let shared = Shared::<AtomicU8, AtomicU32, AtomicU32>::empty(params);
        let tokens = &tokens(shared.tokens.slots.len());
        let told: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| tokens.iter().filter(|token| shared.insert(token.hash())).count()))
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(told, tokens.len());
        let mut owned = State::empty(params);
        for token in tokens {
            owned.insert(token.hash());
        }
        assert!(shared.state() == owned && owned.is_sparse());
    }
}
