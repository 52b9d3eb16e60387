//! From hashes to layers.

use alloc::vec;
use alloc::vec::Vec;

use pds_hash::reduce;

use super::band::{Band, Segment};
use super::geometry::{BUCKET, Geometry, Layer, SEGMENT, Shape, WIDTH};
use super::params::{RibbonParams, fit};
use super::sizing::{bumping_blocks, expected_bumped, is_last, last_blocks, most_bumped, too_many};
use crate::build::{MAX_ATTEMPTS, distinct};
use crate::partition::partition;
use crate::seeds::{digest, seeded};
use crate::{Error, limits};

/// A solved filter.
pub(crate) struct Built {
    pub(crate) shape: Shape,
    pub(crate) geometry: Geometry,
    pub(crate) bytes: Vec<u8>,
}

/// Solves for these hashes, which may repeat.
pub(crate) fn build(hashes: &[u64], params: RibbonParams) -> Result<Built, Error> {
    match build_under(0, hashes, params)? {
        Ok(built) => Ok(built),
        // Keys that were chosen against the seed that everybody knows. Whoever does not know all of the others does not
        // know the next.
        Err(Unlikely) => build_under(digest(&distinct(hashes)).max(1), hashes, params)?
            .map_err(|Unlikely| Error::Construction { attempts: MAX_ATTEMPTS }),
    }
}

/// What near-uniform hashes do not come to: a layer bumped more than [`most_bumped`], or no attempt at the last succeeded.
struct Unlikely;

fn build_under(seed: u64, hashes: &[u64], params: RibbonParams) -> Result<Result<Built, Unlikely>, Error> {
    let (mut columns, mut extra) = params.shape();
    if let Some(bytes) = params.budget() {
        // Layers do not depend on columns: without any, they are known soon.
        match solve(hashes, Shape { seed, ..Shape::default() })? {
            Ok(layers) => (columns, extra) = fit(&layers.shape, bytes)?,
            Err(unlikely) => return Ok(Err(unlikely)),
        }
    }
    solve(hashes, Shape { columns, extra, seed, ..Shape::default() })
}

/// Solves in layers, of which the shape has none yet.
fn solve(hashes: &[u64], shape: Shape) -> Result<Result<Built, Unlikely>, Error> {
    let mut built = Built { shape, geometry: Geometry::default(), bytes: Vec::new() };
    let mut left: Option<Vec<u64>> = None;
    for number in 0.. {
        let current = left.as_deref().unwrap_or(hashes);
        if current.is_empty() {
            break;
        }
        // Sorting shows repeats. What it takes is free again before anything else is taken.
        let several = |hashes: &[u64]| !is_last(hashes.len() as u64, number);
        let sorted = several(current).then(|| sorted(shape.bumping_seed(), current));
        let Some(sorted) = sorted.filter(|sorted| several(sorted)) else {
            return solve_last(built, number, current);
        };
        let keys = sorted.len() as u64;
        if number == 0 {
            built.shape.keys = keys;
        }
        let blocks = bumping_blocks(keys);
        let layer = built.add(number, blocks)?;
        let mut bumped = Vec::with_capacity(expected_bumped(keys, blocks) as usize);
        solve_segments(&layer, segments(&layer, &sorted, built.bytes_of(&layer)), &mut bumped);
        if bumped.len() as u64 > most_bumped(keys, blocks) && shape.seed == 0 {
            return Ok(Err(Unlikely));
        }
        drop(sorted);
        left = Some(bumped);
    }
    Ok(Ok(built))
}

/// Solves the last layer, of this number.
fn solve_last(mut built: Built, number: usize, hashes: &[u64]) -> Result<Result<Built, Unlikely>, Error> {
    let distinct = distinct(hashes);
    let keys = distinct.len() as u64;
    if number == 0 {
        built.shape.keys = keys;
    }
    built.shape.complete = true;
    let mut band = Band::default();
    for attempt in 0..MAX_ATTEMPTS {
        built.shape.attempt = attempt;
        let layer = built.add(number, last_blocks(keys, attempt))?;
        if band.insert_all(&layer, &sorted(layer.seed, &distinct)) {
            band.back_substitute(&layer, 0, built.bytes_of(&layer));
            return Ok(Ok(built));
        }
    }
    Ok(Err(Unlikely))
}

impl Built {
    /// Gives the layer of this number so many blocks.
    fn add(&mut self, number: usize, blocks: u64) -> Result<Layer, Error> {
        let keys = self.shape.keys;
        self.shape.blocks[number] = u32::try_from(blocks).map_err(|_| too_many(keys))?;
        self.geometry = Geometry::new(&self.shape).ok_or(too_many(keys))?;
        limits::allocatable(self.geometry.size())?;
        Ok(self.geometry.layers()[number])
    }

    /// The bytes of the layer that was added last: zero.
    fn bytes_of(&mut self, layer: &Layer) -> &mut [u8] {
        let (start, length) = (layer.first_word as usize * 8, layer.words() as usize * 8);
        self.bytes.reserve_exact((start + length).saturating_sub(self.bytes.len()));
        self.bytes.resize(start + length, 0);
        &mut self.bytes[start..]
    }
}

/// Keys of a part that is sorted at a time.
const PART_KEYS: usize = 1 << 10;

/// Parts at most: more ends than these leave the caches.
const MAX_PARTS: usize = 1 << 12;

/// The hashes under a seed, in order, each once.
fn sorted(seed: u64, hashes: &[u64]) -> Vec<u64> {
    let parts = hashes.len().div_ceil(PART_KEYS).clamp(1, MAX_PARTS);
    let mut into = vec![0; hashes.len()];
    let bounds = partition(hashes.iter().map(|&hash| seeded(hash, seed)), &mut into, parts, |hash| {
        reduce(hash, parts as u64) as usize
    });
    let mut slices = Vec::with_capacity(parts);
    let mut rest = &mut into[..];
    for bounds in bounds.windows(2) {
        let (part, later) = rest.split_at_mut(bounds[1] - bounds[0]);
        slices.push(part);
        rest = later;
    }
    sort_each(slices);
    into.dedup();
    into
}

#[cfg(not(feature = "rayon"))]
fn sort_each(slices: Vec<&mut [u64]>) {
    slices.into_iter().for_each(<[u64]>::sort_unstable);
}

#[cfg(feature = "rayon")]
fn sort_each(slices: Vec<&mut [u64]>) {
    use rayon::prelude::*;
    slices.into_par_iter().for_each(<[u64]>::sort_unstable);
}

/// Where each segment lies, in the rows, the hashes and the bytes of its layer.
fn segments<'a>(layer: &Layer, sorted: &'a [u64], bytes: &'a mut [u8]) -> Vec<Segment<'a>> {
    /// Two bits for a bucket.
    const THRESHOLD_BYTES: usize = (SEGMENT / BUCKET / 4) as usize;
    let (mut words, thresholds) = bytes.split_at_mut(layer.block_words() as usize * 8);
    let mut hashes = sorted;
    let mut segments = Vec::with_capacity(layer.rows().div_ceil(SEGMENT) as usize);
    let firsts = (0..layer.rows()).step_by(SEGMENT as usize);
    for (first, thresholds) in firsts.zip(thresholds.chunks_mut(THRESHOLD_BYTES)) {
        let end = (first + SEGMENT).min(layer.rows());
        let (here, later) = hashes.split_at(hashes.partition_point(|&hash| layer.start(hash) < end));
        let length = layer.block(end / WIDTH).0 - layer.block(first / WIDTH).0;
        let (into, behind) = words.split_at_mut(length as usize * 8);
        segments.push(Segment { first, end, hashes: here, words: into, thresholds });
        (hashes, words) = (later, behind);
    }
    segments
}

/// Solves segments, and gives the hashes that they bump.
#[cfg(not(feature = "rayon"))]
fn solve_segments(layer: &Layer, segments: Vec<Segment<'_>>, bumped: &mut Vec<u64>) {
    let mut band = Band::default();
    for segment in segments {
        band.solve(layer, segment, bumped);
    }
}

/// The segments are the same as without threads, and so are their words.
#[cfg(feature = "rayon")]
fn solve_segments(layer: &Layer, segments: Vec<Segment<'_>>, bumped: &mut Vec<u64>) {
    use rayon::prelude::*;
    let of_each: Vec<Vec<u64>> = segments
        .into_par_iter()
        .map_init(Band::default, |band, segment| {
            let mut bumped = Vec::new();
            band.solve(layer, segment, &mut bumped);
            bumped
        })
        .collect();
    bumped.extend(of_each.into_iter().flatten());
}
