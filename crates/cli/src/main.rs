//! `ign`: from a table, pictures or graphs to predictions that say how sure they are.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // this crate alone prints

mod commands;
mod dashboard;
mod output;
mod progress;
mod times;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Calibrated predictions from tables, texts, pictures and graphs: a neural network with a Gaussian process on top.
#[derive(Parser)]
#[command(name = "ign", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train on a simulated data set and show what comes out
    Demo(commands::demo::Args),
    /// Learn to predict columns of a table, or the classes of pictures or graphs
    Train(commands::train::Args),
    /// Predict rows, pictures or graphs, and say how sure each prediction is
    Predict(commands::predict::Args),
    /// Score a model on inputs whose targets are known
    Evaluate(commands::evaluate::Args),
    /// Show what the inducing points stand for: pseudo-labels and the inputs nearest to them
    Inspect(commands::inspect::Args),
    /// Write one page about what models learned and how far to trust them
    Report(commands::report::Args),
    /// Show what is inside a model file
    Info(commands::info::Args),
    /// Generate simulated data sets, fetch public ones, list both
    Data(commands::data::Args),
    /// Run the paper's experiments and write a page of results beside its figures
    Reproduce(commands::reproduce::Args),
}

/// Exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Evaluate(args) => commands::evaluate::run(&args),
        Command::Inspect(args) => commands::inspect::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Info(args) => commands::info::run(&args),
        Command::Data(args) => commands::data::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader went away: that is its right.
        Err(commands::Failure::Error(ign::Error::Data(e))) if e.is_broken_pipe() => ExitCode::SUCCESS,
        Err(commands::Failure::Output(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(commands::Failure::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}
