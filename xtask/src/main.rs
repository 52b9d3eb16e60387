//! `cargo xtask`: the commands of the workspace.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The commands of the pds workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reproduce the tables of error and size, and hold every claim to its law
    Accuracy(xtask::accuracy::Arguments),
    /// Time every structure beside its peers
    Bench(xtask::bench::Arguments),
    /// Feed every decoder, merge and structure hostile bytes and histories
    Fuzz(xtask::fuzz::Arguments),
    /// Build the book, after checking its citations and generated parts
    Docs,
    /// Try other widths, byte orders and compilers, as far as this machine can
    Platforms(xtask::platforms::Arguments),
    /// Check every published crate without features, with each alone, and with all
    Features,
    /// Compare golden files, and the public interface of a release, with an earlier revision
    Compat(xtask::compat::Arguments),
    /// The committed tables and plots in one page
    Report(xtask::report::Arguments),
    /// Everything that has to pass before a change lands
    Ci,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Accuracy(arguments) => xtask::accuracy::run(&arguments),
        Command::Bench(arguments) => xtask::bench::run(&arguments),
        Command::Fuzz(arguments) => xtask::fuzz::run(&arguments),
        Command::Docs => xtask::docs::run(),
        Command::Platforms(arguments) => xtask::platforms::run(&arguments),
        Command::Features => xtask::features::run(),
        Command::Compat(arguments) => xtask::compat::run(&arguments),
        Command::Report(arguments) => xtask::report::run(&arguments),
        Command::Ci => xtask::ci::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                eprintln!("error: {message}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}
