//! Building static filters: whether it ever fails, at any size.

use pds_static_filters::{BinaryFuseParams8, BinaryFuseParams8x4};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, laws};

use super::static_filters::{Kind, hashes};

pub(super) const SMALL: Experiment = Experiment {
    id: "static-builds",
    table: Some("T6"),
    claim: "Every set of up to 2,000 keys has its filter: no build fails, and no member is denied.",
    law: "no failed build and no member denied, of all. Each key set of a row is another one, at each of the row's \
          sizes.",
    cells: |scale| {
        let mut cells = Vec::new();
        for (i, _) in SMALL_KINDS.iter().enumerate() {
            let mut cell = |j, low, high, trials| {
                let index = 10 * i as u64 + j;
                cells.push(Cell { index, trials, inputs: vec![i as f64, low, high] });
            };
            cell(0, 0.0, 40.0, scale.pick(20, 200, 10_000, 100_000));
            // What smoke leaves out of the grid, the crate's own tests try.
            cell(1, 0.0, scale.pick(200.0, SMALL_SIZES, SMALL_SIZES, SMALL_SIZES), scale.pick(1, 1, 20, 200));
        }
        cells
    },
    trial: |cell, seed| {
        let [kind, low, high] = cell.inputs[..] else { return Vec::new() };
        let sizes = low as u64..=high as u64;
        Builds::of(SMALL_KINDS[kind as usize], sizes, seed).into()
    },
    rows: |cell, outcomes| {
        let [kind, low, high] = cell.inputs[..] else { return Vec::new() };
        let sizes = format!("each of {low} to {high}");
        vec![judged(SMALL_KINDS[kind as usize], sizes, cell, outcomes)]
    },
    plot: None,
};

/// Sizes that are all tried.
const SMALL_SIZES: f64 = 2000.0;

const SMALL_KINDS: [Kind; 5] = [Kind::Xor8, Kind::Fuse8, Kind::Fuse8x4, Kind::Compact8, Kind::Ribbon(8)];

pub(super) const PLATEAUS: Experiment = Experiment {
    id: "static-plateaus",
    table: Some("T6"),
    claim: "Sizes at which the shape changes are no worse than others: from the last size with shorter segments to the \
          first with longer ones, and on a grid between, no build fails up to 2 million keys.",
    law: "no failed build and no member denied, of all. How many seeds a build needed is shown, and not judged.",
    cells: |scale| {
        let most = scale.pick(3e3, 5e4, 2e6, 2e6);
        let effort = scale.pick(2e5, 1e6, 6e6, 4e8);
        let mut cells = Vec::new();
        for (i, &kind) in PEELED.iter().enumerate() {
            let edges = edges(kind);
            for (j, &edge) in edges.iter().enumerate() {
                // A thousand key sets where they are small; then so many that all together have as many keys.
                let sets = |keys: f64, effort: f64, most: f64| {
                    let fewer = if keys <= MANY_SETS { most } else { most.min(effort / keys) };
                    libm::floor(fewer).max(1.0) as u64
                };
                let (edge, next) = (edge as f64, edges.get(j + 1).map_or(2e6, |&next| next as f64));
                let mut cell = |part, step, low: f64, high: f64, trials| {
                    // The other experiment has every size up to there.
                    if high <= most && (step == EACH || high > SMALL_SIZES) {
                        let index = 1000 * i as u64 + 10 * j as u64 + part;
                        cells.push(Cell { index, trials, inputs: vec![i as f64, low, high, step] });
                    }
                };
                cell(0, EACH, edge - 1.0, edge, sets(edge, effort, scale.pick(20.0, 100.0, 1000.0, 1e4)));
                cell(1, GRID, edge, next - 1.0, sets(next, effort / 8.0, scale.pick(1.0, 2.0, 20.0, 200.0)));
            }
            if kind == Kind::Fuse8 {
                let (low, high) = KNOWN;
                cells.push(Cell {
                    index: 1000 * i as u64 + 999,
                    trials: scale.pick(1, 2, 50, 1000),
                    inputs: vec![i as f64, low, high, EACH],
                });
            }
        }
        cells
    },
    trial: |cell, seed| {
        let [kind, low, high, step] = cell.inputs[..] else { return Vec::new() };
        Builds::of(PEELED[kind as usize], sizes(low, high, step), seed).into()
    },
    rows: |cell, outcomes| {
        let [kind, low, high, step] = cell.inputs[..] else { return Vec::new() };
        let sizes = if step == EACH {
            format!("each of {low} to {high}")
        } else {
            format!("{low} to {high}, 5 % apart")
        };
        vec![judged(PEELED[kind as usize], sizes, cell, outcomes)]
    },
    plot: None,
};

const PEELED: [Kind; 3] = [Kind::Fuse8, Kind::Fuse8x4, Kind::Compact8];

/// Sizes of a row: all, or a twentieth apart.
const EACH: f64 = 0.0;
const GRID: f64 = 1.0;

/// Keys up to which a size is tried with a thousand key sets.
const MANY_SETS: f64 = 20_500.0;

/// Where the published formula, and the libraries that use it, are known to fail.
const KNOWN: (f64, f64) = (11_480.0, 11_521.0);

/// The first sizes with another segment, up to 2 million keys.
fn edges(kind: Kind) -> Vec<u64> {
    const MOST: u64 = 2_000_000;
    let mut edges = Vec::new();
    let mut low = 1;
    while segment(kind, low) != segment(kind, MOST) {
        // The segment grows with the keys: the first larger one by halving.
        let (mut shorter, mut longer) = (low, MOST);
        while longer - shorter > 1 {
            let middle = shorter.midpoint(longer);
            if segment(kind, middle) == segment(kind, low) { shorter = middle } else { longer = middle }
        }
        edges.push(longer);
        low = longer;
    }
    edges
}

fn segment(kind: Kind, keys: u64) -> u32 {
    let usual = "a usual number of keys";
    match kind {
        Kind::Compact8 => BinaryFuseParams8x4::compact(keys).expect(usual).layout().segment(),
        Kind::Fuse8x4 => BinaryFuseParams8x4::for_keys(keys).expect(usual).layout().segment(),
        _ => BinaryFuseParams8::for_keys(keys).expect(usual).layout().segment(),
    }
}

fn sizes(low: f64, high: f64, step: f64) -> Box<dyn Iterator<Item = u64>> {
    const RATIO: f64 = 1.05;
    let (low, high) = (low as u64, high as u64);
    if step == EACH {
        return Box::new(low..=high);
    }
    let next = |&keys: &u64| Some(libm::ceil(keys as f64 * RATIO) as u64);
    Box::new(std::iter::successors(Some(low.max(1)), next).take_while(move |&keys| keys <= high))
}

/// What came of building.
#[derive(Default)]
struct Builds {
    tried: u64,
    failed: u64,
    members: u64,
    denied: u64,
    /// Filters by the number of seeds that were tried: 1, 2, 3, and more.
    attempts: [u64; 4],
}

impl Builds {
    fn of(kind: Kind, sizes: impl Iterator<Item = u64>, seed: u64) -> Self {
        let mut builds = Self::default();
        for keys in sizes {
            // Other keys at each size.
            let hashes = hashes(DistinctKeys::new(pds_hash::mix(seed ^ keys)), keys);
            builds.tried += 1;
            builds.members += keys;
            let Ok(filter) = kind.build(&hashes) else {
                builds.failed += 1;
                continue;
            };
            let mut found = vec![false; hashes.len()];
            filter.contains_batch(&hashes, &mut found);
            builds.denied += found.iter().filter(|&&found| !found).count() as u64;
            if let Some(attempts) = filter.attempts() {
                builds.attempts[attempts.clamp(1, 4) as usize - 1] += 1;
            }
        }
        builds
    }
}

impl From<Builds> for Vec<f64> {
    fn from(Builds { tried, failed, members, denied, attempts }: Builds) -> Self {
        let counts = [tried, failed, members, denied].into_iter().chain(attempts);
        counts.map(|count| count as f64).collect()
    }
}

fn judged(kind: Kind, sizes: String, cell: &Cell, outcomes: &[Vec<f64>]) -> Row {
    let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>() as u64;
    let (tried, failed, members, denied) = (sum(0), sum(1), sum(2), sum(3));
    let mut row = Row::new()
        .text("filter", kind.name())
        .text("keys", sizes)
        .count("key sets of each size", cell.trials)
        .count("builds", tried)
        .count("failed", failed)
        .count("members denied", denied);
    for (i, name) in ["with 1 seed", "with 2", "with 3", "with more"].into_iter().enumerate() {
        // A ribbon filter's only say so of a layer.
        row = if kind == Kind::Ribbon(8) { row.missing(name) } else { row.count(name, sum(4 + i)) };
    }
    row.check("no build fails", laws::all_hold(failed, tried))
        .check("no member denied", laws::all_hold(denied, members.max(1)))
}
