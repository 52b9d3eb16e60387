//! The byte form of a state. Parameters: the precision, and the form of the payload: tokens, registers as they are, or
//! registers in an entropy code. The state says which of them it is.

use alloc::vec;
use alloc::vec::Vec;

use pds_core::wire::{self, Header, Kind, UNALIGNED};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::sparse::{self, Added, TokenSet, Tokens, count};
use crate::state::{Mode, RegisterArray, RegisterCounts, State};
use crate::{Error, HllParams, codec};

/// Registers that can be written: as they are, or in an entropy code where it is shorter.
pub(crate) trait WrittenRegisters: RegisterArray {
    /// Registers are below it.
    const ALPHABET: usize;

    /// Bytes of registers as they are.
    fn plain_bytes(params: HllParams) -> usize;

    /// Appends registers as they are.
    fn write_plain(values: &[u8], payload: &mut Vec<u8>);

    /// Registers that were written so, whatever they are.
    fn read_plain(payload: &[u8]) -> Vec<u8>;

    /// The counts of registers that were written so, any payload being safe to count.
    fn count_plain(payload: &[u8]) -> Self::Counts;

    /// The counts of each register below the alphabet.
    fn counts_of(histogram: &[u32]) -> Self::Counts;

    /// Whether all are registers that some hashes lead to, those of more tokens than the limit: otherwise these would
    /// have been written.
    fn are_reachable(counts: &Self::Counts, params: HllParams) -> bool;
}

/// The parameters as they are written.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Body {
    /// A precision out of range does not deserialise.
    params: HllParams,
    form: Form,
}

/// What the payload is.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Form {
    /// So many tokens.
    Sparse { tokens: u32 },
    /// Registers as they are.
    Plain,
    /// Registers in an entropy code, where it is shorter.
    Coded,
}

/// Most bytes of the byte form of a state with registers that take so many as they are.
pub(crate) fn most_bytes(params: HllParams, plain: usize) -> usize {
    /// The precision, the form, and the number of tokens.
    const PARAMS_LEN: usize = 1 + 1 + 3;
    wire::HEADER_LEN + PARAMS_LEN + plain.max(sparse::most_bytes(params.sparse_limit()))
}

/// A state as it is written: parameters and payload.
pub(crate) fn write<R: WrittenRegisters>(state: &State<R>) -> (Body, Vec<u8>) {
    let params = state.params();
    let mut payload = Vec::new();
    let form = match state.mode() {
        Mode::Sparse(tokens) => {
            sparse::encode(&tokens.sorted(), &mut payload);
            Form::Sparse { tokens: tokens.len() as u32 }
        }
        Mode::Dense(registers) => {
            codec::encode(registers.values(), R::ALPHABET, &mut payload);
            if payload.len() < R::plain_bytes(params) {
                Form::Coded
            } else {
                payload.clear();
                R::write_plain(registers.values(), &mut payload);
                Form::Plain
            }
        }
    };
    (Body { params, form }, payload)
}

/// A written state where its bytes lie.
pub(crate) struct Stored<'a, R: RegisterArray> {
    params: HllParams,
    payload: &'a [u8],
    content: Content<R::Counts>,
}

#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant)] // lives for a call or in a view, which may be copied
enum Content<C> {
    Sparse {
        tokens: usize,
    },
    Plain,
    /// The counts stand at the front of the code.
    Coded(C),
}

#[allow(clippy::expl_impl_clone_on_copy)] // a derived one would ask the registers to be `Copy`
impl<R: RegisterArray> Clone for Stored<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: RegisterArray> Copy for Stored<'_, R> {}

impl<'a, R: WrittenRegisters> Stored<'a, R> {
    /// Checks parameters and lengths, in constant time.
    pub(crate) fn open(body: Body, payload: &'a [u8]) -> Result<Self, Error> {
        let Body { params, form } = body;
        let content = match form {
            Form::Sparse { tokens } => {
                let tokens = tokens as usize;
                if tokens > params.sparse_limit() {
                    return Err(Error::Malformed { field: "tokens" });
                }
                Tokens::open(payload, tokens)?;
                Content::Sparse { tokens }
            }
            Form::Plain if payload.len() == R::plain_bytes(params) => Content::Plain,
            Form::Coded if payload.len() < R::plain_bytes(params) => {
                let decoder = codec::Decoder::open(payload, params.registers(), R::ALPHABET)?;
                Content::Coded(R::counts_of(decoder.histogram()))
            }
            Form::Plain | Form::Coded => return Err(Error::Malformed { field: "payload length" }),
        };
        Ok(Self { params, payload, content })
    }

    pub(crate) fn params(&self) -> HllParams {
        self.params
    }

    pub(crate) fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Whether no key was counted.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.content, Content::Sparse { tokens: 0 })
    }

    /// Whether keys are counted one by one.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.content, Content::Sparse { .. })
    }

    pub(crate) fn estimate(&self) -> f64 {
        match &self.content {
            Content::Sparse { tokens } => count::estimate(*tokens),
            Content::Plain => R::count_plain(self.payload).estimate(),
            Content::Coded(counts) => counts.estimate(),
        }
    }

    pub(crate) fn bounds(&self, kappa: f64) -> (f64, f64) {
        match &self.content {
            Content::Sparse { tokens } => count::bounds(*tokens, kappa),
            Content::Plain => R::count_plain(self.payload).bounds(kappa),
            Content::Coded(counts) => counts.bounds(kappa),
        }
    }

    /// The state, every part of it checked: it would be written with these bytes.
    pub(crate) fn read(&self) -> Result<State<R>, Error> {
        let values = match &self.content {
            Content::Sparse { tokens } => return Ok(State::sparse(self.params, self.tokens(*tokens)?)),
            Content::Plain => self.plain()?,
            Content::Coded(counts) => self.decoded(counts)?,
        };
        Ok(State::dense(self.params, R::from_values(values.into_boxed_slice())))
    }

    /// Merges what is stored into a state, which an error leaves as it was.
    pub(crate) fn merge_into(&self, state: &mut State<R>) -> Result<(), Error> {
        let Content::Sparse { tokens } = self.content else {
            let read = self.read()?;
            state.merge(&read);
            return Ok(());
        };
        // Read twice, so that no table is needed: once for what may be wrong.
        Tokens::open(self.payload, tokens)?.try_for_each(|token| token.map(|_| ()))?;
        state.fold(self.params);
        for token in Tokens::open(self.payload, tokens)? {
            state.insert(token?.hash());
        }
        Ok(())
    }

    fn tokens(&self, count: usize) -> Result<TokenSet, Error> {
        let mut set = TokenSet::with_capacity(count);
        for token in Tokens::open(self.payload, count)? {
            // Distinct, and not more than announced: each is new.
            let added = set.insert(token?, count);
            debug_assert_eq!(added, Added::New);
        }
        Ok(set)
    }

    fn plain(&self) -> Result<Vec<u8>, Error> {
        let values = R::read_plain(self.payload);
        // Those that no counts are kept of are beyond the alphabet, and so not written.
        if values.iter().fold(0, |greatest, &value| value.max(greatest)) as usize >= R::ALPHABET {
            return Err(MALFORMED_REGISTERS);
        }
        self.check_reachable(&R::count_plain(self.payload))?;
        let mut code = Vec::new();
        codec::encode(&values, R::ALPHABET, &mut code);
        // The writer would have taken the shorter form.
        if code.len() < self.payload.len() { Err(MALFORMED_REGISTERS) } else { Ok(values) }
    }

    fn decoded(&self, counts: &R::Counts) -> Result<Vec<u8>, Error> {
        self.check_reachable(counts)?;
        let mut values = vec![0; self.params.registers()];
        codec::Decoder::open(self.payload, values.len(), R::ALPHABET)?.decode_into(&mut values)?;
        Ok(values)
    }

    fn check_reachable(&self, counts: &R::Counts) -> Result<(), Error> {
        if R::are_reachable(counts, self.params) { Ok(()) } else { Err(MALFORMED_REGISTERS) }
    }
}

const MALFORMED_REGISTERS: Error = Error::Malformed { field: "registers" };

/// Opens the envelope; the payload's checksum is not checked.
pub(crate) fn open_envelope<B: Serialize + DeserializeOwned>(
    kind: Kind,
    newest: u8,
    bytes: &[u8],
) -> Result<(Header, B, &[u8]), Error> {
    let (header, body, payload) = wire::open::<B>(kind, newest, bytes)?;
    if header.alignment == UNALIGNED {
        Ok((header, body, payload))
    } else {
        Err(Error::Malformed { field: "alignment" })
    }
}

/// Opens a sketch's bytes and checks parameters and lengths; the payload's checksum is not checked.
pub(crate) fn open<R: WrittenRegisters>(
    kind: Kind,
    newest: u8,
    bytes: &[u8],
) -> Result<(Header, Stored<'_, R>), Error> {
    let (header, body, payload) = open_envelope::<Body>(kind, newest, bytes)?;
    Ok((header, Stored::open(body, payload)?))
}
