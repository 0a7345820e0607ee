//! [`GraphSource`]: what the user named, and [`read_graphs`], the one door to all of it.

use std::path::{Path, PathBuf};

use super::{GraphSet, archive, json, tu};
use crate::datasets::named::{NamedSet, SetKind, bare_name};
use crate::error::{DataError, Notice, Problem};
use crate::images::ImageProblem;
use crate::io::source::Source;

/// Where graphs come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphSource {
    /// A public set, below a data directory.
    Named {
        /// Which.
        set: NamedSet,
        /// The directory.
        data_dir: PathBuf,
    },
    /// A zip archive or folder of the TU Dortmund collection, or a file of JSON lines.
    Path(PathBuf),
    /// JSON lines on standard input.
    Stdin,
}

impl GraphSource {
    /// The graphs that `names` stand for, or `None` if they look like something else.
    ///
    /// A path that exists goes before a named set; a zip archive or folder of graphs below the data directory
    /// is a named set too. Standard input is never taken for graphs, see [`given`](Self::given).
    ///
    /// # Errors
    /// If a public set of graphs is named without a data directory.
    pub fn recognise(names: &[String], data_dir: Option<&Path>) -> Result<Option<Self>, DataError> {
        let [name] = names else { return Ok(None) };
        let path = PathBuf::from(name);
        if path.exists() {
            return Ok(is_graphs(&path).then_some(GraphSource::Path(path)));
        }
        if !bare_name(name) {
            return Ok(None);
        }
        match (NamedSet::from_name(name), data_dir) {
            (Some(set), _) if set.kind() != SetKind::Graphs => Ok(None),
            (Some(set), Some(data_dir)) => {
                Ok(Some(GraphSource::Named { set, data_dir: data_dir.to_owned() }))
            }
            (Some(_), None) => Err(DataError::new(name, Problem::Image(ImageProblem::NoDataDir))),
            (None, None) => Ok(None),
            (None, Some(data_dir)) => {
                let places = [data_dir.join(name), data_dir.join(format!("{name}.zip"))];
                Ok(places.into_iter().find(|path| path.exists() && is_graphs(path)).map(GraphSource::Path))
            }
        }
    }

    /// The graphs of this name, where nothing but graphs is expected: `-` is JSON on standard input.
    ///
    /// # Errors
    /// As for [`recognise`](Self::recognise).
    pub fn given(name: &str, data_dir: Option<&Path>) -> Result<Self, DataError> {
        if name == "-" {
            return Ok(GraphSource::Stdin);
        }
        let recognised = Self::recognise(&[name.to_owned()], data_dir)?;
        Ok(recognised.unwrap_or_else(|| GraphSource::Path(name.into())))
    }
}

/// Reads graphs, undirected and without loops.
///
/// # Errors
/// If files are missing, damaged or contradict each other, each time with file and line; or if a graph has no
/// label where `need_labels` says so.
pub fn read_graphs(source: &GraphSource, need_labels: bool) -> Result<(GraphSet, Vec<Notice>), DataError> {
    let (path, origin) = match source {
        GraphSource::Stdin => (None, Source::Stdin.to_string()),
        GraphSource::Path(path) => (Some(path.clone()), path.display().to_string()),
        GraphSource::Named { set, data_dir } => (Some(find_named(*set, data_dir)?), set.name().to_owned()),
    };
    let draft = match path {
        None => json::read(&Source::Stdin, need_labels),
        Some(path) if path.is_dir() => tu::read(&archive::read_folder(&path)?, need_labels),
        Some(path) if begins_as_zip(&path) || has_zip_ending(&path) => {
            tu::read(&archive::read_zip(&path)?, need_labels)
        }
        Some(path) => json::read(&Source::Path(path), need_labels),
    }?;
    let (set, loops) = draft.finish(origin);
    let notices = if loops > 0 { vec![Notice::LoopsDropped { count: loops }] } else { Vec::new() };
    Ok((set, notices))
}

/// Whether the folder holds a set of the TU Dortmund collection.
pub(crate) fn is_graph_folder(path: &Path) -> bool {
    archive::folder_names(path).is_ok_and(|names| archive::holds_graphs(names.iter().map(String::as_str)))
}

/// Whether something that exists is taken for graphs.
fn is_graphs(path: &Path) -> bool {
    if path.is_dir() {
        return is_graph_folder(path);
    }
    if !path.is_file() {
        return false; // a pipe must not be read to look at it
    }
    if begins_as_zip(path) || has_zip_ending(path) {
        // A damaged archive gets an error here; an archive of other files is left to the table reader, which refuses it.
        return match archive::zip_names(path) {
            Ok(names) => archive::holds_graphs(names.iter().map(String::as_str)),
            Err(_) => has_zip_ending(path),
        };
    }
    json::begins_with_graph(&Source::Path(path.to_owned()))
}

fn begins_as_zip(path: &Path) -> bool {
    if !path.is_file() {
        return false; // what is read of a pipe is gone
    }
    let mut head = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head));
    read.is_ok() && head == *b"PK\x03\x04"
}

fn has_zip_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"))
}

/// Whether a public set of graphs is there.
pub(crate) fn graphs_are_in(set: NamedSet, data_dir: &Path) -> bool {
    find_named(set, data_dir).is_ok()
}

/// The archive or folder of a public set.
fn find_named(set: NamedSet, data_dir: &Path) -> Result<PathBuf, DataError> {
    let places = ["imdb-graph/IMDB-BINARY.zip", "imdb-graph", "IMDB-BINARY.zip", "IMDB-BINARY"];
    let places: Vec<PathBuf> = places.iter().map(|place| data_dir.join(place)).collect();
    places.iter().find(|path| path.is_file() || is_graph_folder(path)).cloned().ok_or_else(|| {
        let looked = places.iter().map(|path| path.display().to_string()).collect();
        DataError::new(set.name(), Problem::Image(ImageProblem::SetNotFound { looked }))
    })
}
