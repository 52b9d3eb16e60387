//! Rows for keys, and how many keys a layer bumps.

use super::geometry::{BUCKET, MAX_LAYERS, SEGMENT, Shape, WIDTH};
use crate::Error;

/// Keys that the last layer takes: its rows, a sixteenth more than keys, are not worth another layer.
const LAST_KEYS: u64 = 1024;

/// Whether the layer of this number takes in all of these keys.
pub(crate) fn is_last(keys: u64, number: usize) -> bool {
    keys <= LAST_KEYS || number + 1 == MAX_LAYERS
}

/// Blocks of a layer that bumps.
pub(crate) fn bumping_blocks(keys: u64) -> u64 {
    /// Rows for each 1000 keys: fewer than keys, so that hardly a row stays empty.
    const ROWS_PER_1000: u64 = 970;
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

/// Keys that a layer bumps in the mean: those of each segment's last bucket, which is closed, and what does not fit of the
/// others. `tests/ribbon_predictions.rs` holds it to what is built, from 1025 keys on.
pub(crate) fn expected_bumped(keys: u64, blocks: u64) -> u64 {
    const BUCKETS: u64 = SEGMENT / BUCKET;
    let buckets = blocks / (BUCKET / WIDTH);
    let of_bucket = keys as f64 / buckets as f64;
    let share = share_that_does_not_fit(of_bucket);
    // The first windows of a segment find free rows behind them, and the last ones reach into the closed bucket.
    let spared = SPARED_PER_KEY * (of_bucket - FIRST).max(0.0);
    let of_segment = |buckets: u64| {
        let open = buckets.saturating_sub(1) as f64 * of_bucket;
        of_bucket + (open * share - spared).max(0.0)
    };
    let whole = (buckets / BUCKETS) as f64 * of_segment(BUCKETS);
    let rest = buckets % BUCKETS;
    let bumped = whole + if rest > 0 { of_segment(rest) } else { 0.0 };
    (bumped + 0.5) as u64
}

/// Keys of a bucket at which the first of 100,000 do not fit.
const FIRST: f64 = 122.0;

/// Keys that a segment bumps fewer than its buckets would in a long one, for each key of a bucket above [`FIRST`].
const SPARED_PER_KEY: f64 = 2.5;

/// The share of keys that do not fit in a long segment, by the keys of a bucket.
fn share_that_does_not_fit(of_bucket: f64) -> f64 {
    /// Of 100,000, at 120, 122, .. keys of 128 rows: the mean of 40 segments. [`bumping_blocks`] gives at most 132.
    const SHARES: [f64; 8] = [10.0, 61.0, 171.0, 449.0, 1057.0, 2007.0, 3225.0, 4542.0];
    const STEP: f64 = 2.0;
    let place = ((of_bucket - (FIRST - STEP)) / STEP).clamp(0.0, SHARES.len() as f64 - 1.001);
    let (below, part) = (SHARES[place as usize], place % 1.0);
    let above = SHARES[place as usize + 1];
    (below + (above - below) * part) / 100_000.0
}

/// More keys than a layer bumps of near-uniform hashes.
///
/// Twice the mean, and a slack for the least layers, whose share deviates most. `tests/ribbon_hostile.rs` tries sets that
/// nobody chose.
pub(crate) fn most_bumped(keys: u64, blocks: u64) -> u64 {
    const SLACK: u64 = 64;
    2 * expected_bumped(keys, blocks) + SLACK
}

/// The layers of so many keys, if each that bumps keys bumps so many.
pub(crate) fn layers(keys: u64, bumped: impl Fn(u64, u64) -> u64) -> Result<Shape, Error> {
    let mut shape = Shape { keys, ..Shape::default() };
    let mut left = keys;
    for number in 0..MAX_LAYERS {
        if left == 0 {
            break;
        }
        shape.complete = is_last(left, number);
        let blocks = if shape.complete { last_blocks(left, 0) } else { bumping_blocks(left) };
        shape.blocks[number] = u32::try_from(blocks).map_err(|_| too_many(keys))?;
        left = if shape.complete { 0 } else { bumped(left, blocks).min(left) };
    }
    Ok(shape)
}

/// The error for keys that no layer can hold.
pub(crate) fn too_many(keys: u64) -> Error {
    Error::Parameter { name: "keys", value: keys as f64, domain: "at most 2^38 rows, 0.97 a key" }
}
