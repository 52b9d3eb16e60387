//! Instructions of the hot operations, counted by callgrind: the same number on every run of the same binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use comfy_table::{Table, presets};

use crate::{Failure, root, say};

/// Repetitions of the shorter of two runs; the longer has twice as many, and the difference is free of the start.
const REPETITIONS: u64 = 20_000;

/// Counts here and at the base revision, built by the same toolchain.
pub(super) fn run(base: &str, filter: Option<&str>) -> Result<(), Failure> {
    let counter = Command::new("valgrind").arg("--version").output();
    counter.map_err(|error| Failure::Usage(format!("valgrind: {error}")))?;
    let here = build(&root(), &root().join("target/bench/instructions"))?;
    let there = checkout(base)?
        .map(|tree| build(&tree, &root().join("target/bench/instructions-base")))
        .transpose()?;
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["operation", "instructions", &format!("at {base}"), "change"]);
    for op in operations(&here)? {
        if filter.is_some_and(|wanted| !op.contains(wanted)) {
            continue;
        }
        let now = count(&here, &op)?;
        let before = match &there {
            Some(binary) if operations(binary)?.contains(&op) => Some(count(binary, &op)?),
            _ => None,
        };
        let shown = before.map_or("–".to_owned(), |count| format!("{count:.1}"));
        let change =
            before.map_or("–".to_owned(), |count| format!("{:+.1} %", (now / count - 1.0) * 100.0));
        table.add_row([op, format!("{now:.1}"), shown, change]);
    }
    say(&table.to_string())
}

fn build(tree: &Path, target: &Path) -> Result<PathBuf, Failure> {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--release", "--bin", "instructions", "--manifest-path"]);
    command.arg(tree.join("benches/Cargo.toml")).env("CARGO_TARGET_DIR", target);
    succeed(&mut command, "building the operations")?;
    Ok(target.join("release/instructions"))
}

/// The base revision in a work tree of its own; none if it has no such operations.
fn checkout(base: &str) -> Result<Option<PathBuf>, Failure> {
    let tree = root().join("target/bench/base");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(root()).args(arguments);
        command
    };
    let path = tree.display().to_string();
    // Whatever an earlier run left: a folder without a work tree, or a work tree without its folder.
    if tree.exists() {
        std::fs::remove_dir_all(&tree).map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    }
    succeed(&mut git(&["worktree", "prune"]), "forgetting the old base")?;
    succeed(&mut git(&["worktree", "add", "--quiet", "--detach", &path, base]), "checking out the base")?;
    Ok(tree.join("benches/src/bin/instructions.rs").exists().then_some(tree))
}

fn operations(binary: &Path) -> Result<Vec<String>, Failure> {
    let output = Command::new(binary)
        .output()
        .map_err(|error| Failure::Claim(format!("{}: {error}", binary.display())))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// Instructions of one operation: the difference of two runs, by repetitions.
fn count(binary: &Path, op: &str) -> Result<f64, Failure> {
    let total = |repetitions: u64| -> Result<u64, Failure> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(binary)
            .args([op, &repetitions.to_string()])
            .output()
            .map_err(|error| Failure::Usage(format!("valgrind: {error}")))?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find_map(|line| line.split_once("Collected :"));
        line.and_then(|(_, count)| count.trim().parse().ok())
            .ok_or_else(|| Failure::Claim(format!("valgrind counted nothing of {op}:\n{text}")))
    };
    Ok((total(2 * REPETITIONS)? - total(REPETITIONS)?) as f64 / REPETITIONS as f64)
}

fn succeed(command: &mut Command, what: &str) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::Claim(format!("{what} failed"))),
        Err(error) => Err(Failure::Claim(format!("{what}: {error}"))),
    }
}
