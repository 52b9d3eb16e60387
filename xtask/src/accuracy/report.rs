//! Results for readers and for programs.

use comfy_table::{ContentArrangement, Table, presets};
use pds_testkit::{Experiment, Value, laws::ALPHA};
use serde_json::{Value as Json, json};

use super::Outcome;

/// One line per experiment.
pub(super) fn list(experiments: &[&Experiment]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for experiment in experiments {
        table.add_row([experiment.id, experiment.table.unwrap_or("-"), experiment.claim]);
    }
    table.trim_fmt()
}

/// A table for the terminal, the claim above it and every failed law below.
pub(super) fn terminal(outcome: &Outcome) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    if let Some(first) = outcome.rows.first() {
        table.set_header(first.columns.iter().map(|&(name, _)| name).chain(["holds"]));
    }
    for row in &outcome.rows {
        let holds = match (row.checks.is_empty(), row.pass()) {
            (true, _) => "",
            (false, true) => "yes",
            (false, false) => "NO",
        };
        table.add_row(row.columns.iter().map(|(_, value)| value.markdown()).chain([holds.to_owned()]));
    }
    let mut text = format!("{}: {}\n{table}\n", title(outcome), outcome.claim);
    for row in &outcome.rows {
        for check in row.failures() {
            let first = row.columns.first().map_or(String::new(), |(_, value)| value.markdown());
            text += &format!("FAILED {} at {first}: {}\n", check.name, check.verdict);
        }
    }
    text
}

/// A Markdown table with the claim and the law: the part that a chapter includes.
pub(super) fn markdown(outcome: &Outcome) -> String {
    let mut text = format!("*{}*\n\n", outcome.claim);
    if let Some(first) = outcome.rows.first() {
        let names: Vec<_> = first.columns.iter().map(|&(name, _)| name).collect();
        text += &format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()));
    }
    for row in &outcome.rows {
        let cells: Vec<_> = row.columns.iter().map(|(_, value)| value.markdown()).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    let checks: usize = outcome.rows.iter().map(|row| row.checks.len()).sum();
    let passed: usize = outcome.rows.iter().map(|row| row.checks.len() - row.failures().count()).sum();
    text += &format!(
        "\nHeld to: {} Each tail at {ALPHA:e}; {passed} of {checks} checks passed.\n",
        outcome.law.trim_end()
    );
    text
}

/// The rows as CSV.
pub(super) fn csv(outcome: &Outcome) -> String {
    let mut text = String::new();
    if let Some(first) = outcome.rows.first() {
        let names: Vec<_> =
            first.columns.iter().map(|&(name, _)| Value::Text(name.to_owned()).csv()).collect();
        text += &names.join(",");
        text.push('\n');
    }
    for row in &outcome.rows {
        let fields: Vec<_> = row.columns.iter().map(|(_, value)| value.csv()).collect();
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

/// All outcomes as one JSON array.
pub(super) fn json(outcomes: &[Outcome]) -> String {
    let all: Vec<Json> = outcomes
        .iter()
        .map(|outcome| {
            let rows: Vec<Json> = outcome
                .rows
                .iter()
                .map(|row| {
                    row.columns.iter().map(|(name, value)| ((*name).to_owned(), json_value(value))).collect()
                })
                .collect();
            json!({
                "id": outcome.id,
                "table": outcome.table,
                "claim": outcome.claim,
                "law": outcome.law,
                "pass": outcome.pass(),
                "rows": rows,
            })
        })
        .collect();
    format!("{:#}\n", Json::Array(all))
}

fn title(outcome: &Outcome) -> String {
    outcome.table.map_or_else(|| outcome.id.to_owned(), |table| format!("{table} {}", outcome.id))
}

/// Numbers in full; infinities, which JSON lacks, by name.
fn json_value(value: &Value) -> Json {
    match value {
        Value::Count(count) => json!(count),
        Value::Real { value, .. } | Value::Percent { value, .. } if value.is_finite() => json!(value),
        Value::Real { value, .. } | Value::Percent { value, .. } => json!(value.to_string()),
        Value::Text(text) if text == "true" => json!(true),
        Value::Text(text) if text == "false" => json!(false),
        Value::Text(text) => json!(text),
        Value::Missing => Json::Null,
    }
}
