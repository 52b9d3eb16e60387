//! HyperLogLog and UltraLogLog: bytes by the number of keys.

use pds_core::Sketch;
use pds_hll::{HllParams, HyperLogLog, UllParams, UltraLogLog};
use pds_testkit::{Cell, DistinctKeys, Experiment, Plot, Row, laws};

/// Numbers of keys: each power of ten to ten million.
const POINTS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];

const SKETCHES: [&str; 4] =
    ["HyperLogLog, p = 12", "HyperLogLog, p = 14", "UltraLogLog, p = 12", "UltraLogLog, p = 14"];

/// Bytes that were published for full sketches of 4,096 registers; CPC has as many rows.
const PUBLISHED: [(&str, u64); 5] = [
    ("DataSketches HLL_4, p = 12", 2095),
    ("DataSketches HLL_6, p = 12", 3113),
    ("DataSketches HLL_8, p = 12", 4136),
    ("DataSketches CPC, p = 12", 2489),
    ("zetasketch HyperLogLog++, p = 12", 4115),
];

/// The count that the published sizes are compared at.
const FULL: u64 = 1_000_000;

pub(super) const BYTES: Experiment = Experiment {
    id: "hll-bytes",
    table: Some("T7"),
    claim: "A thousand keys take two and a half bytes each on the wire; many take 3 bits a register of HyperLogLog, and 4 of \
            UltraLogLog.",
    law: "the mean over streams, by the normal law: of a million keys at p = 12 at most 1,510 bytes of HyperLogLog and 2,120 of \
          UltraLogLog; of a thousand keys at p = 14 at most 2.6 bytes a key and 40; in memory at p = 14, the value itself \
          included, at most 16.3 KiB. Published sizes are of about a million keys, and not judged; CPC's \
          error is that of 0.69/sqrt(m).",
    cells: |scale| {
        let last = scale.pick(5, 6, 8, 8);
        let trials = scale.pick(4, 10, 20, 100);
        let cell = |i: usize| Cell { index: i as u64, trials, inputs: vec![f64::from(last)] };
        // What others have published is a cell without trials.
        let published = Cell { index: SKETCHES.len() as u64, trials: 0, inputs: vec![] };
        (0..SKETCHES.len()).map(cell).chain([published]).collect()
    },
    trial: |cell, seed| {
        let points = &POINTS[..cell.inputs[0] as usize];
        let p = [12, 14][cell.index as usize % 2];
        let hll = HllParams::with_precision(p).expect("a usual precision");
        let ull = UllParams::with_precision(p).expect("a usual precision");
        if cell.index < 2 {
            sizes(HyperLogLog::new(hll), points, seed, HyperLogLog::size_bytes)
        } else {
            sizes(UltraLogLog::new(ull), points, seed, UltraLogLog::size_bytes)
        }
    },
    rows: |cell, outcomes| {
        /// Mean bytes on the wire of a million keys at p = 12, by sketch.
        const FULL_BYTES: [f64; 2] = [1510.0, 2120.0];
        /// Bytes of each of a thousand keys at p = 14, and beside them.
        const SPARSE_KEYS: u64 = 1000;
        const SPARSE_BYTES: (f64, f64) = (2.6, 40.0);
        /// 16.3 KiB.
        const MEMORY: f64 = 16.3 * 1024.0;
        let Some(sketch) = SKETCHES.get(cell.index as usize) else { return published() };
        let (ull, p14) = (cell.index as usize / 2, cell.index % 2 == 1);
        let value = [size_of::<HyperLogLog>(), size_of::<UltraLogLog>()][ull] as f64;
        let row = |(i, &keys): (usize, &u64)| {
            let column = |j: usize| outcomes.iter().map(|outcome| outcome[2 * i + j]).collect::<Vec<_>>();
            let (memory, wire) = (column(0), column(1));
            let row = row(sketch, keys)
                .count("bytes in memory", libm::round(laws::mean(&memory)) as u64)
                .count("bytes on the wire", libm::round(laws::mean(&wire)) as u64)
                .missing("bytes published");
            match (p14, keys) {
                (false, FULL) => row.check("full", laws::mean_at_most(&wire, FULL_BYTES[ull])),
                (true, SPARSE_KEYS) => {
                    let (each, beside) = SPARSE_BYTES;
                    row.check("sparse", laws::mean_at_most(&wire, each * keys as f64 + beside))
                }
                (true, _) => {
                    let most = memory.iter().fold(0.0, |most: f64, &bytes| most.max(bytes)) + value;
                    row.check("memory", laws::at_most(most, MEMORY))
                }
                _ => row,
            }
        };
        POINTS[..cell.inputs[0] as usize].iter().enumerate().map(row).collect()
    },
    plot: Some(Plot {
        x: "distinct",
        y: &["bytes on the wire"],
        series: Some("sketch"),
        log_x: true,
        log_y: true,
        x_label: "distinct keys",
        y_label: "bytes on the wire",
    }),
};

fn row(sketch: &str, keys: u64) -> Row {
    Row::new().text("sketch", sketch).count("distinct", keys)
}

fn published() -> Vec<Row> {
    let published = |(sketch, bytes)| {
        row(sketch, FULL)
            .missing("bytes in memory")
            .missing("bytes on the wire")
            .count("bytes published", bytes)
    };
    PUBLISHED.map(published).into()
}

/// Bytes allocated and bytes on the wire at each point of a stream.
fn sizes<S: Sketch + Extend<u64>>(
    mut sketch: S,
    points: &[u64],
    seed: u64,
    memory: impl Fn(&S) -> usize,
) -> Vec<f64> {
    let keys = DistinctKeys::new(seed);
    let mut inserted = 0;
    points
        .iter()
        .flat_map(|&point| {
            sketch.extend(keys.range(inserted..point));
            inserted = point;
            [memory(&sketch) as f64, sketch.to_bytes().len() as f64]
        })
        .collect()
}
