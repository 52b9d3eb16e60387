//! Counts of the last while: windows, and decay.

use std::collections::HashMap;

use pds_cms::{
    ConservativeCountMin, CountMinParams, CountMinSketch, DecayingCountMin, DecayingCountMinParams, Pane,
    SlidingCountMin, SlidingCountMinParams, WyHasher,
};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, Zipf, laws};

const RANKS: u64 = 20_000;
const PANES: u32 = 6;
const PERIODS: u64 = 20;
const PER_PERIOD: usize = 10_000;

/// In as many periods another range of the keys is the frequent one.
const DRIFT: u64 = 500;

pub(super) const WINDOW: Experiment = Experiment {
    id: "count-min-window",
    table: None,
    claim: "A window's estimates are never below the count within it, never above those of one sketch of just these events, \
            and beyond eps times the window's total with a chance of at most delta.",
    law: "after each of 20 periods, of every key that ever occurred: none under-counted, nor above the one sketch where \
          panes are plain, and the share beyond the bound at most delta by Chernoff's law; the total is exact; what was \
          forgotten leaves nothing behind once all panes have passed. The stream drifts: which keys are frequent changes from period to period.",
    cells: |scale| {
        let trials = scale.pick(1, 4, 20, 200);
        Cell::numbered(trials, [[0.0], [1.0]])
    },
    trial: |cell, seed| {
        if cell.inputs[0] == 0.0 {
            windowed::<CountMinSketch>(seed)
        } else {
            windowed::<ConservativeCountMin>(seed)
        }
    },
    rows: |cell, outcomes| {
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>();
        let (keys, pane) = (sum(0) as u64, pane());
        let plain = cell.inputs[0] == 0.0;
        let row = Row::new()
            .text("panes", if plain { "count-min" } else { "conservative" })
            .text("w x d", format!("{PANES} of {} x {}", pane.width(), pane.depth()))
            .count("bound", pane.error_bound(u64::from(PANES) * PER_PERIOD as u64))
            .count("answers", keys)
            .real("mean over-count", sum(1) / keys as f64, 3)
            .real("of one sketch of the window", sum(6) / keys as f64, 3)
            .count("beyond the bound", sum(3) as u64)
            .check("never under", laws::all_hold(sum(2) as u64, keys))
            .check("delta", laws::rate_at_most(sum(3) as u64, keys, pane.delta()))
            .check("totals", laws::all_hold(sum(4) as u64, PERIODS * cell.trials))
            .check("nothing left behind", laws::all_hold(sum(7) as u64, keys));
        vec![if plain { row.check("not above one sketch", laws::all_hold(sum(5) as u64, keys)) } else { row }]
    },
    plot: None,
};

fn pane() -> CountMinParams {
    CountMinParams::for_error(0.002, 0.01).expect("usual targets")
}

fn windowed<S: Pane<Hasher = WyHasher>>(seed: u64) -> Vec<f64> {
    let params = SlidingCountMinParams::with_panes(pane(), PANES).expect("a usual window");
    // The keys of all trials are the same few: a hash function of its own makes them independent.
    let hasher = WyHasher::with_seed(seed);
    let mut window = SlidingCountMin::<S>::with_hasher(params, hasher);
    let keys = DistinctKeys::new(seed);
    let mut stream = Zipf::new(RANKS, 1.0, seed);
    let mut periods: Vec<HashMap<u64, u64>> = Vec::new();
    let mut ever: Vec<u64> = Vec::new();
    let mut outcome = vec![0.0; 8];
    for period in 0..PERIODS {
        if period > 0 {
            window.advance();
        }
        let mut counts = HashMap::new();
        for rank in stream.by_ref().take(PER_PERIOD) {
            let key = keys.key(rank + DRIFT * period);
            window.insert(&key);
            *counts.entry(key).or_default() += 1;
        }
        ever.extend(counts.keys());
        ever.sort_unstable();
        ever.dedup();
        periods.push(counts);
        let within = &periods[periods.len().saturating_sub(PANES as usize)..];
        let mut one = CountMinSketch::<u32>::with_hasher(pane(), hasher);
        within.iter().flatten().for_each(|(key, &count)| _ = one.insert_n(key, count));
        let bound = pane().error_bound(one.total());
        for key in &ever {
            let exact: u64 = within.iter().filter_map(|counts| counts.get(key)).sum();
            let estimate = window.estimate(key);
            outcome[1] += estimate.saturating_sub(exact) as f64;
            outcome[2] += indicator(estimate < exact);
            outcome[3] += indicator(estimate > exact + bound);
            outcome[5] += indicator(estimate > one.estimate(key));
            outcome[6] += one.estimate(key).saturating_sub(exact) as f64;
        }
        outcome[0] += ever.len() as f64;
        outcome[4] += indicator(window.total() != one.total());
    }
    window.advance_by(u64::from(PANES));
    outcome[7] = ever.iter().filter(|key| window.estimate(*key) > 0).count() as f64;
    outcome
}

fn indicator(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Events fall at whole times up to this, in any order.
const SPAN: u64 = 1000;
const DECAYING_EVENTS: usize = 100_000;

/// Of so many sums of rounded terms, in the sketch and in the exact counts.
const ROUNDING: f64 = 4.0 * DECAYING_EVENTS as f64 / 9_007_199_254_740_992.0;

/// Of a power of two, as the quotient of two weights.
const HALVING: f64 = 1.0 / (1u64 << 40) as f64;

pub(super) const DECAY: Experiment = Experiment {
    id: "count-min-decay",
    table: None,
    claim: "A decaying sketch halves every estimate after each half-life, and errs as a count-min sketch of the faded counts.",
    law: "of every key, for half-lives from a hundredth of the stream's time to ten times it: estimates a half-life, and fifty, \
          later are half, and 2^-50, of what they were, to within 2^-40 of it; none is below the exact faded count by \
          more than the rounding of its sums, 2^-53 a count; the share above it by more than eps times the faded total at most delta by Chernoff's law. Events \
          come in no order.",
    cells: |scale| {
        let trials = scale.pick(1, 4, 20, 200);
        Cell::numbered(trials, [[10.0], [100.0], [1000.0], [10_000.0]])
    },
    trial: |cell, seed| {
        let half_life = cell.inputs[0];
        let params = DecayingCountMinParams::with_half_life(pane(), half_life).expect("a usual half-life");
        let mut sketch = DecayingCountMin::with_hasher(params, WyHasher::with_seed(seed));
        let keys = DistinctKeys::new(seed);
        let mut times = pds_testkit::SplitMix64::new(seed);
        let now = SPAN as f64;
        let mut exact = vec![0.0; RANKS as usize + 1];
        for rank in Zipf::new(RANKS, 1.0, seed).take(DECAYING_EVENTS) {
            let time = times.below(SPAN) as f64;
            sketch.insert(&keys.key(rank), time).expect("a finite time");
            exact[rank as usize] += libm::exp2((time - now) / half_life);
        }
        let total: f64 = exact.iter().sum();
        let bound = pane().epsilon() * total;
        let ask = |rank: u64, later: f64| {
            sketch.estimate(&keys.key(rank), now + later * half_life).expect("a finite time")
        };
        let mut outcome = vec![0.0; 5];
        for (rank, &exact) in exact.iter().enumerate().skip(1).filter(|&(_, &exact)| exact > 0.0) {
            let rank = rank as u64;
            let estimate = ask(rank, 0.0);
            let halves =
                |later: i32| (libm::ldexp(ask(rank, f64::from(later)), later) / estimate - 1.0).abs();
            outcome[0] += 1.0;
            outcome[1] += estimate - exact;
            outcome[2] += indicator(estimate < exact * (1.0 - ROUNDING));
            outcome[3] += indicator(estimate > exact + bound);
            outcome[4] += indicator(!(halves(1) <= HALVING && halves(50) <= HALVING));
        }
        outcome.push(total);
        outcome
    },
    rows: |cell, outcomes| {
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>();
        let (keys, trials) = (sum(0) as u64, cell.trials as f64);
        vec![
            Row::new()
                .real("half-life, of a span of 1000", cell.inputs[0], 2)
                .real("faded total", sum(5) / trials, 4)
                .real("bound", pane().epsilon() * sum(5) / trials, 4)
                .real("mean over-count", sum(1) / keys as f64, 3)
                .count("answers", keys)
                .count("beyond the bound", sum(3) as u64)
                .check("never under", laws::all_hold(sum(2) as u64, keys))
                .check("delta", laws::rate_at_most(sum(3) as u64, keys, pane().delta()))
                .check("halves", laws::all_hold(sum(4) as u64, keys)),
        ]
    },
    plot: None,
};
