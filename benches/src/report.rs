//! What is known of a contender beside its time, written for whoever reads the times.

use std::fs::OpenOptions;
use std::io::Write;

use pds_testkit::laws::Verdict;
use serde_json::json;

/// One structure at one size: the contenders of a case are compared with each other.
#[derive(Clone, Debug)]
pub struct Case {
    /// The structure and its target: `Bloom filter, 1 %`.
    pub structure: &'static str,
    /// Number and type of keys: `100k u64, in cache`.
    pub size: String,
}

impl Case {
    /// The name of a group of benchmarks: what is compared in one row.
    pub fn group(&self, op: &str) -> String {
        format!("{}|{op}|{}", self.structure, self.size)
    }
}

/// The part of a contender in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Ours, one in a case: what the peers are compared with.
    Ours,
    /// Another of ours for the same purpose: it has its own ratio in the tables.
    Variant,
    /// Another structure of ours, to read the times by: compared with nobody.
    Beside,
    /// What ours is compared with where that is ours too.
    Reference,
    /// Somebody else's.
    Peer,
}

impl Role {
    /// By whether it is ours.
    pub const fn of(ours: bool) -> Self {
        if ours { Self::Ours } else { Self::Peer }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Variant => "variant",
            Self::Beside => "beside",
            Self::Reference => "reference",
            Self::Peer => "peer",
        }
    }
}

/// What the gate found of a contender, before anything is timed.
pub struct Gate {
    /// Bytes a key, or bytes in all; 0 if that was not measured.
    pub bytes: f64,
    /// The most bytes of the heap a key while it was built, itself included; 0 if that was not measured.
    pub peak: f64,
    /// Bytes of the stored form; 0 if that was not measured.
    pub wire: f64,
    /// The measured error.
    pub error: f64,
    /// What was promised, and whether it is kept; a contender that fails is shown, and beats nobody.
    pub kept: Result<(), String>,
    /// Operations that the contender wins by doing less, with the reason: it is shown there, and not compared.
    pub not_for: &'static [(&'static str, &'static str)],
}

impl Gate {
    /// A gate of one law.
    pub fn of(bytes: f64, error: f64, promise: &str, verdict: Verdict) -> Self {
        let kept = if verdict.pass { Ok(()) } else { Err(format!("{promise}: {verdict}")) };
        Self { bytes, peak: 0.0, wire: 0.0, error, kept, not_for: &[] }
    }

    /// The gate of what promises nothing that could fail.
    pub fn open(bytes: f64) -> Self {
        Self { bytes, peak: 0.0, wire: 0.0, error: 0.0, kept: Ok(()), not_for: &[] }
    }

    /// Appends what was found to the file named by `PDS_BENCH_META`, if any.
    pub fn report(&self, case: &Case, contender: &str, ours: bool) {
        self.report_as(case, contender, Role::of(ours));
    }

    /// As [`Gate::report`], for a contender that is neither ours nor a peer.
    pub fn report_as(&self, case: &Case, contender: &str, role: Role) {
        let Some(path) = std::env::var_os("PDS_BENCH_META") else { return };
        let not_for: serde_json::Map<String, serde_json::Value> =
            self.not_for.iter().map(|&(op, why)| (op.to_owned(), json!(why))).collect();
        let line = json!({
            "structure": case.structure,
            "size": case.size,
            "contender": contender,
            "role": role.name(),
            "bytes": self.bytes,
            "peak": self.peak,
            "wire": self.wire,
            "error": self.error,
            "failed": self.kept.as_ref().err(),
            "not_for": not_for,
        });
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| writeln!(file, "{line}"));
        if let Err(error) = written {
            eprintln!("{}: {error}", path.display());
        }
    }
}
