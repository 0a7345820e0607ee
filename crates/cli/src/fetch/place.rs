//! Where the files of a set lie: what is there already, and how new ones come to their places.

use super::check::Verdict;
use super::problem::FetchProblem;
use super::sources::{FetchSet, Wanted};
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

/// What is there of a set.
pub(crate) struct Found {
    /// The folder to which what is missing belongs.
    pub(crate) folder: PathBuf,
    /// Names of files that are there and right.
    pub(crate) right: Vec<&'static str>,
    /// Where these are.
    pub(crate) paths: Vec<PathBuf>,
    /// What was compared where there is no sum.
    pub(crate) notes: Vec<String>,
}

impl Found {
    /// Looks into the folders of a set as its readers do. A folder of other tools counts if it holds all of it.
    pub(crate) fn look(set: &'static FetchSet, data_dir: &Path) -> Result<Self, FetchProblem> {
        let home = data_dir.join(set.folders[0]);
        for folder in set.folders.iter().map(|folder| data_dir.join(folder)) {
            if !wanted(set).any(|file| present(&folder, file.name).is_some()) {
                continue;
            }
            let found = Self::look_into(&folder, set);
            match found {
                Ok(found) if folder == home || found.right.len() == wanted(set).count() => return Ok(found),
                Err(problem) if folder == home || matches!(problem, FetchProblem::Interrupted) => {
                    return Err(problem);
                }
                _ => break,
            }
        }
        Ok(Self::nothing(home))
    }

    /// As if nothing were there.
    pub(crate) fn nothing(folder: PathBuf) -> Self {
        Found { folder, right: Vec::new(), paths: Vec::new(), notes: Vec::new() }
    }

    fn look_into(folder: &Path, set: &'static FetchSet) -> Result<Self, FetchProblem> {
        let mut found = Self::nothing(folder.to_owned());
        for file in wanted(set) {
            let Some(path) = present(folder, file.name) else { continue };
            let wrong = |complaint| FetchProblem::WrongThere { path: path.clone(), complaint };
            let opened = File::open(&path).map_err(|error| wrong(error.to_string()))?;
            match file.check.judge(&opened, file.limit) {
                Verdict::Right => {}
                Verdict::Plausible(note) => found.notes.push(note),
                Verdict::Wrong(complaint) => return Err(wrong(complaint)),
                Verdict::Interrupted => return Err(FetchProblem::Interrupted),
            }
            found.right.push(file.name);
            found.paths.push(path);
        }
        Ok(found)
    }
}

/// All files of a set.
pub(crate) fn wanted(set: &FetchSet) -> impl Iterator<Item = &Wanted> {
    set.downloads.iter().flat_map(|download| download.files)
}

/// The file of this name, in whichever container its readers look through.
fn present(folder: &Path, name: &str) -> Option<PathBuf> {
    ["", ".gz", ".xz"]
        .iter()
        .map(|end| folder.join(format!("{}{end}", stem(name))))
        .find(|path| path.is_file())
}

fn stem(name: &str) -> &str {
    name.strip_suffix(".gz").unwrap_or(name)
}

/// Puts checked files into their places, each in one step; returns these.
pub(crate) fn put(folder: &Path, files: Vec<(&'static str, File)>) -> Result<Vec<PathBuf>, FetchProblem> {
    std::fs::create_dir_all(folder).map_err(|error| FetchProblem::disk(folder, &error))?;
    let mut paths = Vec::new();
    for (name, mut file) in files {
        let path = folder.join(name);
        data::write_atomically(&path, |mut out| {
            file.rewind()?;
            // Not ended by Ctrl-C: it takes a moment, and a set is better whole.
            io::copy(&mut file, &mut out).map(|_| ())
        })
        .map_err(FetchProblem::Write)?;
        // An unpacked file of the same name would be read before the packed one, and it was to be replaced.
        let before = folder.join(stem(name));
        if before != path && before.is_file() {
            std::fs::remove_file(&before).map_err(|error| FetchProblem::disk(&before, &error))?;
        }
        paths.push(path);
    }
    Ok(paths)
}

/// The nearest folder that exists: temporary files are made there, so that they lie on the same disk.
pub(crate) fn existing_ancestor(path: &Path) -> Result<&Path, FetchProblem> {
    let found = path.ancestors().find(|path| path.exists() || path.as_os_str().is_empty());
    match found {
        Some(path) if path.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(path) if path.is_dir() => Ok(path),
        _ => Err(FetchProblem::disk(path, &io::ErrorKind::NotADirectory.into())),
    }
}
