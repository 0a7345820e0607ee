//! One file a command, and what they share: common flags and the way failures leave the program.

pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod evaluate;
mod fetch;
mod folds;
mod given;
pub(crate) mod info;
pub(crate) mod inspect;
mod judged;
mod learn;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod reproduce;
mod show;
pub(crate) mod train;

use ::data::{Format, ReadOptions};
use std::collections::BTreeMap;
use std::fmt;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library said no.
    Error(ign::Error),
    /// The command line makes no sense.
    Usage(String),
    /// Standard output does not take what is written to it.
    Output(std::io::Error),
    /// Ctrl-C; what could be saved is saved.
    Interrupted,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Usage(message) => message.fmt(f),
            Self::Output(error) => {
                write!(f, "cannot write standard output: {error}\nhint: is the disk behind it full?")
            }
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl Failure {
    /// 2 for what the user can mend, 1 for what went wrong in the computation.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Error(ign::Error::Gp(_) | ign::Error::Train(ign::train::TrainError::Diverged { .. })) => 1,
            _ => 2,
        }
    }
}

impl<E: Into<ign::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Threads or runs at a time that a machine may have; more than it has cores only cost.
pub(crate) const MOST_THREADS: i64 = 1024;

/// How many threads to use.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Threads {
    /// Threads to compute on [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    threads: Option<u16>,
}

impl Threads {
    /// The number, and the pool of that size made global.
    pub(crate) fn start(self) -> usize {
        let all = std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = self.threads.map_or(all, usize::from);
        // An error means that the pool exists already, which only another command in this process could have made.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        threads
    }
}

/// How to read a table.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Reading {
    /// Character between fields, for text tables [default: found by itself]
    #[arg(long)]
    delimiter: Option<char>,
    /// What the input is [default: found by itself]
    #[arg(long, value_parser = format)]
    format: Option<Format>,
}

impl Reading {
    /// Reading options with the configured cells for "missing" and column types.
    pub(crate) fn options(&self, config: &ign::Config) -> ReadOptions {
        let defaults = ReadOptions::default();
        let missing_values = match &config.data.missing_values[..] {
            [] => defaults.missing_values,
            values => values.to_vec(),
        };
        let ignored = config.data.ignore.iter().map(|name| (name.clone(), ::data::ColumnType::Ignore));
        let column_types: BTreeMap<_, _> = config.data.columns.clone().into_iter().chain(ignored).collect();
        ReadOptions { format: self.format, delimiter: self.delimiter, missing_values, column_types }
    }
}

/// `csv`, `parquet`, `jsonl` or, to read, `npy`.
pub(crate) fn format(name: &str) -> Result<Format, String> {
    match name {
        "npy" => Ok(Format::Npy),
        "csv" => Ok(Format::Csv),
        "parquet" => Ok(Format::Parquet),
        "jsonl" => Ok(Format::JsonLines),
        _ => Err("expected csv, parquet or jsonl".into()),
    }
}
