//! What is known of a public set: where it comes from, what is wanted of it, and by what it is recognised.

/// A public set.
pub(crate) struct FetchSet {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Sets that are read from the same files, and what they are.
    pub(crate) also: &'static [(&'static str, &'static str)],
    /// What it is, in a few words.
    pub(crate) about: &'static str,
    /// The folders below the data directory where it is looked for; the first is the one that is written to.
    pub(crate) folders: &'static [&'static str],
    /// What it is made of; of a set that cannot be fetched, nothing.
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

/// By what a file is known.
pub(crate) enum Check {
    /// The sum of its bytes, unpacked if they are packed by gzip or xz.
    Sha256(&'static str),
    /// The sum of its bytes as they are packed; in another container its length must do.
    PackedSha256 { sum: &'static str, unpacked_bytes: u64 },
    /// The sums of members of a zip archive.
    Members(&'static [(&'static str, &'static str)]),
    /// No sum is known: its columns and the number of its rows.
    Table { header: &'static [&'static str], rows: usize },
}
