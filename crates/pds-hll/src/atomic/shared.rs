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
//!   finds none free has seen more tokens than the limit.
//! * A reader that finds it closed sees, by the count's acquire and release, all those tokens, or the registers that were
//!   merged in before it was closed. It takes the registers, raised to the tokens that it sees: the registers of a set of
//!   keys with more tokens than the limit.
//! * A reader that finds it open sees the token of every insertion that happened before, for such an insertion did not find
//!   it closed. If it sees more than the limit all the same, it does as if it were closed.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicU32};

use super::cells::{Count, Register, Slot};
use crate::HllParams;
use crate::hll::state::{Mode, State, raise_to};
use crate::registers::{Registers, value};
use crate::sparse::{EMPTY, Token, TokenSet, capacity, search};

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
        let registers = (0..params.registers()).map(|_| R::new(0)).collect();
        Self { params, registers, tokens: Tokens::empty(params.sparse_limit()) }
    }

    pub(super) fn params(&self) -> HllParams {
        self.params
    }

    pub(super) fn size_bytes(&self) -> usize {
        size_of_val(&*self.registers) + size_of_val(&*self.tokens.slots)
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
    count: C,
    limit: usize,
}

impl<S: Slot, C: Count> Tokens<S, C> {
    fn empty(limit: usize) -> Self {
        let slots: Box<[S]> = (0..capacity(limit)).map(|_| S::new(EMPTY)).collect();
        Self { slots, count: C::new(0), limit }
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
        // An odd step passes all slots.
        for _ in 0..self.slots.len() {
            let slot = &self.slots[place & mask];
            place = place.wrapping_add(step);
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
        Added::Closed
    }

    fn read(&self) -> Vec<Token> {
        self.slots.iter().filter_map(|slot| Token::from_bits(slot.load())).collect()
    }
}
