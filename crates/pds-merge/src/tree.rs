//! Pairs of sketches, pairs of pairs, and so on.

use alloc::vec;
use alloc::vec::Vec;

#[cfg(feature = "rayon")]
use crate::ExactMerge;
use crate::{Error, Merge, MergeError, Merged};

/// Merges sketches pairwise, and the results pairwise again: a balanced tree, in which each sketch goes through at most
/// log2(n) + 1 merges instead of up to n - 1. At most log2(n) + 2 of them are alive at a time, and those that
/// did not fit where they stood, so an iterator may make them as they are needed.
///
/// * **Use it for a `KllSketch`**, whose every merge rounds: the ranks of a tree of many are closer than those of
///   [`merge_all`](crate::merge_all). A `TDigest` gains nothing by it.
/// * Not for an [`ExactMerge`](crate::ExactMerge) sketch: its bytes are those of the fold, which takes as many merges, of
///   smaller sketches into one that stays in cache.
/// * What fits is a question to the first sketch, as in a fold: one whose parameters or hasher differ from the first's is
///   refused alone, with the error that the first one has for it, and all others are merged.
/// * A refusal by content (`Overflow` of counts) concerns what had been merged by then: where a fold would refuse one sketch,
///   a tree may refuse a whole branch. Each sketch of it is listed, and nothing of it is in the result.
pub fn merge_tree<S: Merge>(sketches: impl IntoIterator<Item = S>) -> Merged<S> {
    finish(grow(0, sketches))
}

/// [`merge_tree`] on all cores, with its result whatever their number: for exact merges, the bytes of the fold. It pays where
/// a merge takes long: of large sketches, and many.
///
/// Code that asks for a sketch whose merge depends on the order does not compile:
///
/// ```compile_fail,E0277
/// let digests: Vec<pds_quantiles::TDigest> = Vec::new();
/// pds_merge::merge_tree_parallel(digests);
/// ```
#[cfg(feature = "rayon")]
pub fn merge_tree_parallel<S: ExactMerge + Send>(sketches: Vec<S>) -> Merged<S> {
    let alone = sketches.len().div_ceil(rayon::current_num_threads());
    finish(grow_parallel(0, sketches, alone))
}

/// The tree of sketches, the first of which is at this position.
fn grow<S: Merge>(first: usize, sketches: impl IntoIterator<Item = S>) -> Option<Branch<S>> {
    // As a binary counter: each branch is of more sketches than the next, by a power of two.
    let mut branches: Vec<Branch<S>> = Vec::new();
    for (index, sketch) in sketches.into_iter().enumerate() {
        let mut branch = Branch::leaf(first + index, sketch);
        for _ in 0..index.trailing_ones() {
            branch = match branches.pop() {
                Some(left) => left.join(branch),
                None => branch,
            };
        }
        branches.push(branch);
    }
    branches.into_iter().rev().reduce(|right, left| left.join(right))
}

/// The same tree, of which a core grows parts of up to `alone` sketches.
#[cfg(feature = "rayon")]
fn grow_parallel<S: Merge + Send>(first: usize, mut sketches: Vec<S>, alone: usize) -> Option<Branch<S>> {
    if sketches.len() <= alone.max(1) {
        return grow(first, sketches);
    }
    // Where the binary counter has it: its largest branch comes first.
    let half = sketches.len().next_power_of_two() / 2;
    let right = sketches.split_off(half);
    let (left, right) =
        rayon::join(|| grow_parallel(first, sketches, alone), || grow_parallel(first + half, right, alone));
    Some(left?.join(right?))
}

/// Sketches that were merged into one.
struct Group<S> {
    sketch: S,
    /// Their positions, the first one first.
    members: Vec<usize>,
}

impl<S: Merge> Group<S> {
    /// Takes in another group, or gives it back.
    fn take(&mut self, other: Self) -> Result<(), (Self, Error)> {
        match self.sketch.merge(&other.sketch) {
            Ok(()) => {
                self.members.extend(other.members);
                Ok(())
            }
            Err(error) => Err((other, error)),
        }
    }
}

/// A part of the tree: what its first sketch could take in, and what it could not.
struct Branch<S> {
    main: Group<S>,
    /// Which side is odd, only the first sketch of all can tell.
    strays: Vec<Group<S>>,
}

impl<S: Merge> Branch<S> {
    fn leaf(index: usize, sketch: S) -> Self {
        Self { main: Group { sketch, members: vec![index] }, strays: Vec::new() }
    }

    fn join(mut self, right: Self) -> Self {
        if let Err((group, _)) = self.main.take(right.main) {
            self.strays.push(group);
        }
        self.strays.extend(right.strays);
        self
    }
}

fn finish<S: Merge>(root: Option<Branch<S>>) -> Merged<S> {
    let Some(Branch { mut main, strays }) = root else {
        return Merged { sketch: None, taken: 0, refused: Vec::new() };
    };
    let mut refused = Vec::new();
    for stray in strays {
        if let Err((group, error)) = main.take(stray) {
            refused.extend(group.members.into_iter().map(|index| MergeError { index, error }));
        }
    }
    refused.sort_unstable_by_key(|refusal| refusal.index);
    Merged { sketch: Some(main.sketch), taken: main.members.len(), refused }
}
