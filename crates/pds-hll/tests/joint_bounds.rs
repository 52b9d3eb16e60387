//! How often the bounds of a comparison hold the truth, where they are hardest: where the registers tell little or nothing,
//! where two precisions or forms meet, and next to the limit of what is counted one by one.

use pds_hll::Joint;
use pds_hll::prelude::*;
use pds_testkit::{DistinctKeys, laws, seed_for};

/// Of a normal error within 1, 2 and 3 standard deviations.
const NOMINAL: [f64; 3] = [0.6827, 0.9545, 0.9973];

/// What errors that are not normal may take away: low precisions, parts of a few keys.
const SHAPE: f64 = 0.05;

const NAMES: [&str; 5] = ["intersection", "left alone", "right alone", "union", "jaccard"];

/// Keys alone on the left, alone on the right, in both.
type Sets = [u64; 3];

fn sketches([left, right, both]: Sets, precisions: [u8; 2], seed: u64) -> [HyperLogLog; 2] {
    let keys = DistinctKeys::new(seed);
    let [mut one, mut two] =
        precisions.map(|p| HyperLogLog::new(HllParams::with_precision(p).expect("4 to 18")));
    one.extend(keys.range(0..left + both));
    two.extend(keys.range(left..left + both + right));
    [one, two]
}

/// Whether the bounds hold the true numbers, once widened to whole keys.
fn inside(joint: &Joint, sets: Sets, kappa: f64) -> [bool; 5] {
    let [left, right, both] = sets.map(|keys| keys as f64);
    let union = left + right + both;
    // A similarity in terms of keys of the union.
    let (low, high) = joint.jaccard().bounds(kappa);
    let in_keys = (low * union, high * union);
    let parts = [joint.intersection(), joint.left_only(), joint.right_only(), joint.union()];
    let [one, two, three, four] = parts.map(|part| part.bounds(kappa));
    let bounds = [(one, both), (two, left), (three, right), (four, union), (in_keys, both)];
    bounds.map(|((low, high), truth)| low.floor() <= truth && truth <= high.ceil())
}

fn bounds_hold(name: &str, trials: u64, cells: &[(Sets, [u8; 2])]) {
    for (cell, &(sets, precisions)) in (0..).zip(cells) {
        let mut hits = [[0u64; 3]; 5];
        for trial in 0..trials {
            let [left, right] = sketches(sets, precisions, seed_for(name, cell, trial));
            let joint = left.joint(&right).expect("one hasher");
            for (index, kappa) in [1.0, 2.0, 3.0].into_iter().enumerate() {
                for (hits, inside) in hits.iter_mut().zip(inside(&joint, sets, kappa)) {
                    hits[index] += u64::from(inside);
                }
            }
        }
        for (part, hits) in NAMES.into_iter().zip(hits) {
            for ((hits, nominal), kappa) in hits.into_iter().zip(NOMINAL).zip(1..) {
                laws::rate_at_least(hits, trials, nominal - SHAPE)
                    .assert(&format!("{name}: {sets:?}, p = {precisions:?}: {part} within {kappa}"));
            }
        }
    }
}

/// Few keys against so many that most registers of theirs are higher: none, some or all of the few may be common.
#[test]
fn bounds_hold_all_that_is_possible() {
    bounds_hold(
        "joint-flat",
        300,
        &[
            ([30_000, 0, 25], [6, 6]),
            ([30_000, 25, 0], [6, 6]),
            ([30_000, 12, 13], [6, 6]),
            ([50_000, 0, 60], [8, 8]),
            ([50_000, 60, 0], [8, 8]),
            ([0, 30_000, 60], [8, 8]),
            ([50_000, 5, 0], [10, 10]),
        ],
    );
}

#[test]
fn bounds_hold_between_precisions_and_forms() {
    bounds_hold(
        "joint-mixed",
        300,
        &[
            ([20_000, 0, 20], [12, 4]),
            ([20_000, 20, 0], [12, 4]),
            ([500, 0, 500], [4, 12]),
            ([1000, 500, 0], [4, 12]),
            ([10_000, 3000, 0], [18, 4]),
            ([5000, 5000, 5000], [14, 10]),
            ([5000, 5000, 5000], [10, 9]),
            ([100, 100, 10_000], [18, 10]),
            ([100, 100, 10_000], [10, 10]),
            ([100, 0, 10_000], [10, 10]),
            ([100, 10, 10_000], [8, 8]),
            ([100, 0, 10_000], [10, 18]),
            ([10, 0, 10_000], [18, 12]),
            ([10_000, 20_000, 500], [10, 18]),
        ],
    );
}

/// Keys that share their 32 bits with another count where a comparison is of tokens, too.
#[test]
fn bounds_hold_for_keys_counted_one_by_one() {
    bounds_hold(
        "joint-tokens",
        100,
        &[
            ([40_000, 40_000, 0], [18, 18]),
            ([44_999, 999, 1], [18, 18]),
            ([40_000, 40_000, 1000], [18, 18]),
            ([5000, 0, 40_000], [18, 18]),
        ],
    );
}

/// A sketch that knows nothing leaves the other one what it knows.
#[test]
fn bounds_hold_against_a_saturated_sketch() {
    const TRIALS: u64 = 300;
    let mut full = HyperLogLog::new(HllParams::with_precision(8).unwrap());
    full.insert_batch(&(0..256).collect::<Vec<u64>>());
    let mut hits = [[0u64; 3]; 2];
    for trial in 0..TRIALS {
        let [left, _] = sketches([3000, 0, 0], [8, 8], seed_for("joint-saturated", 0, trial));
        let joint = left.joint(&full).unwrap();
        for (index, kappa) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            // All of the left set may be in both.
            hits[0][index] += u64::from(joint.intersection().bounds(kappa).1 >= 3000.0);
            hits[1][index] += u64::from(joint.union().bounds(kappa).0 <= 3000.0);
            assert_eq!(joint.union().bounds(kappa).0.to_bits(), left.bounds(kappa).0.max(256.0).to_bits());
        }
    }
    for (hits, kappa) in hits.into_iter().zip(["upper", "lower"]) {
        for (hits, nominal) in hits.into_iter().zip(NOMINAL) {
            laws::rate_at_least(hits, TRIALS, nominal - SHAPE).assert(kappa);
        }
    }
}

/// Unions just above the limit are of registers, also where their estimate is below it.
#[test]
fn bounds_of_the_difference_hold_next_to_the_limit() {
    const TRIALS: u64 = 500;
    for (cell, (sets, precision)) in (0..).zip([
        ([146, 46, 0], 10),
        ([142, 48, 2], 10),
        ([149, 43, 1], 10),
        ([146, 46, 4], 10),
        ([700, 70, 0], 12),
        ([670, 68, 30], 12),
        ([670, 70, 30], 12),
        ([38, 10, 2], 8),
    ]) {
        let mut hits = [0u64; 3];
        for trial in 0..TRIALS {
            let [left, right] = sketches(sets, [precision; 2], seed_for("difference-limit", cell, trial));
            for (hits, kappa) in hits.iter_mut().zip([1.0, 2.0, 3.0]) {
                let difference = left.inclusion_exclusion(&right, kappa).unwrap();
                let truth = sets[2] as f64;
                *hits += u64::from(difference.lower.floor() <= truth && truth <= difference.upper.ceil());
            }
        }
        for ((hits, nominal), kappa) in hits.into_iter().zip(NOMINAL).zip(1..) {
            laws::rate_at_least(hits, TRIALS, nominal).assert(&format!("{sets:?}, p = {precision}, {kappa}"));
        }
    }
}
