//! The files of a table, and whether all processes have the same.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::messages::{gathered, unreadable};
use crate::error::{DataError, Problem};
use crate::io::input::Input;
use crate::io::source::Source;
use crate::together::Together;

/// Bytes at the start and at the end of a file by which it is recognised.
const CHECKED_BYTES: u64 = 4096;

/// The files of a table in their order.
#[derive(Debug, Clone)]
pub(crate) struct FileList {
    /// What stands in messages about the table as a whole.
    pub(super) name: Arc<str>,
    files: Vec<Source>,
    names: Vec<Arc<str>>,
    /// Whether these are parts of a table, of which some may be empty.
    are_shards: bool,
    marks: Vec<Option<Mark>>,
    /// Size and time of each file when it was listed.
    stamps: Vec<Option<Stamp>>,
}

/// What a copy of a file has in common with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    bytes: u64,
    /// CRC-32 of the first and the last 4 KiB.
    checksum: u32,
}

/// What changes when a file does.
type Stamp = (u64, SystemTime);

/// What a process says about its files.
#[derive(Serialize, Deserialize)]
struct Listed {
    version: String,
    /// Names without folders.
    files: Vec<(String, Option<Mark>)>,
}

impl FileList {
    /// The files of a source.
    pub(crate) fn new(source: &Source) -> Self {
        let files: Vec<Source> = match source {
            Source::Shards(shards) => shards.paths().iter().cloned().map(Source::Path).collect(),
            other => vec![other.clone()],
        };
        let (marks, stamps) = files.par_iter().map(|file| (mark(file), stamp(file))).unzip();
        let names = files.iter().map(|file| file.to_string().into()).collect();
        let are_shards = matches!(source, Source::Shards(_));
        FileList { name: source.to_string().into(), files, names, are_shards, marks, stamps }
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The files that a process reads.
    pub(super) fn of(&self, together: &dyn Together) -> Vec<usize> {
        (together.rank()..self.len()).step_by(together.size()).collect()
    }

    /// A file to be read once, or any number of times if it is all there is of the table; nothing of one without a byte, as engines write
    /// for an empty part.
    pub(super) fn find(&self, index: usize) -> Result<Option<Input>, DataError> {
        let is_empty =
            |path: &Path| path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0);
        match &self.files[index] {
            Source::Path(path) if self.are_shards && is_empty(path) => Ok(None),
            file => Input::find(file, !self.are_shards).map(Some),
        }
    }

    /// An error if a file is not the one any more that was listed.
    pub(super) fn check_unchanged(&self, index: usize) -> Result<(), DataError> {
        if stamp(&self.files[index]) == self.stamps[index] {
            return Ok(());
        }
        Err(self.changed(index))
    }

    pub(super) fn changed(&self, index: usize) -> DataError {
        DataError::new(self.names[index].as_ref(), Problem::FileChanged)
    }

    /// One number for the contents of all files, wherever they are and whenever they were written.
    pub(super) fn checksum(&self) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        for mark in &self.marks {
            let (bytes, checksum) = mark.map_or((0, 0), |mark| (mark.bytes, mark.checksum));
            sum.update(&bytes.to_le_bytes());
            sum.update(&checksum.to_le_bytes());
        }
        sum.finalize()
    }

    /// An error, the same at all processes, where they have different files.
    pub(super) fn compare(&self, together: &dyn Together) -> Result<(), DataError> {
        let file_name = |name: &Arc<str>| match Path::new(&**name).file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => name.to_string(),
        };
        let files = self.names.iter().map(file_name).zip(self.marks.iter().copied()).collect();
        let all = gathered(&Listed { version: env!("CARGO_PKG_VERSION").into(), files }, together)?;
        if let Some((rank, other)) = (0..).zip(&all).find(|(_, other)| other.version != all[0].version) {
            let message = format!("is of version {}, and process 0 of {}", other.version, all[0].version);
            return Err(unreadable(rank, &message));
        }
        match first_difference(&all) {
            None => Ok(()),
            Some(message) => Err(DataError::new(self.name.as_ref(), Problem::DifferentFiles { message })),
        }
    }
}

/// How the first file that differs does, between process 0 and the first process where it is another.
fn first_difference(all: &[Listed]) -> Option<String> {
    let (first, others) = all.split_first()?;
    let longest = all.iter().map(|listed| listed.files.len()).max()?;
    (0..longest).find_map(|index| {
        let (rank, other) =
            (1..).zip(others).find(|(_, other)| other.files.get(index) != first.files.get(index))?;
        Some(match (first.files.get(index), other.files.get(index)) {
            (Some((name, mark)), Some((other, other_mark))) if name == other => {
                marks_differ(name, *mark, *other_mark, rank)
            }
            (Some((name, _)), Some((other, _))) => {
                format!("file {} is `{name}` at process 0 and `{other}` at process {rank}", index + 1)
            }
            (Some((name, _)), None) => format!("`{name}` is at process 0 and not at process {rank}"),
            (None, Some((name, _))) => format!("`{name}` is at process {rank} and not at process 0"),
            (None, None) => unreachable!("two that are missing do not differ"),
        })
    })
}

fn marks_differ(name: &str, first: Option<Mark>, other: Option<Mark>, rank: usize) -> String {
    match (first, other) {
        (Some(first), Some(other)) if first.bytes != other.bytes => {
            format!("`{name}` has {} bytes at process 0 and {} at process {rank}", first.bytes, other.bytes)
        }
        (Some(_), Some(_)) => format!("`{name}` has other contents at process 0 than at process {rank}"),
        (None, _) => format!("`{name}` cannot be read at process 0"),
        (_, None) => format!("`{name}` cannot be read at process {rank}"),
    }
}

/// Nothing of what is no file, or cannot be read: reading it tells why.
fn mark(file: &Source) -> Option<Mark> {
    let Source::Path(path) = file else { return None };
    if !path.is_file() {
        return None;
    }
    mark_of(&mut File::open(path).ok()?).ok()
}

fn mark_of(file: &mut File) -> io::Result<Mark> {
    let bytes = file.metadata()?.len();
    let mut checked = Vec::new();
    file.take(CHECKED_BYTES).read_to_end(&mut checked)?;
    file.seek(SeekFrom::Start(bytes.saturating_sub(CHECKED_BYTES)))?;
    file.take(CHECKED_BYTES).read_to_end(&mut checked)?;
    Ok(Mark { bytes, checksum: crc32fast::hash(&checked) })
}

fn stamp(file: &Source) -> Option<Stamp> {
    let Source::Path(path) = file else { return None };
    let metadata = path.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
