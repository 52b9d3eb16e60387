//! The byte form. Parameters: the precision, and the form of the payload: tokens, registers of six bits, or registers in
//! an entropy code. The state says which of them it is.

use alloc::vec;
use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, Header, Kind, UNALIGNED};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::state::{Mode, State};
use crate::histogram::{Histogram, MAX_VALUE, VALUES};
use crate::registers::Registers;
use crate::sparse::{self, Added, TokenSet, Tokens, count};
use crate::{
    Error, Fingerprint, HllParams, HyperLogLog, KeyHasher, Sketch, codec, estimator, information, packed,
};

/// The newest version of the body.
const VERSION: u8 = 1;

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
    /// Registers of six bits.
    Packed,
    /// Registers in an entropy code, where it is shorter.
    Coded,
}

/// A state as it is written: parameters and payload.
pub(crate) fn write(state: &State) -> (Body, Vec<u8>) {
    let params = state.params();
    let mut payload = Vec::new();
    let form = match state.mode() {
        Mode::Sparse(tokens) => {
            sparse::encode(&tokens.sorted(), &mut payload);
            Form::Sparse { tokens: tokens.len() as u32 }
        }
        Mode::Dense(registers) => {
            codec::encode(registers.values(), VALUES, &mut payload);
            if payload.len() < params.packed_bytes() {
                Form::Coded
            } else {
                payload.clear();
                packed::pack(registers.values(), &mut payload);
                Form::Packed
            }
        }
    };
    (Body { params, form }, payload)
}

/// A written state where its bytes lie.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    params: HllParams,
    payload: &'a [u8],
    content: Content,
}

#[derive(Clone, Copy)]
enum Content {
    Sparse {
        tokens: usize,
    },
    Packed,
    /// The counts stand at the front of the code.
    Coded(Histogram),
}

impl<'a> Stored<'a> {
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
            Form::Packed if payload.len() == params.packed_bytes() => Content::Packed,
            Form::Coded if payload.len() < params.packed_bytes() => {
                let decoder = codec::Decoder::open(payload, params.registers(), VALUES)?;
                let mut counts = [0; VALUES];
                for (count, &given) in counts.iter_mut().zip(decoder.histogram()) {
                    *count = given;
                }
                Content::Coded(Histogram::from_counts(counts))
            }
            Form::Packed | Form::Coded => return Err(Error::Malformed { field: "payload length" }),
        };
        Ok(Self { params, payload, content })
    }

    pub(crate) fn params(&self) -> HllParams {
        self.params
    }

    pub(crate) fn payload(&self) -> &'a [u8] {
        self.payload
    }

    pub(crate) fn estimate(&self) -> f64 {
        match self.content {
            Content::Sparse { tokens } => count::estimate(tokens),
            _ => estimator::estimate(&self.histogram()),
        }
    }

    pub(crate) fn bounds(&self, kappa: f64) -> (f64, f64) {
        match self.content {
            Content::Sparse { tokens } => count::bounds(tokens, kappa),
            _ => information::bounds(&self.histogram(), kappa),
        }
    }

    /// The state, every part of it checked: it would be written with these bytes.
    pub(crate) fn read(&self) -> Result<State, Error> {
        let values = match self.content {
            Content::Sparse { tokens } => return Ok(State::sparse(self.params, self.tokens(tokens)?)),
            Content::Packed => self.unpacked()?,
            Content::Coded(_) => self.decoded()?,
        };
        Ok(State::dense(self.params, Registers::from_values(values.into_boxed_slice())))
    }

    /// Merges what is stored into a state, which an error leaves as it was.
    pub(crate) fn merge_into(&self, state: &mut State) -> Result<(), Error> {
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

    fn unpacked(&self) -> Result<Vec<u8>, Error> {
        let mut values = Vec::with_capacity(self.params.registers());
        for group in packed::unpack(self.payload) {
            values.extend_from_slice(&group);
        }
        if values.iter().fold(0, |greatest, &value| value.max(greatest)) > MAX_VALUE {
            return Err(MALFORMED_REGISTERS);
        }
        self.check_reachable(&self.histogram())?;
        let mut code = Vec::new();
        codec::encode(&values, VALUES, &mut code);
        // The writer would have taken the shorter form.
        if code.len() < self.payload.len() { Err(MALFORMED_REGISTERS) } else { Ok(values) }
    }

    fn decoded(&self) -> Result<Vec<u8>, Error> {
        self.check_reachable(&self.histogram())?;
        let mut values = vec![0; self.params.registers()];
        codec::Decoder::open(self.payload, values.len(), VALUES)?.decode_into(&mut values)?;
        Ok(values)
    }

    /// Registers stand for more tokens than the limit: otherwise these would have been written.
    fn check_reachable(&self, histogram: &Histogram) -> Result<(), Error> {
        let enough = histogram.most_tokens(self.params.precision()) > self.params.sparse_limit() as u64;
        if enough { Ok(()) } else { Err(MALFORMED_REGISTERS) }
    }

    /// The counts of register values, of tokens without the trouble of reading them none.
    fn histogram(&self) -> Histogram {
        match self.content {
            Content::Sparse { .. } => Histogram::empty(self.params.registers()),
            Content::Packed => Histogram::count(packed::unpack(self.payload)),
            Content::Coded(histogram) => histogram,
        }
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
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, Stored<'_>), Error> {
    let (header, body, payload) = open_envelope::<Body>(Kind::HYPER_LOG_LOG, VERSION, bytes)?;
    Ok((header, Stored::open(body, payload)?))
}

impl HllParams {
    /// The precision of a sketch's bytes, in constant time.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the hasher and the payload.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        open(bytes).map(|(_, stored)| stored.params())
    }
}

impl<H: Fingerprint> Sketch for HyperLogLog<H> {
    const KIND: Kind = Kind::HYPER_LOG_LOG;
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
impl<H: Fingerprint> Serialize for HyperLogLog<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

/// The envelope, decoded with the default hasher.
impl<'de, H: KeyHasher + Default> Deserialize<'de> for HyperLogLog<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}
