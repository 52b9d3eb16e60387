//! P(error > bound) <= delta, on the streams that come nearest to it, with a hash function for each question.

use pds_cms::{ConservativeCountMin, CountMinParams, CountMinSketch, CountSketch, CountSketchParams};
use pds_hash::{KeyHasher, WyHasher};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, laws};

/// Tables a trial fills, each asked for one key.
const TABLES: u64 = 5000;

/// Count of each key.
const EACH: u64 = 1000;

pub(super) const GUARANTEE: Experiment = Experiment {
    id: "count-min-guarantee",
    table: Some("T10"),
    claim: "Even on the stream for which Markov's and Chebyshev's inequalities come nearest to being equalities, the error \
            exceeds its bound with a chance of at most delta.",
    law: "one question, of a key that did not occur, to each of so many tables, over hashes of their own. The stream has as many \
          keys of equal count as there may be for one of them alone to exceed the bound: 1/eps less one, or for the \
          count-sketch 1/eps^2 less one. Errors beyond the bound: at most delta by Chernoff's law; for the plain sketch also \
          the chance of meeting any of the keys in every row, (1 - (1 - 1/w)^keys)^d, by the same law. No estimate is \
          below zero where none may be.",
    cells: |scale| {
        let trials = scale.pick(1, 10, 100, 1000);
        let targets = [(0.1, 0.1), (0.1, 0.01), (0.1, 0.001), (0.05, 0.01)];
        let cell = |(i, (eps, delta)): (usize, (f64, f64))| {
            (0..3).map(move |kind| Cell {
                index: 3 * i as u64 + kind,
                trials,
                inputs: vec![kind as f64, eps, delta],
            })
        };
        targets.into_iter().enumerate().flat_map(cell).collect()
    },
    trial: |cell, seed| {
        let [kind, eps, delta] = cell.inputs[..] else { return Vec::new() };
        let params = CountMinParams::for_error(eps, delta).expect("usual targets");
        let (beyond, under) = match NAMES[kind as usize] {
            PLAIN => {
                let mut sketch = CountMinSketch::new(params);
                let bound = |total: u64| params.error_bound(total) as i64;
                asked(seed, frequent(eps, 1), |hashes, stranger| {
                    sketch.clear();
                    for &hash in hashes {
                        sketch.insert_hash_n(hash, EACH);
                    }
                    (sketch.estimate_hash(stranger).cast_signed(), bound(sketch.total()), true)
                })
            }
            CONSERVATIVE => {
                let mut sketch = ConservativeCountMin::new(params);
                let bound = |total: u64| params.error_bound(total) as i64;
                asked(seed, frequent(eps, 1), |hashes, stranger| {
                    sketch.clear();
                    for &hash in hashes {
                        sketch.insert_hash_n(hash, EACH);
                    }
                    (sketch.estimate_hash(stranger).cast_signed(), bound(sketch.total()), true)
                })
            }
            _ => {
                let params = CountSketchParams::for_error(eps, delta).expect("usual targets");
                let mut sketch = CountSketch::new(params);
                let keys = frequent(eps, 2);
                let bound = (params.epsilon() * libm::sqrt(keys as f64) * EACH as f64) as i64;
                asked(seed, keys, |hashes, stranger| {
                    sketch.clear();
                    for &hash in hashes {
                        sketch.insert_hash_n(hash, EACH as i64).expect("a weight within the cells");
                    }
                    (sketch.estimate_hash(stranger), bound, false)
                })
            }
        };
        vec![beyond as f64, under as f64]
    },
    rows: |cell, outcomes| {
        let [kind, eps, delta] = cell.inputs[..] else { return Vec::new() };
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>() as u64;
        let (beyond, tables) = (sum(0), TABLES * cell.trials);
        let params = CountMinParams::for_error(eps, delta).expect("usual targets");
        let signed = CountSketchParams::for_error(eps, delta).expect("usual targets");
        let name = NAMES[kind as usize];
        let (width, depth, keys) = if name == SIGNED {
            (signed.width(), signed.depth(), frequent(eps, 2))
        } else {
            (params.width(), params.depth(), frequent(eps, 1))
        };
        let row = Row::new()
            .real("eps", eps, 1)
            .text("sketch", name)
            .text("bound", if name == SIGNED { "eps sqrt(F2)" } else { "eps N" })
            .text("w x d", format!("{width} x {depth}"))
            .count("keys of the stream", keys)
            .count("tables asked", tables)
            .percent("delta", delta, 3)
            .percent("beyond the bound", beyond as f64 / tables as f64, 3);
        let row = row.check("delta", laws::rate_at_most(beyond, tables, delta));
        let met = libm::pow(1.0 - libm::pow(1.0 - 1.0 / width as f64, keys as f64), f64::from(depth));
        vec![match name {
            PLAIN => row
                .percent("predicted", met, 3)
                .check("rate", laws::rate_is(beyond, tables, met))
                .check("never under", laws::all_hold(sum(1), tables)),
            CONSERVATIVE => row
                .missing("predicted")
                .check("rate", laws::rate_at_most(beyond, tables, met))
                .check("never under", laws::all_hold(sum(1), tables)),
            _ => row.missing("predicted"),
        }]
    },
    plot: None,
};

const PLAIN: &str = "count-min";
const CONSERVATIVE: &str = "conservative";
const SIGNED: &str = "count-sketch";
const NAMES: [&str; 3] = [PLAIN, CONSERVATIVE, SIGNED];

/// The most keys of equal count of which each alone exceeds eps times the norm of that power.
fn frequent(eps: f64, power: u32) -> u64 {
    let most = libm::pow(1.0 / eps, f64::from(power));
    libm::ceil(most - 0.5) as u64 - 1
}

/// Of all tables, how many give more than the bound to either side, and how many less than nothing where that is ruled out.
fn asked(seed: u64, keys: u64, mut ask: impl FnMut(&[u64], u64) -> (i64, i64, bool)) -> (u64, u64) {
    let (stream, hasher) = (DistinctKeys::new(seed), WyHasher::default());
    let (mut beyond, mut under) = (0, 0);
    for table in 0..TABLES {
        let first = table * (keys + 1);
        let hashes: Vec<u64> =
            stream.range(first..first + keys + 1).map(|key| hasher.hash_key(&key)).collect();
        let (stranger, hashes) = hashes.split_last().expect("a key at least");
        let (estimate, bound, one_sided) = ask(hashes, *stranger);
        beyond += u64::from(estimate.abs() > bound);
        under += u64::from(one_sided && estimate < 0);
    }
    (beyond, under)
}
