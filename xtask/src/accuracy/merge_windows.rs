//! Windows of time: hours that merge into days, weeks and months.

use pds_bloom::{BloomFilter, BloomParams};
use pds_core::{Merge, Sketch};
use pds_hash::{KeyHasher, WyHasher};
use pds_hll::{HllParams, HyperLogLog, UllParams, UltraLogLog};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, SplitMix64, laws, seed_for};

use super::ull::SLACK;

const HOURS_OF_A_DAY: u64 = 24;
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

/// Who came in an hour, as often as they came.
fn visitors(hour: u64, seed: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed_for("visitors", hour, seed));
    (0..visits(hour)).map(|_| random.below(PEOPLE)).collect()
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
        let visitors = visitors(hour, seed);
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

/// How filters of hours answer for a window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Every hour's filter is sized for the window; their or is one filter.
    Or,
    /// Every hour's filter is sized for the hour, at the window's rate, and each is asked.
    Each,
    /// The same, at the rate that adds up to the window's.
    EachAtItsShare,
}

const WAYS: [Way; 3] = [Way::Or, Way::Each, Way::EachAtItsShare];

/// The rate that the window is to have.
const WINDOW_FPR: f64 = 0.01;

/// Distinct visitors of a window at most: how many came, or everyone.
fn most(hours: u64) -> u64 {
    (0..hours).map(visits).sum::<u64>().min(PEOPLE)
}

pub(super) const FILTERS: Experiment = Experiment {
    id: "merge-window-filters",
    table: Some("T13"),
    claim: "Hourly Bloom filters become the filter of a day or a week by or, if each is sized for the whole window; filters that are sized \
            for their hours take a fraction of the bytes, but their rates add up and each of them has to be asked.",
    law: "wrong yeses to strangers by Chernoff's law: of the or, against its own rate; of filters that are asked one by one, against one less \
          the product of what their rates leave, as an upper bound, since hours with visitors in common have bits in common; but for the \
          second way, against 1% as an upper bound. No visitor is forgotten; the or has the bytes of one filter of the window, in every \
          trial. All go through their bytes.",
    cells: |scale| {
        let probes = scale.pick(10_000.0, 50_000.0, 200_000.0, 1e6);
        let point = |i: usize| {
            let hours = [HOURS_OF_A_DAY, HOURS_OF_A_WEEK][i / WAYS.len()];
            [hours as f64, (i % WAYS.len()) as f64, probes]
        };
        Cell::numbered(scale.pick(1, 2, 10, 50), (0..2 * WAYS.len()).map(point))
    },
    trial: |cell, seed| {
        let [hours, way, probes] = cell.inputs[..] else { return Vec::new() };
        let (hours, way) = (hours as u64, WAYS[way as usize]);
        let keys = DistinctKeys::new(seed);
        let hash = |person: u64| WyHasher::default().hash_key(&keys.key(person));
        let made: Vec<Vec<u8>> = (0..hours).map(|hour| hourly(way, hours, hour, seed, hash)).collect();
        let stored: usize = made.iter().map(Vec::len).sum();
        let mut seen = vec![false; PEOPLE as usize];
        for hour in 0..hours {
            for person in visitors(hour, seed) {
                seen[person as usize] = true;
            }
        }
        let came: Vec<u64> = (0..PEOPLE).filter(|&person| seen[person as usize]).collect();

        let mut filters: Vec<BloomFilter> =
            made.iter().map(|bytes| BloomFilter::from_bytes(bytes).expect("its own bytes")).collect();
        let mut unequal = false;
        if way == Way::Or {
            let mut merged = BloomFilter::new(shape(way, hours, 0));
            let mut whole = merged.clone();
            unequal |= filters.iter().any(|hour| merged.merge(hour).is_err());
            for &person in &came {
                whole.insert_hash(hash(person));
            }
            unequal |= merged.to_bytes() != whole.to_bytes();
            filters = vec![merged];
        }
        let answers = |person: u64| {
            let hash = hash(person);
            filters.iter().any(|filter| filter.contains_hash(hash))
        };
        let forgotten = came.iter().filter(|&&person| !answers(person)).count();
        let hits = (PEOPLE..PEOPLE + probes as u64).filter(|&person| answers(person)).count();
        let none: f64 = filters.iter().map(|filter| 1.0 - filter.estimated_fpr()).product();
        vec![
            stored as f64,
            filters.len() as f64,
            1.0 - none,
            hits as f64,
            forgotten as f64,
            came.len() as f64,
            f64::from(u8::from(unequal)),
        ]
    },
    rows: |cell, outcomes| {
        let [hours, way, probes] = cell.inputs[..] else { return Vec::new() };
        let way = WAYS[way as usize];
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let asked = probes as u64 * cell.trials;
        let own = laws::mean(&column(2));
        let sized = match way {
            Way::Or => "the window, 1%; or",
            Way::Each => "the hour, 1%; each is asked",
            Way::EachAtItsShare => "the hour, 1% / hours; each is asked",
        };
        let at_most = |rate| laws::rate_at_most(sum(3), asked, rate);
        let row = Row::new()
            .count("hours", hours as u64)
            .text("filters sized for", sized)
            .real("distinct in the window", laws::mean(&column(5)), 5)
            .count("bytes kept", column(0)[0] as u64)
            .count("filters asked", column(1)[0] as u64)
            .percent("own rate", own, 3)
            .percent("measured", sum(3) as f64 / asked as f64, 3)
            .check("no visitor forgotten", laws::all_hold(sum(4), sum(5)))
            .check("equal bytes", laws::all_hold(sum(6), cell.trials));
        vec![match way {
            Way::Or => {
                row.check("rate", laws::rate_is(sum(3), asked, own)).check("promise", at_most(WINDOW_FPR))
            }
            Way::Each => row.check("rate", at_most(own)),
            Way::EachAtItsShare => row.check("rate", at_most(own)).check("promise", at_most(WINDOW_FPR)),
        }]
    },
    plot: None,
};

/// The shape of an hour's filter.
fn shape(way: Way, hours: u64, hour: u64) -> BloomParams {
    let (keys, fpr) = match way {
        Way::Or => (most(hours), WINDOW_FPR),
        Way::Each => (visits(hour), WINDOW_FPR),
        Way::EachAtItsShare => (visits(hour), WINDOW_FPR / hours as f64),
    };
    BloomParams::for_fpr(keys, fpr).expect("usual targets")
}

/// The bytes of an hour's filter.
fn hourly(way: Way, hours: u64, hour: u64, seed: u64, hash: impl Fn(u64) -> u64) -> Vec<u8> {
    let mut filter = BloomFilter::new(shape(way, hours, hour));
    for person in visitors(hour, seed) {
        filter.insert_hash(hash(person));
    }
    filter.to_bytes()
}
