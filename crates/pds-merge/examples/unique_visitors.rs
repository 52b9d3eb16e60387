//! Different addresses in an access log, by hour and by section of the site, merged into days; and what sums would say.
//!
//! `cargo run --release -p pds-merge --example unique_visitors -- access.log`

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use pds_hll::{HllParams, HyperLogLog};
use pds_merge::{Error, Merge, Rollup, RollupParams, Sketch};

mod common;
use common::access_log::{date, generated, parse};
use common::{Outcome, bytes, shown, some, table_bytes};

const USAGE: &str = "usage: unique_visitors [FILE]\n\
    FILE: an access log in the common or combined format, plain or gzip; - is standard input; without it, a generated log";
const PRECISION: u8 = 12;
/// Standard errors that bounds are wide.
const KAPPA: f64 = 3.0;
const SHOWN: usize = 6;

/// Who came: as a sketch, and exactly.
#[derive(Clone)]
struct Visitors {
    sketch: HyperLogLog,
    exact: HashSet<Vec<u8>>,
}

impl Merge for Visitors {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.sketch.merge(&other.sketch)?;
        self.exact.extend(other.exact.iter().cloned());
        Ok(())
    }
}

fn main() -> ExitCode {
    common::run(USAGE, |files| files <= 1, example)
}

/// What must not be done: estimates of groups, added up.
fn sum<K>(groups: &BTreeMap<K, Visitors>, of: impl Fn(&K) -> bool) -> f64 {
    groups.iter().filter(|(key, _)| of(key)).map(|(_, group)| group.sketch.estimate()).sum()
}

/// A line of a table, with what adding up the estimates of the parts would say.
fn row(out: &mut dyn Write, name: &[u8], of: &Visitors, sums: &[f64]) -> Outcome {
    let (low, high) = of.sketch.bounds(KAPPA);
    let (exact, bounds) = (of.exact.len(), format!("{low:.0}..{high:.0}"));
    write!(out, "{:<26}{exact:>10}{:>12.0}{bounds:>16}", shown(name, 25), of.sketch.estimate())?;
    for sum in sums {
        write!(out, "{sum:>12.0}{:>8}", format!("(+{:.0}%)", 100.0 * (sum / exact as f64 - 1.0)))?;
    }
    Ok(writeln!(out)?)
}

fn example(files: &[OsString], out: &mut dyn Write) -> Outcome {
    let sketch = HyperLogLog::new(HllParams::with_precision(PRECISION)?);
    // Buckets of an hour. A log is read when its time has passed: nothing is late or ahead.
    let times = RollupParams::new(1, u64::MAX)?.with_lead(u64::MAX);
    let mut log = Rollup::<Visitors, Vec<u8>>::new(times, Visitors { sketch, exact: HashSet::new() }, 0);
    let (mut unread, mut lines) = (0u64, 0u64);
    common::each_line(files.first(), generated(), |line| {
        lines += 1;
        let Some((address, hour, section)) = parse(line) else {
            unread += 1;
            return Ok(());
        };
        log.insert(hour, section, |visitors| {
            visitors.sketch.insert(address);
            visitors.exact.insert(address.to_vec());
        })?;
        Ok(())
    })?;
    some(lines > unread, "line of an access log")?;

    writeln!(
        out,
        "{lines} lines, {unread} of them unreadable; {} cells of an hour and a section",
        log.len()
    )?;
    writeln!(
        out,
        "{:<26}{:>10}{:>12}{:>16}{:>20}{:>20}",
        "by day", "exact", "merged", "bounds", "sum of hours", "sum of sections"
    )?;
    let hours = log.group_by(.., |hour, _| Some(hour))?;
    let sections = log.group_by(.., |hour, section| Some((hour / 24, section.clone())))?;
    for (day, visitors) in &log.group_by(.., |hour, _| Some(hour / 24))? {
        let sums = [sum(&hours, |hour| hour / 24 == *day), sum(&sections, |(part, _)| part == day)];
        row(out, date(*day).as_bytes(), visitors, &sums)?;
    }
    if let Some(visitors) = log.query(.., |_| true)? {
        row(out, b"all days", &visitors, &[sum(&hours, |_| true), sum(&sections, |_| true)])?;
    }
    let by_hour = |hour, _: &Vec<u8>| Some(format!("{} {:02}h", date(hour / 24), hour % 24).into_bytes());
    for (title, groups) in [
        ("busiest hours", log.group_by(.., by_hour)?),
        ("largest sections", log.group_by(.., |_, section| Some(section.clone()))?),
    ] {
        let mut groups: Vec<_> = groups.iter().collect();
        groups.sort_by_key(|(_, visitors)| Reverse(visitors.exact.len()));
        writeln!(out, "{title}")?;
        groups.iter().take(SHOWN).try_for_each(|(name, visitors)| row(out, name, visitors, &[]))?;
    }

    let sketches: usize = log.rows().map(|(.., cell)| cell.sketch.to_bytes().len()).sum();
    let set = |set: &HashSet<Vec<u8>>| table_bytes(set.capacity(), size_of::<Vec<u8>>(), set.iter());
    let sets: usize = log.rows().map(|(.., cell)| set(&cell.exact)).sum();
    writeln!(out, "stored for all cells: sketches {}, sets {}", bytes(sketches), bytes(sets))?;
    Ok(())
}
