//! Flags that several commands share.

use crate::failure::Failure;
use crate::training::world::Processes;
use data::{Format, ImageSize, ReadOptions};
use inducing::Model;
use inducing::model::Decision;
use std::path::PathBuf;

/// Most threads, or runs at a time: more than there are cores only cost.
pub(crate) const MAX_THREADS: i64 = 1024;

/// How many threads to use.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct ThreadFlags {
    /// Threads to compute on [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    threads: Option<u16>,
}

impl ThreadFlags {
    /// The same where several processes share the cores of a machine.
    pub(crate) fn shared_by(self, processes: &Processes) -> Self {
        let all = std::thread::available_parallelism().map_or(1, |n| n.get());
        let share = || u16::try_from(processes.threads(all)).unwrap_or(u16::MAX);
        Self { threads: self.threads.or_else(|| processes.are_several().then(share)) }
    }

    /// The number, after making the global pool of that size.
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
pub(crate) struct TableFlags {
    /// Character between fields of a text table [default: detected]
    #[arg(long)]
    delimiter: Option<char>,
    /// Format of the input [default: detected]
    #[arg(long, value_parser = parse_format)]
    format: Option<Format>,
}

impl TableFlags {
    /// What they say of reading; a configuration adds missing values and column types.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions { format: self.format, delimiter: self.delimiter, ..ReadOptions::default() }
    }
}

/// `csv`, `parquet`, `jsonl` or, to read, `npy`.
pub(crate) fn parse_format(name: &str) -> Result<Format, String> {
    match name {
        "npy" => Ok(Format::Npy),
        "csv" => Ok(Format::Csv),
        "parquet" => Ok(Format::Parquet),
        "jsonl" => Ok(Format::JsonLines),
        _ => Err("expected csv, parquet or jsonl".into()),
    }
}

/// A probability between 0 and 1.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(p) if p > 0.0 && p < 1.0 => Ok(p),
        _ => Err(format!("`{text}` is not a probability between 0 and 1")),
    }
}

/// Decides between two classes by a threshold, where one is given.
pub(crate) fn set_threshold(model: &mut Model, threshold: Option<f64>) -> Result<(), Failure> {
    let Some(threshold) = threshold else { return Ok(()) };
    let classes = model.header().schema.classes().map_or(0, <[String]>::len);
    if classes != 2 {
        let what = if classes == 0 { "numbers".to_owned() } else { format!("{classes} classes") };
        return Err(Failure::Usage(format!(
            "`--threshold` is for two classes, and this model predicts {what}\nhint: leave it out"
        )));
    }
    Ok(model.set_decision(Some(Decision::Threshold(threshold)))?)
}

/// The probability of an interval: below 1 as it is, above 1 and below 100 in per cent.
pub(crate) fn interval_level(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(p) if p > 0.0 && p < 1.0 => Ok(p),
        Ok(percent) if percent > 1.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err(format!(
            "`{text}` is not a probability between 0 and 1, nor a percentage above 1 and below 100"
        )),
    }
}

/// What an input is, and where.
#[derive(clap::Args, Clone)]
pub(crate) struct InputFlags {
    /// Resize images to this size, for example 32x32 [default: their own size if all share it and it is at most 256,
    /// otherwise the most frequent one, at most 64 on the longer side]
    #[arg(long, value_name = "HxW")]
    pub(super) image_size: Option<ImageSize>,
    /// Skip images that cannot be read, and count them
    #[arg(long)]
    pub(super) skip_unreadable: bool,
    /// Folder of the named sets [default: the environment variable IGN_DATA]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl InputFlags {
    /// The folder of named sets.
    pub(crate) fn data_dir(&self) -> Option<PathBuf> {
        data::data_dir(self.data_dir.as_deref())
    }
}
