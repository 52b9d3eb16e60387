//! `cargo xtask compat`: what an earlier revision wrote is still read and written, and what it offered is still there.

use std::process::{Command, Output};

use crate::{Failure, root, say};

/// The arguments of the command.
#[derive(Debug, Default, clap::Args)]
pub struct Arguments {
    /// The revision to compare with [default: the last tag, else the commit before this one]
    #[arg(long, value_name = "REVISION")]
    base: Option<String>,
}

/// Compares golden files with those of the base, and the public interface with that of the last release.
///
/// # Errors
///
/// [`Failure::Claim`] names every golden file that was edited or removed, and says if the interface breaks;
/// [`Failure::Usage`] if git cannot tell.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let tag = git(&["describe", "--tags", "--abbrev=0"]).ok();
    let Some(base) = arguments.base.clone().or_else(|| tag.clone()).or_else(parent) else {
        return say("no earlier revision is here: nothing to compare with");
    };
    golden(&base)?;
    match arguments.base.as_ref().or(tag.as_ref()) {
        Some(release) => interface(release),
        None => say("no release yet: no public interface to keep"),
    }
}

/// The commit before this one, where the history is here.
fn parent() -> Option<String> {
    git(&["rev-parse", "--verify", "--quiet", "HEAD~1"]).ok()
}

/// Golden files are only added.
fn golden(base: &str) -> Result<(), Failure> {
    let changes = git(&["diff", "--name-status", "--no-renames", base, "--", "crates/*/golden/*"])?;
    let faults: Vec<&str> = changes.lines().filter(|line| !line.starts_with('A')).collect();
    if !faults.is_empty() {
        return Err(Failure::Claim(format!(
            "golden files of {base} were edited or removed; a new form gets a new version and new files:\n{}",
            faults.join("\n")
        )));
    }
    let kept = git(&["ls-tree", "-r", "--name-only", base, "--", "crates"])?;
    let kept = kept.lines().filter(|path| path.contains("/golden/")).count();
    say(&format!("{kept} golden files of {base} are unchanged, {} were added", changes.lines().count()))
}

/// The public interface, by cargo-semver-checks where it is installed.
fn interface(release: &str) -> Result<(), Failure> {
    let installed = Command::new("cargo").args(["semver-checks", "--version"]).output();
    if !installed.is_ok_and(|output| output.status.success()) {
        return say("cargo-semver-checks is not installed: the public interface was not compared");
    }
    let status = Command::new("cargo")
        .args(["semver-checks", "--workspace", "--all-features", "--baseline-rev", release])
        .current_dir(root())
        .status()
        .map_err(|error| Failure::Usage(format!("cargo semver-checks: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::Claim(format!("the public interface of {release} breaks")))
    }
}

/// What git prints, without the last line's end.
fn git(arguments: &[&str]) -> Result<String, Failure> {
    let run = Command::new("git").args(arguments).current_dir(root()).output();
    let Output { status, stdout, stderr } = run.map_err(|error| Failure::Usage(format!("git: {error}")))?;
    if !status.success() {
        return Err(Failure::Usage(format!(
            "git {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&stderr).trim()
        )));
    }
    Ok(String::from_utf8_lossy(&stdout).trim_end().to_owned())
}
