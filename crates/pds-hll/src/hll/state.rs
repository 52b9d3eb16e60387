//! What a sketch knows, and how: as tokens of the first keys, or as registers.
//!
//! Which of the two is a function of the set of keys and of the precision, not of the path that led there: so equal sets
//! have equal bytes, and merging keeps its law.

use alloc::borrow::Cow;
use alloc::vec;

use crate::registers::Registers;
use crate::sparse::{Added, Token, TokenSet, count};
use crate::{HllParams, estimator, information};

#[derive(Clone)]
pub(crate) struct State {
    params: HllParams,
    mode: Mode,
}

/// Sparse up to [`HllParams::sparse_limit`] tokens, dense beyond.
#[derive(Clone)]
pub(crate) enum Mode {
    Sparse(TokenSet),
    Dense(Registers),
}

impl State {
    pub(crate) fn empty(params: HllParams) -> Self {
        Self { params, mode: Mode::Sparse(TokenSet::new()) }
    }

    /// Of at most the limit of tokens.
    pub(crate) fn sparse(params: HllParams, tokens: TokenSet) -> Self {
        debug_assert!(tokens.len() <= params.sparse_limit());
        Self { params, mode: Mode::Sparse(tokens) }
    }

    /// Of registers, as many as the parameters say, that more tokens than the limit have led to.
    pub(crate) fn dense(params: HllParams, registers: Registers) -> Self {
        debug_assert_eq!(registers.values().len(), params.registers());
        Self { params, mode: Mode::Dense(registers) }
    }

    pub(crate) fn params(&self) -> HllParams {
        self.params
    }

    pub(crate) fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The registers, once there are any. They may be raised, as inserting does.
    #[inline]
    pub(crate) fn registers_mut(&mut self) -> Option<&mut Registers> {
        match &mut self.mode {
            Mode::Dense(registers) => Some(registers),
            Mode::Sparse(_) => None,
        }
    }

    /// Takes in a hash; true if anything changed.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
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
                    self.promote().insert(hash);
                    true
                }
            },
        }
    }

    pub(crate) fn insert_batch(&mut self, hashes: &[u64]) {
        let mut rest = hashes;
        loop {
            match &mut self.mode {
                Mode::Dense(registers) => return registers.insert_batch(rest),
                Mode::Sparse(tokens) => {
                    let limit = self.params.sparse_limit();
                    let full =
                        rest.iter().position(|&hash| tokens.insert(Token::of(hash), limit) == Added::Full);
                    let Some(done) = full else { return };
                    rest = &rest[done..];
                    self.promote();
                }
            }
        }
    }

    /// Down to fewer registers, if there are more.
    pub(crate) fn fold(&mut self, params: HllParams) {
        if params >= self.params {
            return;
        }
        self.params = params;
        match &mut self.mode {
            Mode::Dense(registers) => registers.fold(params.registers()),
            Mode::Sparse(tokens) if tokens.len() > params.sparse_limit() => {
                self.promote();
            }
            Mode::Sparse(_) => {}
        }
    }

    /// Takes in what another has seen; ends up with the lower precision of the two.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.fold(other.params);
        match &other.mode {
            Mode::Dense(theirs) => self.merge_registers(theirs),
            Mode::Sparse(theirs) => {
                if let Mode::Sparse(mine) = &mut self.mode
                    && mine.union_with(theirs, self.params.sparse_limit())
                {
                    return;
                }
                self.promote().insert_tokens(theirs.iter());
            }
        }
    }

    /// Takes in registers that more tokens than the limit have led to, as many as there are here or more.
    pub(crate) fn merge_registers(&mut self, theirs: &Registers) {
        match &mut self.mode {
            Mode::Dense(mine) => mine.merge(theirs),
            Mode::Sparse(mine) => {
                let mut registers = theirs.clone();
                registers.fold(self.params.registers());
                registers.insert_tokens(mine.iter());
                self.mode = Mode::Dense(registers);
            }
        }
    }

    pub(crate) fn estimate(&self) -> f64 {
        match &self.mode {
            Mode::Sparse(tokens) => count::estimate(tokens.len()),
            Mode::Dense(registers) => estimator::estimate(&registers.histogram()),
        }
    }

    pub(crate) fn bounds(&self, kappa: f64) -> (f64, f64) {
        match &self.mode {
            Mode::Sparse(tokens) => count::bounds(tokens.len(), kappa),
            Mode::Dense(registers) => information::bounds(&registers.histogram(), kappa),
        }
    }

    /// The predicted relative standard error of the estimate, 0 for an empty sketch.
    pub(crate) fn relative_error(&self) -> f64 {
        let estimate = self.estimate();
        if estimate == 0.0 {
            return 0.0;
        }
        let deviation = match &self.mode {
            Mode::Sparse(_) => count::deviation(estimate),
            Mode::Dense(registers) => information::deviation(registers.values().len() as f64, estimate),
        };
        deviation / estimate
    }

    /// The registers, made of the tokens where they are not kept.
    pub(crate) fn values(&self) -> Cow<'_, [u8]> {
        match &self.mode {
            Mode::Dense(registers) => Cow::Borrowed(registers.values()),
            Mode::Sparse(tokens) => {
                let mut values = vec![0; self.params.registers()];
                raise_to(&mut values, self.params, tokens.iter());
                Cow::Owned(values)
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.mode, Mode::Sparse(tokens) if tokens.len() == 0)
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.mode, Mode::Sparse(_))
    }

    pub(crate) fn size_bytes(&self) -> usize {
        match &self.mode {
            Mode::Sparse(tokens) => tokens.size_bytes(),
            Mode::Dense(registers) => registers.values().len(),
        }
    }

    /// To registers, if they are not there yet.
    pub(crate) fn promote(&mut self) -> &mut Registers {
        if let Mode::Sparse(tokens) = &self.mode {
            let mut registers = Registers::empty(self.params.registers());
            registers.insert_tokens(tokens.iter());
            self.mode = Mode::Dense(registers);
        }
        match &mut self.mode {
            Mode::Dense(registers) => registers,
            Mode::Sparse(_) => unreachable!("promoted above"),
        }
    }
}

/// Equal sets at one precision, as far as tokens or registers tell sets apart.
impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && match (&self.mode, &other.mode) {
                (Mode::Sparse(mine), Mode::Sparse(theirs)) => mine == theirs,
                (Mode::Dense(mine), Mode::Dense(theirs)) => mine.values() == theirs.values(),
                _ => false,
            }
    }
}

/// Raises registers, as many as the parameters say, to the values of tokens.
pub(crate) fn raise_to(values: &mut [u8], params: HllParams, tokens: impl Iterator<Item = Token>) {
    for token in tokens {
        let (index, value) = token.index_and_value(params.precision());
        values[index] = value.max(values[index]);
    }
}
