//! Different addresses in an access log, by hour and by section of the site, merged into days; and what sums would say.
//!
//! `cargo run --release -p pds-merge --example unique_visitors -- access.log`

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use pds_hll::{HllParams, HyperLogLog, Merge, Sketch};

mod common;
use common::access_log::{Hour, date, generated, parse};
use common::{Failure, Outcome, bytes, shown, table_bytes};

const USAGE: &str = "usage: unique_visitors [FILE]\n\
    FILE: an access log in the common or combined format, plain or gzip; - is standard input; without it, a generated log";
const PRECISION: u8 = 12;
/// Standard errors that bounds are wide.
const KAPPA: f64 = 3.0;
const SHOWN: usize = 6;

/// Who came: as a sketch, and exactly.
struct Visitors<A> {
    sketch: HyperLogLog,
    exact: HashSet<A>,
}

type Cells = BTreeMap<(Hour, Vec<u8>), Visitors<Vec<u8>>>;

fn main() -> ExitCode {
    common::run(USAGE, |files| files <= 1, example)
}

/// Cells merged by what they have in common: sketches into sketches, sets into sets.
fn roll<K: Ord>(cells: &Cells, by: impl Fn(Hour, &[u8]) -> K) -> Outcome<BTreeMap<K, Visitors<&Vec<u8>>>> {
    let mut groups = BTreeMap::new();
    for ((hour, section), cell) in cells {
        let empty = || Visitors { sketch: HyperLogLog::new(cell.sketch.params()), exact: HashSet::new() };
        let group = groups.entry(by(*hour, section)).or_insert_with(empty);
        group.sketch.merge(&cell.sketch)?;
        group.exact.extend(&cell.exact);
    }
    Ok(groups)
}

/// What must not be done: estimates of groups, added up.
fn sum<K, A>(groups: &BTreeMap<K, Visitors<A>>, of: impl Fn(&K) -> bool) -> f64 {
    groups.iter().filter(|(key, _)| of(key)).map(|(_, group)| group.sketch.estimate()).sum()
}

/// A line of a table, with what adding up the estimates of the parts would say.
fn row<A>(out: &mut dyn Write, name: &[u8], of: &Visitors<A>, sums: &[f64]) -> Outcome {
    let (low, high) = of.sketch.bounds(KAPPA);
    let (exact, bounds) = (of.exact.len(), format!("{low:.0}..{high:.0}"));
    write!(out, "{:<26}{exact:>10}{:>12.0}{bounds:>16}", shown(name, 25), of.sketch.estimate())?;
    for sum in sums {
        write!(out, "{sum:>12.0}{:>8}", format!("(+{:.0}%)", 100.0 * (sum / exact as f64 - 1.0)))?;
    }
    Ok(writeln!(out)?)
}

fn example(files: &[OsString], out: &mut dyn Write) -> Outcome {
    let params = HllParams::with_precision(PRECISION)?;
    let (mut cells, mut unread, mut lines) = (Cells::new(), 0u64, 0u64);
    common::each_line(files.first(), generated(), |line| {
        lines += 1;
        let Some((address, hour, section)) = parse(line) else {
            unread += 1;
            return Ok(());
        };
        let empty = || Visitors { sketch: HyperLogLog::new(params), exact: HashSet::new() };
        let cell = cells.entry((hour, section.to_vec())).or_insert_with(empty);
        cell.sketch.insert(address);
        cell.exact.insert(address.to_vec());
        Ok(())
    })?;
    if lines > 0 && lines == unread {
        return Err(Failure::Input("no line is one of an access log".to_owned()));
    }

    writeln!(
        out,
        "{lines} lines, {unread} of them unreadable; {} cells of an hour and a section",
        cells.len()
    )?;
    writeln!(
        out,
        "{:<26}{:>10}{:>12}{:>16}{:>20}{:>20}",
        "by day", "exact", "merged", "bounds", "sum of hours", "sum of sections"
    )?;
    let hours = roll(&cells, |hour, _| hour)?;
    let sections = roll(&cells, |hour, section| (hour / 24, section.to_vec()))?;
    for (day, visitors) in &roll(&cells, |hour, _| hour / 24)? {
        let sums = [sum(&hours, |hour| hour / 24 == *day), sum(&sections, |(part, _)| part == day)];
        row(out, date(*day).as_bytes(), visitors, &sums)?;
    }
    for visitors in roll(&cells, |_, _| ())?.values() {
        row(out, b"all days", visitors, &[sum(&hours, |_| true), sum(&sections, |_| true)])?;
    }
    let by_hour = roll(&cells, |hour, _| format!("{} {:02}h", date(hour / 24), hour % 24).into_bytes())?;
    for (title, groups) in
        [("busiest hours", by_hour), ("largest sections", roll(&cells, |_, section| section.to_vec())?)]
    {
        let mut groups: Vec<_> = groups.iter().collect();
        groups.sort_by_key(|(_, visitors)| Reverse(visitors.exact.len()));
        writeln!(out, "{title}")?;
        groups.iter().take(SHOWN).try_for_each(|(name, visitors)| row(out, name, visitors, &[]))?;
    }

    let sketches: usize = cells.values().map(|cell| cell.sketch.to_bytes().len()).sum();
    let sets = cells
        .values()
        .map(|cell| table_bytes(cell.exact.capacity(), size_of::<Vec<u8>>(), cell.exact.iter()));
    writeln!(out, "stored for all cells: sketches {}, sets {}", bytes(sketches), bytes(sets.sum()))?;
    Ok(())
}
