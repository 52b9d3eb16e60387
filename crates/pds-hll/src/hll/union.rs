//! What several sketches say together.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use pds_core::same_hasher;

use super::sketch::HyperLogLog;
use super::state::{State, raise_to};
use super::view::HllView;
use crate::histogram::{Histogram, Tally};
use crate::joint::Size;
use crate::registers::raise;
use crate::sparse::TokenSet;
use crate::state::{Mode, RegisterArray};
use crate::{Error, Fingerprint, HllParams, packed};

impl<H: Fingerprint> HyperLogLog<H> {
    /// The estimate of the union of sketches of any precisions: what [`Merge::merge`](crate::Merge::merge) of them all
    /// would estimate, to the bit, without making that sketch. 0 for none.
    ///
    /// # Errors
    ///
    /// [`Error::Hasher`] if the hashers differ.
    pub fn union_estimate(sketches: &[&Self]) -> Result<f64, Error> {
        Ok(Self::union_size(sketches)?.estimate)
    }

    /// The estimate of the union with the error of what it was made of.
    pub(crate) fn union_size(sketches: &[&Self]) -> Result<Size, Error> {
        let Some(first) = sketches.first() else { return Ok(Size::of_tokens(0)) };
        same_hashers(first.hasher(), sketches)?;
        let params = lowest(first.params(), sketches);
        let (mut sparse, mut dense) = (Vec::new(), Vec::new());
        for sketch in sketches {
            match sketch.state().mode() {
                Mode::Sparse(tokens) => sparse.push(tokens),
                Mode::Dense(registers) => dense.push(registers.values()),
            }
        }
        if dense.is_empty() {
            let mut union = TokenSet::new();
            if sparse.iter().all(|tokens| union.union_with(tokens, params.sparse_limit())) {
                return Ok(Size::of_tokens(union.len()));
            }
        }
        Ok(Size::of_registers(&union_histogram(params, &sparse, &dense)))
    }

    /// Merges many sketches at once, of any precisions: as [`Merge::merge`](crate::Merge::merge) of one after the other,
    /// save that a refusal of one is a refusal of all.
    ///
    /// # Errors
    ///
    /// [`Error::Hasher`] if a hasher differs. `self` is then unchanged.
    pub fn merge_many(&mut self, others: &[&Self]) -> Result<(), Error> {
        same_hashers(self.hasher(), others)?;
        let params = lowest(self.params(), others);
        let state = self.state_mut();
        // Down first: what is merged later need not be folded again.
        state.fold(params);
        for other in others {
            state.merge(other.state());
        }
        Ok(())
    }

    /// Merges a sketch from where its bytes lie, of any precision.
    ///
    /// # Errors
    ///
    /// [`Error::Hasher`] if the hashers differ; as [`HllView::to_owned`] if the bytes are not what was written. `self` is
    /// then unchanged.
    pub fn merge_view<G: Fingerprint>(&mut self, other: &HllView<'_, G>) -> Result<(), Error> {
        same_hasher(self.hasher().fingerprint(), other.fingerprint())?;
        other.verify()?;
        other.stored().merge_into(self.state_mut())
    }
}

fn same_hashers<H: Fingerprint>(hasher: &H, sketches: &[&HyperLogLog<H>]) -> Result<(), Error> {
    let expected = hasher.fingerprint();
    sketches.iter().try_for_each(|sketch| same_hasher(expected, sketch.hasher().fingerprint()))
}

fn lowest<H: Fingerprint>(params: HllParams, sketches: &[&HyperLogLog<H>]) -> HllParams {
    sketches.iter().fold(params, |lowest, sketch| lowest.min(sketch.params()))
}

/// The counts of the greatest values of all: registers of few sketches at a time, as many as stay in the nearest cache.
fn union_histogram(params: HllParams, sparse: &[&TokenSet], dense: &[&[u8]]) -> Histogram {
    /// Registers at a time; fewer where there are fewer.
    const CHUNK: usize = 1024;
    let count = params.registers();
    // Tokens come in no order: they need all registers at once.
    let mut early = Vec::new();
    if !sparse.is_empty() {
        early = vec![0; count];
        for tokens in sparse {
            raise_to(&mut early, params, tokens.iter());
        }
    }
    let size = CHUNK.min(count);
    let mut tally = Tally::new();
    let mut buffer = [0; CHUNK];
    for start in (0..count).step_by(size) {
        let chunk = &mut buffer[..size];
        chunk.fill(0);
        for values in dense.iter().copied().chain([&early[..]]).flat_map(|values| values.chunks_exact(count))
        {
            for (mine, &theirs) in chunk.iter_mut().zip(&values[start..start + size]) {
                *mine = theirs.max(*mine);
            }
        }
        tally.add(packed::groups(chunk));
    }
    tally.finish()
}

/// The registers of a state at its own precision or a lower one.
pub(crate) fn values_at(state: &State, params: HllParams) -> Cow<'_, [u8]> {
    match state.mode() {
        Mode::Dense(registers) if state.params() == params => Cow::Borrowed(registers.values()),
        mode => {
            let mut values = vec![0; params.registers()];
            match mode {
                Mode::Sparse(tokens) => raise_to(&mut values, params, tokens.iter()),
                Mode::Dense(registers) => raise(&mut values, registers.values()),
            }
            Cow::Owned(values)
        }
    }
}
