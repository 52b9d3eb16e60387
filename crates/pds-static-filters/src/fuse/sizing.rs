//! How many slots, in segments of which length.

use super::shape::{BinaryFuse, MAX_LOG2_SEGMENT};
use crate::Error;
use crate::layout::sealed::Layout;

/// Most keys of a shard in the mean: a shard has the length at which segments stop to pay, is solved in a few caches, and is
/// the unit of work of a thread.
const SHARD_KEYS: u64 = 1 << 22;

/// Slots per key and log2 of the segment, as functions of the keys of a shard.
struct Formula {
    /// log2(segment) = floor(ln(n) / ln(base) + offset).
    base: f64,
    offset: f64,
    /// Slots per key: max(least, start + slope ln(scale) / ln(n)).
    least: f64,
    start: f64,
    slope: f64,
    scale: f64,
}

/// The published formula of 3 slots a key, but for the offset, which is 2.25 there: with it the segments double half a
/// doubling too early, and from 11,200 to 11,520 keys, say, every seed fails.
const THREE: Formula =
    Formula { base: 3.33, offset: 1.75, least: 1.125, start: 0.875, slope: 0.25, scale: 1e6 };

/// The published formula of 4 slots a key.
const FOUR: Formula =
    Formula { base: 2.91, offset: -0.5, least: 1.075, start: 0.77, slope: 0.305, scale: 6e5 };

/// The shape of the first attempt: of each shard.
///
/// # Source
///
/// `[GrafLemire22, 4]`.
pub(crate) fn for_keys<const ARITY: usize>(keys: u64) -> Result<BinaryFuse<ARITY>, Error> {
    if keys == 0 {
        return Ok(BinaryFuse::EMPTY);
    }
    let shards = keys.div_ceil(SHARD_KEYS);
    let formula = if ARITY == 3 { THREE } else { FOUR };
    let shard_keys = shard_keys(keys, shards).max(2) as f64;
    let ln = libm::log(shard_keys);
    let log2_segment = libm::floor(ln / libm::log(formula.base) + formula.offset + ROUNDING_SLACK);
    let log2_segment = log2_segment.clamp(0.0, f64::from(MAX_LOG2_SEGMENT)) as u32;
    let per_key = (formula.start + formula.slope * libm::log(formula.scale) / ln).max(formula.least);
    let slots = libm::ceil(shard_keys * per_key * (1.0 + ROUNDING_SLACK)) as u64;
    with_slots(shards, slots, log2_segment)
}

/// The shape of the first attempt in as few slots as solving still pays with, which takes augmented peeling; the ordinary
/// shape where that is smaller. Integer arithmetic.
///
/// A system of 4 slots a key can be solved down to 1.0237 slots a key, not counting what the ends of the wave waste: the
/// slots of three segments. Long segments waste more, short ones leave more keys aside (and at last give two keys the same
/// slots).
pub(crate) fn compact(keys: u64) -> Result<BinaryFuse<4>, Error> {
    /// Slots per key but for the ends: 1.05, where some hundred keys are aside among ten thousand.
    const SLOTS: (u64, u64) = (21, 20);
    /// Keys per slot of a segment: the ends then take between a twenty-third and a forty-seventh.
    const KEYS_PER_SLOT: u64 = 70;
    /// One pair of keys in ten filters has all four slots in common if segments cubed are five times the keys.
    const NO_EQUAL_PLACES: u64 = 5;

    let ordinary = for_keys(keys)?;
    let shards = u64::from(ordinary.shards());
    if shards == 0 {
        return Ok(ordinary);
    }
    let keys = shard_keys(keys, shards);
    let long = (keys / KEYS_PER_SLOT).max(1).ilog2();
    let apart = (NO_EQUAL_PLACES * keys).next_power_of_two().trailing_zeros().div_ceil(3);
    let log2_segment = long.max(apart).min(MAX_LOG2_SEGMENT);
    let starts = (SLOTS.0 * keys).div_ceil(SLOTS.1 << log2_segment) << log2_segment;
    let compact = with_slots(shards, starts + (3 << log2_segment), log2_segment)?;
    Ok(if compact.shard_slots() < ordinary.shard_slots() { compact } else { ordinary })
}

/// Relative slack before rounding, so that the last bit of a logarithm cannot move a shape.
const ROUNDING_SLACK: f64 = 1e-12;

/// The shape of a later attempt: the first again for every other one, and half and double its segment in as many slots for
/// those between; from the sixteenth on with a thirty-second more slots each time.
pub(crate) fn for_attempt<const ARITY: usize>(shape: BinaryFuse<ARITY>, attempt: u32) -> BinaryFuse<ARITY> {
    const PATIENCE: u32 = 16;
    const MORE: u64 = 32;
    let slots = shape.shard_slots()
        + shape.shard_slots().div_ceil(MORE) * u64::from(attempt.saturating_sub(PATIENCE));
    let log2_segment = shape.segment().trailing_zeros();
    let log2_segment = match attempt % 4 {
        1 => log2_segment.saturating_sub(1),
        3 => (log2_segment + 1).min(MAX_LOG2_SEGMENT),
        _ => log2_segment,
    };
    with_slots(u64::from(shape.shards()), slots, log2_segment).unwrap_or(shape)
}

/// Keys of a shard, and what chance adds to one of them.
fn shard_keys(keys: u64, shards: u64) -> u64 {
    let mean = keys.div_ceil(shards);
    if shards == 1 { mean } else { mean + 2 * libm::sqrt(mean as f64) as u64 }
}

fn with_slots<const ARITY: usize>(
    shards: u64,
    slots: u64,
    log2_segment: u32,
) -> Result<BinaryFuse<ARITY>, Error> {
    if shards == 0 {
        return Ok(BinaryFuse::EMPTY);
    }
    let windows = slots.div_ceil(1 << log2_segment).saturating_sub(ARITY as u64 - 1).max(1);
    let (Ok(shards), Ok(windows)) = (u32::try_from(shards), u32::try_from(windows)) else {
        return Err(Error::Parameter {
            name: "slots",
            value: slots as f64,
            domain: "fewer than 2^32 shards, each for 2^22 keys",
        });
    };
    BinaryFuse::new(shards, windows, log2_segment)
}
