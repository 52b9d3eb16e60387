//! Merging of whatever decodes.

use pds_core::{Merge, Sketch, wire::Kind};
use pds_merge::{AnyFold, AnySketch, MergeLaw};

use crate::envelope::{parts, sealed};
use crate::kinds::{Visitor, visit_types};
use crate::probe::Probe;
use crate::subject::{Subject, again, recoded};

/// Two [unsealed](crate::unsealed) envelopes of one kind behind each other, as [`pair`](crate::pair()) puts them: the
/// first one merged with the second, with the first one's parameters around the second one's payload, with a changed copy
/// of itself, and with itself.
///
/// A merge that is refused leaves both sides as they were, to the byte; one that is not gives a sketch like any other, and
/// the one that `pds-merge` gives for whatever kind.
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
        self.whatever_the_kind::<S>(&others);
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

    /// What reads any kind merges as the type does, and bytes as the sketches that they decode to.
    fn whatever_the_kind<S: Subject>(&self, others: &[u8]) {
        // Of bytes: a digest that has not been written merges more than its bytes tell.
        let mut merged = again::<S>(&self.left);
        let Some(outcome) = merged.join(&again::<S>(others)) else { return };
        let merged = merged.to_bytes();
        let read = |bytes: &[u8]| AnySketch::from_bytes(bytes).expect("a type of this kind decodes it");
        let (mut sketch, other) = (read(&self.left), read(others));
        if sketch.merge_law() == MergeLaw::Absorb {
            assert_eq!(sketch.absorb(&other), outcome);
        } else {
            assert_eq!(sketch.merge(&other), outcome);
            let mut fold = AnyFold::onto(read(&self.left));
            assert_eq!(fold.push(others).map_err(|refusal| refusal.error), outcome);
            assert!(fold.sketch().is_some_and(|sketch| sketch.to_bytes() == merged), "{}", sketch.name());
        }
        assert!(sketch.to_bytes() == merged, "{}: not as its type merges", sketch.name());
        _ = (sketch.answer().to_string(), sketch.describe().to_string());
        for &hash in &self.probe.hashes {
            _ = (sketch.contains_hash(hash), sketch.bounds_hash(hash));
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
