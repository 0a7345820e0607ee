//! One set: what is missing of it is downloaded, unpacked, checked and put into its place.

use super::check::Verdict;
use super::copy::CopyError;
use super::download::{DownloadError, download};
use super::origin::{Origin, addresses};
use super::place::{self, Found, existing_ancestor, wanted};
use super::problem::FetchProblem;
use super::sources::{Download, FetchSet};
use super::table::SETS;
use super::unpack::Packed;
use crate::failure::Failure;
use crate::signals::stop_requested;
use data::NamedTable;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How sets are fetched.
pub(crate) struct Fetching {
    pub(crate) data_dir: PathBuf,
    pub(crate) from: Option<Origin>,
    pub(crate) force: bool,
    pub(crate) patience: Duration,
}

/// What became of a set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was there, and right.
    There(Vec<PathBuf>),
    /// These files are new.
    Written(Vec<PathBuf>),
}

impl Fetching {
    /// Fetches what is missing of a set; the notes say what was compared where no checksum is known.
    pub(crate) fn fetch(&self, set: &'static FetchSet) -> Result<(Outcome, Vec<String>), FetchProblem> {
        let found = if self.force {
            Found::nothing(self.data_dir.join(set.folders[0]))
        } else {
            Found::look(set, &self.data_dir)?
        };
        let is_right = |name: &str| found.right.contains(&name);
        let mut notes = found.notes.clone();
        if wanted(set).all(|file| is_right(file.name)) {
            return Ok((Outcome::There(found.paths), notes));
        }
        let scratch = existing_ancestor(&self.data_dir)?;
        let mut checked = Vec::new();
        for download in set.downloads {
            if download.files.iter().all(|file| is_right(file.name)) {
                continue;
            }
            let packed = self.get(set, download, scratch)?;
            let name = packed.name.clone();
            for (file, content) in packed.unpack()? {
                match file.check.judge(&content, file.limit) {
                    Verdict::Right => {}
                    Verdict::Plausible(note) => notes.push(note),
                    Verdict::Wrong(complaint) => {
                        return Err(FetchProblem::Wrong { name, member: file.name, complaint });
                    }
                    Verdict::Interrupted => return Err(FetchProblem::Interrupted),
                }
                if !is_right(file.name) {
                    checked.push((file.name, content));
                }
            }
        }
        place::put(&found.folder, checked).map(|paths| (Outcome::Written(paths), notes))
    }

    /// The file of the first address that has it.
    fn get<'a>(
        &self,
        set: &FetchSet,
        wanted: &'a Download,
        scratch: &'a Path,
    ) -> Result<Packed<'a>, FetchProblem> {
        let mut tries = Vec::new();
        for address in addresses(wanted.urls, self.from.as_ref()) {
            let mut file =
                tempfile::tempfile_in(scratch).map_err(|error| FetchProblem::disk(scratch, &error))?;
            eprintln!("{}: getting {address}", set.name);
            match download(&address, wanted.limit, self.patience, &mut file) {
                Ok(()) => return Ok(Packed { download: wanted, name: address.to_string(), file, scratch }),
                Err(DownloadError::Unreachable(why)) => tries.push((address.to_string(), why)),
                Err(DownloadError::Copy(CopyError::Read(error))) => {
                    tries.push((address.to_string(), error.to_string()));
                }
                Err(DownloadError::Copy(error)) => {
                    return Err(FetchProblem::of_copy(error, &address.to_string(), wanted.limit, scratch));
                }
            }
        }
        Err(FetchProblem::Unreachable { tries })
    }

    pub(crate) fn failure(&self, set: &FetchSet, problem: FetchProblem) -> Failure {
        if stop_requested() || matches!(problem, FetchProblem::Interrupted) {
            return Failure::Interrupted;
        }
        let hint = match (&problem, problem.hint()) {
            (FetchProblem::Unreachable { .. }, _) => Some(self.by_hand(set)),
            (_, hint) => hint.map(str::to_owned),
        };
        let hint = hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
        Failure::Usage(format!("{}: {problem}{hint}", set.name))
    }

    /// How to do without a network.
    fn by_hand(&self, set: &FetchSet) -> String {
        let home = self.data_dir.join(set.folders[0]);
        let names: Vec<&str> = wanted(set).map(|file| file.name).collect();
        format!(
            "download {} by hand into some folder and pass that as `--from FOLDER`, which makes {} in {}",
            set.urls().join(", "),
            names.join(", "),
            home.display(),
        )
    }
}

/// The sets of these names, each once.
pub(crate) fn find(names: &[String]) -> Result<Vec<&'static FetchSet>, Failure> {
    let mut sets: Vec<&FetchSet> = Vec::new();
    for name in names {
        let named = |set: &&FetchSet| set.names().any(|(other, _)| other == name);
        let set = SETS.iter().find(named).ok_or_else(|| unknown(name))?;
        if set.downloads.is_empty() {
            return Err(by_hand_alone(set));
        }
        if !sets.iter().any(|other| other.name == set.name) {
            sets.push(set);
        }
    }
    Ok(sets)
}

/// Where a set belongs that no address has as it is read.
fn by_hand_alone(set: &FetchSet) -> Failure {
    let named = data::NamedSet::from_name(set.name);
    let place = named.and_then(|set| NamedTable { set, data_dir: PathBuf::new() }.whole());
    let (folder, file) = place.unwrap_or((set.folders[0], set.name));
    Failure::Usage(format!(
        "`{}` cannot be fetched: it is published without the header that it is read by\n\
         hint: take its data.csv.gz of the repository treforevans/uci_datasets, put the line `x0,x1,…,y` before its \
         rows, and keep it as {folder}/{file} in the data directory",
        set.name
    ))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<String> = SETS.iter().flat_map(FetchSet::names).map(|(name, _)| name.to_owned()).collect();
    let nearest = data::nearest(name, &names);
    let meant = nearest.map_or(String::new(), |nearest| format!("did you mean `{nearest}`? "));
    let all = names.join(", ");
    Failure::Usage(format!("there is no set `{name}` to fetch\nhint: {meant}the sets are {all}"))
}
