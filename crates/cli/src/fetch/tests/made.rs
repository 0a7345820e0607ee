//! Sets that are made up, archives of them, and a data directory to fetch them to.

use super::server::{Answer, Server};
use crate::fetch::copy::sha256;
use crate::fetch::origin::Origin;
use crate::fetch::problem::FetchProblem;
use crate::fetch::sources::{Check, Download, FetchSet, Packing, Wanted};
use crate::fetch::{Fetching, Outcome};
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

pub(super) const CONTENT: &[u8] = b"a,b\n1,2\n";

pub(super) fn sum(content: &[u8]) -> &'static str {
    sha256(&mut &content[..], u64::MAX).expect("memory").0.leak()
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

/// A tar archive with names as they are, which `tar::Builder` would refuse for some.
pub(super) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, *content).expect("memory");
    }
    gzip(&builder.into_inner().expect("memory"))
}

/// A set of one download with these files.
pub(super) fn set(packing: Packing, url: &'static str, files: &[(&'static str, &[u8])]) -> &'static FetchSet {
    let wanted = |(name, content): &(&'static str, &[u8])| Wanted {
        name,
        limit: 1000,
        check: Check::Sha256(sum(content)),
    };
    let files = files.iter().map(wanted).collect::<Vec<_>>().leak();
    let urls = vec![url].leak();
    let downloads = vec![Download { urls, limit: 5000, packing, files }].leak();
    Box::leak(Box::new(FetchSet {
        name: "made",
        also: &[],
        about: "made up",
        folders: &["made", "elsewhere/raw"],
        downloads,
    }))
}

pub(super) struct Case {
    folder: TempDir,
    pub(super) server: Server,
    pub(super) fetching: Fetching,
}

impl Case {
    pub(super) fn new(answers: Vec<(&'static str, Answer)>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let server = Server::new(answers);
        let from = Some(Origin::parse(&server.url()).expect("a server"));
        let data_dir = folder.path().join("sets");
        let fetching = Fetching { data_dir, from, force: false, patience: Duration::from_secs(5) };
        Case { folder, server, fetching }
    }

    pub(super) fn fetch(&self, set: &'static FetchSet) -> Result<Outcome, FetchProblem> {
        self.fetching.fetch(set).map(|(outcome, _)| outcome)
    }

    pub(super) fn put(&self, name: &str, content: &[u8]) {
        let path = self.fetching.data_dir.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, content).expect("writable");
    }

    /// All files below the data directory.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        fn walk(folder: &Path, root: &Path, files: &mut Vec<(String, Vec<u8>)>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    walk(&path, root, files);
                } else {
                    let name = path.strip_prefix(root).expect("below").display().to_string();
                    files.push((name, std::fs::read(&path).expect("readable")));
                }
            }
        }
        let mut files = Vec::new();
        walk(self.folder.path(), self.folder.path(), &mut files);
        files.sort();
        files
    }

    /// Expects these files and no others, also outside of the data directory.
    #[track_caller]
    pub(super) fn holds(&self, files: &[(&str, &[u8])]) {
        let expected: Vec<_> =
            files.iter().map(|(name, content)| (format!("sets/{name}"), content.to_vec())).collect();
        assert_eq!(self.files(), expected);
    }
}
