//! The byte form. Parameters: the precision, and the form of the payload: tokens, registers of a byte, or registers in
//! an entropy code. The state says which of them it is.

use alloc::vec;
use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, Header, Kind, UNALIGNED};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::counts::Counts;
use super::register::REGISTERS;
use super::registers::Registers;
use super::state::{Mode, State};
use super::{estimator, information};
use crate::codec::{self, Decoder};
use crate::hll::wire::open_envelope;
use crate::sparse::{self, TokenSet, Tokens, count};
use crate::{Error, Fingerprint, KeyHasher, Sketch, UllParams, UltraLogLog};

/// The newest version of the body.
const VERSION: u8 = 1;

const MALFORMED_REGISTERS: Error = Error::Malformed { field: "registers" };

/// The parameters as they are written.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Body {
    /// A precision out of range does not deserialise.
    params: UllParams,
    form: Form,
}

/// What the payload is.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Form {
    /// So many tokens.
    Sparse { tokens: u32 },
    /// Registers of a byte.
    Raw,
    /// Registers in an entropy code, where it is shorter.
    Coded,
}

/// A state as it is written: parameters and payload.
fn write(state: &State) -> (Body, Vec<u8>) {
    let mut payload = Vec::new();
    let form = match state.mode() {
        Mode::Sparse(tokens) => {
            sparse::encode(&tokens.sorted(), &mut payload);
            Form::Sparse { tokens: tokens.len() as u32 }
        }
        Mode::Dense(registers) => {
            if let Some(code) = code_of(registers.bytes()) {
                payload = code;
                Form::Coded
            } else {
                payload.extend_from_slice(registers.bytes());
                Form::Raw
            }
        }
    };
    (Body { params: state.params(), form }, payload)
}

/// The code of registers, if it is shorter than they are.
fn code_of(registers: &[u8]) -> Option<Vec<u8>> {
    let mut code = Vec::with_capacity(registers.len());
    codec::encode(registers, REGISTERS, &mut code);
    (code.len() < registers.len()).then_some(code)
}

/// A written state where its bytes lie.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    params: UllParams,
    payload: &'a [u8],
    content: Content<'a>,
}

#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant)] // lives for a call or in a view, which may be copied
enum Content<'a> {
    Sparse {
        tokens: usize,
    },
    Raw,
    /// The counts stand at the front of the code.
    Coded(Decoder<'a>),
}

impl<'a> Stored<'a> {
    /// Checks parameters and lengths, in constant time.
    fn open(body: Body, payload: &'a [u8]) -> Result<Self, Error> {
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
            Form::Raw if payload.len() == params.registers() => Content::Raw,
            Form::Coded if payload.len() < params.registers() => {
                Content::Coded(Decoder::open(payload, params.registers(), REGISTERS)?)
            }
            Form::Raw | Form::Coded => return Err(Error::Malformed { field: "payload length" }),
        };
        Ok(Self { params, payload, content })
    }

    pub(super) fn params(&self) -> UllParams {
        self.params
    }

    pub(super) fn payload(&self) -> &'a [u8] {
        self.payload
    }

    pub(super) fn estimate(&self) -> f64 {
        match self.content {
            Content::Sparse { tokens } => count::estimate(tokens),
            _ => estimator::estimate(&self.counts()),
        }
    }

    pub(super) fn bounds(&self, kappa: f64) -> (f64, f64) {
        match self.content {
            Content::Sparse { tokens } => count::bounds(tokens, kappa),
            _ => information::bounds(&self.counts(), kappa),
        }
    }

    /// The state, every part of it checked: it would be written with these bytes.
    pub(super) fn read(&self) -> Result<State, Error> {
        let registers = match &self.content {
            Content::Sparse { tokens } => return self.tokens(*tokens),
            Content::Raw => self.payload.to_vec(),
            Content::Coded(decoder) => {
                let mut registers = vec![0; self.params.registers()];
                decoder.decode_into(&mut registers)?;
                registers
            }
        };
        let counts = self.counts();
        // Registers stand for more tokens than the limit: otherwise these would have been written.
        let enough = counts.may_stand_for_more_than(self.params.sparse_limit(), self.params.precision());
        // The writer takes the shorter form.
        let shortest = matches!(self.content, Content::Coded(_)) || code_of(&registers).is_none();
        if counts.are_reachable(self.params.registers()) && enough && shortest {
            Ok(State::dense(self.params, Registers::from_bytes(registers.into_boxed_slice())))
        } else {
            Err(MALFORMED_REGISTERS)
        }
    }

    fn tokens(&self, count: usize) -> Result<State, Error> {
        let mut set = TokenSet::with_capacity(count);
        for token in Tokens::open(self.payload, count)? {
            // Distinct, and not more than announced: each is new.
            set.insert(token?, count);
        }
        Ok(State::sparse(self.params, set))
    }

    /// The counts of registers; of tokens none.
    fn counts(&self) -> Counts {
        match &self.content {
            Content::Sparse { .. } => Counts::of(&[]),
            Content::Raw => Counts::of(self.payload),
            Content::Coded(decoder) => Counts::from_histogram(decoder.histogram()),
        }
    }
}

/// Opens a sketch's bytes and checks parameters and lengths; the payload's checksum is not checked.
pub(super) fn open(bytes: &[u8]) -> Result<(Header, Stored<'_>), Error> {
    let (header, body, payload) = open_envelope::<Body>(Kind::ULTRA_LOG_LOG, VERSION, bytes)?;
    Ok((header, Stored::open(body, payload)?))
}

impl UllParams {
    /// The precision of a sketch's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, stored)| stored.params())
    }
}

impl<H: Fingerprint> Sketch for UltraLogLog<H> {
    const KIND: Kind = Kind::ULTRA_LOG_LOG;
    type Hasher = H;

    fn to_bytes(&self) -> Vec<u8> {
        let (body, payload) = write(self.state());
        wire::seal(Self::KIND, VERSION, UNALIGNED, self.hasher().fingerprint(), &body, |bytes| {
            bytes.extend_from_slice(&payload);
        })
    }

    /// Whatever decodes is a state that some keys reach, in the one form in which it is written.
    fn from_bytes_with(bytes: &[u8], hasher: H) -> Result<Self, Error> {
        let (header, stored) = open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        header.verify(stored.payload())?;
        Ok(Self::from_state(stored.read()?, hasher))
    }
}

/// The envelope, as bytes.
impl<H: Fingerprint> Serialize for UltraLogLog<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for UltraLogLog<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
