//! Where tokens go that find no slot.

use alloc::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sparse::Token;

/// A tree behind a lock. Of tokens that nobody chose hardly one in 10^8 comes here.
pub(super) struct Spilled(Mutex<BTreeSet<Token>>);

impl Spilled {
    pub(super) fn new() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }

    /// True if it was not there.
    #[cold]
    #[inline(never)]
    pub(super) fn insert(&self, token: Token) -> bool {
        self.lock().insert(token)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn tokens(&self) -> BTreeSet<Token> {
        self.lock().clone()
    }

    /// Nothing panics while it is held, save for what the tree itself would.
    fn lock(&self) -> MutexGuard<'_, BTreeSet<Token>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
