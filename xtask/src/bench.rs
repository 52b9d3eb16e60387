//! `cargo xtask bench`: ours beside every peer, timed in one run.

mod collect;
mod instructions;
mod plot;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Failure, root, say};
use collect::Results;

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Run only groups whose name (structure|operation|size) matches this regular expression; of instructions, those whose
    /// name contains it
    filter: Option<String>,
    /// Fewer keys and one round, in minutes
    #[arg(long)]
    quick: bool,
    /// Write one object per structure, operation and size as JSON too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write tables and plots into the book instead of below target/bench
    #[arg(long, conflicts_with_all = ["quick", "filter"])]
    docs: bool,
    /// Count instructions of the hot operations instead of timing, beside those of a base revision
    #[arg(long, conflicts_with_all = ["quick", "json", "docs"])]
    instructions: bool,
    /// The revision that instructions are compared with
    #[arg(long, value_name = "REV", default_value = "HEAD", requires = "instructions")]
    base: String,
}

/// Times per cell, and how many passes over all cells the least time is taken of.
struct Effort {
    rounds: usize,
    warm_up: &'static str,
    measurement: &'static str,
}

const QUICK: Effort = Effort { rounds: 1, warm_up: "0.05", measurement: "0.15" };
const FULL: Effort = Effort { rounds: 2, warm_up: "0.1", measurement: "0.4" };

/// Runs the command.
///
/// # Errors
///
/// [`Failure::Claim`] if the benches do not build or run, [`Failure::Usage`] for files that cannot be written.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let manifest = root().join("benches/Cargo.toml");
    if arguments.instructions {
        return instructions::run(&arguments.base, arguments.filter.as_deref());
    }
    let effort = if arguments.quick { QUICK } else { FULL };
    let work = root().join("target/bench");
    // A folder of its own for every run: what another left, or still writes, is not of this one.
    let home = work.join(format!("run-{}", std::process::id()));
    let meta = home.join("gates.jsonl");
    if let Some(file) = &arguments.json {
        fs::write(file, "").map_err(|error| unusable(file, &error))?;
    }
    fs::create_dir_all(&home).map_err(|error| unusable(&home, &error))?;
    fs::write(&meta, "").map_err(|error| unusable(&meta, &error))?;

    let mut results = Results::default();
    for round in 1..=effort.rounds {
        eprintln!("round {round} of {}", effort.rounds);
        let mut command = Command::new("cargo");
        command.args(["bench", "--quiet", "--manifest-path"]).arg(&manifest).args([
            "--benches",
            "--",
            "--noplot",
            "--quiet",
        ]);
        command.args(["--warm-up-time", effort.warm_up, "--measurement-time", effort.measurement]);
        command.args(["--sample-size", "10"]).args(arguments.filter.as_deref());
        command.env("CRITERION_HOME", &home).env("PDS_BENCH_META", &meta);
        if arguments.quick {
            command.env("PDS_BENCH_QUICK", "1");
        }
        // What the filter leaves out need not be built and gated either.
        if let Some(filter) = &arguments.filter {
            command.env("PDS_BENCH_FILTER", filter);
        }
        // What criterion prints stays out of the tables.
        command.stdout(Stdio::null());
        let status = command.status().map_err(|error| Failure::Claim(format!("cargo: {error}")))?;
        if !status.success() {
            return Err(Failure::Claim("the benches did not run".to_owned()));
        }
        results.read(&home)?;
    }
    results.read_gates(&meta)?;

    let comparisons = results.comparisons();
    say(&machine())?;
    for case in results.cases() {
        say(&table::terminal(&results, case))?;
    }
    say(&table::summary(&comparisons))?;
    let out = if arguments.docs { root().join("docs/src/bench") } else { work.join("report") };
    table::write(&out, &results, &machine(), &date())?;
    if let Some(file) = &arguments.json {
        let text = format!("{:#}\n", table::json(&comparisons));
        fs::write(file, text).map_err(|error| unusable(file, &error))?;
    }
    fs::remove_dir_all(&home).map_err(|error| unusable(&home, &error))?;
    eprintln!("tables and plots: {}", out.display());
    let failures = results.failures();
    if failures.is_empty() { Ok(()) } else { Err(Failure::Claim(failures.join("\n"))) }
}

/// What the times depend on.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim()));
    let cores = info.lines().filter(|line| line.starts_with("processor")).count();
    let caches: Vec<String> = (0..4)
        .filter_map(|index| {
            let read = |name| {
                fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}")).ok()
            };
            let kind = read("type")?;
            let wanted = kind.trim() != "Instruction";
            wanted.then(|| Some(format!("L{} {}", read("level")?.trim(), read("size")?.trim())))?
        })
        .collect();
    let rustc = Command::new("rustc").arg("--version").output();
    let rustc =
        rustc.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    format!(
        "{} ({cores} cores), {}, {rustc}, {}, default target features",
        model.unwrap_or("unknown processor"),
        caches.join(", "),
        std::env::consts::ARCH
    )
}

/// Today, for a report; empty where there is no such command.
fn date() -> String {
    let output = Command::new("date").arg("+%Y-%m-%d").output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("{}: {error}", path.display()))
}
