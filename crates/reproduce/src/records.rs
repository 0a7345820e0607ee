//! The folder of records: one JSON file for each run that ended, a checkpoint for one that was interrupted.

use crate::Error;
use crate::request::Request;
use inducing::Config;
use inducing::train::Checkpoint;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What one run left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The experiment's name.
    pub experiment: String,
    /// The preset's name.
    pub preset: String,
    /// `m16` for sixteen inducing points, `f3` for the fourth fold, `g2` for a gap in x2, `c3` for the fourth cluster, else
    /// nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// In deviations of the simulated target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// Decides the split and every random number.
    pub seed: u64,
    /// Overrides of the configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// Of the test part. Numbers are of targets divided by the training targets' deviation.
    pub scores: BTreeMap<String, f64>,
    /// Rows that were trained on, held for validation, held for the test.
    pub rows: [usize; 3],
    /// What the model says along the wave: mean, lower and upper ends of the intervals of 90 and of 50 %.
    #[serde(default, skip_serializing_if = "Vec::is_empty", serialize_with = "in_one_line")]
    pub curve: Vec<[f64; 5]>,
    /// Numbers that an input becomes.
    pub inputs: usize,
    /// Seconds of the run.
    pub seconds: f64,
    /// Threads that it ran on.
    pub threads: usize,
    /// Optimiser steps of all networks.
    pub steps: usize,
    /// Epochs of the likelihood phase of the first network.
    pub epochs: usize,
    /// The epoch whose parameters were kept.
    pub best_epoch: usize,
    /// Epochs that the configuration asks for, where the run stopped because it had reached the paper's figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_of: Option<usize>,
    /// Of the resolved configuration.
    pub fingerprint: String,
    /// Of the data.
    pub data: String,
    /// The program's version.
    pub version: String,
    /// The program's commit, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Cores of the machine.
    pub cores: usize,
    /// The machine's processor.
    pub cpu: String,
    /// Seconds since 1970.
    pub finished: u64,
}

/// Numbers that nobody reads one by one.
fn in_one_line<S: Serializer>(curve: &Vec<[f64; 5]>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = serde_json::to_string(curve).and_then(RawValue::from_string);
    text.map_err(serde::ser::Error::custom)?.serialize(serializer)
}

/// The folder.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    folder: PathBuf,
}

/// What is known of a run before it begins.
pub(crate) enum Status {
    /// It is done.
    Done,
    /// It was done with another configuration.
    Outdated,
    /// The file cannot be read.
    Damaged(String),
    /// Nothing.
    New,
}

impl Records {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Whether there is such a folder.
    pub(crate) fn exist(&self) -> bool {
        self.folder.is_dir()
    }

    /// Makes the folder.
    pub(crate) fn create(&self) -> Result<(), Error> {
        std::fs::create_dir_all(&self.folder).map_err(|source| {
            let hint = "choose another folder with `--records`";
            inducing::Error::Io { action: "make the folder", path: self.folder.clone(), source, hint }.into()
        })
    }

    fn file(&self, name: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{name}.{ending}"))
    }

    /// Whether a run is done.
    pub(crate) fn status(&self, request: &Request, fingerprint: &str) -> Status {
        let path = self.file(&request.name(), "json");
        if !path.exists() {
            return Status::New;
        }
        match read(&path) {
            Ok(record) if record.fingerprint == fingerprint => Status::Done,
            Ok(_) => Status::Outdated,
            Err(reason) => Status::Damaged(reason),
        }
    }

    /// All records, in the order of their names, and the files that are none.
    pub(crate) fn all(&self) -> (Vec<Record>, Vec<String>) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        files.sort();
        let (mut records, mut faults) = (Vec::new(), Vec::new());
        for file in files {
            match read(&file) {
                Ok(record) => records.push(record),
                Err(reason) => faults.push(format!("{}: {reason}", file.display())),
            }
        }
        (records, faults)
    }

    /// Writes a record, and takes away what an interruption left.
    pub(crate) fn write(&self, request: &Request, record: &Record) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(record).expect("a record is plain data");
        data::write_atomically(&self.file(&request.name(), "json"), |file| writeln!(file, "{text}"))?;
        self.forget(request);
        Ok(())
    }

    fn forget(&self, request: &Request) {
        for ending in ["checkpoint", "seconds"] {
            let _ = std::fs::remove_file(self.file(&request.name(), ending)); // there may be none
        }
    }

    /// Where an interrupted run stood, and how long it had taken.
    pub(crate) fn checkpoint(
        &self,
        request: &Request,
        config: &Config,
        data: &str,
    ) -> Result<Option<(Checkpoint, f64)>, String> {
        let path = self.file(&request.name(), "checkpoint");
        if !path.exists() {
            return Ok(None);
        }
        let checkpoint = Checkpoint::load(&path, config, data).map_err(|error| error.to_string())?;
        let seconds = std::fs::read_to_string(self.file(&request.name(), "seconds"));
        Ok(Some((checkpoint, seconds.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0.0))))
    }

    /// Keeps where a run stands.
    pub(crate) fn save_checkpoint(
        &self,
        request: &Request,
        config: &Config,
        data: &str,
        checkpoint: &Checkpoint,
        seconds: f64,
    ) -> Result<(), Error> {
        checkpoint.save(&self.file(&request.name(), "checkpoint"), config, data)?;
        data::write_atomically(&self.file(&request.name(), "seconds"), |file| writeln!(file, "{seconds}"))?;
        Ok(())
    }
}

/// The record in a file, if the file is named as its run is: a copy under another name would count twice.
fn read(file: &Path) -> Result<Record, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let record: Record = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    match Request::from_record(&record).map(|request| request.name()) {
        None => Err("of an experiment that does not exist".into()),
        Some(name) if file.file_stem().is_none_or(|stem| stem != name.as_str()) => {
            Err(format!("holds the record of {name}"))
        }
        Some(_) => Ok(record),
    }
}
