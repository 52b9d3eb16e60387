//! Every experiment, at smoke scale, against its law.

use pds_testkit::{Scale, all_pass};
use xtask::accuracy::EXPERIMENTS;

#[test]
fn every_experiment_holds_at_smoke_scale() {
    let mut failed = Vec::new();
    for experiment in EXPERIMENTS {
        let rows = experiment.run(Scale::Smoke, &|_, _| ());
        if !all_pass(&rows) {
            let why: Vec<_> = rows
                .iter()
                .flat_map(pds_testkit::Row::failures)
                .map(|check| format!("{}: {}", check.name, check.verdict))
                .collect();
            failed.push(format!("{}: {}", experiment.id, why.join("; ")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn ids_are_unique_and_fit_for_files() {
    let mut ids: Vec<_> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
    ids.sort_unstable();
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert!(
        ids.iter().all(|id| id
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit()))
    );
}
