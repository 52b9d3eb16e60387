//! What a sketch knows, and how: as tokens of the first keys, or as registers.
//!
//! Which of the two is a function of the set of keys and of the precision, not of the path that led there: so equal sets
//! have equal bytes, and merging keeps its law.

use alloc::borrow::Cow;
use alloc::boxed::Box;

use crate::sparse::{Added, Token, TokenSet, count};
use crate::{Error, HllParams};

/// The registers of one kind of sketch, a power of two of them, a byte each.
pub(crate) trait RegisterArray: Clone {
    type Counts: RegisterCounts;

    /// So many empty registers, a power of two.
    fn empty(count: usize) -> Self;

    /// Registers with these values, each of which some hashes lead to.
    fn from_values(values: Box<[u8]>) -> Self;

    fn values(&self) -> &[u8];

    fn into_values(self) -> Box<[u8]>;

    fn counts(&self) -> Self::Counts;

    /// Takes in a hash; true if a register changed.
    fn insert(&mut self, hash: u64) -> bool;

    /// Takes in many hashes.
    fn insert_batch(&mut self, hashes: &[u64]);

    /// Takes in what registers of any number have seen; ends up with the smaller number of the two.
    fn merge(&mut self, other: &Self);

    /// Down to `count` registers, a power of two, if there are more.
    fn fold(&mut self, count: usize);

    /// Takes in the hashes that tokens stand for.
    fn insert_tokens(&mut self, tokens: impl Iterator<Item = Token>) {
        for token in tokens {
            self.insert(token.hash());
        }
    }
}

/// How often each register occurs: all that an estimate needs to know of them.
pub(crate) trait RegisterCounts: Copy {
    fn estimate(&self) -> f64;

    fn bounds(&self, kappa: f64) -> (f64, f64);
}

#[derive(Clone)]
pub(crate) struct State<R> {
    params: HllParams,
    mode: Mode<R>,
}

/// Sparse up to [`HllParams::sparse_limit`] tokens, dense beyond.
#[derive(Clone)]
pub(crate) enum Mode<R> {
    Sparse(TokenSet),
    Dense(R),
}

impl<R: RegisterArray> State<R> {
    pub(crate) fn empty(params: HllParams) -> Self {
        Self::sparse(params, TokenSet::new())
    }

    /// Of at most the limit of tokens.
    pub(crate) fn sparse(params: HllParams, tokens: TokenSet) -> Self {
        debug_assert!(tokens.len() <= params.sparse_limit());
        Self { params, mode: Mode::Sparse(tokens) }
    }

    /// Of registers, as many as the parameters say, that more tokens than the limit have led to.
    pub(crate) fn dense(params: HllParams, registers: R) -> Self {
        debug_assert_eq!(registers.values().len(), params.registers());
        Self { params, mode: Mode::Dense(registers) }
    }

    pub(crate) fn params(&self) -> HllParams {
        self.params
    }

    pub(crate) fn mode(&self) -> &Mode<R> {
        &self.mode
    }

    /// The registers, once there are any. They may be raised, as inserting does.
    #[inline]
    pub(crate) fn registers_mut(&mut self) -> Option<&mut R> {
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
                    self.promote(|registers| _ = registers.insert(hash));
                    true
                }
            },
        }
    }

    pub(crate) fn insert_batch(&mut self, hashes: &[u64]) {
        let mut rest = hashes;
        if let Mode::Sparse(tokens) = &mut self.mode {
            let limit = self.params.sparse_limit();
            let full = hashes.iter().position(|&hash| tokens.insert(Token::of(hash), limit) == Added::Full);
            let Some(done) = full else { return };
            rest = &hashes[done..];
        }
        self.promote(|registers| registers.insert_batch(rest));
    }

    /// Down to a lower precision.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `precision` is out of range or above that of the state, which is then unchanged.
    pub(crate) fn fold_to(&mut self, precision: u8) -> Result<(), Error> {
        let params = HllParams::with_precision(precision)?;
        if params > self.params {
            return Err(Error::Parameter {
                name: "precision",
                value: f64::from(precision),
                domain: "4 up to the precision of the sketch",
            });
        }
        self.fold(params);
        Ok(())
    }

    /// Down to fewer registers, if there are more.
    pub(crate) fn fold(&mut self, params: HllParams) {
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
    pub(crate) fn merge(&mut self, other: &Self) {
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

    pub(crate) fn estimate(&self) -> f64 {
        match &self.mode {
            Mode::Sparse(tokens) => count::estimate(tokens.len()),
            Mode::Dense(registers) => registers.counts().estimate(),
        }
    }

    pub(crate) fn bounds(&self, kappa: f64) -> (f64, f64) {
        match &self.mode {
            Mode::Sparse(tokens) => count::bounds(tokens.len(), kappa),
            Mode::Dense(registers) => registers.counts().bounds(kappa),
        }
    }

    /// The registers, made of the tokens where they are not kept.
    pub(crate) fn values(&self) -> Cow<'_, [u8]> {
        match &self.mode {
            Mode::Dense(registers) => Cow::Borrowed(registers.values()),
            Mode::Sparse(tokens) => Cow::Owned(self.registers_of(tokens).into_values().into_vec()),
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

    /// To registers, if they are not there yet; then more is done with them.
    fn promote(&mut self, then: impl FnOnce(&mut R)) {
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

    fn registers_of(&self, tokens: &TokenSet) -> R {
        let mut registers = R::empty(self.params.registers());
        registers.insert_tokens(tokens.iter());
        registers
    }
}

/// Equal sets at one precision, as far as tokens or registers tell sets apart.
impl<R: RegisterArray> PartialEq for State<R> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && match (&self.mode, &other.mode) {
                (Mode::Sparse(mine), Mode::Sparse(theirs)) => mine == theirs,
                (Mode::Dense(mine), Mode::Dense(theirs)) => mine.values() == theirs.values(),
                _ => false,
            }
    }
}
