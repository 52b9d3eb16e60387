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

use std::path::{Path, PathBuf};

pub mod accuracy;
pub mod ci;
pub mod docs;

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
}

impl Failure {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Claim(_) => 1,
            Self::Usage(_) => 2,
        }
    }

    /// What to tell the user.
    pub fn message(&self) -> &str {
        match self {
            Self::Claim(message) | Self::Usage(message) => message,
        }
    }
}

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
