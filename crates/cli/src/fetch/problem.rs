//! Why a set could not be fetched, and what to do.

use super::copy::CopyError;
use std::fmt;
use std::path::PathBuf;

/// Why a set could not be fetched.
#[derive(Debug)]
pub(crate) enum FetchProblem {
    /// No server gave the file: each address, and why not.
    Unreachable { tries: Vec<(String, String)> },
    /// A file is larger than it can honestly be.
    TooLarge { name: String, limit: u64 },
    /// An archive cannot be read.
    Damaged { name: String, message: String },
    /// An archive does not hold what is wanted.
    NoMember { name: String, member: String },
    /// A file came, but it is not the one.
    Wrong { name: String, member: &'static str, complaint: String },
    /// A file is there already, and it is not the one.
    WrongThere { path: PathBuf, complaint: String },
    /// The data directory cannot be written to.
    Disk { path: PathBuf, message: String },
    /// A file could not be put into its place.
    Write(data::DataError),
    /// Ctrl-C.
    Interrupted,
}

impl FetchProblem {
    /// What a failed copy out of the file `name` means; what is written goes below `path`.
    pub(crate) fn of_copy(error: CopyError, name: &str, limit: u64, path: &std::path::Path) -> Self {
        match error {
            CopyError::Read(error) => Self::Damaged { name: name.to_owned(), message: error.to_string() },
            CopyError::Write(error) => Self::disk(path, &error),
            CopyError::TooLarge => Self::TooLarge { name: name.to_owned(), limit },
            CopyError::Interrupted => Self::Interrupted,
        }
    }

    pub(crate) fn disk(path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::Disk { path: path.to_owned(), message: error.to_string() }
    }

    /// What to do, where a general word helps.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge { .. } | Self::Damaged { .. } | Self::NoMember { .. } | Self::Wrong { .. } => {
                Some("nothing was written; try again later, or name another server with `--from`")
            }
            Self::WrongThere { .. } => Some("`--force` replaces it"),
            Self::Disk { .. } => Some("check the path of `--data-dir`, its permissions, and the space left"),
            Self::Unreachable { .. } | Self::Write(_) | Self::Interrupted => None,
        }
    }
}

impl fmt::Display for FetchProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { tries } => {
                let lines: Vec<String> =
                    tries.iter().map(|(url, why)| format!("cannot download {url}: {why}")).collect();
                f.write_str(&lines.join("\n       "))
            }
            Self::TooLarge { name, limit } => {
                write!(f, "{name}: it has more than the {limit} bytes that are allowed for it")
            }
            Self::Damaged { name, message } => write!(f, "{name}: damaged or cut off: {message}"),
            Self::NoMember { name, member } => write!(f, "{name}: there is no {member} in it"),
            Self::Wrong { name, member, complaint } => {
                write!(f, "{name}: this is not the right {member}: {complaint}")
            }
            Self::WrongThere { path, complaint } => {
                write!(f, "{}: there already, but not the original: {complaint}", path.display())
            }
            Self::Disk { path, message } => write!(f, "{}: cannot write: {message}", path.display()),
            Self::Write(error) => error.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}
