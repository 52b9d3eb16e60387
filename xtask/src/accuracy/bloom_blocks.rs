//! Filters whose keys keep to a block, beside the classic one: rates, sizes, alarms.

use pds_bloom::SplitBlockParams;
use pds_testkit::{Cell, DistinctKeys, Experiment, Plot, Row, Scale, laws, seed_for};

use super::filters::{self, Found, LAYOUTS, Layout, Shape};

/// Keys of a filter where their number is not varied.
const KEYS: u64 = 100_000;

/// What was published as the rate of a filter that keeps to a cache line: bits per key, rate.
const PUBLISHED: [(f64, f64, &str); 2] = [(10.0, 0.009_57, "0.957 %"), (16.0, 0.001, "< 0.1 %")];

pub(super) const FPR: Experiment = Experiment {
    id: "blocked-fpr",
    table: Some("T3"),
    claim: "At equal bits a filter that reads one block per query has the rate that the uneven load of its \
          blocks gives, and a blocked filter the published one.",
    law: "mean fill against the expectation, and the mean of the filters' own rates, each averaged over its \
          blocks, against the prediction within 0.5%, by the normal law; wrong yeses against those own \
          rates by Chernoff's law, and, of the blocked filter, against the published rate as an upper \
          bound; no key is ever lost.",
    cells: |scale| {
        [8.0, 10.0, 12.0, 16.0, 20.0]
            .map(|bits| Cell {
                index: bits as u64,
                trials: scale.pick(2, 5, 20, 200),
                inputs: vec![bits, scale.pick(50_000.0, 200_000.0, 1e6, 1e7)],
            })
            .into()
    },
    trial: |cell, seed| {
        let stream = DistinctKeys::new(seed);
        let probes = cell.inputs[1] as u64;
        let each = LAYOUTS
            .map(|layout| filters::loaded(&mut *equal_bits(layout, cell).filter(), stream, KEYS, probes));
        each.concat()
    },
    rows: |cell, outcomes| {
        let [bits, probes] = cell.inputs[..] else { return Vec::new() };
        let of =
            |i: usize| (equal_bits(LAYOUTS[i], cell), Found::of(outcomes, COLUMNS * i, 1, probes as u64));
        let (classic, classic_found) = of(0);
        let row = |i: usize| {
            let (shape, found) = of(i);
            let published = PUBLISHED.iter().find(|&&(at, ..)| at == bits && LAYOUTS[i] == Layout::Blocked);
            let predicted = shape.fpr(KEYS);
            let row = Row::new()
                .count("bits/key", bits as u64)
                .text("layout", LAYOUTS[i].name())
                .count("k", u64::from(shape.k()))
                .percent("fill", found.fill, 4)
                .percent("predicted", predicted, 4)
                .percent("own rate", found.own_rate, 4)
                .percent("measured", found.rate(), 4)
                .real("price: predicted / classic", predicted / classic.fpr(KEYS), 4)
                .real("measured / classic", found.rate() / classic_found.rate(), 3);
            let row = match published {
                Some(&(.., text)) => row.text("published", text),
                None => row.missing("published"),
            };
            let row = found.judged_by_shape(row, &shape, KEYS);
            match published {
                Some(&(_, rate, _)) => row.check("published", found.at_most(rate)),
                None => row,
            }
        };
        (0..LAYOUTS.len()).map(row).collect()
    },
    plot: Some(Plot {
        x: "bits/key",
        y: &["measured"],
        series: Some("layout"),
        log_x: false,
        log_y: true,
        x_label: "bits per key",
        y_label: "rate of false positives",
    }),
};

/// Numbers that a loaded filter gives.
const COLUMNS: usize = 4;

fn equal_bits(layout: Layout, cell: &Cell) -> Shape {
    layout.for_bits(KEYS, cell.inputs[0] as u64 * KEYS).expect("a usual shape")
}

pub(super) const SWEEP: Experiment = Experiment {
    id: "bloom-sweep",
    table: None,
    claim: "A filter sized for n keys and a rate p keeps p, from one key to ten million and from a half to \
          one in a million, whatever its layout.",
    law: "the predicted rate is at most p; mean fill against the expectation, and, where its standard error \
          is at most 1%, the mean own rate against the prediction within 0.5%, by the normal law; wrong \
          yeses against the own rates, and against p, and what so few filters' mean own rate may be above \
          it, as an upper bound, by Chernoff's law; no key is ever lost.",
    cells: |scale| {
        let mut cells = Vec::new();
        let most = scale.pick(4, 5, 7, 8);
        for (i, &keys) in SWEEP_KEYS.iter().enumerate().take(most + 1) {
            // Many small filters or few large ones.
            let filters = libm::ceil(scale.pick(1e4, 1e5, 2e6, 1e7) / keys).min(2000.0);
            let trials = filters.min(10.0);
            let each = libm::ceil(filters / trials);
            let probes = match scale {
                // Where a rate of 1e-6 can be seen.
                Scale::Deep => 1e9,
                _ => scale.pick(2e4, 2e5, 2e6, 0.0),
            };
            for (j, &fpr) in SWEEP_RATES.iter().enumerate() {
                cells.push(Cell {
                    index: (10 * i + j) as u64,
                    trials: trials as u64,
                    inputs: vec![keys, fpr, each, libm::ceil(probes / (trials * each))],
                });
            }
        }
        cells
    },
    trial: |cell, seed| {
        let [keys, fpr, filters, probes] = cell.inputs[..] else { return Vec::new() };
        let mut sums = Vec::new();
        for layout in LAYOUTS {
            let shape = layout.for_fpr(keys as u64, fpr).expect("within reach");
            let mut sum = [0.0; COLUMNS];
            for i in 0..filters as u64 {
                let stream = DistinctKeys::new(seed_for("filter", i, seed));
                let of = filters::loaded(&mut *shape.filter(), stream, keys as u64, probes as u64);
                sum.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
            }
            sums.extend(sum);
        }
        sums
    },
    rows: |cell, outcomes| {
        let [keys, fpr, filters, probes] = cell.inputs[..] else { return Vec::new() };
        let of = |i: usize| {
            let shape = LAYOUTS[i].for_fpr(keys as u64, fpr).expect("within reach");
            (shape, Found::of(outcomes, COLUMNS * i, filters as u64, probes as u64))
        };
        let each = [of(0), of(1), of(2)];
        let mut row = Row::new()
            .count("keys", keys as u64)
            .percent("p", fpr, 3)
            .count("filters", filters as u64 * cell.trials);
        for (name, (shape, _)) in ["bits/key, classic", "split-block", "blocked"].into_iter().zip(&each) {
            row = row.real(name, shape.bits() as f64 / keys, 4);
        }
        let names = ["own rate / p, classic", "own / p, split-block", "own / p, blocked"];
        for (name, (_, found)) in names.into_iter().zip(&each) {
            row = row.real(name, found.own_rate / fpr, 3);
        }
        let names = ["measured / p, classic", "measured / p, split-block", "measured / p, blocked"];
        for (name, (_, found)) in names.into_iter().zip(&each) {
            // Too few wrong yeses to say a ratio.
            let seen = found.probes as f64 * fpr >= SEEN;
            row = if seen { row.real(name, found.rate() / fpr, 3) } else { row.missing(name) };
        }
        for (shape, found) in &each {
            row = found
                .judged_by_shape(row, shape, keys as u64)
                .check("promise", found.at_most_on_average(fpr, shape, keys as u64))
                .check("predicted at most p", laws::at_most(shape.fpr(keys as u64), fpr));
        }
        vec![row]
    },
    plot: None,
};

const SWEEP_KEYS: [f64; 9] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
const SWEEP_RATES: [f64; 6] = [0.5, 0.1, 0.01, 0.001, 1e-4, 1e-6];

/// Wrong yeses to expect where their ratio to what is expected is shown.
const SEEN: f64 = 100.0;

pub(super) const SPLIT_BLOCK_SIZING: Experiment = Experiment {
    id: "split-block-sizing",
    table: Some("T3"),
    claim: "A split-block filter that is sized by the classic formula for k = 8 breaks its promise; sized \
          by the law of uneven blocks it keeps it.",
    law: "as blocked-fpr, for both sizes, and wrong yeses against the target as an upper bound for ours; \
          the predicted rate of the naive size is above the target.",
    cells: |scale| {
        let probes = scale.pick(50_000.0, 200_000.0, 1e6, 1e7);
        let rates = [0.1, 0.01, 0.001, 1e-4, 1e-5];
        Cell::numbered(scale.pick(2, 5, 20, 200), rates.map(|fpr| [fpr, probes]))
    },
    trial: |cell, seed| {
        let [fpr, probes] = cell.inputs[..] else { return Vec::new() };
        let stream = DistinctKeys::new(seed);
        let ours = Layout::SplitBlock.for_fpr(KEYS, fpr).expect("a usual target");
        [naive(fpr), ours]
            .map(|shape| filters::loaded(&mut *shape.filter(), stream, KEYS, probes as u64))
            .concat()
    },
    rows: |cell, outcomes| {
        let [fpr, probes] = cell.inputs[..] else { return Vec::new() };
        let [classic, ours, blocked] =
            LAYOUTS.map(|layout| layout.for_fpr(KEYS, fpr).expect("a usual target"));
        let naive = naive(fpr);
        let per_key = |shape: &Shape| shape.bits() as f64 / KEYS as f64;
        let [naive_found, found] = [0, 1].map(|i| Found::of(outcomes, COLUMNS * i, 1, probes as u64));
        let row = Row::new()
            .percent("target", fpr, 3)
            .real("naive bits/key", per_key(&naive), 4)
            .percent("naive predicted", naive.fpr(KEYS), 4)
            .percent("naive measured", naive_found.rate(), 3)
            .real("naive / target", naive.fpr(KEYS) / fpr, 3)
            .real("split-block", per_key(&ours), 4)
            .percent("predicted", ours.fpr(KEYS), 4)
            .percent("measured", found.rate(), 3)
            .real("blocked", per_key(&blocked), 4)
            .count("k of blocked", u64::from(blocked.k()))
            .real("classic", per_key(&classic), 4);
        let row = naive_found.judged_by_shape(row, &naive, KEYS);
        let row = found.judged_by_shape(row, &ours, KEYS);
        vec![
            row.check("promise", found.at_most(fpr))
                .check("naive breaks it", laws::at_least(naive.fpr(KEYS), fpr)),
        ]
    },
    plot: Some(Plot {
        x: "target",
        y: &["split-block", "blocked", "classic"],
        series: None,
        log_x: true,
        log_y: false,
        x_label: "rate of false positives",
        y_label: "bits per key",
    }),
};

/// The classic formula for k = 8: -8 / ln(1 - p^(1/8)) bits a key, as if every block had equally many.
fn naive(fpr: f64) -> Shape {
    let bits = -8.0 / libm::log1p(-libm::pow(fpr, 1.0 / 8.0)) * KEYS as f64;
    Shape::SplitBlock(SplitBlockParams::with_shape(libm::ceil(bits / 256.0) as u64).expect("a usual shape"))
}

pub(super) const ALARM: Experiment = Experiment {
    id: "blocked-alarm",
    table: None,
    claim: "Blocked and split-block filters know how many keys they hold, and ring where the fill is 6 \
          standard deviations above that of the design load.",
    law: "estimated keys against those inserted, by the normal law within 0.01%; shares of filters that \
          ring, loaded to a mean fill so many deviations above that of the design load: at 0 at most 1e-9, \
          at 3 at most 2%, at 6 a quarter to three quarters, at 9 at least 98%, by Chernoff's law.",
    cells: |scale| {
        let trials = scale.pick(50, 200, 2000, 20_000);
        let loads = [(0.0, 0.0, 1e-9), (3.0, 0.0, 0.02), (6.0, 0.25, 0.75), (9.0, 0.98, 1.0)];
        let mut cells = Vec::new();
        for (layout, &blocks) in LAYOUTS.iter().enumerate().skip(1) {
            for (i, (z, low, high)) in loads.into_iter().enumerate() {
                let index = (10 * layout + i) as u64;
                let (_, keys) = alarm_load(blocks, z);
                cells.push(Cell { index, trials, inputs: vec![layout as f64, z, low, high, keys as f64] });
            }
        }
        cells
    },
    trial: |cell, seed| {
        let shape = LAYOUTS[cell.inputs[0] as usize].for_fpr(ALARM_KEYS, 0.01).expect("a usual target");
        let keys = cell.inputs[4] as u64;
        let mut filter = shape.filter();
        filters::insert(&mut *filter, DistinctKeys::new(seed).range(0..keys));
        let estimate = filter.estimated_len() / keys as f64 - 1.0;
        vec![f64::from(u8::from(filter.is_saturated())), filter.fill_ratio(), estimate]
    },
    rows: |cell, outcomes| {
        let [layout, z, low, high, keys] = cell.inputs[..] else { return Vec::new() };
        let layout = LAYOUTS[layout as usize];
        let shape = layout.for_fpr(ALARM_KEYS, 0.01).expect("a usual target");
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let alarms = column(0).iter().sum::<f64>() as u64;
        let (expected, sigma) = (shape.fill(keys as u64), shape.fill_sigma(keys as u64));
        let (fill, errors) = (laws::mean(&column(1)), column(2));
        // Keys vary with the fill as d keys / d fill.
        let step = keys as u64 / 100;
        let slope = step as f64 / (shape.fill(keys as u64 + step) - shape.fill(keys as u64 - step)) * 2.0;
        let spread = sigma * slope / keys;
        vec![
            Row::new()
                .text("layout", layout.name())
                .real("deviations above the design fill", z, 1)
                .count("keys (sized for 10,000 at 1%)", keys as u64)
                .percent("fill", fill, 4)
                .percent("expected fill", expected, 4)
                .real("estimated keys / keys", 1.0 + laws::mean(&errors), 6)
                .percent("its deviation", laws::rmse(&errors), 3)
                .percent("predicted deviation", spread, 3)
                .percent("share saturated", alarms as f64 / cell.trials as f64, 3)
                .check("fill", laws::bias_is_zero(fill - expected, sigma, cell.trials, 0.0))
                .check(
                    "estimated keys",
                    laws::bias_is_zero(laws::mean(&errors), spread, cell.trials, ESTIMATE_CURVATURE),
                )
                .check("its deviation", laws::rmse_is_within(&errors, spread, SPREAD))
                .check("not too late", laws::rate_at_least(alarms, cell.trials, low))
                .check("not too soon", laws::rate_at_most(alarms, cell.trials, high)),
        ]
    },
    plot: None,
};

const ALARM_KEYS: u64 = 10_000;

/// The estimate is a convex function of the fill: its bias is of the order of 1/m, some 1e-5 here.
const ESTIMATE_CURVATURE: f64 = 1e-4;

/// What the predicted deviation may be off: it is of leading order in the number of blocks, a few hundred.
const SPREAD: f64 = 0.02;

/// A shape for 10,000 keys at 1%, and as many keys as bring its mean fill so many deviations above that of the most keys
/// whose rate is at most 1%.
fn alarm_load(layout: Layout, deviations: f64) -> (Shape, u64) {
    let shape = layout.for_fpr(ALARM_KEYS, 0.01).expect("a usual target");
    let design = most(|keys| shape.fpr(keys) <= 0.01);
    let fill = shape.fill(design) + deviations * shape.fill_sigma(design);
    (shape, most(|keys| shape.fill(keys) <= fill))
}

/// The most keys, up to some, that are good; with fewer it is good too.
fn most(good: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, 4 * ALARM_KEYS);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if good(middle) { low = middle } else { high = middle }
    }
    low
}
