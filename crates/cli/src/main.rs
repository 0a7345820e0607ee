//! `ign`: predictions with calibrated uncertainty from tables, texts, images and graphs.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // this crate alone prints

mod commands;
mod failure;
mod fetch;
mod input;
mod output_file;
mod predictions;
mod report_page;
mod shards;
mod signals;
mod training;
mod ui;

use clap::{CommandFactory, Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// Calibrated predictions from tables, texts, images and graphs: a neural network with a Gaussian process on top.
#[derive(Parser)]
#[command(name = "ign", version, arg_required_else_help = true, after_help = failure::EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train on a simulated data set and show the result
    Demo(commands::demo::Args),
    /// Learn to predict columns of a table, or the classes of images or graphs
    Train(Box<commands::train::Args>),
    /// Search for better settings within a time; the best model is kept
    Tune(Box<commands::tune::Args>),
    /// Predict rows, images or graphs, each with its uncertainty
    Predict(commands::predict::Args),
    /// Suggest which rows to label next: those that would teach most, or the most promising
    Suggest(commands::suggest::Args),
    /// Score a model on inputs whose targets are known
    Evaluate(commands::evaluate::Args),
    /// Add labelled rows to a model: they join its neighbours and its calibration, in seconds
    Update(commands::update::Args),
    /// Show the inducing points: their pseudo-labels and the examples closest to them
    Inspect(commands::inspect::Args),
    /// Write a page about models: scores, calibration, inducing points, feature space
    Report(commands::report::Args),
    /// Write a model as an ONNX graph, which predicts without this program
    Export(commands::export::Args),
    /// Show what is in a model file
    Info(commands::info::Args),
    /// Generate simulated data sets, fetch public ones, list both
    Data(commands::data::Args),
    /// Run the paper's experiments and write a page that compares with its figures
    Reproduce(commands::reproduce::Args),
    /// Print a configuration file with every key
    Config(commands::config::Args),
    /// Print a script that completes commands and flags in a shell
    Completions(commands::completions::Args),
    /// Write manual pages
    Man(commands::man::Args),
}

impl Command {
    /// Why processes of an `mpirun` cannot run this together: they would do the same work, and write the same files.
    fn refused_to_several(&self) -> Option<Failure> {
        let parted = match self {
            Self::Train(_) => true,
            Self::Predict(args) => args.is_parted(),
            _ => false,
        };
        (shards::ShardPart::of_world().is_some() && !parted).then(|| {
            Failure::Usage(
                "several processes were started by `mpirun`, and this command is of one\nhint: `ign train` parts networks, and `ign predict \
                 --out-dir DIR` files, among them; start others without `mpirun`"
                    .into(),
            )
        })
    }
}

fn main() -> ExitCode {
    signals::survive_file_size_limit();
    let command = Cli::parse().command;
    if let Some(failure) = command.refused_to_several() {
        eprintln!("error: {failure}");
        return ExitCode::from(failure.exit_code());
    }
    let result = match command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Suggest(args) => commands::suggest::run(&args),
        Command::Evaluate(args) => commands::evaluate::run(&args),
        Command::Update(args) => commands::update::run(&args),
        Command::Inspect(args) => commands::inspect::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Info(args) => commands::info::run(&args),
        Command::Data(args) => commands::data::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Config(args) => commands::config::run(&args),
        Command::Completions(args) => commands::completions::run(&args, Cli::command()),
        Command::Man(args) => commands::man::run(&args, Cli::command()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output may stop reading.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(Failure::Interrupted) => ExitCode::from(signals::exit_code()),
        Err(failure) => {
            eprintln!("error: {}", ui::text::terminal_safe(&failure.to_string()));
            ExitCode::from(failure.exit_code())
        }
    }
}
