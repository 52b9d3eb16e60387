//! `cargo xtask ci`: everything that has to pass before a change lands.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{Failure, compat, docs, features, platforms, report, root, say, timed};

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
    timed("features, each alone", features::run)?;
    timed("pointers of 32 bits, a check", platforms::check_narrow)?;
    timed("examples, without arguments", examples)?;
    timed("bytes of earlier revisions", || compat::run(&compat::Arguments::default()))?;
    timed("the report", || report::run(&report::Arguments::default()))?;
    timed("the book", docs::run)
}

/// Builds the examples of all crates, and runs each that cargo says it has built. One that the book shows has to print what
/// stands there.
fn examples() -> Result<(), Failure> {
    let failed = |what: &str| Failure::Claim(format!("examples: {what}"));
    let built = Command::new("cargo")
        .args(["build", "--workspace", "--examples", "--quiet", "--message-format=json-render-diagnostics"])
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(&format!("cargo: {error}")))?;
    let programs = programs(&String::from_utf8_lossy(&built.stdout));
    if !built.status.success() || programs.is_empty() {
        return Err(failed("the build failed, or there are none"));
    }
    for (name, program) in programs {
        let failed = |what: &str| failed(&format!("{name}: {what}"));
        let run = Command::new(program)
            .current_dir(root())
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| failed(&error.to_string()))?;
        if !run.status.success() {
            return Err(failed(&run.status.to_string()));
        }
        let shown = format!("docs/src/recipes/{name}.txt");
        let printed = fs::read(root().join(&shown)).map_or(true, |text| text == run.stdout);
        if !printed {
            return Err(failed(&format!("prints something else than {shown}; write its output there")));
        }
        say(&format!("{name}: ran"))?;
    }
    Ok(())
}

/// Name and path of each example in cargo's messages, one a line.
fn programs(messages: &str) -> Vec<(String, String)> {
    let program = |message: Value| {
        let target = &message["target"];
        let example = target["kind"].as_array()?.iter().any(|kind| kind == "example");
        let path = message["executable"].as_str().filter(|_| example)?;
        Some((target["name"].as_str()?.to_owned(), path.to_owned()))
    };
    messages.lines().filter_map(|line| program(serde_json::from_str(line).ok()?)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_what_cargo_says_it_has_built() {
        let messages = r#"{"reason":"compiler-artifact","target":{"kind":["example"],"name":"a"},"executable":"/t/a"}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"b"},"executable":"/t/b"}
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"c"},"executable":null}
{"reason":"build-finished","success":true}
no message"#;
        assert_eq!(programs(messages), [("a".to_owned(), "/t/a".to_owned())]);
    }
}
