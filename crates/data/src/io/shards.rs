//! [`Shards`]: a table in several files, named by a folder or a pattern.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{DataError, Problem};
use crate::io::source::Format;

/// The files of one table, in the order of their names.
///
/// ```
/// use inducing_data::{ReadOptions, Shards, Source, read_table};
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("part-1.csv"), "x,y\n1,2\n")?;
/// std::fs::write(folder.path().join("part-2.csv"), "y,x\n4,3\n")?;
/// let shards = Shards::recognise(&folder.path().join("*.csv").display().to_string())?.expect("a pattern");
/// let table = read_table(&Source::Shards(shards), &ReadOptions::default())?;
/// assert_eq!((table.rows(), table.column("x")?.text(1)), (2, "3".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shards {
    name: Arc<str>,
    paths: Arc<[PathBuf]>,
}

impl Shards {
    /// The files that a name stands for, if it is a pattern such as `sales/*.parquet`, or a folder of nothing but tables. Files whose names begin
    /// with a dot or an underscore are no shards.
    ///
    /// # Errors
    /// If nothing matches a pattern, or it is none.
    pub fn recognise(name: &str) -> Result<Option<Self>, DataError> {
        let path = Path::new(name);
        if path.is_dir() {
            return Ok(tables(path).map(|paths| Shards { name: name.into(), paths: paths.into() }));
        }
        if path.exists() || !name.contains(['*', '?', '[']) {
            return Ok(None);
        }
        let failed = |problem| DataError::new(name, problem);
        let pattern =
            glob::glob(name).map_err(|error| failed(Problem::BadPattern { message: error.to_string() }))?;
        let (mut paths, mut seen) = (Vec::new(), HashSet::new());
        for path in pattern {
            let path = path.map_err(|error| {
                let problem = Problem::Io { action: "read", message: error.error().to_string() };
                DataError::new(error.path().display().to_string(), problem)
            })?;
            if path.is_dir() || is_below_hidden(&path, name) {
                continue;
            }
            let file = |problem| DataError::new(path.display().to_string(), problem);
            // A link to a file that is there already, or a loop of links, adds nothing; one to nowhere is an error.
            let real = match path.canonicalize() {
                Ok(real) => real,
                Err(error) if error.kind() == ErrorKind::NotFound => return Err(file(Problem::NoSuchFile)),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(file(Problem::Io { action: "read", message: error.to_string() }));
                }
                Err(_) => continue, // the end of a loop
            };
            if !real.is_file() {
                return Err(file(Problem::NotARegularFile));
            }
            if seen.insert(real) {
                paths.push(path);
            }
        }
        paths.sort();
        if paths.is_empty() {
            return Err(failed(Problem::NothingMatches));
        }
        Ok(Some(Shards { name: name.into(), paths: paths.into() }))
    }

    /// Some files, in this order; `name` stands in error messages.
    #[must_use]
    pub fn new(name: &str, paths: Vec<PathBuf>) -> Self {
        Shards { name: name.into(), paths: paths.into() }
    }

    /// As the user named them.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The files.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

/// The files of a folder by their names, if it holds tables and nothing else: images and graphs come in folders too.
fn tables(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries = folder.read_dir().ok()?.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| !is_hidden(path)).collect();
    files.sort();
    (!files.is_empty() && files.iter().all(|path| path.is_file() && is_table(path))).then_some(files)
}

fn is_table(path: &Path) -> bool {
    Format::from_path(path).is_some_and(|format| format != Format::Npy)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| is_hidden_name(&name.to_string_lossy()))
}

/// Whether a file or a folder above it is hidden and does not stand in the pattern.
fn is_below_hidden(path: &Path, pattern: &str) -> bool {
    let parts = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.into_iter().any(|part| is_hidden_name(&part) && !pattern.split('/').any(|own| own == part))
}

fn is_hidden_name(name: &str) -> bool {
    name.starts_with(['.', '_']) && name != "." && name != ".."
}
