//! Merging: shards of a stream, hours of a month.

use pds_bloom::{BloomFilter, BloomParams};
use pds_cms::{CountMinParams, CountMinSketch};
use pds_core::{Merge, Sketch};
use pds_hash::{KeyHasher, WyHasher, route};
use pds_hll::{HllParams, HyperLogLog, UllParams, UltraLogLog};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, SplitMix64, Zipf, laws, seed_for};

use super::ull::SLACK;

pub(super) const SHARDS: u32 = 4;
const EVENTS: usize = 1_200_000;
const RANKS: u64 = 300_000;

pub(super) const SHARD_BYTES: Experiment = Experiment {
    id: "merge-shards",
    table: Some("T13"),
    claim: "Four shards of a stream of 1.2 million events merge to the whole stream's sketch, byte for byte.",
    law: "bytes are equal in every trial, for shards by key and for shards by turn, merged in both orders.",
    cells: |scale| {
        let trials = scale.pick(1, 1, 5, 50);
        (0..3).map(|i| Cell { index: i, trials, inputs: vec![i as f64] }).collect()
    },
    trial: |cell, seed| {
        let events: Vec<u64> = Zipf::new(RANKS, 1.0, seed).take(EVENTS).collect();
        match cell.index {
            0 => {
                let params = HllParams::with_precision(12).expect("a usual precision");
                shards_merge(&events, || HyperLogLog::new(params), |sketch, key| sketch.insert(&key))
            }
            1 => {
                let params = CountMinParams::for_error(0.001, 0.01).expect("usual targets");
                shards_merge(
                    &events,
                    || CountMinSketch::<u32>::new(params),
                    |sketch, key| sketch.insert(&key),
                )
            }
            _ => {
                let params = BloomParams::for_fpr(RANKS, 0.01).expect("usual targets");
                shards_merge(&events, || BloomFilter::new(params), |sketch, key| sketch.insert(&key))
            }
        }
    },
    rows: |cell, outcomes| {
        let names = ["HyperLogLog, p = 12", "count-min, 0.1% at 1%", "Bloom filter, 1%"];
        let unequal: f64 = outcomes.iter().map(|outcome| outcome[0]).sum();
        let merges = 4 * cell.trials;
        vec![
            Row::new()
                .text("sketch", names[cell.index as usize])
                .count("shards", u64::from(SHARDS))
                .count("events", EVENTS as u64)
                .count("bytes of one", outcomes[0][1] as u64)
                .count("merges compared", merges)
                .count("unequal", unequal as u64)
                .check("equal bytes", laws::all_hold(unequal as u64, merges)),
        ]
    },
    plot: None,
};

/// As [`merges`], for sketches of which each takes in its own events.
pub(super) fn shards_merge<S: Sketch + Merge + Clone>(
    events: &[u64],
    new: impl Fn() -> S,
    insert: impl Fn(&mut S, u64) -> bool,
) -> Vec<f64> {
    merges(|number, shard_of| {
        let mut shards = vec![new(); number];
        for (turn, &key) in events.iter().enumerate() {
            insert(&mut shards[shard_of(turn, key) as usize], key);
        }
        shards
    })
}

/// The shard of the event of a turn and its key.
type ShardOf<'a> = &'a dyn Fn(usize, u64) -> u32;

/// How many of four ways of sharding and merging miss the whole stream's bytes, and how many bytes there are. `fill` divides the
/// stream among so many sketches; the last of many is given none, and merging begins with it.
pub(super) fn merges<S: Sketch + Merge + Clone>(fill: impl Fn(usize, ShardOf) -> Vec<S>) -> Vec<f64> {
    let whole = fill(1, &|_, _| 0)[0].to_bytes();
    let by_key = |_: usize, key: u64| route(WyHasher::default().hash_key(&key), SHARDS);
    let by_turn = |turn: usize, _: u64| turn as u32 % SHARDS;
    let mut unequal = 0;
    for shard_of in [&by_key as ShardOf, &by_turn] {
        let mut shards = fill(SHARDS as usize + 1, shard_of);
        let empty = shards.pop().expect("one more than is filled");
        for _ in 0..2 {
            shards.reverse();
            let mut merged = empty.clone();
            let done = shards.iter().all(|shard| merged.merge(shard).is_ok());
            unequal += u32::from(!done || merged.to_bytes() != whole);
        }
    }
    vec![f64::from(unequal), whole.len() as f64]
}

const HOURS_OF_A_WEEK: u64 = 168;
const HOURS_OF_A_MONTH: u64 = 720;
/// Visitors in an hour of the night, of the day and of the evening, drawn from so many people; a person comes back. Few are counted
/// one by one, many by registers, and hours of both kinds merge.
const VISITS: [u64; 3] = [400, 2000, 5200];
const PEOPLE: u64 = 100_000;

/// Eight hours of the night, twelve of the day, four of the evening.
fn visits(hour: u64) -> u64 {
    match hour % 24 {
        0..8 => VISITS[0],
        8..20 => VISITS[1],
        _ => VISITS[2],
    }
}

pub(super) const HOURS: Experiment = Experiment {
    id: "merge-hours",
    table: Some("T13"),
    claim: "Hourly distinct counts merge into a week and a month: the bytes of the hours are read, not their visitors.",
    law: "the merged estimate against the exact distinct count of the window: RMSE by the chi-square law, with 2% for UltraLogLog; \
          the merged bytes equal those of the whole window's sketch in every trial; bytes read at most those of registers.",
    cells: |scale| {
        let trials = scale.pick(3, 10, 100, 1000);
        let windows = [
            (HLL, 12.0, HOURS_OF_A_WEEK),
            (HLL, 12.0, HOURS_OF_A_MONTH),
            (HLL, 14.0, HOURS_OF_A_WEEK),
            (HLL, 14.0, HOURS_OF_A_MONTH),
            (ULL, 12.0, HOURS_OF_A_WEEK),
            (ULL, 14.0, HOURS_OF_A_WEEK),
        ];
        Cell::numbered(trials, windows.map(|(sketch, p, hours)| [sketch as f64, p, hours as f64]))
    },
    trial: |cell, seed| {
        let [sketch, precision, hours] = cell.inputs[..] else { return Vec::new() };
        let hours = hours as u64;
        if sketch as usize == HLL {
            let params = HllParams::with_precision(precision as u8).expect("a usual precision");
            window(hours, seed, || HyperLogLog::new(params), HyperLogLog::estimate)
        } else {
            let params = UllParams::with_precision(precision as u8).expect("a usual precision");
            window(hours, seed, || UltraLogLog::new(params), UltraLogLog::estimate)
        }
    },
    rows: |cell, outcomes| {
        let [sketch, precision, hours] = cell.inputs[..] else { return Vec::new() };
        let sketch = sketch as usize;
        let params = UllParams::with_precision(precision as u8).expect("a usual precision");
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let errors = column(0);
        let failures: f64 = column(1).iter().sum();
        let distinct = laws::mean(&column(4)) as u64;
        let sigma =
            [HllParams::from(params).predicted_error(distinct), params.predicted_error(distinct)][sketch];
        let registers = params.registers() as f64 * [0.75, 1.0][sketch] * hours;
        let read = column(2)[0];
        vec![
            Row::new()
                .text("sketch", ["HyperLogLog", "UltraLogLog"][sketch])
                .count("p", precision as u64)
                .count("hours", hours as u64)
                .count("bytes of registers", registers as u64)
                .count("bytes read", read as u64)
                .real("distinct in the window", laws::mean(&column(4)), 5)
                .percent("RMSE", laws::rmse(&errors), 3)
                .percent("predicted", sigma, 3)
                .real("sum of the hours / distinct", laws::mean(&column(3)), 3)
                .check("equal bytes", laws::all_hold(failures as u64, cell.trials))
                .check("RMSE", laws::rmse_is_within(&errors, sigma, [0.0, SLACK][sketch]))
                .check("bytes read", laws::at_most(read, registers)),
        ]
    },
    plot: None,
};

/// Sketches of the table.
const HLL: usize = 0;
const ULL: usize = 1;

/// The relative error of a window merged from the bytes of its hours, whether it is not what one sketch would have made of all, the
/// bytes read, the sum of the hours and the true count.
fn window<S: Sketch<Hasher = WyHasher> + Merge + Extend<u64>>(
    hours: u64,
    seed: u64,
    new: impl Fn() -> S,
    estimate: impl Fn(&S) -> f64,
) -> Vec<f64> {
    let keys = DistinctKeys::new(seed);
    let mut seen = vec![false; PEOPLE as usize];
    let (mut window, mut whole) = (new(), new());
    let mut failed = false;
    let (mut read, mut sum) = (0, 0.0);
    for hour in 0..hours {
        let mut random = SplitMix64::new(seed_for("visitors", hour, seed));
        let visitors: Vec<u64> = (0..visits(hour)).map(|_| random.below(PEOPLE)).collect();
        let mut sketch = new();
        sketch.extend(visitors.iter().map(|&person| keys.key(person)));
        whole.extend(visitors.iter().map(|&person| keys.key(person)));
        for &person in &visitors {
            seen[person as usize] = true;
        }
        sum += estimate(&sketch);
        let bytes = sketch.to_bytes();
        read += bytes.len();
        failed |= S::from_bytes(&bytes).and_then(|hour| window.merge(&hour)).is_err();
    }
    let exact = seen.iter().filter(|&&seen| seen).count() as f64;
    failed |= window.to_bytes() != whole.to_bytes();
    vec![estimate(&window) / exact - 1.0, f64::from(u8::from(failed)), read as f64, sum / exact, exact]
}
