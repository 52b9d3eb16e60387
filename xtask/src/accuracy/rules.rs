//! Rules of thumb, tried.

use pds_bloom::{BloomFilter, BloomParams};
use pds_core::Merge;
use pds_hash::WyHasher;
use pds_hll::{HllParams, HyperLogLog};
use pds_testkit::{Cell, DistinctKeys, Experiment, Plot, Row, SplitMix64, laws};

pub(super) const BITS_PER_KEY: Experiment = Experiment {
    id: "rule-bits-per-key",
    table: Some("T15"),
    claim: "About 10 bits a key give about 1%, and 5 bits more about a tenth of the rate.",
    law: "wrong yeses against fill^k of those very filters by Chernoff's law.",
    cells: |scale| {
        let trials = scale.pick(2, 5, 50, 200);
        let cell = |bits: u64| Cell {
            index: bits,
            trials,
            inputs: vec![bits as f64, scale.pick(1e5, 2e5, 1e6, 1e7)],
        };
        [5, 8, 10, 15, 20].map(cell).into()
    },
    trial: |cell, seed| {
        let [bits, probes] = cell.inputs[..] else { return Vec::new() };
        let keys = DistinctKeys::new(seed);
        let mut filter = BloomFilter::new(shape(bits));
        for key in keys.range(0..KEYS) {
            filter.insert(&key);
        }
        let hits = keys.range(KEYS..KEYS + probes as u64).filter(|key| filter.contains(key)).count();
        vec![hits as f64, filter.estimated_fpr()]
    },
    rows: |cell, outcomes| {
        let [bits, probes] = cell.inputs[..] else { return Vec::new() };
        let hits: f64 = outcomes.iter().map(|outcome| outcome[0]).sum();
        let own = laws::mean(&outcomes.iter().map(|outcome| outcome[1]).collect::<Vec<_>>());
        let trials = probes as u64 * cell.trials;
        vec![
            Row::new()
                .count("bits/key", bits as u64)
                .count("k", u64::from(shape(bits).k()))
                .percent("predicted", shape(bits).fpr(KEYS), 3)
                .percent("measured", hits / trials as f64, 3)
                .percent("0.6185^(bits/key)", libm::pow(0.6185, bits), 3)
                .check("rate", laws::rate_is(hits as u64, trials, own)),
        ]
    },
    plot: Some(Plot {
        x: "bits/key",
        y: &["measured", "predicted"],
        series: None,
        log_x: false,
        log_y: true,
        x_label: "bits per key",
        y_label: "rate of false positives",
    }),
};

const KEYS: u64 = 100_000;

/// So many bits a key, and the best whole number of probes for them.
fn shape(bits: f64) -> BloomParams {
    let k = libm::round(bits * std::f64::consts::LN_2).max(1.0) as u32;
    BloomParams::with_shape(bits as u64 * KEYS, k).expect("a usual shape")
}

const PER_GROUP: u64 = 10_000;

pub(super) const GROUPS: Experiment = Experiment {
    id: "rule-groups",
    table: Some("T15"),
    claim: "The sum of groups' distinct counts overstates the distinct count of all; merged sketches do not.",
    law: "the merged estimate against the exact count: RMSE by the chi-square law.",
    cells: |scale| {
        let trials = scale.pick(10, 20, 500, 5000);
        [1, 2, 5, 10].map(|visits| Cell { index: visits, trials, inputs: vec![visits as f64] }).into()
    },
    trial: |cell, seed| {
        let groups = cell.index;
        // A pool as large as one group times two: groups overlap the more, the more there are.
        let pool = 2 * PER_GROUP;
        let keys = DistinctKeys::new(seed);
        let mut random = SplitMix64::new(seed);
        let params = HllParams::with_precision(14).expect("a usual precision");
        let mut all = HyperLogLog::new(params);
        let mut seen = vec![false; pool as usize];
        let (mut sum, mut failed) = (0.0, false);
        for _ in 0..groups {
            let mut group = HyperLogLog::new(params);
            for _ in 0..PER_GROUP {
                let member = random.below(pool);
                seen[member as usize] = true;
                group.insert(&keys.key(member));
            }
            sum += group.estimate();
            failed |= all.merge(&group).is_err();
        }
        let exact = seen.iter().filter(|&&seen| seen).count() as f64;
        vec![if failed { f64::NAN } else { all.estimate() / exact - 1.0 }, sum / exact, exact]
    },
    rows: |cell, outcomes| {
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let errors = column(0);
        let params = HllParams::with_precision(14).expect("a usual precision");
        let sigma = params.predicted_error(laws::mean(&column(2)) as u64);
        vec![
            Row::new()
                .count("groups", cell.index)
                .real("distinct over all", laws::mean(&column(2)), 5)
                .real("sum of the groups / distinct", laws::mean(&column(1)), 3)
                .percent("RMSE of the merged sketch (p = 14)", laws::rmse(&errors), 3)
                .percent("predicted", sigma, 3)
                .check("RMSE", laws::rmse_is(&errors, sigma)),
        ]
    },
    plot: None,
};

const FILTERS: u64 = 5;
const FILTER_KEYS: u64 = 10_000;

pub(super) const CHAINED: Experiment = Experiment {
    id: "rule-chained",
    table: Some("T15"),
    claim: "Five 1% filters with seeds of their own say yes independently; with one seed over one key set they are one filter.",
    law: "with distinct seeds, strangers taken by any filter and by the first two against the products of the filters' own \
          rates, by Chernoff's law; with a shared seed every filter says yes to the same strangers, in every trial.",
    cells: |scale| {
        let trials = scale.pick(2, 5, 50, 500);
        (0..2).map(|i| Cell { index: i, trials, inputs: vec![scale.pick(1e5, 2e5, 1e6, 1e6)] }).collect()
    },
    trial: |cell, seed| {
        let probes = cell.inputs[0] as u64;
        let keys = DistinctKeys::new(seed);
        let params = BloomParams::for_fpr(FILTER_KEYS, 0.01).expect("a usual shape");
        let filters: Vec<BloomFilter> = (0..FILTERS)
            .map(|i| {
                let hasher = WyHasher::with_seed(if cell.index == 0 { i + 1 } else { 1 });
                let mut filter = BloomFilter::with_hasher(params, hasher);
                filter.extend(keys.range(0..FILTER_KEYS));
                filter
            })
            .collect();
        let (mut any, mut two, mut all, mut sole) = (0.0, 0.0, 0.0, 0.0);
        for key in keys.range(FILTER_KEYS..FILTER_KEYS + probes) {
            let yes: Vec<bool> = filters.iter().map(|filter| filter.contains(&key)).collect();
            any += f64::from(u8::from(yes.contains(&true)));
            two += f64::from(u8::from(yes[0] && yes[1]));
            all += f64::from(u8::from(!yes.contains(&false)));
            sole += f64::from(u8::from(yes[0]));
        }
        let rates: Vec<f64> = filters.iter().map(BloomFilter::estimated_fpr).collect();
        let none: f64 = rates.iter().map(|rate| 1.0 - rate).product();
        vec![any, two, all, sole, 1.0 - none, rates[0] * rates[1]]
    },
    rows: |cell, outcomes| {
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let probes = cell.inputs[0] as u64 * cell.trials;
        let share = |i: usize| sum(i) as f64 / probes as f64;
        let row = Row::new()
            .text("seeds", ["distinct", "shared"][cell.index as usize])
            .percent("one filter says yes", share(3), 3)
            .percent("any of five", share(0), 3)
            .text("published, any", ["4.9 %", ""][cell.index as usize])
            .percent("both of two", share(1), 3)
            .percent("all of five", share(2), 3)
            .text("published, all", ["1e-8 %", ""][cell.index as usize]);
        vec![if cell.index == 0 {
            row.check("any", laws::rate_is(sum(0), probes, laws::mean(&column(4))))
                .check("two", laws::rate_is(sum(1), probes, laws::mean(&column(5))))
                .check("all", laws::rate_at_most(sum(2), probes, libm::pow(0.01, FILTERS as f64)))
        } else {
            row.check("the same strangers", laws::all_hold(sum(0) - sum(2), probes))
        }]
    },
    plot: None,
};

/// Visitors, and the share of them that bought.
const VISITORS: u64 = 100_000;
const CONVERSIONS: [f64; 3] = [0.5, 0.1, 0.02];

pub(super) const RATIO: Experiment = Experiment {
    id: "rule-ratio",
    table: Some("T15"),
    claim: "A ratio of two independent distinct counts errs by the root of the sum of the squares of their errors; where one set is part \
            of the other and both sketches hash alike, by no more, and by less the greater the part.",
    law: "buyers / visitors against the exact ratio, sketches with seeds of their own: RMSE by the chi-square law, with 2%, since a ratio is \
          skewed to second order; with one seed: at most as much, by the upper tail of the same law. The sketches themselves: by the chi-square \
          law.",
    cells: |scale| {
        let trials = scale.pick(20, 50, 1000, 10_000);
        let point = |i: usize| [CONVERSIONS[i % CONVERSIONS.len()], (i / CONVERSIONS.len()) as f64];
        Cell::numbered(trials, (0..2 * CONVERSIONS.len()).map(point))
    },
    trial: |cell, seed| {
        let [share, alike] = cell.inputs[..] else { return Vec::new() };
        let keys = DistinctKeys::new(seed);
        let buyers = (VISITORS as f64 * share) as u64;
        let estimate = |hasher, count: u64| {
            let mut sketch = HyperLogLog::with_hasher(ratio_params(), hasher);
            sketch.extend(keys.range(0..count));
            sketch.estimate() / count as f64
        };
        let visitors = estimate(WyHasher::with_seed(1), VISITORS);
        let buyers = estimate(WyHasher::with_seed(if alike == 1.0 { 1 } else { 2 }), buyers);
        vec![visitors - 1.0, buyers - 1.0, buyers / visitors - 1.0]
    },
    rows: |cell, outcomes| {
        const SKEWED: f64 = 0.02;
        let [share, alike] = cell.inputs[..] else { return Vec::new() };
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let buyers = (VISITORS as f64 * share) as u64;
        let [one, other] = [VISITORS, buyers].map(|count| ratio_params().predicted_error(count));
        let sigma = libm::sqrt(one * one + other * other);
        let ratio = column(2);
        let row = Row::new()
            .count("visitors", VISITORS)
            .count("buyers", buyers)
            .text("seeds", if alike == 1.0 { "one" } else { "distinct" })
            .percent("error of the visitors (p = 12)", laws::rmse(&column(0)), 3)
            .percent("error of the buyers", laws::rmse(&column(1)), 3)
            .percent("error of the ratio", laws::rmse(&ratio), 3)
            .percent("root of the sum of squares", sigma, 3)
            .check("visitors", laws::rmse_is(&column(0), one))
            .check("buyers", laws::rmse_is(&column(1), other));
        vec![if alike == 1.0 {
            row.check("ratio", laws::rmse_at_most(&ratio, sigma))
        } else {
            row.check("ratio", laws::rmse_is_within(&ratio, sigma, SKEWED))
        }]
    },
    plot: None,
};

fn ratio_params() -> HllParams {
    HllParams::with_precision(12).expect("a usual precision")
}
