//! From hashes to layers.

use alloc::vec;
use alloc::vec::Vec;

use pds_hash::reduce;

use super::band::{Band, Solved};
use super::geometry::{BUCKET, Geometry, Layer, MAX_LAYERS, SEGMENT, WIDTH};
use super::lookup::layer_seed;
use super::params::RibbonParams;
use crate::Error;
use crate::build::MAX_ATTEMPTS;
use crate::partition::partition;
use crate::seeds::seeded;

/// Rows for each 1000 keys of a layer that bumps: fewer than keys, so that hardly a row stays empty.
pub(crate) const ROWS_PER_1000: u64 = 970;

/// Keys that the last layer takes: its rows, a sixteenth more than keys, are not worth another layer.
pub(crate) const LAST_KEYS: u64 = 1024;

/// A solved filter.
pub(crate) struct Built {
    /// Distinct hashes.
    pub(crate) keys: u64,
    pub(crate) blocks: Vec<u32>,
    /// Whether the last layer passes nothing on; else nothing was left for one.
    pub(crate) complete: bool,
    /// Of the last layer.
    pub(crate) attempt: u32,
    /// By how many columns it was solved.
    pub(crate) columns: u32,
    pub(crate) extra: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Blocks of a layer that bumps.
pub(crate) fn bumping_blocks(keys: u64) -> u64 {
    let rows = (u128::from(keys) * u128::from(ROWS_PER_1000) / 1000) as u64;
    rows.div_ceil(BUCKET).max(2) * (BUCKET / WIDTH)
}

/// Blocks of the last layer.
pub(crate) fn last_blocks(keys: u64, attempt: u32) -> u64 {
    const LEAST: u64 = 12;
    /// Attempts before it is given a block more.
    const PATIENCE: u32 = 8;
    (keys + keys / 16 + LEAST).div_ceil(WIDTH) + u64::from(attempt / PATIENCE)
}

/// Solves for these hashes, which may repeat.
pub(crate) fn build(hashes: &[u64], params: RibbonParams) -> Result<Built, Error> {
    let (columns, extra) = params.shape();
    let mut built = solve(hashes, columns, extra)?;
    // Layers do not depend on columns: the second time the size is exact.
    if let Some(bytes) = params.budget() {
        let (columns, extra) = super::params::fit(&built.blocks, built.complete, bytes)?;
        if (columns, extra) != (built.columns, built.extra) {
            built = solve(hashes, columns, extra)?;
        }
    }
    Ok(built)
}

fn solve(hashes: &[u64], columns: u32, extra: u32) -> Result<Built, Error> {
    let mut built =
        Built { keys: 0, blocks: Vec::new(), complete: false, attempt: 0, columns, extra, bytes: Vec::new() };
    let mut left = Vec::new();
    let mut first = true;
    loop {
        let current: &[u64] = if first { hashes } else { &left };
        let last = current.len() as u64 <= LAST_KEYS || built.blocks.len() + 1 == MAX_LAYERS;
        if current.is_empty() {
            break;
        }
        if last {
            let distinct = solve_last(&mut built, current, columns, extra)?;
            if first {
                built.keys = distinct;
            }
            break;
        }
        let blocks = bumping_blocks(current.len() as u64);
        let layer = layer(&built.blocks, blocks, columns, extra, false)?;
        let sorted = sorted(&layer, 0, current);
        if first && sorted.len() < current.len() {
            // Sized for the distinct ones; how often is rare enough to begin anew.
            let mut distinct = hashes.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            return solve(&distinct, columns, extra);
        }
        if first {
            built.keys = sorted.len() as u64;
        }
        built.blocks.push(blocks as u32);
        let segments = each_segment(&layer, &sorted);
        let mut thresholds = vec![0; (layer.words() - layer.block_words()) as usize];
        let mut bucket = 0;
        left.clear();
        for segment in segments {
            pds_core::wire::put_words(&mut built.bytes, &segment.words);
            for threshold in segment.thresholds {
                thresholds[bucket / 32] |= u64::from(threshold) << (bucket % 32 * 2);
                bucket += 1;
            }
            left.extend_from_slice(&segment.bumped);
        }
        pds_core::wire::put_words(&mut built.bytes, &thresholds);
        first = false;
    }
    Ok(built)
}

/// The layer behind those that there are.
fn layer(before: &[u32], blocks: u64, columns: u32, extra: u32, complete: bool) -> Result<Layer, Error> {
    let Ok(blocks) = u32::try_from(blocks) else {
        return Err(Error::Parameter {
            name: "keys",
            value: blocks as f64 * 64.0,
            domain: "at most 2^38 rows",
        });
    };
    let all = [before, &[blocks]].concat();
    Ok(*Geometry::new(&all, columns, extra, complete).layers().last().expect("a layer was added"))
}

/// Solves the last layer, and gives the number of distinct hashes.
fn solve_last(built: &mut Built, hashes: &[u64], columns: u32, extra: u32) -> Result<u64, Error> {
    let mut distinct = hashes.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let mut band = Band::default();
    for attempt in 0..MAX_ATTEMPTS {
        let blocks = last_blocks(distinct.len() as u64, attempt);
        let layer = layer(&built.blocks, blocks, columns, extra, true)?;
        if let Some(words) = band.solve_all(&layer, &sorted(&layer, attempt, &distinct)) {
            built.blocks.push(blocks as u32);
            built.complete = true;
            built.attempt = attempt;
            pds_core::wire::put_words(&mut built.bytes, &words);
            return Ok(distinct.len() as u64);
        }
    }
    Err(Error::Construction { attempts: MAX_ATTEMPTS })
}

/// Keys of a part that is sorted at a time.
const PART_KEYS: usize = 1 << 10;

/// Parts at most: more ends than these leave the caches.
const MAX_PARTS: usize = 1 << 12;

/// The hashes under the layer's seed, in order, each once.
fn sorted(layer: &Layer, attempt: u32, hashes: &[u64]) -> Vec<u64> {
    let seed = layer_seed(layer, attempt);
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

/// First row, end and hashes of each segment.
fn segments<'a>(layer: &Layer, sorted: &'a [u64]) -> Vec<(u64, u64, &'a [u64])> {
    let mut rest = sorted;
    let mut segments = Vec::new();
    let mut first = 0;
    while first < layer.rows() {
        let end = (first + SEGMENT).min(layer.rows());
        let (here, later) = rest.split_at(rest.partition_point(|&hash| layer.start(hash) < end));
        segments.push((first, end, here));
        rest = later;
        first = end;
    }
    segments
}

#[cfg(not(feature = "rayon"))]
fn each_segment(layer: &Layer, sorted: &[u64]) -> Vec<Solved> {
    let mut band = Band::default();
    segments(layer, sorted)
        .into_iter()
        .map(|(first, end, hashes)| band.solve(layer, first, end, hashes))
        .collect()
}

/// The segments are the same as without threads, and so are their words.
#[cfg(feature = "rayon")]
fn each_segment(layer: &Layer, sorted: &[u64]) -> Vec<Solved> {
    use rayon::prelude::*;
    segments(layer, sorted)
        .into_par_iter()
        .map_init(Band::default, |band, (first, end, hashes)| band.solve(layer, first, end, hashes))
        .collect()
}
