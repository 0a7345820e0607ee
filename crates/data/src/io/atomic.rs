//! Files that appear complete or not at all: written beside their place, synced, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{DataError, Problem};

/// Writes a file in one step that either happens or not; an existing file stays intact until then.
///
/// # Errors
/// If the folder is not writable, the disk is full, or `write` itself fails.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let written = Staged::create(path).and_then(|mut staged| {
        write(&mut staged)?;
        staged.commit()
    });
    written.map_err(|error| DataError::new(path.display().to_string(), write_problem(&error)))
}

/// What a failed write means.
pub(crate) fn write_problem(error: &io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Problem::BrokenPipe,
        io::ErrorKind::IsADirectory => Problem::IsDirectory,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Problem::NoSpace { action: "write".into(), message: error.to_string(), folder: None }
        }
        _ => Problem::Io { action: "write", message: error.to_string() },
    }
}

/// A file on its way to its place; dropped before `commit`, it leaves nothing behind.
pub(crate) enum Staged {
    Temporary {
        file: BufWriter<NamedTempFile>,
        place: PathBuf,
    },
    /// Devices and named pipes cannot be replaced, only written to.
    Direct(BufWriter<File>),
}

impl Staged {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        // A link is followed, so that it stays a link.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&place).ok();
        if let Some(metadata) = &existing {
            if metadata.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if !metadata.is_file() {
                return Ok(Staged::Direct(BufWriter::new(File::options().write(true).open(&place)?)));
            }
        }
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ign-").suffix(".tmp");
        match existing {
            Some(metadata) => builder.permissions(metadata.permissions()),
            None => usual_permissions(&mut builder),
        };
        // The file's own name, not the temporary one, belongs into a message about a missing folder.
        let file = builder.tempfile_in(folder).map_err(|error| io::Error::new(error.kind(), bare(&error)))?;
        Ok(Staged::Temporary { file: BufWriter::new(file), place })
    }

    pub(crate) fn commit(self) -> io::Result<()> {
        match self {
            Staged::Direct(mut file) => file.flush(),
            Staged::Temporary { file, place } => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.as_file().sync_all()?;
                file.persist(place)?;
                Ok(())
            }
        }
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Staged::Temporary { file, .. } => file.write(bytes),
            Staged::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Staged::Temporary { file, .. } => file.flush(),
            Staged::Direct(file) => file.flush(),
        }
    }
}

/// Temporary files are private by default; results should be as readable as any new file.
#[cfg(unix)]
fn usual_permissions<'a, 'b, 'c>(
    builder: &'c mut tempfile::Builder<'a, 'b>,
) -> &'c mut tempfile::Builder<'a, 'b> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666)) // the umask still applies
}

#[cfg(not(unix))]
fn usual_permissions<'a, 'b, 'c>(
    builder: &'c mut tempfile::Builder<'a, 'b>,
) -> &'c mut tempfile::Builder<'a, 'b> {
    builder
}

fn bare(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("model.json");
        write_atomically(&path, |out| out.write_all(b"old")).expect("writable");
        let error = write_atomically(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("out of ideas"))
        })
        .expect_err("the closure fails");
        assert!(error.to_string().contains("cannot write: out of ideas"));
        assert_eq!(fs::read(&path).expect("still there"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_full_disk_is_told_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("model.json");
        for errno in [27, 28] {
            let error = write_atomically(&path, |out| {
                out.write_all(&[0; 100_000])?;
                Err(io::Error::from_raw_os_error(errno)) // EFBIG, ENOSPC
            })
            .expect_err("no space");
            assert!(matches!(*error.problem, Problem::NoSpace { .. }), "{error}");
            assert!(error.hint().is_some_and(|hint| hint.contains("free space")));
            assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0);
        }
    }

    #[test]
    fn a_missing_folder_is_told_by_the_name_the_user_gave() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("no/such/model.json");
        let error = write_atomically(&path, |_| Ok(())).expect_err("no folder");
        assert_eq!(error.file, path.display().to_string());
        assert!(error.to_string().contains("no such folder") && error.hint().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").expect("writable");
        std::os::unix::fs::symlink(&real, &link).expect("links work");
        write_atomically(&link, |out| out.write_all(b"new")).expect("writable");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&real).expect("there"), b"new");
    }
}
