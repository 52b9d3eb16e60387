//! The rate of false positives, from where hashes are taken in.

use super::geometry::{BUCKET, Geometry, Layer, SEGMENT, WIDTH};
use super::lookup::{Words, threshold};
use super::sizing::expected_bumped;
use crate::limits::hash_collision_rate;

/// Starts at which a layer takes hashes in, in blocks with its columns and in those with one more.
struct Taken {
    narrow: f64,
    wide: f64,
}

/// The rate of false positives of a filter: what its columns let pass, and the chance of sharing a hash with a key.
pub(crate) fn estimated(geometry: &Geometry, words: Words<'_>, keys: u64) -> f64 {
    (of_filter(geometry, words) + hash_collision_rate(keys)).min(1.0)
}

/// The chance that a near-uniform hash is said yes to, whatever the keys: exact, in time linear in the number of buckets.
fn of_filter(geometry: &Geometry, words: Words<'_>) -> f64 {
    rate(geometry, |layer| taken(layer, words))
}

/// The same before the filter is built of so many keys.
pub(crate) fn expected(geometry: &Geometry, keys: u64) -> f64 {
    let mut left = keys;
    rate(geometry, |layer| {
        let open = open(layer);
        if !layer.bumping {
            return open;
        }
        let bumped = expected_bumped(left, layer.blocks).min(left);
        let share = (left - bumped) as f64 / left.max(1) as f64;
        left = bumped;
        let scale = share * layer.starts() as f64 / (open.narrow + open.wide);
        Taken { narrow: open.narrow * scale, wide: open.wide * scale }
    })
}

/// Each layer answers for the hashes that the ones before passed on.
fn rate(geometry: &Geometry, mut taken: impl FnMut(&Layer) -> Taken) -> f64 {
    let (mut rate, mut passed) = (0.0, 1.0);
    for layer in geometry.layers() {
        let Taken { narrow, wide } = taken(layer);
        let starts = layer.starts() as f64;
        rate += passed * (narrow + wide / 2.0) / starts * libm::exp2(-f64::from(layer.columns));
        passed *= 1.0 - (narrow + wide) / starts;
    }
    rate
}

fn taken(layer: &Layer, words: Words<'_>) -> Taken {
    if !layer.bumping {
        return open(layer);
    }
    let (mut narrow, mut wide) = (0, 0);
    for bucket in 0..layer.buckets() - 1 {
        let below = threshold(layer, words, bucket);
        for half in 0..BUCKET / WIDTH {
            let taken = WIDTH - below.saturating_sub(half * WIDTH).min(WIDTH);
            if bucket * (BUCKET / WIDTH) + half < layer.split { narrow += taken } else { wide += taken }
        }
    }
    Taken { narrow: narrow as f64, wide: wide as f64 }
}

/// Starts that are open to keys, whether some of these are bumped or not: all but those of each segment's last bucket.
fn open(layer: &Layer) -> Taken {
    const SEGMENT_BLOCKS: u64 = SEGMENT / WIDTH;
    const CLOSED: u64 = BUCKET / WIDTH;
    if !layer.bumping {
        let narrow = (layer.split * WIDTH).min(layer.starts());
        return Taken { narrow: narrow as f64, wide: (layer.starts() - narrow) as f64 };
    }
    let open_before = |block: u64| {
        let last = (block % SEGMENT_BLOCKS).min(SEGMENT_BLOCKS - CLOSED);
        block / SEGMENT_BLOCKS * (SEGMENT_BLOCKS - CLOSED) + last
    };
    let all = open_before(layer.blocks.saturating_sub(CLOSED));
    let narrow = open_before(layer.split).min(all);
    Taken { narrow: (narrow * WIDTH) as f64, wide: ((all - narrow) * WIDTH) as f64 }
}
