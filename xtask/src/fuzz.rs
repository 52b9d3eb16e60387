//! `cargo xtask fuzz`: hostile bytes and histories for every structure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Failure, root, say};

/// Seconds of each target unless said otherwise.
const SECONDS: u64 = 60;

/// Command line of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only this target; all in turn if none is named
    target: Option<String>,
    /// Time for each target
    #[arg(long, default_value_t = SECONDS)]
    seconds: u64,
    /// List the targets and leave
    #[arg(long)]
    list: bool,
}

/// Runs targets with libFuzzer where there are a nightly toolchain and cargo-fuzz, else the same harnesses as tests.
///
/// # Errors
///
/// [`Failure::Claim`] names what was found, [`Failure::Usage`] a target that does not exist.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let targets = targets()?;
    if arguments.list {
        return targets.iter().try_for_each(|target| say(target));
    }
    let chosen: Vec<&str> = match &arguments.target {
        None => targets.iter().map(String::as_str).collect(),
        Some(name) if targets.contains(name) => vec![name],
        Some(name) => return Err(Failure::Usage(format!("no target is called {name}; `--list` lists them"))),
    };
    match missing() {
        None => libfuzzer(&chosen, arguments.seconds),
        Some(missing) => {
            say(&format!("{missing}: running the harnesses as tests, without libFuzzer"))?;
            harnesses(&chosen)
        }
    }
}

/// The targets there are, by their files.
fn targets() -> Result<Vec<String>, Failure> {
    let read = || -> std::io::Result<Vec<String>> {
        let mut names = Vec::new();
        for file in fs::read_dir(folder().join("fuzz_targets"))? {
            let path = file?.path();
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
        names.sort();
        Ok(names)
    };
    read().map_err(|error| Failure::Usage(format!("fuzz/fuzz_targets: {error}")))
}

/// What libFuzzer needs and is not there.
fn missing() -> Option<&'static str> {
    let there = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    // What runs xtask names its own toolchain in the environment; an argument is stronger.
    if !there(&["+nightly", "--version"]) {
        Some("no nightly toolchain")
    } else if !there(&["+nightly", "fuzz", "--version"]) {
        Some("no cargo-fuzz")
    } else {
        None
    }
}

/// Seeds the corpora from the golden files, and runs each target for its time.
fn libfuzzer(targets: &[&str], seconds: u64) -> Result<(), Failure> {
    let mut seed = vec!["run", "--quiet", "--example", "seeds", "--", "corpus"];
    seed.extend(targets);
    cargo(&seed, "the seeds")?;
    for target in targets {
        let time = format!("-max_total_time={seconds}");
        cargo(&["+nightly", "fuzz", "run", target, "--", &time], target)?;
    }
    Ok(())
}

/// The tests of the harnesses, with one name or with all.
fn harnesses(targets: &[&str]) -> Result<(), Failure> {
    let all = ["test", "--quiet", "--test", "harnesses"];
    match targets {
        [target] => cargo(&[&all[..], &["--", "--exact", target]].concat(), target),
        _ => cargo(&all, "a harness"),
    }
}

fn cargo(arguments: &[&str], what: &str) -> Result<(), Failure> {
    let status = Command::new("cargo")
        .args(arguments)
        .current_dir(folder())
        .status()
        .map_err(|error| Failure::Usage(format!("cargo: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::Claim(format!("{what} failed"))) }
}

fn folder() -> PathBuf {
    root().join(Path::new("fuzz"))
}
