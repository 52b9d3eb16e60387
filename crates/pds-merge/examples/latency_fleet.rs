//! Latencies of a fleet: quantiles of all machines' requests from merged sketches, and the mean of p99s, which is wrong.
//!
//! `cargo run --release -p pds-merge --example latency_fleet -- machine1.txt machine2.txt`

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use pds_merge::merge_encoded;
use pds_quantiles::prelude::*;

mod common;
use common::{Outcome, bytes, claim, number, random, some};

const USAGE: &str = "usage: latency_fleet [FILE..]\n\
    FILE: a machine's numbers, one a line, plain or gzip; - is standard input; one file alone is cut into ten machines;\n\
    without any, generated numbers";
const ALPHA: f64 = 0.01;
const COMPRESSION: u32 = 200;
const CUT: usize = 10;
/// Thousandths.
const QS: [usize; 4] = [500, 900, 990, 999];

fn share(thousandths: usize) -> f64 {
    thousandths as f64 / 1000.0
}

fn main() -> ExitCode {
    common::run(USAGE, |_| true, example)
}

/// Microseconds, with a long tail; the last machine is slow and has fewer requests.
fn generated(machine: u64) -> impl Iterator<Item = String> {
    let (requests, scale) = if machine < 9 { (10_000, 800.0) } else { (2_000, 20_000.0) };
    (0..requests).map(move |i| {
        let share = (random(i * 16 + machine) >> 11) as f64 / (1u64 << 53) as f64;
        format!("{:.0}", scale / (1.0 - share).sqrt().sqrt())
    })
}

fn example(files: &[OsString], out: &mut dyn Write) -> Outcome {
    let mut machines: Vec<Vec<f64>> = Vec::new();
    let mut refused = 0u64;
    for machine in 0..if files.is_empty() { CUT } else { files.len() } {
        let mut values = Vec::new();
        common::each_line(files.get(machine), generated(machine as u64), |line| {
            match std::str::from_utf8(line).ok().and_then(|text| text.trim().parse::<f64>().ok()) {
                Some(value) if value.is_finite() => values.push(value),
                _ => refused += 1,
            }
            Ok(())
        })?;
        machines.push(values);
    }
    some(machines.iter().any(|values| !values.is_empty()), "finite number")?;
    // Of one file, ten machines are made.
    if let [values] = machines.as_slice() {
        let part = values.len().div_ceil(CUT).max(1);
        machines = values.chunks(part).map(<[f64]>::to_vec).collect();
    }
    machines.retain(|values| !values.is_empty());

    // Each machine makes its sketches, and sends their bytes.
    let params = (DDSketchParams::for_accuracy(ALPHA)?, TDigestParams::with_compression(COMPRESSION)?);
    let (mut sketches, mut digests) = (Vec::new(), Vec::new());
    for values in &machines {
        let (mut sketch, mut digest) = (DDSketch::new(params.0), TDigest::new(params.1));
        sketch.extend(values);
        digest.extend(values.iter().copied());
        sketches.push(sketch.to_bytes());
        digests.push(digest.to_bytes());
    }

    // Merged, then asked once.
    let fleet = merge_encoded(&sketches, ())?.unwrap_or_else(|| DDSketch::new(params.0));
    let digest = merge_encoded(&digests, ())?.unwrap_or_else(|| TDigest::new(params.1));
    // What must not be done: quantiles of machines, averaged.
    let mut sums = [0.0; QS.len()];
    for sketch in &sketches {
        let machine = DDSketch::view(sketch)?;
        for (sum, &q) in sums.iter_mut().zip(&QS) {
            *sum += machine.quantile(share(q)).unwrap_or(0.0);
        }
    }

    let mut all: Vec<f64> = machines.concat();
    all.sort_by(f64::total_cmp);
    writeln!(out, "{} numbers of {} machines; {refused} lines are no numbers", all.len(), machines.len())?;
    writeln!(
        out,
        "{:<8}{:>14}{:>24}{:>24}{:>24}",
        "", "exact", "DDSketch, merged", "t-digest, merged", "mean of the machines'"
    )?;
    for (&q, sum) in QS.iter().zip(sums) {
        // The least value with a share of at least q at or below it.
        let exact = all.get((q * all.len()).div_ceil(1000).saturating_sub(1)).copied();
        let answers = (exact, fleet.quantile(share(q)), digest.quantile(share(q)), fleet.bounds(share(q)));
        let (Some(exact), Some(sketch), Some(digest), Some((low, high))) = answers else { continue };
        claim(low <= exact && exact <= high, "a DDSketch bounds each quantile")?;
        write!(out, "{:<8}{:>14}", format!("p{}", 100.0 * share(q)), number(exact))?;
        for answer in [sketch, digest, sum / machines.len() as f64] {
            let off =
                if exact == 0.0 { String::new() } else { format!("{:+.2}%", 100.0 * (answer / exact - 1.0)) };
            write!(out, "{:>14}{off:>10}", number(answer))?;
        }
        writeln!(out)?;
    }
    let size = |sent: &[Vec<u8>]| bytes(sent.iter().map(Vec::len).sum());
    writeln!(
        out,
        "sent by all machines: DDSketches {}, t-digests {}, the numbers {}",
        size(&sketches),
        size(&digests),
        bytes(8 * all.len())
    )?;
    Ok(())
}
