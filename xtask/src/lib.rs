//! The commands of the workspace, as a library so that tests can reach the experiments.

#![forbid(unsafe_code)]
// Grids hold constants that are compared with themselves, flags are a command line's, pixels are small, and text is put
// together for people.
#![allow(
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    clippy::format_push_string,
    clippy::naive_bytecount,
    clippy::struct_excessive_bools,
    clippy::type_complexity
)]

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub mod accuracy;
pub mod bench;
pub mod ci;
pub mod compat;
pub mod docs;
pub mod features;
pub mod fuzz;
pub mod platforms;
pub mod report;

/// Prints a line; `println!` would panic where nobody reads or a disk is full.
fn say(text: &str) -> Result<(), Failure> {
    writeln!(io::stdout().lock(), "{text}").map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Unread,
        _ => Failure::Usage(format!("standard output: {error}")),
    })
}

/// Runs a step under its name, and says how long it took.
fn timed(name: &str, step: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    say(&format!("== {name}"))?;
    let start = Instant::now();
    step()?;
    say(&format!("== {name}: passed in {:.0} s", start.elapsed().as_secs_f64()))
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// Why a command ended without success.
#[derive(Debug)]
pub enum Failure {
    /// A claim, a check or a test does not hold: exit code 1.
    Claim(String),
    /// Bad usage or input: exit code 2.
    Usage(String),
    /// Nobody reads the output any more: exit code 0, and silence.
    Unread,
}

impl Failure {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Claim(_) => 1,
            Self::Usage(_) => 2,
            Self::Unread => 0,
        }
    }

    /// What to tell the user.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Claim(message) | Self::Usage(message) => Some(message),
            Self::Unread => None,
        }
    }
}

/// The examples of the README and of the book, as tests.
#[cfg(doctest)]
mod examples {
    #[doc = include_str!("../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../docs/src/bloom.md")]
    pub struct Bloom;
    #[doc = include_str!("../../docs/src/bloom-family.md")]
    pub struct BloomFamily;
    #[doc = include_str!("../../docs/src/cuckoo.md")]
    pub struct Cuckoo;
    #[doc = include_str!("../../docs/src/static-filters.md")]
    pub struct StaticFilters;
    #[doc = include_str!("../../docs/src/hyperloglog.md")]
    pub struct HyperLogLog;
    #[doc = include_str!("../../docs/src/theta.md")]
    pub struct Theta;
    #[doc = include_str!("../../docs/src/count-min.md")]
    pub struct CountMin;
    #[doc = include_str!("../../docs/src/heavy-hitters.md")]
    pub struct HeavyHitters;
    #[doc = include_str!("../../docs/src/quantiles.md")]
    pub struct Quantiles;
    #[doc = include_str!("../../docs/src/hashing.md")]
    pub struct Hashing;
    #[doc = include_str!("../../docs/src/merging.md")]
    pub struct Merging;
    #[doc = include_str!("../../docs/src/time.md")]
    pub struct Time;
    #[doc = include_str!("../../docs/src/read-path.md")]
    pub struct ReadPath;
    #[doc = include_str!("../../docs/src/sizing.md")]
    pub struct Sizing;
    #[doc = include_str!("../../docs/src/running.md")]
    pub struct Running;
    #[doc = include_str!("../../docs/src/wire.md")]
    pub struct Wire;
    #[doc = include_str!("../../docs/src/choosing.md")]
    pub struct Choosing;
}
