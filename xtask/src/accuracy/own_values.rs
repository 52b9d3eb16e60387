//! Every quantile sketch on the user's own numbers, beside the exact quantiles.

use std::path::Path;

use pds_quantiles::{Contract, Quantiles};
use pds_testkit::{ExactQuantiles, Row, laws};

use super::own_keys::row;
use super::quantile_sketches::{Kind, SHARES, exact_quantile};
use super::{Outcome, files, input};
use crate::Failure;

/// The quantiles of the rows.
const ASKED: [(&str, usize); 8] = [
    ("min", 0),
    ("p25", 2500),
    ("p50", 5000),
    ("p90", 9000),
    ("p99", 9900),
    ("p99.9", 9990),
    ("p99.99", 9999),
    ("max", SHARES),
];

/// The sketches' own randomness, so that a run can be repeated.
const SEED: u64 = 1;

/// Reads the numbers, then compares every sketch of them with the exact quantiles.
pub(super) fn run(file: &Path) -> Result<Outcome, Failure> {
    let mut values = Vec::new();
    let (mut lines, mut wrong) = (0u64, None);
    input::each_line(file, |line| {
        lines += 1;
        match number(line) {
            Some(value) => values.push(value),
            None if line.trim_ascii().is_empty() => {}
            None => {
                wrong = wrong.take().or_else(|| Some((lines, String::from_utf8_lossy(line).into_owned())));
            }
        }
    })?;
    if let Some((line, text)) = wrong {
        let text: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
        return Err(Failure::Usage(format!("{}, line {line}: no number: {text}", files::name(file))));
    }
    let read = values.len();
    values.retain(|value| value.is_finite());
    if values.is_empty() {
        return Err(Failure::Usage(format!("{}: no finite numbers", files::name(file))));
    }
    let refused = (read - values.len()) as f64;

    let mut rows = vec![
        row("input", "finite numbers", values.len() as f64, values.len() as f64, 0.0, None),
        row("input", "refused: not finite", refused, refused, 0.0, None),
    ];
    let sketches = Kind::ALL.map(|kind| (kind, kind.sketch(&values, SEED)));
    let exact = ExactQuantiles::new(values);
    for (kind, sketch) in &sketches {
        let (answers, bytes) = (sketch.snapshot(), sketch.to_bytes().len() as f64);
        rows.push(row(kind.name(), "bytes", bytes, bytes, 0.0, None));
        rows.extend(of_values(*kind, answers.as_ref(), &exact));
        rows.extend(of_ranks(*kind, answers.as_ref(), &exact));
    }
    Ok(Outcome {
        id: "own-values",
        table: None,
        claim: "On these numbers, every quantile sketch answers within its bound.",
        law: "DDSketch: every value within alpha wherever its contract holds. All: minimum and maximum exact, quantiles \
              ascending and within them. Ranks of KLL are within the bound with a chance of 99% for all of them together: one \
              sketch alone is shown, not judged. Bound and within are empty where a sketch promises none: values of KLL, and all but \
              minimum and maximum of a t-digest that is no longer exact.",
        rows,
    })
}

/// A number as people write it; surrounding blanks do not count.
fn number(line: &[u8]) -> Option<f64> {
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

fn of_values(kind: Kind, answers: &dyn Quantiles, exact: &ExactQuantiles) -> Vec<Row> {
    let (least, greatest) = (exact_quantile(exact, 0), exact_quantile(exact, SHARES));
    let mut last = f64::NEG_INFINITY;
    let mut of_one = |(name, share): (&'static str, usize)| {
        let q = share as f64 / SHARES as f64;
        let (value, estimate) = (exact_quantile(exact, share), answers.quantile(q).unwrap_or(f64::NAN));
        let (bound, law) = match answers.contract() {
            _ if share == 0 || share == SHARES => (Some(0.0), ("exact", laws::equals(estimate, value))),
            Contract::RelativeValue { alpha, valid_from_q, valid_to_q }
                if (valid_from_q..=valid_to_q).contains(&q) =>
            {
                let bound = alpha * value.abs();
                (Some(bound), ("alpha", laws::at_most((estimate - value).abs(), bound)))
            }
            _ => {
                let ordered = last <= estimate && least <= estimate && estimate <= greatest;
                let faults = u64::from(!ordered);
                (None, ("ascending, in range", laws::all_hold(faults, 1)))
            }
        };
        last = estimate;
        row(kind.name(), name, value, estimate, bound, Some(law))
    };
    ASKED.into_iter().map(&mut of_one).collect()
}

/// The rank of each answer, as a share; the nearest one where it occurs more than once.
fn of_ranks(kind: Kind, answers: &dyn Quantiles, exact: &ExactQuantiles) -> Vec<Row> {
    match answers.contract() {
        Contract::Rank { epsilon, .. } => ranks(kind, Some(epsilon), answers, exact),
        _ if kind.is_digest() => ranks(kind, None, answers, exact),
        _ => Vec::new(),
    }
}

fn ranks(kind: Kind, bound: Option<f64>, answers: &dyn Quantiles, exact: &ExactQuantiles) -> Vec<Row> {
    let n = exact.len() as f64;
    let of_one = |(name, share): (&'static str, usize)| {
        let q = share as f64 / SHARES as f64;
        let estimate = answers.quantile(q).unwrap_or(f64::NAN);
        let (low, high) = (exact.rank_below(estimate) as f64 / n, exact.rank(estimate) as f64 / n);
        row(kind.name(), &format!("rank of {name}"), q, q.clamp(low, high.max(low)), bound, None)
    };
    ASKED[1..ASKED.len() - 1].iter().copied().map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use pds_testkit::Value;

    use super::*;

    #[test]
    fn a_line_is_a_number_or_none() {
        assert_eq!(number(b" 1.5e3\t"), Some(1500.0));
        assert_eq!(number(b"-7"), Some(-7.0));
        assert!(number(b"NaN").is_some_and(f64::is_nan));
        assert_eq!((number(b""), number(b"12 ms"), number(b"\xff")), (None, None, None));
    }

    #[test]
    fn every_sketch_has_its_rows() {
        let path = std::env::temp_dir().join(format!("pds-own-values-{}", std::process::id()));
        let numbers: Vec<String> = (0..5000).map(|n| format!("{}.5", n * n)).collect();
        std::fs::write(&path, numbers.join("\r\n") + "\r\n 3\n\n1e3\ninf\nnan").unwrap();
        let outcome = run(&path).map_err(|failure| failure.message().map(str::to_owned)).unwrap();
        std::fs::write(&path, "3\nfour\n").unwrap();
        assert_eq!(run(&path).map(drop).unwrap_err().exit_code(), 2);
        std::fs::remove_file(&path).unwrap();
        assert!(outcome.pass());
        let input = |row: usize| outcome.rows[row].get("exact").map(Value::markdown);
        assert_eq!([input(0), input(1)], ["5002", "2"].map(|count| Some(count.to_owned())));
        let shown = |row: &Row, column| row.get(column).is_some_and(|value| *value != Value::Missing);
        for row in &outcome.rows {
            let text = |column| row.get(column).map_or(String::new(), Value::markdown);
            let of_digest = text("structure").starts_with("t-digest");
            let promised = !of_digest || ["bytes", "min", "max"].contains(&text("answer").as_str());
            assert!(!shown(row, "bound") || promised, "{} of {}", text("answer"), text("structure"));
            assert_eq!(shown(row, "bound"), shown(row, "within"));
        }
        for kind in Kind::ALL {
            let own = outcome
                .rows
                .iter()
                .filter(|row| row.get("structure").is_some_and(|value| value.markdown() == kind.name()));
            assert!(own.count() > ASKED.len());
        }
    }
}
