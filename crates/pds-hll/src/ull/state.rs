//! What a sketch knows, and how: as tokens of the first keys, or as registers.
//!
//! Which of the two is a function of the set of keys and of the precision, not of the path that led there: so equal sets
//! have equal bytes, and merging keeps its law.

use alloc::borrow::Cow;

use super::counts::Counts;
use super::registers::Registers;
use super::{estimator, information};
use crate::UllParams;
use crate::sparse::{Added, Token, TokenSet, count};

#[derive(Clone)]
pub(super) struct State {
    params: UllParams,
    mode: Mode,
}

/// Sparse up to [`UllParams::sparse_limit`] tokens, dense beyond.
#[derive(Clone)]
pub(super) enum Mode {
    Sparse(TokenSet),
    Dense(Registers),
}

impl State {
    pub(super) fn empty(params: UllParams) -> Self {
        Self::sparse(params, TokenSet::new())
    }

    /// Of at most the limit of tokens.
    pub(super) fn sparse(params: UllParams, tokens: TokenSet) -> Self {
        debug_assert!(tokens.len() <= params.sparse_limit());
        Self { params, mode: Mode::Sparse(tokens) }
    }

    /// Of registers, as many as the parameters say, that more tokens than the limit have led to.
    pub(super) fn dense(params: UllParams, registers: Registers) -> Self {
        debug_assert_eq!(registers.bytes().len(), params.registers());
        Self { params, mode: Mode::Dense(registers) }
    }

    pub(super) fn params(&self) -> UllParams {
        self.params
    }

    pub(super) fn mode(&self) -> &Mode {
        &self.mode
    }

    /// Takes in a hash; true if anything changed.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        match &mut self.mode {
            Mode::Dense(registers) => registers.insert(hash),
            Mode::Sparse(_) => self.insert_early(hash),
        }
    }

    /// Out of line, that [`State::insert`] stays small enough to be inlined.
    #[inline(never)]
    fn insert_early(&mut self, hash: u64) -> bool {
        match &mut self.mode {
            Mode::Dense(registers) => registers.insert(hash),
            Mode::Sparse(tokens) => match tokens.insert(Token::of(hash), self.params.sparse_limit()) {
                Added::Known => false,
                Added::New => true,
                Added::Full => {
                    self.promote(|registers| _ = registers.insert(hash));
                    true
                }
            },
        }
    }

    pub(super) fn insert_batch(&mut self, hashes: &[u64]) {
        let mut rest = hashes;
        if let Mode::Sparse(tokens) = &mut self.mode {
            let limit = self.params.sparse_limit();
            let full = hashes.iter().position(|&hash| tokens.insert(Token::of(hash), limit) == Added::Full);
            let Some(done) = full else { return };
            rest = &hashes[done..];
        }
        self.promote(|registers| registers.insert_batch(rest));
    }

    /// Down to fewer registers, if there are more.
    pub(super) fn fold(&mut self, params: UllParams) {
        if params >= self.params {
            return;
        }
        self.params = params;
        match &mut self.mode {
            Mode::Dense(registers) => registers.fold(params.registers()),
            Mode::Sparse(tokens) if tokens.len() > params.sparse_limit() => self.promote(|_| ()),
            Mode::Sparse(_) => {}
        }
    }

    /// Takes in what another has seen; ends up with the lower precision of the two.
    pub(super) fn merge(&mut self, other: &Self) {
        self.fold(other.params);
        match (&mut self.mode, &other.mode) {
            (Mode::Dense(mine), Mode::Dense(theirs)) => mine.merge(theirs),
            (Mode::Dense(mine), Mode::Sparse(theirs)) => mine.insert_tokens(theirs.iter()),
            (Mode::Sparse(mine), Mode::Sparse(theirs)) => {
                if !mine.union_with(theirs, self.params.sparse_limit()) {
                    self.promote(|registers| registers.insert_tokens(theirs.iter()));
                }
            }
            (Mode::Sparse(mine), Mode::Dense(theirs)) => {
                let mut registers = theirs.clone();
                registers.fold(self.params.registers());
                registers.insert_tokens(mine.iter());
                self.mode = Mode::Dense(registers);
            }
        }
    }

    pub(super) fn estimate(&self) -> f64 {
        match &self.mode {
            Mode::Sparse(tokens) => count::estimate(tokens.len()),
            Mode::Dense(registers) => estimator::estimate(&Counts::of(registers.bytes())),
        }
    }

    pub(super) fn bounds(&self, kappa: f64) -> (f64, f64) {
        match &self.mode {
            Mode::Sparse(tokens) => count::bounds(tokens.len(), kappa),
            Mode::Dense(registers) => information::bounds(&Counts::of(registers.bytes()), kappa),
        }
    }

    /// The registers, made of the tokens where they are not kept.
    pub(super) fn registers(&self) -> Cow<'_, [u8]> {
        match &self.mode {
            Mode::Dense(registers) => Cow::Borrowed(registers.bytes()),
            Mode::Sparse(tokens) => Cow::Owned(self.registers_of(tokens).bytes().to_vec()),
        }
    }

    pub(super) fn size_bytes(&self) -> usize {
        match &self.mode {
            Mode::Sparse(tokens) => tokens.size_bytes(),
            Mode::Dense(registers) => registers.bytes().len(),
        }
    }

    /// To registers, if they are not there yet; then more is done with them.
    fn promote(&mut self, then: impl FnOnce(&mut Registers)) {
        match &mut self.mode {
            Mode::Dense(registers) => then(registers),
            Mode::Sparse(tokens) => {
                let tokens = core::mem::replace(tokens, TokenSet::new());
                let mut registers = self.registers_of(&tokens);
                then(&mut registers);
                self.mode = Mode::Dense(registers);
            }
        }
    }

    fn registers_of(&self, tokens: &TokenSet) -> Registers {
        let mut registers = Registers::empty(self.params.registers());
        registers.insert_tokens(tokens.iter());
        registers
    }
}

/// Equal sets at one precision, as far as tokens or registers tell sets apart.
impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && match (&self.mode, &other.mode) {
                (Mode::Sparse(mine), Mode::Sparse(theirs)) => mine == theirs,
                (Mode::Dense(mine), Mode::Dense(theirs)) => mine == theirs,
                _ => false,
            }
    }
}
