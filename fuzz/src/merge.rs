//! Merging of whatever decodes.

use pds_core::{Sketch, wire::Kind};

use crate::envelope::{parts, sealed};
use crate::kinds::{Visitor, visit_types};
use crate::probe::Probe;
use crate::subject::{Subject, again, recoded};

/// Two [unsealed](crate::unsealed) envelopes of one kind behind each other, as [`pair`](crate::pair()) puts them: the
/// first one merged with the second, with the first one's parameters around the second one's payload, with a changed copy
/// of itself, and with itself.
///
/// A merge that is refused leaves both sides as they were, to the byte; one that is not gives a sketch like any other.
pub fn merge(data: &[u8]) {
    let Some((left, right)) = parts(data) else { return };
    let Some(&kind) = left.get(4) else { return };
    let Some(left) = sealed(left, 0) else { return };
    let mut right = right.to_vec();
    if let Some(theirs) = right.get_mut(4) {
        *theirs = kind;
    }
    visit_types(Kind(kind), &mut Merger { left, right, probe: Probe::of(data) });
}

struct Merger {
    left: Vec<u8>,
    right: Vec<u8>,
    probe: Probe,
}

impl Merger {
    /// The left side's header and parameters, with as much of the right side's payload as it takes.
    fn crossed(&self) -> Option<Vec<u8>> {
        let mut bytes = crate::unsealed(&self.left)?;
        let start = u32::from_le_bytes(bytes[16..20].try_into().ok()?) as usize;
        let from =
            (u32::from_le_bytes(self.right.get(16..20)?.try_into().ok()?) as usize).min(self.right.len());
        let length = bytes.len() - start;
        bytes.truncate(start);
        bytes.extend(self.right[from..].iter().copied().chain(std::iter::repeat(0)).take(length));
        sealed(&bytes, 0)
    }

    fn law<S: Subject>(&self, other: &S) {
        let mut merged = again::<S>(&self.left);
        let others = other.to_bytes();
        let Some(outcome) = merged.join(other) else { return };
        assert!(other.to_bytes() == others, "{:?}: merging changes what is merged in", S::KIND);
        match outcome {
            Ok(()) => {
                merged.ask(&self.probe);
                let mut recoded = recoded(&merged);
                recoded.ask(&self.probe);
                recoded.change(&self.probe);
            }
            Err(_) => {
                assert!(merged.to_bytes() == self.left, "{:?}: a refused merge changes something", S::KIND);
            }
        }
    }
}

impl Visitor for Merger {
    fn visit<S: Subject>(&mut self) {
        if <S as Sketch>::from_bytes(&self.left).is_err() {
            return;
        }
        let other = |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| <S as Sketch>::from_bytes(&bytes).ok());
        for other in [other(sealed(&self.right, 0)), other(self.crossed())].iter().flatten() {
            self.law(other);
        }
        let mut like = again::<S>(&self.left);
        self.law(&like);
        like.change(&self.probe);
        self.law(&like);
    }
}
