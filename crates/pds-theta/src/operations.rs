//! Union, intersection, difference.

use alloc::vec;
use alloc::vec::Vec;

use crate::reading::{EXACT, Reading};
use crate::source::{Operand, Runs};
use crate::{CompactTheta, Error, Fingerprint, ThetaSource};

/// The sketch of the keys that are in any of the sources.
///
/// Its threshold is the least of theirs, or less: it keeps the k smallest hashes, for the least k of the sources. Sketches
/// give the sketch of all their streams, the same to the byte as by [`Merge`](crate::Merge).
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
    let operands = Operand::all(sources)?;
    let params = operands.iter().map(|operand| operand.params).min().expect("there is a source");
    let k = params.k();
    let mut theta = least_threshold(&operands);
    let mut hashes = Vec::new();
    for operand in &operands {
        hashes = merged(&hashes, operand.below(theta), operand.reading.retained as usize, k + 1);
        if let Some(&next) = hashes.get(k) {
            theta = next;
            hashes.truncate(k);
        }
    }
    Ok(CompactTheta::from_parts(params, theta, hashes, None, operands[0].hasher.clone()))
}

/// The sketch of the keys that are in every source.
///
/// Its threshold is the least of theirs, and it keeps what all of them keep below it. An intersection with a source that is
/// known to be empty is known to be. Estimate and upper bound never exceed those of a source.
///
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
    let mut operands = Operand::all(sources)?;
    let params = operands.iter().map(|operand| operand.params).min().expect("there is a source");
    let hasher = operands[0].hasher.clone();
    if operands.iter().any(|operand| operand.reading.is_empty()) {
        return Ok(CompactTheta::from_parts(params, EXACT, Vec::new(), None, hasher));
    }
    let theta = least_threshold(&operands);
    let ceiling = operands.iter().map(Operand::limit).reduce(Reading::lesser);
    // The fewest first: the rest is compared with what is left.
    operands.sort_by_key(|operand| operand.reading.retained);
    let mut rest = operands.iter();
    let mut hashes = rest.next().map_or_else(Vec::new, |first| collected(first, theta));
    for operand in rest {
        keep_common(&mut hashes, operand.below(theta));
    }
    Ok(CompactTheta::from_parts(params, theta, hashes, ceiling, hasher))
}

/// The sketch of the keys of a source that are in none of the others.
///
/// Its threshold is the least of all, and it keeps what the source alone keeps below it. The difference of a source that is
/// known to be empty is known to be; others that are change nothing. Estimate and upper bound never exceed those of the
/// source. Its k is that of the source.
///
/// * Error: that of a count of `retained()` hashes, as of an [`intersection`].
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
    let mut operands = vec![source];
    operands.extend_from_slice(others);
    let operands = Operand::all(&operands)?;
    let (source, others) = operands.split_first().expect("there is a source");
    let hasher = source.hasher.clone();
    if source.reading.is_empty() {
        return Ok(CompactTheta::from_parts(source.params, EXACT, Vec::new(), None, hasher));
    }
    let theta = least_threshold(&operands);
    let mut hashes = collected(source, theta);
    for other in others {
        drop_common(&mut hashes, other.below(theta));
    }
    Ok(CompactTheta::from_parts(source.params, theta, hashes, Some(source.limit()), hasher))
}

fn least_threshold<H>(operands: &[Operand<'_, H>]) -> u64 {
    operands.iter().map(|operand| operand.reading.theta).min().unwrap_or(EXACT)
}

fn collected<H: Fingerprint>(operand: &Operand<'_, H>, theta: u64) -> Vec<u64> {
    operand.below(theta).collect(operand.reading.retained as usize)
}

/// The least `most` hashes of both, once each. `expected`: how many runs there are at most.
fn merged(left: &[u64], mut right: Runs<'_>, expected: usize, most: usize) -> Vec<u64> {
    if left.is_empty() {
        let mut all = right.collect(expected.min(most));
        all.truncate(most);
        return all;
    }
    let mut out = vec![0; most.min(left.len().saturating_add(expected))];
    let (mut i, mut n) = (0, 0);
    loop {
        let run = right.next_run();
        if run.is_empty() || n == out.len() {
            break;
        }
        let mut j = 0;
        // Which of two hashes is less is a coin that no branch should be made of.
        while i < left.len() && j < run.len() && n < out.len() {
            let (x, y) = (left[i], run[j]);
            out[n] = x.min(y);
            n += 1;
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        let more = (run.len() - j).min(out.len() - n);
        if i == left.len() {
            out[n..n + more].copy_from_slice(&run[j..j + more]);
            n += more;
        }
    }
    let more = (left.len() - i).min(out.len() - n);
    out[n..n + more].copy_from_slice(&left[i..i + more]);
    out.truncate(n + more);
    out
}

/// Keeps the hashes that the runs have too.
fn keep_common(hashes: &mut Vec<u64>, mut runs: Runs<'_>) {
    let (mut i, mut n) = (0, 0);
    while i < hashes.len() {
        let run = runs.next_run();
        if run.is_empty() {
            break;
        }
        let mut j = 0;
        while i < hashes.len() && j < run.len() {
            let (x, y) = (hashes[i], run[j]);
            // n is at most i: nothing that is still to be read.
            hashes[n] = x;
            n += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
    hashes.truncate(n);
}

/// Keeps the hashes that the runs do not have.
fn drop_common(hashes: &mut Vec<u64>, mut runs: Runs<'_>) {
    let (mut i, mut n) = (0, 0);
    while i < hashes.len() {
        let run = runs.next_run();
        if run.is_empty() {
            break;
        }
        let mut j = 0;
        while i < hashes.len() && j < run.len() {
            let (x, y) = (hashes[i], run[j]);
            hashes[n] = x;
            n += usize::from(x < y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
    let rest = hashes.len() - i;
    hashes.copy_within(i.., n);
    hashes.truncate(n + rest);
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
