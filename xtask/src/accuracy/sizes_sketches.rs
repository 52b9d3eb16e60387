//! What sketches cost, from their parameters alone: distinct counts, frequencies, quantiles.

use pds_cms::{
    CountMinParams, CountMinSketch, DecayingCountMin, DecayingCountMinParams, MisraGries, MisraGriesParams,
    SlidingCountMin, SlidingCountMinParams, SpaceSaving, SpaceSavingParams, TopK, TopKParams,
};
use pds_hll::{HllParams, HyperLogLog, Sketch as _, UllParams, UltraLogLog};
use pds_quantiles::{DDSketch, DDSketchParams, KllParams, KllSketch, QuantileSketch, TDigest, TDigestParams};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, Values, laws};
use pds_theta::{ThetaParams, ThetaSketch};

pub(super) const DISTINCT: Experiment = Experiment {
    id: "sizes-distinct",
    table: None,
    claim: "What a distinct count takes, by the standard error that it has for many keys: precision and bytes.",
    law: "computed, from the parameters alone: the standard error that they state is at most the target, and that of the next \
          smaller size is above it. Bytes in memory are the most that a sketch of many keys allocates for registers or hashes, and \
          what one of four keys a register takes, to the byte; it is written in no more than the bytes that are stated.",
    cells: |_| Cell::numbered(1, [[0.1], [0.05], [0.035], [0.02], [0.01], [0.005], [0.0025]]),
    trial: |cell, seed| {
        let (hll, ull, theta) = counters(cell.inputs[0]);
        let stream = DistinctKeys::new(seed);
        let keys = |sizes: usize| stream.range(0..4 * sizes as u64);
        let (mut a, mut b, mut c) = (HyperLogLog::new(hll), UltraLogLog::new(ull), ThetaSketch::new(theta));
        a.extend(keys(hll.registers()));
        b.extend(keys(ull.registers()));
        c.extend(keys(theta.k()));
        [a.size_bytes(), a.to_bytes().len(), b.size_bytes(), b.to_bytes().len(), c.size_bytes()]
            .map(|bytes| bytes as f64)
            .into()
    },
    rows: |cell, outcomes| {
        let target = cell.inputs[0];
        let (hll, ull, theta) = counters(target);
        let [hll_bytes, hll_wire, ull_bytes, ull_wire, theta_bytes] = outcomes[0][..] else {
            return Vec::new();
        };
        let coarser = |error: Option<f64>| laws::at_least(error.unwrap_or(1.0), target);
        vec![
            Row::new()
                .percent("target", target, 3)
                .count("HyperLogLog: p", hll.precision().into())
                .percent("its error", hll.std_error(), 3)
                .count("bytes", hll.size_bytes() as u64)
                .count("written, at most", hll.max_wire_bytes() as u64)
                .count("UltraLogLog: p", ull.precision().into())
                .percent("error of it", ull.std_error(), 3)
                .count("bytes of it", ull.size_bytes() as u64)
                .count("it written, at most", ull.max_wire_bytes() as u64)
                .count("theta: k", theta.k() as u64)
                .percent("error of theta", theta.std_error(), 3)
                .count("bytes of theta", theta.size_bytes() as u64)
                .check("error", laws::at_most(hll.std_error(), target))
                .check("error", laws::at_most(ull.std_error(), target))
                .check("error", laws::at_most(theta.std_error(), target))
                .check(
                    "least",
                    coarser(HllParams::with_precision(hll.precision() - 1).ok().map(|p| p.std_error())),
                )
                .check(
                    "least",
                    coarser(UllParams::with_precision(ull.precision() - 1).ok().map(|p| p.std_error())),
                )
                .check("least", coarser(ThetaParams::with_lg_k(theta.lg_k() - 1).ok().map(|p| p.std_error())))
                .check("bytes", laws::equals(hll_bytes, hll.size_bytes() as f64))
                .check("bytes", laws::equals(ull_bytes, ull.size_bytes() as f64))
                .check("bytes", laws::equals(theta_bytes, theta.size_bytes() as f64))
                .check("written", laws::at_most(hll_wire, hll.max_wire_bytes() as f64))
                .check("written", laws::at_most(ull_wire, ull.max_wire_bytes() as f64)),
        ]
    },
    plot: None,
};

fn counters(target: f64) -> (HllParams, UllParams, ThetaParams) {
    (
        HllParams::for_error(target).expect("a usual target"),
        UllParams::for_error(target).expect("a usual target"),
        ThetaParams::for_error(target).expect("a usual target"),
    )
}

pub(super) const COUNTS: Experiment = Experiment {
    id: "sizes-counts",
    table: None,
    claim: "What counts take, by the error as a share of the total of all counts, and by the chance of a larger one.",
    law: "computed, from the parameters alone: eps and delta of the shape are at most those that were asked for (lists: the share \
          of the total that bounds are wide); sketches take the bytes that are stated, and lists of as many keys as they hold, \
          of 8 bytes each. Cells of 4 bytes, of 8 where counts decay; a window of 24 panes; a list of 100 keys with a sketch.",
    cells: |_| {
        let points =
            [0.01, 0.001, 0.0001].into_iter().flat_map(|eps| [0.01, 0.001].map(|delta| [eps, delta]));
        Cell::numbered(1, points)
    },
    trial: |cell, seed| {
        let Counts { table, sliding, decaying, saving, misra, top } = Counts::of(cell);
        let keys = || DistinctKeys::new(seed).range(0..u64::from(misra.capacity()));
        let (mut saved, mut cut, mut listed) =
            (SpaceSaving::<u64>::new(saving), MisraGries::<u64>::new(misra), TopK::<u64>::new(top));
        for key in keys() {
            saved.insert(&key);
            cut.insert(&key);
            listed.insert(&key);
        }
        [
            CountMinSketch::new(table).size_bytes(),
            SlidingCountMin::<CountMinSketch>::new(sliding).size_bytes(),
            DecayingCountMin::new(decaying).size_bytes(),
            saved.size_bytes(),
            cut.size_bytes(),
            listed.size_bytes(),
        ]
        .map(|bytes| bytes as f64)
        .into()
    },
    rows: |cell, outcomes| {
        let [eps, delta] = cell.inputs[..] else { return Vec::new() };
        let Counts { table, sliding, decaying, saving, misra, top } = Counts::of(cell);
        let stated = [
            table.size_bytes::<u32>(),
            sliding.size_bytes::<u32>(),
            decaying.size_bytes(),
            saving.size_bytes::<u64>(),
            misra.size_bytes::<u64>(),
            top.size_bytes::<u64>(),
        ];
        let [plain, window, decay, save, cut, list] = stated.map(|bytes| bytes as f64 / 1e3);
        let mut row = Row::new()
            .percent("eps", eps, 2)
            .percent("delta", delta, 2)
            .text("columns x rows", format!("{} x {}", table.width(), table.depth()))
            .real("count-min, plain or conservative: kB", plain, 4)
            .count("too high by at most, of 1,000,000 events", table.error_bound(1_000_000))
            .real("window: kB", window, 4)
            .real("decay: kB", decay, 4)
            .real("top 100: kB", list, 4)
            .count("SpaceSaving: counters", saving.capacity().into())
            .real("SpaceSaving: kB", save, 4)
            .count("Misra-Gries: counters", misra.capacity().into())
            .real("Misra-Gries: kB", cut, 4)
            .check("eps", laws::at_most(table.epsilon(), eps))
            .check("delta", laws::at_most(table.delta(), delta))
            .check("SpaceSaving", laws::at_most(saving.epsilon(), eps))
            .check("Misra-Gries", laws::at_most(misra.epsilon(), eps));
        for (built, stated) in outcomes[0].iter().zip(stated) {
            row = row.check("bytes", laws::equals(*built, stated as f64));
        }
        vec![row]
    },
    plot: None,
};

/// Keys of the list that stands beside a sketch.
const TOP: u32 = 100;

/// A day of hours.
const PANES: u32 = 24;

/// The parameters for one eps and delta; the half-life, 1, has no part in the price.
struct Counts {
    table: CountMinParams,
    sliding: SlidingCountMinParams,
    decaying: DecayingCountMinParams,
    saving: SpaceSavingParams,
    misra: MisraGriesParams,
    top: TopKParams,
}

impl Counts {
    fn of(cell: &Cell) -> Self {
        let (eps, delta) = (cell.inputs[0], cell.inputs[1]);
        let table = CountMinParams::for_error(eps, delta).expect("a usual target");
        Self {
            table,
            sliding: SlidingCountMinParams::with_panes(table, PANES).expect("a usual number"),
            decaying: DecayingCountMinParams::with_half_life(table, 1.0).expect("a usual time"),
            saving: SpaceSavingParams::for_phi(eps).expect("a usual share"),
            misra: MisraGriesParams::for_phi(eps).expect("a usual share"),
            top: TopKParams::with_sketch(TOP, table).expect("a usual list"),
        }
    }
}

pub(super) const QUANTILES: Experiment = Experiment {
    id: "sizes-quantiles",
    table: None,
    claim: "What quantiles take, by the error that is promised: at most, by the parameters alone, and for a million log-normal \
          values over some four orders of magnitude.",
    law: "no sketch takes more memory than its parameters state (DDSketch: for any values; KLL: for a million of 8 bytes; t-digest: \
          for any number). Bytes of the values' sketches, in memory and written, are measured. No error is promised of a t-digest.",
    cells: |scale| {
        let values = scale.pick(1e4, 1e5, 1e6, 1e6);
        Cell::numbered(1, (0..SUMMARIES.len()).map(|i| [i as f64, values]))
    },
    trial: |cell, seed| {
        let values = || VALUES.stream(seed).take(cell.inputs[1] as usize);
        let (memory, wire) = match SUMMARIES[cell.inputs[0] as usize] {
            Summary::Value(alpha) => filled(DDSketch::new(ddsketch(alpha)), values()),
            Summary::Rank(k) => filled(KllSketch::<f64>::with_seed(kll(k), seed), values()),
            Summary::Digest(compression) => filled(TDigest::new(digest(compression)), values()),
        };
        vec![memory as f64, wire as f64]
    },
    rows: |cell, outcomes| {
        let [memory, wire] = outcomes[0][..] else { return Vec::new() };
        let count = cell.inputs[1] as u64;
        let (row, most) = match SUMMARIES[cell.inputs[0] as usize] {
            Summary::Value(alpha) => (
                Row::new()
                    .text("sketch", format!("DDSketch, alpha = {alpha}"))
                    .text("error", "of the value")
                    .percent("promised", ddsketch(alpha).alpha(), 3),
                ddsketch(alpha).max_size_bytes(),
            ),
            Summary::Rank(k) => (
                Row::new().text("sketch", format!("KLL, k = {k}")).text("error", "of the rank").percent(
                    "promised",
                    kll(k).rank_error(),
                    3,
                ),
                kll(k).size_bytes::<f64>(count),
            ),
            Summary::Digest(compression) => (
                Row::new()
                    .text("sketch", format!("t-digest, compression {compression}"))
                    .text("error", "of the rank")
                    .missing("promised"),
                digest(compression).size_bytes(),
            ),
        };
        vec![
            row.count("bytes, at most", most as u64)
                .count("of these values", memory as u64)
                .count("written", wire as u64)
                .check("bytes", laws::at_most(memory, most as f64)),
        ]
    },
    plot: None,
};

/// Latencies, say: one standard deviation of the logarithm is a factor of e.
const VALUES: Values = Values::LogNormal { mu: 0.0, sigma: 1.0 };

enum Summary {
    Value(f64),
    Rank(u16),
    Digest(u32),
}

const SUMMARIES: [Summary; 11] = [
    Summary::Value(0.05),
    Summary::Value(0.02),
    Summary::Value(0.01),
    Summary::Value(0.005),
    Summary::Value(0.001),
    Summary::Rank(100),
    Summary::Rank(200),
    Summary::Rank(800),
    Summary::Digest(100),
    Summary::Digest(200),
    Summary::Digest(500),
];

/// Bytes of the sketch of these values, in memory and written.
fn filled<S: QuantileSketch + pds_quantiles::Sketch>(
    mut sketch: S,
    values: impl Iterator<Item = f64>,
) -> (usize, usize) {
    for value in values {
        sketch.insert(value);
    }
    (sketch.size_bytes(), sketch.to_bytes().len())
}

fn ddsketch(alpha: f64) -> DDSketchParams {
    DDSketchParams::for_accuracy(alpha).expect("a usual accuracy")
}

fn kll(k: u16) -> KllParams {
    KllParams::with_k(k).expect("a usual size")
}

fn digest(compression: u32) -> TDigestParams {
    TDigestParams::with_compression(compression).expect("a usual compression")
}
