//! `cargo xtask ci`: everything that has to pass before a change lands.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::{Failure, docs, root, say};

/// A command of the run, below the root or one of its folders.
struct Step {
    name: &'static str,
    dir: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const STEPS: &[Step] = &[
    cargo("tests, as the README has them", &["test", "--workspace"]),
    cargo("format", &["fmt", "--all", "--check"]),
    cargo("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]),
    Step {
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
        ..cargo("documentation", &["doc", "--workspace", "--no-deps", "--quiet"])
    },
    cargo("licences, bans, sources", &["deny", "check", "licenses", "bans", "sources"]),
    Step { dir: "no-std-check", ..cargo("a program without std", &["run", "--release", "--quiet"]) },
    Step { dir: "fuzz", ..cargo("fuzzing, the harnesses as tests", &["test", "--quiet"]) },
    Step { dir: "fuzz", ..cargo("fuzzing, format", &["fmt", "--all", "--check"]) },
    Step {
        dir: "fuzz",
        ..cargo("fuzzing, lints", &["clippy", "--all-targets", "--quiet", "--", "-D", "warnings"])
    },
    Step { dir: "benches", ..cargo("benches, format", &["fmt", "--all", "--check"]) },
    cargo("benches, a smoke run", &["run", "--quiet", "--package", "xtask", "--", "bench", "--quick"]),
    cargo("examples", &["build", "--workspace", "--examples", "--quiet"]),
    cargo("accuracy, quick", &["run", "--quiet", "--package", "xtask", "--", "accuracy", "--quick"]),
];

const fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step { name, dir: ".", program: "cargo", arguments, environment: &[] }
}

/// Runs every step, and stops at the first that fails.
///
/// # Errors
///
/// [`Failure::Claim`] names the step.
pub fn run() -> Result<(), Failure> {
    for step in STEPS {
        timed(step.name, || step.run())?;
    }
    timed("the book", docs::run)
}

impl Step {
    fn run(&self) -> Result<(), Failure> {
        let status = Command::new(self.program)
            .args(self.arguments)
            .envs(self.environment.iter().copied())
            .current_dir(root().join(Path::new(self.dir)))
            .status()
            .map_err(|error| Failure::Claim(format!("{}: {}: {error}", self.name, self.program)))?;
        if status.success() { Ok(()) } else { Err(Failure::Claim(format!("{} failed", self.name))) }
    }
}

fn timed(name: &str, step: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    say(&format!("== {name}"))?;
    let start = Instant::now();
    step()?;
    say(&format!("== {name}: passed in {:.0} s", start.elapsed().as_secs_f64()))
}
