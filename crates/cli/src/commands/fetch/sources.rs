//! What is known of a public set: where it comes from, what is wanted of it, and by what it is recognised.

use super::check::Check;

/// A public set that can be fetched.
pub(crate) struct FetchSet {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Sets that are read from the same files, and what they are.
    pub(crate) also: &'static [(&'static str, &'static str)],
    /// What it is, in a few words.
    pub(crate) about: &'static str,
    /// The folders below the data directory where it is looked for; the first is the one that is written to.
    pub(crate) folders: &'static [&'static str],
    pub(crate) downloads: &'static [Download],
}

/// One file of a server.
pub(crate) struct Download {
    /// Where it is, the first choice first.
    pub(crate) urls: &'static [&'static str],
    /// So many bytes at most: no server fills the disk.
    pub(crate) limit: u64,
    pub(crate) packing: Packing,
    pub(crate) files: &'static [Wanted],
}

/// How the files that are wanted lie in a download.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// It is the file.
    AsIs,
    /// Members of a zip archive, or of the only archive in it.
    Zip,
    /// Members of a tar archive, packed by gzip.
    Tar,
    /// Reviews of the tar archive of aclImdb, one file each, which become JSON lines.
    Reviews,
}

/// One file of a set.
pub(crate) struct Wanted {
    /// The last part of its name in the archive, and its name in the set's folder.
    pub(crate) name: &'static str,
    /// So many bytes at most, unpacked.
    pub(crate) limit: u64,
    pub(crate) check: Check,
}

impl FetchSet {
    /// All names that it goes by, and what they stand for.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        [(self.name, self.about)].into_iter().chain(self.also.iter().copied())
    }

    /// The first address of each of its files.
    pub(crate) fn urls(&self) -> Vec<&'static str> {
        self.downloads.iter().filter_map(|download| download.urls.first().copied()).collect()
    }
}

/// The set that a name stands for.
pub(crate) fn find<'a>(sets: &'a [FetchSet], name: &str) -> Option<&'a FetchSet> {
    sets.iter().find(|set| set.names().any(|(other, _)| other == name))
}
