//! The files of the TU Dortmund collection, out of a folder or a zip archive that may be hostile.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use zip::ZipArchive;

use super::problem::GraphProblem;
use crate::error::{DataError, Problem};
use crate::io::compression::Codec;
use crate::io::input::read_problem;

/// Limit of all unpacked files of an archive together.
const LIMIT_MIB: u64 = 1024;
/// A file that unpacks to more than this …
const SUSPECT_BYTES: u64 = 64 << 20;
/// … may be at most this many times larger than in the archive. Lists of edges shrink to a tenth.
const MOST_RATIO: u64 = 200;
const EDGES: &str = "_A.txt";

/// One file of a set.
pub(crate) struct Member {
    /// As it stands in messages.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The files of one set, as far as they are there.
pub(crate) struct Members {
    pub(crate) edges: Member,
    pub(crate) indicator: Member,
    pub(crate) graph_labels: Option<Member>,
    pub(crate) node_labels: Option<Member>,
    pub(crate) node_attributes: Option<Member>,
    /// What the file of graph labels is called or would be.
    pub(crate) graph_labels_name: String,
}

/// Whether a file of edges is among the names.
pub(crate) fn holds_graphs<'a>(names: impl IntoIterator<Item = &'a str>) -> bool {
    names.into_iter().any(|name| set_name(name).is_some())
}

/// The names of the files of an archive.
pub(crate) fn zip_names(path: &Path) -> Result<Vec<String>, DataError> {
    open_zip(path).map(|archive| names_of(&archive))
}

pub(crate) fn read_zip(path: &Path) -> Result<Members, DataError> {
    let mut archive = open_zip(path)?;
    let whole = path.metadata().map_or(u64::MAX, |metadata| metadata.len());
    let names = names_of(&archive);
    let place = path.display().to_string();
    let mut left = LIMIT_MIB << 20;
    Members::find(&place, &names, |index| {
        let name = format!("{place}: {}", names[index]);
        let failed = |problem| DataError::new(&name, Problem::Graph(problem));
        let broken =
            |error: &dyn std::error::Error| failed(GraphProblem::BrokenZip { message: error.to_string() });
        let file = archive.by_index(index).map_err(|error| broken(&error))?;
        let packed = file.compressed_size().min(whole);
        let by_ratio = packed.saturating_mul(MOST_RATIO).max(SUSPECT_BYTES);
        let limit = left.min(by_ratio);
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
        if bytes.len() as u64 > limit {
            let bomb = by_ratio < left;
            return Err(failed(GraphProblem::TooLarge { limit_mib: limit >> 20, bomb }));
        }
        left -= bytes.len() as u64;
        Ok(Member { name, bytes })
    })
}

pub(crate) fn read_folder(path: &Path) -> Result<Members, DataError> {
    let place = path.display().to_string();
    let names =
        folder_names(path).map_err(|error| DataError::new(&place, read_problem(&error, Codec::Plain)))?;
    Members::find(&place, &names, |index| {
        let path = path.join(&names[index]);
        let name = path.display().to_string();
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(DataError::new(name, Problem::NotARegularFile));
        }
        match std::fs::read(path) {
            Ok(bytes) => Ok(Member { name, bytes }),
            Err(error) => Err(DataError::new(name, read_problem(&error, Codec::Plain))),
        }
    })
}

/// The files of a folder, in their order.
pub(crate) fn folder_names(path: &Path) -> std::io::Result<Vec<String>> {
    let entries = std::fs::read_dir(path)?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    Ok(names)
}

impl Members {
    fn find(
        place: &str,
        names: &[String],
        mut read: impl FnMut(usize) -> Result<Member, DataError>,
    ) -> Result<Self, DataError> {
        let failed = |problem| DataError::new(place, Problem::Graph(problem));
        let mut sets = names.iter().filter_map(|name| set_name(name));
        let Some(set) = sets.next() else {
            return Err(failed(GraphProblem::MissingFile { name: format!("NAME{EDGES}") }));
        };
        if let Some(other) = sets.next() {
            let [first, second] = [set, other].map(|set| format!("{set}{EDGES}"));
            return Err(failed(GraphProblem::SeveralSets { first, second }));
        }
        let mut optional = |ending: &str| {
            let wanted = format!("{set}{ending}");
            let index = names.iter().position(|name| base_name(name) == Some(&wanted));
            index.map(&mut read).transpose()
        };
        let needed = |member: Option<Member>, ending: &str| {
            member.ok_or_else(|| failed(GraphProblem::MissingFile { name: format!("{set}{ending}") }))
        };
        Ok(Members {
            edges: needed(optional(EDGES)?, EDGES)?,
            indicator: needed(optional("_graph_indicator.txt")?, "_graph_indicator.txt")?,
            graph_labels: optional("_graph_labels.txt")?,
            node_labels: optional("_node_labels.txt")?,
            node_attributes: optional("_node_attributes.txt")?,
            graph_labels_name: format!("{set}_graph_labels.txt"),
        })
    }
}

fn open_zip(path: &Path) -> Result<ZipArchive<File>, DataError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| DataError::new(&name, read_problem(&error, Codec::Plain)))?;
    ZipArchive::new(file).map_err(|error| {
        DataError::new(name, Problem::Graph(GraphProblem::BrokenZip { message: error.to_string() }))
    })
}

/// The name of each file; empty where it is no text.
fn names_of(archive: &ZipArchive<File>) -> Vec<String> {
    let name = |index| Some(archive.name_for_index(index)?.ok()?.into_owned());
    (0..archive.len()).map(|index| name(index).unwrap_or_default()).collect()
}

/// The name without folders; none for the hidden doubles that macOS adds.
fn base_name(name: &str) -> Option<&str> {
    let base = name.rsplit(['/', '\\']).next()?;
    (!base.starts_with("._")).then_some(base)
}

/// `NAME` of a file `NAME_A.txt`.
fn set_name(name: &str) -> Option<&str> {
    base_name(name)?.strip_suffix(EDGES).filter(|set| !set.is_empty())
}
