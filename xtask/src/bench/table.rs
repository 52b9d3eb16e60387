//! Results for readers and for programs.

use std::fs;
use std::path::Path;

use comfy_table::{ContentArrangement, Table, presets};
use pds_testkit::significant;
use serde_json::{Value as Json, json};

use super::collect::{Case, Comparison, Results, Role};
use super::{plot, unusable};
use crate::Failure;

/// The header and the rows of a case: a row a contender, a column an operation.
fn grid(results: &Results, case: &Case) -> (Vec<String>, Vec<Vec<String>>) {
    let ops = results.times(case);
    let mut contenders: Vec<&String> = ops.values().flat_map(|times| times.keys()).collect();
    contenders.sort_unstable_by_key(|name| (results.gate(case, name).role, (*name).clone()));
    contenders.dedup();

    let peaks = contenders.iter().any(|name| results.gate(case, name).peak > 0.0);
    let wires = contenders.iter().any(|name| results.gate(case, name).wire > 0.0);
    let columns = ops.keys().map(|op| format!("{op}, ns"));
    let header: Vec<String> = ["contender".to_owned()]
        .into_iter()
        .chain(columns)
        .chain(["bytes"].map(str::to_owned))
        .chain(peaks.then(|| "peak of the build, bytes".to_owned()))
        .chain(wires.then(|| "bytes on the wire".to_owned()))
        .chain(["error", "gate"].map(str::to_owned))
        .collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for &name in &contenders {
        let gate = results.gate(case, name);
        let times = ops.iter().map(|(op, times)| {
            let mark = if gate.not_for.contains_key(op) { "*" } else { "" };
            times.get(name).map_or("–".to_owned(), |&ns| format!("{}{mark}", significant(ns, 3)))
        });
        let why: Vec<&String> = gate.not_for.values().collect();
        let verdict = match (&gate.failed, why.first()) {
            (Some(reason), _) => format!("failed: {reason}"),
            (None, Some(why)) => format!("passed; * {why}"),
            (None, None) => "passed".to_owned(),
        };
        let number = |value: f64| {
            let measured = value != 0.0 && !value.is_nan();
            if measured { significant(value, 3) } else { "–".to_owned() }
        };
        let row = [name.clone()].into_iter().chain(times).chain([number(gate.bytes)]);
        let row = row.chain(peaks.then(|| number(gate.peak))).chain(wires.then(|| number(gate.wire)));
        rows.push(row.chain([number(gate.error), verdict]).collect());
    }
    let reference = contenders.iter().find(|name| results.gate(case, name).role == Role::Reference);
    for &name in &contenders {
        let gate = results.gate(case, name);
        let label = match gate.role {
            Role::Ours => "ours",
            Role::Variant => name,
            Role::Beside | Role::Reference | Role::Peer => continue,
        };
        let ratios: Vec<String> = ops
            .iter()
            .map(|(op, times)| {
                let ratio = times.get(name).zip(results.best_peer(case, op)).map(|(ns, (_, peer))| ns / peer);
                ratio.map_or("–".to_owned(), |ratio| significant(ratio, 2))
            })
            .collect();
        if gate.failed.is_none() && ratios.iter().any(|ratio| ratio != "–") {
            let label = reference.map_or_else(
                || format!("{label} / best correct peer"),
                |reference| format!("{name} / {reference}"),
            );
            let row = [label].into_iter().chain(ratios);
            let rest = header.len() - 1 - ops.len();
            rows.push(row.chain(std::iter::repeat_n(String::new(), rest)).collect());
        }
    }
    (header, rows)
}

fn ratio(comparison: &Comparison) -> Option<f64> {
    comparison.peer.as_ref().map(|(_, ns)| comparison.ours / ns)
}

pub(super) fn terminal(results: &Results, case: &Case) -> String {
    let (header, rows) = grid(results, case);
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header).add_rows(rows);
    let yardstick = results.yardstick().map_or_else(String::new, |limits| limits + "\n");
    format!("{}, {}\n{table}\n{yardstick}", case.0, case.1)
}

/// Every comparison in a line.
pub(super) fn summary(comparisons: &[Comparison]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([
        "structure",
        "size",
        "operation",
        "ours, ns",
        "best correct peer",
        "peer, ns",
        "ratio",
    ]);
    for comparison in comparisons {
        let Some((peer, ns)) = &comparison.peer else { continue };
        table.add_row([
            comparison.case.0.clone(),
            comparison.case.1.clone(),
            comparison.op.clone(),
            significant(comparison.ours, 3),
            peer.clone(),
            significant(*ns, 3),
            significant(comparison.ours / ns, 2),
        ]);
    }
    format!("Ours against the best correct peer of this run (below 1: ours takes less time)\n{table}\n")
}

/// One object per structure, operation and size.
pub(super) fn json(comparisons: &[Comparison]) -> Json {
    comparisons
        .iter()
        .map(|comparison| {
            let (peer, ns) = comparison
                .peer
                .clone()
                .map_or((Json::Null, Json::Null), |(peer, ns)| (json!(peer), json!(ns)));
            json!({
                "structure": comparison.case.0,
                "size": comparison.case.1,
                "op": comparison.op,
                "ours_ns": comparison.ours,
                "peer": peer,
                "peer_ns": ns,
                "ratio": ratio(comparison),
            })
        })
        .collect()
}

/// A page and a plot per structure.
pub(super) fn write(out: &Path, results: &Results, machine: &str, date: &str) -> Result<(), Failure> {
    fs::create_dir_all(out).map_err(|error| unusable(out, &error))?;
    let mut structures: Vec<&String> = results.cases().map(|case| &case.0).collect();
    structures.dedup();
    for structure in structures {
        let slug = slug(structure);
        let cases: Vec<&Case> = results.cases().filter(|case| case.0 == *structure).collect();
        let mut page = format!(
            "<!-- Generated by `cargo xtask bench --docs`: do not edit. -->\n*{machine}; {date}. Nanoseconds an operation: \
             the least of the rounds' medians. Shared machines differ: only ratios of one run mean something.*\n\n"
        );
        if let Some(limits) = results.yardstick() {
            page += &format!("*{limits}*\n\n");
        }
        for case in &cases {
            let (header, rows) = grid(results, case);
            page +=
                &format!("**{}**\n\n| {} |\n|{}\n", case.1, header.join(" | "), "---|".repeat(header.len()));
            for row in rows {
                page += &format!("| {} |\n", row.join(" | "));
            }
            page.push('\n');
        }
        let drawing = plot::svg(results, &cases);
        for (extension, content) in [("md", page), ("svg", drawing)] {
            let path = out.join(format!("{slug}.{extension}"));
            fs::write(&path, content).map_err(|error| unusable(&path, &error))?;
        }
    }
    Ok(())
}

/// A structure's name as a file's: letters, digits and single hyphens.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}
