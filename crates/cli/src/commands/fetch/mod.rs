//! `ign data fetch`: public sets from their public sources, checked, to where `ign train NAME` looks for them.
//!
//! ```text
//! address → nameless temporary file → files that are wanted → sums → DATA_DIR/NAME, by rename
//! ```
//! Whatever goes wrong before the last arrow leaves nothing behind.

mod check;
mod copy;
mod download;
mod imdb;
mod list;
mod origin;
mod place;
mod problem;
mod sources;
mod table;
#[cfg(test)]
mod tests;
mod unpack;

use super::Failure;
use crate::output::print;
use crate::progress::{interrupted, watch_for_interrupts};
use check::Verdict;
use copy::CopyError;
use download::{DownloadError, download};
pub(crate) use list::print_sets;
use origin::{Origin, addresses};
use place::{Found, existing_ancestor, wanted};
use problem::FetchProblem;
use sources::{Download, FetchSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use table::SETS;
use unpack::Packed;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Sets to fetch; without any, those that can be fetched are listed
    names: Vec<String>,
    /// Where named sets are kept [default: the environment variable IGN_DATA]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// A server (http://… or https://…) or folder that holds the files under the names they have at their sources
    #[arg(long, value_name = "URL", value_parser = Origin::parse)]
    from: Option<Origin>,
    /// Fetch what is there already, and replace it
    #[arg(long)]
    force: bool,
    /// Seconds after which a silent server is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

/// How sets are fetched.
struct Fetching {
    data_dir: PathBuf,
    from: Option<Origin>,
    force: bool,
    patience: Duration,
}

/// What became of a set.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// It was there, and right.
    There(Vec<PathBuf>),
    /// These files are new.
    Written(Vec<PathBuf>),
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let data_dir = data::data_dir(args.data_dir.as_deref());
    if args.names.is_empty() {
        return list::print_all(data_dir.as_deref());
    }
    let mut sets: Vec<&FetchSet> = Vec::new();
    for name in &args.names {
        let set = sources::find(SETS, name).ok_or_else(|| unknown(name))?;
        if !sets.iter().any(|other| other.name == set.name) {
            sets.push(set);
        }
    }
    let data_dir = data_dir.ok_or_else(|| {
        let hint = "pass the folder that shall hold the sets as `--data-dir`, or set IGN_DATA to it";
        Failure::Usage(format!("there is no data directory\nhint: {hint}"))
    })?;
    let (from, force) = (args.from.clone(), args.force);
    let fetching = Fetching { data_dir, from, force, patience: Duration::from_secs(args.timeout) };
    watch_for_interrupts("nothing of an unfinished set is kept");
    for set in sets {
        let (outcome, notes) = fetching.fetch(set).map_err(|problem| fetching.failure(set, problem))?;
        let (word, paths) = match outcome {
            Outcome::There(paths) => ("already there", paths),
            Outcome::Written(paths) => ("fetched", paths),
        };
        let compared = match &notes[..] {
            [] => "sha256 is right".to_owned(),
            notes => format!("checked {}", notes.join("; ")),
        };
        print(&format!("{}: {word}, {compared}", set.name))?;
        paths.iter().try_for_each(|path| print(&format!("  {}", path.display())))?;
    }
    Ok(())
}

impl Fetching {
    /// Fetches what is missing of a set; the notes tell what was compared where no sum is known.
    fn fetch(&self, set: &'static FetchSet) -> Result<(Outcome, Vec<String>), FetchProblem> {
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

    fn failure(&self, set: &FetchSet, problem: FetchProblem) -> Failure {
        if interrupted() || matches!(problem, FetchProblem::Interrupted) {
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

fn unknown(name: &str) -> Failure {
    let names: Vec<String> = SETS.iter().flat_map(FetchSet::names).map(|(name, _)| name.to_owned()).collect();
    let nearest = data::nearest(name, &names);
    let meant = nearest.map_or(String::new(), |nearest| format!("did you mean `{nearest}`? "));
    let all = names.join(", ");
    Failure::Usage(format!("there is no set `{name}` to fetch\nhint: {meant}the sets are {all}"))
}
