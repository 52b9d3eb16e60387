//! Times from criterion's files, and what the gates found.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pds_testkit::significant;
use serde_json::Value as Json;

use super::unusable;
use crate::Failure;

/// Structure and size.
pub(super) type Case = (String, String);

/// The part of a contender in a comparison, in the order of the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Ours, which the peers are compared with.
    Ours,
    /// Another of ours for the same purpose.
    Variant,
    /// Another structure of ours, to read the times by.
    Beside,
    /// What ours is compared with where that is ours too.
    Reference,
    #[default]
    Peer,
}

impl Role {
    fn named(name: &str) -> Self {
        match name {
            "ours" => Self::Ours,
            "variant" => Self::Variant,
            "beside" => Self::Beside,
            "reference" => Self::Reference,
            _ => Self::Peer,
        }
    }

    /// Whether it is held to its gate, as all of ours are but a reference, which shares the gate of what it is compared with.
    pub(super) fn is_ours(self) -> bool {
        !matches!(self, Self::Peer | Self::Reference)
    }
}

/// What a gate found of a contender.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    pub(super) role: Role,
    pub(super) bytes: f64,
    /// The most bytes while it was built; 0 if not measured.
    pub(super) peak: f64,
    /// Bytes of the stored form; 0 if not measured.
    pub(super) wire: f64,
    pub(super) error: f64,
    /// Why it failed.
    pub(super) failed: Option<String>,
    /// Operations that it is not compared in, with the reason.
    pub(super) not_for: BTreeMap<String, String>,
}

/// Everything that one run found.
#[derive(Default)]
pub(super) struct Results {
    /// The least median over the rounds, in ns an operation, by case, operation and contender.
    times: BTreeMap<Case, BTreeMap<String, BTreeMap<String, f64>>>,
    gates: BTreeMap<(Case, String), Gate>,
}

/// Ours against the best correct peer.
pub(super) struct Comparison {
    pub(super) case: Case,
    pub(super) op: String,
    pub(super) ours: f64,
    /// The best correct peer and its time; none if no peer has the operation or keeps its promise.
    pub(super) peer: Option<(String, f64)>,
}

impl Results {
    /// Takes in what criterion wrote below a directory.
    pub(super) fn read(&mut self, dir: &Path) -> Result<(), Failure> {
        for entry in fs::read_dir(dir).map_err(|error| unusable(dir, &error))? {
            let path = entry.map_err(|error| unusable(dir, &error))?.path();
            if !path.is_dir() {
                continue;
            }
            let (benchmark, estimates) = (path.join("benchmark.json"), path.join("estimates.json"));
            if path.ends_with("new") && benchmark.exists() {
                self.take(&json(&benchmark)?, &json(&estimates)?);
            } else {
                self.read(&path)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, benchmark: &Json, estimates: &Json) {
        let text = |name: &str| benchmark[name].as_str().unwrap_or_default().to_owned();
        let group = text("group_id");
        let mut parts = group.split('|').map(str::to_owned);
        let (Some(structure), Some(op), Some(size)) = (parts.next(), parts.next(), parts.next()) else {
            return;
        };
        let elements = benchmark["throughput"]["Elements"].as_f64().unwrap_or(1.0);
        let Some(median) = estimates["median"]["point_estimate"].as_f64() else { return };
        let times = self.times.entry((structure, size)).or_default().entry(op).or_default();
        let best = times.entry(text("function_id")).or_insert(f64::INFINITY);
        *best = best.min(median / elements);
    }

    /// Takes in the gates' lines; of equal ones the last.
    pub(super) fn read_gates(&mut self, file: &Path) -> Result<(), Failure> {
        let text = fs::read_to_string(file).map_err(|error| unusable(file, &error))?;
        for line in text.lines() {
            let line: Json = serde_json::from_str(line).map_err(|error| Failure::Claim(error.to_string()))?;
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            let not_for = line["not_for"].as_object().into_iter().flatten();
            let gate = Gate {
                role: Role::named(&text("role")),
                bytes: line["bytes"].as_f64().unwrap_or(f64::NAN),
                peak: line["peak"].as_f64().unwrap_or(0.0),
                wire: line["wire"].as_f64().unwrap_or(0.0),
                error: line["error"].as_f64().unwrap_or(f64::NAN),
                failed: line["failed"].as_str().map(str::to_owned),
                not_for: not_for
                    .map(|(op, why)| (op.clone(), why.as_str().unwrap_or_default().to_owned()))
                    .collect(),
            };
            self.gates.insert(((text("structure"), text("size")), text("contender")), gate);
        }
        Ok(())
    }

    pub(super) fn cases(&self) -> impl Iterator<Item = &Case> {
        self.times.keys()
    }

    /// Operations and contenders' times of a case.
    pub(super) fn times(&self, case: &Case) -> &BTreeMap<String, BTreeMap<String, f64>> {
        &self.times[case]
    }

    pub(super) fn gate(&self, case: &Case, contender: &str) -> Gate {
        let ungated = || Gate { failed: Some("no gate was passed".to_owned()), ..Gate::default() };
        self.gates.get(&(case.clone(), contender.to_owned())).cloned().unwrap_or_else(ungated)
    }

    /// The machine's limits in this run, to read the other times by; none if they were not measured.
    pub(super) fn yardstick(&self) -> Option<String> {
        let read = |size: &str, op: &str| {
            let time = self.times.get(&("machine".to_owned(), size.to_owned()))?.get(op)?.get("machine")?;
            Some(format!("{} ns", significant(*time, 2)))
        };
        let (near, far) = ("512 KiB", "beyond the caches");
        Some(format!(
            "This run's machine, a read: within 512 KiB {} ({} if each waits for the one before), beyond the caches {} \
             ({} prefetched, {} if each waits).",
            read(near, "independent read")?,
            read(near, "dependent read")?,
            read(far, "independent read")?,
            read(far, "independent read, prefetched")?,
            read(far, "dependent read")?
        ))
    }

    /// Ours that failed a gate of their own, with the reason.
    pub(super) fn failures(&self) -> Vec<String> {
        let ours = self.gates.iter().filter(|(_, gate)| gate.role.is_ours());
        ours.filter_map(|((case, name), gate)| Some(format!("{name}, {}: {}", case.0, gate.failed.as_ref()?)))
            .collect()
    }

    /// The best correct peer of an operation, and its time.
    pub(super) fn best_peer(&self, case: &Case, op: &str) -> Option<(String, f64)> {
        let correct = |name: &str| {
            let gate = self.gate(case, name);
            matches!(gate.role, Role::Peer | Role::Reference)
                && gate.failed.is_none()
                && !gate.not_for.contains_key(op)
        };
        let peers = self.times[case].get(op)?.iter().filter(|(name, _)| correct(name));
        peers.min_by(|a, b| a.1.total_cmp(b.1)).map(|(name, &ns)| (name.clone(), ns))
    }

    /// Ours against the best correct peer, for every case and operation that ours has.
    pub(super) fn comparisons(&self) -> Vec<Comparison> {
        let mut comparisons = Vec::new();
        for (case, ops) in &self.times {
            for (op, times) in ops {
                let is_ours = |name: &&String| {
                    let gate = self.gate(case, name);
                    gate.role == Role::Ours && gate.failed.is_none() && case.0 != "machine"
                };
                let Some(ours) = times.keys().find(is_ours).map(|name| times[name]) else { continue };
                let peer = self.best_peer(case, op);
                comparisons.push(Comparison { case: case.clone(), op: op.clone(), ours, peer });
            }
        }
        comparisons
    }
}

fn json(path: &Path) -> Result<Json, Failure> {
    let text = fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
    serde_json::from_str(&text).map_err(|error| Failure::Claim(format!("{}: {error}", path.display())))
}
