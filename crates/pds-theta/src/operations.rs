//! Union, intersection, difference.

use alloc::vec;
use alloc::vec::Vec;
use core::hint::select_unpredictable;

use crate::reading::{EXACT, Limits};
use crate::source::{Operand, Runs};
use crate::{CompactTheta, Error, Fingerprint, ThetaParams, ThetaSource};

/// The sketch of the keys that are in any of the sources.
///
/// Its threshold is the least of theirs, or less: it keeps the k smallest hashes, for the least k of the sources. Sketches
/// give the sketch of all their streams, the same to the byte as by [`Merge`](crate::Merge). What limits an intersection or
/// difference says nothing about a union with more: it is kept only if all other sources are known to be empty.
///
/// Reads each source as far as the result goes.
///
/// # Errors
///
/// [`Error::Parameter`] if there is no source, [`Error::Hasher`] if their hashers differ.
///
/// # Source
///
/// `[DasguptaEtAl16]`.
pub fn union<H: Fingerprint>(sources: &[&dyn ThetaSource<H>]) -> Result<CompactTheta<H>, Error> {
    let (operands, params) = Operand::all(sources)?;
    let k = params.k();
    let mut least = Least { k, theta: least_threshold(&operands), hashes: Vec::new(), waiting: Vec::new() };
    for operand in &operands {
        least.take(operand);
    }
    let (theta, hashes) = least.finish();
    let mut others = operands.iter().filter(|operand| !operand.reading.is_empty());
    let limits = match (others.next(), others.next()) {
        (Some(only), None) => only.limits,
        _ => Limits::NONE,
    };
    Ok(CompactTheta::from_parts(params, theta, hashes, limits, operands[0].hasher.clone()))
}

/// The sketch of the keys that are in every source.
///
/// Its threshold is the least of theirs, and it keeps what all of them keep below it. An intersection is known
/// to be empty if one of the sources is, or if those of them that are exact have nothing in common.
///
/// The estimate never exceeds that of a source, and the upper bound never the count of an exact source: nor, as a result
/// remembers both limits, those of the sources of a source. The bounds are not those of a source that is not exact: the
/// least of several upper bounds would leave out the truth as often as all together. Neither order nor repetition of
/// sources matters.
///
/// * Direction of error: two-sided, unbiased while no limit is near. A limited estimate is too low on average, as it keeps
///   what is below the truth and cuts what is above: where most of a source lies in the intersection, or little of it
///   below the threshold. The bounds allow for it.
/// * Error: that of a count of `retained()` hashes: about 1 / sqrt(`retained()`) of the estimate, whatever the sizes of
///   the sources. With nothing retained below a threshold the estimate is 0, and [`CompactTheta::bounds`] says how many
///   keys there may be all the same.
///
/// # Errors
///
/// [`Error::Parameter`] if there is no source, [`Error::Hasher`] if their hashers differ.
///
/// # Source
///
/// `[DasguptaEtAl16]`.
pub fn intersection<H: Fingerprint>(sources: &[&dyn ThetaSource<H>]) -> Result<CompactTheta<H>, Error> {
    let (mut operands, params) = Operand::all(sources)?;
    let hasher = operands[0].hasher.clone();
    let limits = operands.iter().map(Operand::allows).fold(Limits::NONE, Limits::and);
    // Exact ones first, and the fewest of them: the rest is compared with what is left.
    operands.sort_by_key(|operand| (core::cmp::Reverse(operand.reading.theta), operand.reading.retained));
    let (first, rest) = (&operands[0], &operands[1..]);
    let theta = least_threshold(&operands);
    let mut common = Narrowing::new(first, theta);
    for operand in rest {
        common.narrow(operand, keep_common);
    }
    Ok(common.into_result(params, theta, limits, hasher))
}

/// The sketch of the keys of a source that are in none of the others.
///
/// Its threshold is the least of all, and it keeps what the source alone keeps below it. The difference is known to be
/// empty if the source is, or if it is exact and other exact ones leave nothing of it; empty others change nothing. Its k is
/// that of the source.
///
/// The estimate never exceeds that of the source, nor the upper bound its count if it is exact, and so on with what limits the
/// source itself.
///
/// * Error, direction of error: those of a count of `retained()` hashes, as of an [`intersection`].
///
/// # Errors
///
/// [`Error::Hasher`] if the hashers differ.
///
/// # Source
///
/// `[DasguptaEtAl16]`.
pub fn difference<H: Fingerprint>(
    source: &dyn ThetaSource<H>,
    others: &[&dyn ThetaSource<H>],
) -> Result<CompactTheta<H>, Error> {
    let mut sources = vec![source];
    sources.extend_from_slice(others);
    let (operands, _) = Operand::all(&sources)?;
    let (source, others) = (&operands[0], &operands[1..]);
    let hasher = source.hasher.clone();
    let mut others: Vec<&Operand<'_, H>> = others.iter().collect();
    others.sort_by_key(|other| core::cmp::Reverse(other.reading.theta));
    let theta = least_threshold(&operands);
    let mut left = Narrowing::new(source, theta);
    for other in others {
        left.narrow(other, drop_common);
    }
    Ok(left.into_result(source.params, theta, source.allows(), hasher))
}

fn least_threshold<H>(operands: &[Operand<'_, H>]) -> u64 {
    operands.iter().map(|operand| operand.reading.theta).min().unwrap_or(EXACT)
}

/// The least hashes of sources, as they are taken in.
struct Least {
    k: usize,
    /// At most the threshold of every source, and above k hashes if there are so many.
    theta: u64,
    /// At most k, in order.
    hashes: Vec<u64>,
    /// Hashes of sources that had few, which are put in order together: a pass over k for each would take longer.
    waiting: Vec<u64>,
}

impl Least {
    /// Takes in the hashes of a source.
    fn take<H: Fingerprint>(&mut self, operand: &Operand<'_, H>) {
        // A part of k that is few to sort, and many for one pass.
        let few = self.k / 8;
        let runs = operand.below(self.theta);
        if operand.expected_below(self.theta) >= few {
            self.join(runs, operand.reading.retained as usize);
        } else {
            runs.append_to(&mut self.waiting);
            if self.waiting.len() >= few {
                self.sort_waiting();
            }
        }
    }

    fn sort_waiting(&mut self) {
        let mut waiting = core::mem::take(&mut self.waiting);
        // The threshold may have fallen meanwhile.
        waiting.retain(|&hash| hash < self.theta);
        if waiting.is_empty() {
            return;
        }
        waiting.sort_unstable();
        waiting.dedup();
        self.join(Runs::Slice(&waiting), waiting.len());
        waiting.clear();
        self.waiting = waiting;
    }

    fn join(&mut self, runs: Runs<'_>, expected: usize) {
        self.hashes = merged(&self.hashes, runs, expected, self.k + 1);
        if let Some(&next) = self.hashes.get(self.k) {
            self.theta = next;
            self.hashes.truncate(self.k);
        }
    }

    /// The threshold and the hashes below it.
    fn finish(mut self) -> (u64, Vec<u64>) {
        self.sort_waiting();
        (self.theta, self.hashes)
    }
}

/// What is left of a source while others take from it, exact ones first: if nothing is left before any threshold has
/// had a say, there is certainly nothing.
struct Narrowing {
    hashes: Vec<u64>,
    theta: u64,
    all_exact: bool,
    known_empty: bool,
}

impl Narrowing {
    /// `theta`: the threshold of the result.
    fn new<H: Fingerprint>(source: &Operand<'_, H>, theta: u64) -> Self {
        let all_exact = source.reading.is_exact();
        // Of an exact source all is looked at: emptiness is a matter of what lies above the threshold too.
        let limit = if all_exact { EXACT } else { theta };
        let hashes = source.below(limit).collect(source.reading.retained as usize);
        let known_empty = source.reading.is_empty();
        Self { hashes, theta, all_exact, known_empty }
    }

    fn narrow<H: Fingerprint>(&mut self, other: &Operand<'_, H>, by: fn(&mut Vec<u64>, Runs<'_>)) {
        if self.all_exact && !other.reading.is_exact() {
            self.all_exact = false;
            self.hashes.truncate(self.hashes.partition_point(|&hash| hash < self.theta));
        }
        by(&mut self.hashes, other.below(if self.all_exact { EXACT } else { self.theta }));
        self.known_empty |= self.all_exact && self.hashes.is_empty();
    }

    fn into_result<H: Fingerprint>(
        self,
        params: ThetaParams,
        theta: u64,
        limits: Limits,
        hasher: H,
    ) -> CompactTheta<H> {
        if self.known_empty {
            return CompactTheta::from_parts(params, EXACT, Vec::new(), Limits::NONE, hasher);
        }
        CompactTheta::from_parts(params, theta, self.hashes, limits, hasher)
    }
}

/// The least `most` hashes of both, once each. `expected`: how many runs there are at most.
fn merged(left: &[u64], mut right: Runs<'_>, expected: usize, most: usize) -> Vec<u64> {
    if left.is_empty() {
        let mut all = right.collect(expected.min(most));
        all.truncate(most);
        return all;
    }
    let mut out = vec![0; most.min(left.len().saturating_add(expected))];
    let (mut read, mut written) = (0, 0);
    loop {
        let run = right.next_run();
        if run.is_empty() || written == out.len() {
            break;
        }
        let mut at = 0;
        // Which of two hashes is less is a coin that no branch should be made of.
        while read < left.len() && at < run.len() && written < out.len() {
            let (hash, other) = (left[read], run[at]);
            out[written] = hash.min(other);
            written += 1;
            read += usize::from(hash <= other);
            at += usize::from(other <= hash);
        }
        if read == left.len() {
            written += copy(&run[at..], &mut out[written..]);
        }
    }
    written += copy(&left[read..], &mut out[written..]);
    out.truncate(written);
    out
}

/// Copies what there is room for; gives how many.
fn copy(from: &[u64], to: &mut [u64]) -> usize {
    let len = from.len().min(to.len());
    to[..len].copy_from_slice(&from[..len]);
    len
}

/// Keeps the hashes that the runs have too.
fn keep_common(hashes: &mut Vec<u64>, runs: Runs<'_>) {
    let (read, kept) = select(hashes, runs, |hash, other| hash == other);
    debug_assert!(kept <= read);
    hashes.truncate(kept);
}

/// Keeps the hashes that the runs do not have.
fn drop_common(hashes: &mut Vec<u64>, runs: Runs<'_>) {
    let (read, kept) = select(hashes, runs, |hash, other| hash < other);
    let rest = hashes.len() - read;
    hashes.copy_within(read.., kept);
    hashes.truncate(kept + rest);
}

/// Moves those hashes to the front that are wanted beside the first of the runs that is not less. Gives how many were
/// looked at, which is all unless the runs end first, and how many were wanted.
fn select(hashes: &mut [u64], mut runs: Runs<'_>, wanted: impl Fn(u64, u64) -> bool) -> (usize, usize) {
    let (mut read, mut kept) = (0, 0);
    while read < hashes.len() {
        let run = runs.next_run();
        if run.is_empty() {
            break;
        }
        let mut at = 0;
        let (mut hash, mut other) = (hashes[read], run[0]);
        // The next of both are loaded before it is known whose turn it is: the loop then waits for no load.
        while read + 1 < hashes.len() && at + 1 < run.len() {
            let (next_hash, next_other) = (hashes[read + 1], run[at + 1]);
            // In place: what was kept is never more than what was read.
            hashes[kept] = hash;
            kept += usize::from(wanted(hash, other));
            let (past_hash, past_other) = (hash <= other, other <= hash);
            read += usize::from(past_hash);
            at += usize::from(past_other);
            hash = select_unpredictable(past_hash, next_hash, hash);
            other = select_unpredictable(past_other, next_other, other);
        }
        // One of them has one left.
        while read < hashes.len() && at < run.len() {
            let (hash, other) = (hashes[read], run[at]);
            hashes[kept] = hash;
            kept += usize::from(wanted(hash, other));
            read += usize::from(hash <= other);
            at += usize::from(other <= hash);
        }
    }
    (read, kept)
}

/// How many hashes both have, and how many either has.
pub(crate) fn overlap(mut left: Runs<'_>, mut right: Runs<'_>) -> (u64, u64) {
    let (mut both, mut either) = (0, 0);
    let (mut xs, mut ys) = (left.next_run(), right.next_run());
    while !xs.is_empty() && !ys.is_empty() {
        let (mut i, mut j) = (0, 0);
        while i < xs.len() && j < ys.len() {
            let (x, y) = (xs[i], ys[j]);
            both += u64::from(x == y);
            either += 1;
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        (xs, ys) = (&xs[i..], &ys[j..]);
        if xs.is_empty() {
            xs = left.next_run();
        }
        if ys.is_empty() {
            ys = right.next_run();
        }
    }
    while !xs.is_empty() {
        either += xs.len() as u64;
        xs = left.next_run();
    }
    while !ys.is_empty() {
        either += ys.len() as u64;
        ys = right.next_run();
    }
    (both, either)
}
