//! What a sketch knows: see [`crate::state`].

use crate::HllParams;
use crate::registers::Registers;
use crate::sparse::Token;

pub(crate) type State = crate::state::State<Registers>;

/// Raises registers, as many as the parameters say, to the values of tokens.
pub(crate) fn raise_to(values: &mut [u8], params: HllParams, tokens: impl Iterator<Item = Token>) {
    for token in tokens {
        let (index, value) = token.index_and_value(params.precision());
        values[index] = value.max(values[index]);
    }
}
