//! `cargo xtask platforms`: other widths, byte orders and compilers, as far as this machine has what they take.

use std::process::{Command, Stdio};

use crate::features::{Package, packages};
use crate::{Failure, root, say, timed};

/// Pointers of 32 bits, on a machine that can run them.
const NARROW: &str = "i686-unknown-linux-gnu";

/// The other byte order, interpreted.
const BIG_ENDIAN: &str = "s390x-unknown-linux-gnu";

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Run only these parts
    parts: Vec<Part>,
    /// Fail where a part would be skipped
    #[arg(long)]
    require: bool,
}

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// All tests of the crates with pointers of 32 bits; if they cannot be linked here, a check
    Narrow,
    /// The least Rust version
    Msrv,
    /// Bytes, keys and hashes in the other byte order, under Miri
    BigEndian,
    /// The crates with unsafe code or atomics, for undefined behaviour, under Miri
    Unsafe,
}

const PARTS: [Part; 4] = [Part::Narrow, Part::Msrv, Part::BigEndian, Part::Unsafe];

/// How a part ended that did not fail.
enum Outcome {
    Passed,
    /// What was left out, and why.
    Skipped(String),
}

/// Runs the command.
///
/// # Errors
///
/// [`Failure::Claim`] names the part that failed, or was skipped though required.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let wanted = if arguments.parts.is_empty() { &PARTS } else { &arguments.parts[..] };
    let mut skipped = Vec::new();
    for part in wanted {
        timed(part.name(), || {
            if let Outcome::Skipped(reason) = part.run()? {
                skipped.push(format!("skipped: {}: {reason}", part.name()));
            }
            Ok(())
        })?;
    }
    for line in &skipped {
        say(line)?;
    }
    match skipped.len() {
        n if n > 0 && arguments.require => Err(Failure::Claim(format!("{n} parts were skipped"))),
        _ => Ok(()),
    }
}

/// The cheap part, which every run of continuous integration has: a check with pointers of 32 bits, where the target is
/// there.
///
/// # Errors
///
/// [`Failure::Claim`] if it does not compile.
pub fn check_narrow() -> Result<(), Failure> {
    if has_target(NARROW) {
        cargo(&["check", "--quiet", "--tests", "--target", NARROW], &of(&packages()?))
    } else {
        say(&no_target(NARROW))
    }
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Narrow => "pointers of 32 bits",
            Self::Msrv => "the least Rust version",
            Self::BigEndian => "the other byte order",
            Self::Unsafe => "undefined behaviour",
        }
    }

    fn run(self) -> Result<Outcome, Failure> {
        let packages = packages()?;
        match self {
            Self::Narrow => narrow(&packages),
            Self::Msrv => msrv(&packages),
            Self::BigEndian => big_endian(&packages),
            Self::Unsafe => undefined_behaviour(),
        }
    }
}

fn narrow(packages: &[Package]) -> Result<Outcome, Failure> {
    if !has_target(NARROW) {
        return Ok(Outcome::Skipped(no_target(NARROW)));
    }
    if links_narrow() {
        let mut crates = of(packages);
        crates.extend(["--package".to_owned(), "pds-testkit".to_owned()]);
        return cargo(&["test", "--quiet", "--no-fail-fast", "--target", NARROW], &crates)
            .map(|()| Outcome::Passed);
    }
    check_narrow()?;
    Ok(Outcome::Skipped("the tests were checked but not run: no 32-bit linker (gcc-multilib)".into()))
}

/// Whether the system's compiler links programs of 32 bits.
fn links_narrow() -> bool {
    let program = "int main(void) { return 0; }";
    let source = std::env::temp_dir().join(format!("pds-narrow-{}.c", std::process::id()));
    let linked = std::fs::write(&source, program).is_ok()
        && succeeds(Command::new("cc").args(["-m32", "-o"]).arg(source.with_extension("out")).arg(&source));
    // What may be left behind is two small files in the folder for such.
    std::fs::remove_file(source.with_extension("out")).ok();
    std::fs::remove_file(source).ok();
    linked
}

fn msrv(packages: &[Package]) -> Result<Outcome, Failure> {
    let version = packages.iter().find_map(|package| package.rust_version.clone());
    let version = version.ok_or(Failure::Claim("no crate names its least Rust version".into()))?;
    let of_version = |toolchain: &&str| {
        let rest = toolchain.strip_prefix(&version);
        rest.is_some_and(|rest| rest.starts_with(['.', '-']))
    };
    let toolchains = lines_of(&["toolchain", "list"]);
    let Some(toolchain) = toolchains.iter().filter_map(|line| line.split(' ').next()).find(of_version) else {
        return Ok(Outcome::Skipped(format!("no toolchain {version} (rustup toolchain install {version})")));
    };
    let toolchain = format!("+{toolchain}");
    cargo(&[&toolchain, "check", "--quiet", "--workspace", "--all-features"], &[])?;
    cargo(&[&toolchain, "check", "--quiet", "--tests"], &of(packages)).map(|()| Outcome::Passed)
}

/// Tests of a package that are worth a run a thousand times as slow: where they are, and parts of their names; all of them
/// if there are none.
type Selection = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Of bytes, beside the files of tests that are called golden.
const OF_BYTES: &[Selection] = &[
    ("pds-core", &["--test", "wire"], &["layout", "kind", "overlong", "fault"]),
    ("pds-core", &["--test", "keys"], &[]),
    (
        "pds-hash",
        &["--test", "vectors"],
        &["pinned", "vectors", "siphash", "final_3", "columns_stay", "seeds"],
    ),
    ("pds-bloom", &["--test", "split_block"], &["version_1"]),
    ("pds-cms", &["--test", "heavy"], &["golden"]),
    ("pds-static-filters", &["--test", "ribbon"], &["version_1"]),
];

/// Of unsafe code and atomics: what every kind of load and hint is reached by, and threads. Where shapes are
/// sized, on another processor: on this one libm has assembly, which Miri does not take.
const OF_UNSAFE: &[Selection] = &[
    ("pds-bloom", &["--lib"], &["arch::"]),
    (
        "pds-bloom",
        &["--test", "golden", "--test", "blocked_golden", "--target", BIG_ENDIAN],
        &["raw_shape", "several_rounds"],
    ),
    ("pds-bloom", &["--test", "atomic", "--target", BIG_ENDIAN], &["threads_lose", "keys_and_hashes"]),
    ("pds-cuckoo", &["--test", "golden", "--target", BIG_ENDIAN], &["empty", "other_hashers"]),
    ("pds-static-filters", &["--test", "golden", "--target", BIG_ENDIAN], &["empty", "hundred"]),
    ("pds-cms", &["--test", "golden"], &["small_cells", "a_seeded_hasher"]),
    ("pds-cms", &["--test", "atomic"], &["threads_fill"]),
    ("pds-hll", &["--test", "atomic", "--target", BIG_ENDIAN], &["many_threads"]),
];

fn big_endian(packages: &[Package]) -> Result<Outcome, Failure> {
    if let Some(why) = without_miri() {
        return Ok(Outcome::Skipped(why));
    }
    let target = ["--target", BIG_ENDIAN];
    for package in packages {
        let golden = package.tests.iter().filter(|test| test.contains("golden"));
        let tests: Vec<_> = golden.flat_map(|test| ["--test", test]).collect();
        if !tests.is_empty() {
            miri(&package.name, &[&tests, &target[..]].concat(), &[])?;
        }
    }
    for (package, tests, names) in OF_BYTES {
        miri(package, &[tests, &target[..]].concat(), names)?;
    }
    Ok(Outcome::Passed)
}

fn undefined_behaviour() -> Result<Outcome, Failure> {
    if let Some(why) = without_miri() {
        return Ok(Outcome::Skipped(why));
    }
    for (package, tests, names) in OF_UNSAFE {
        miri(package, tests, names)?;
    }
    Ok(Outcome::Passed)
}

/// Runs tests under Miri. Golden files are read from the machine, which is why it is not shut out.
fn miri(package: &str, tests: &[&str], names: &[&str]) -> Result<(), Failure> {
    /// Cases of a property test that does not name a number of its own.
    const CASES: &str = "3";
    let mut command = Command::new("cargo");
    command.args(["+nightly", "miri", "test", "--quiet", "--package", package]).args(tests);
    command.arg("--").args(names).current_dir(root());
    command.env("MIRIFLAGS", "-Zmiri-disable-isolation").env("PROPTEST_CASES", CASES);
    finished(&mut command, &format!("Miri on {package}"))
}

/// Why Miri cannot run here, if it cannot.
fn without_miri() -> Option<String> {
    let there = succeeds(Command::new("cargo").args(["+nightly", "miri", "--version"]));
    let add = "rustup toolchain install nightly --component miri,rust-src";
    (!there).then(|| format!("no Miri ({add})"))
}

fn has_target(target: &str) -> bool {
    lines_of(&["target", "list", "--installed"]).iter().any(|line| line == target)
}

fn no_target(target: &str) -> String {
    format!("no target {target} (rustup target add {target})")
}

/// What rustup says; nothing if there is none.
fn lines_of(arguments: &[&str]) -> Vec<String> {
    let output = Command::new("rustup").args(arguments).output();
    output.map_or(Vec::new(), |output| {
        String::from_utf8_lossy(&output.stdout).lines().map(Into::into).collect()
    })
}

/// These packages, as cargo is told.
fn of(packages: &[Package]) -> Vec<String> {
    packages.iter().flat_map(|package| ["--package".to_owned(), package.name.clone()]).collect()
}

fn cargo(arguments: &[&str], more: &[String]) -> Result<(), Failure> {
    let mut command = Command::new("cargo");
    command.args(arguments).args(more).current_dir(root());
    finished(&mut command, &format!("cargo {}", arguments.join(" ")))
}

fn finished(command: &mut Command, name: &str) -> Result<(), Failure> {
    let status = command.status().map_err(|error| Failure::Claim(format!("{name}: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::Claim(format!("{name} failed"))) }
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
