//! Public data sets by name, below a data directory: pictures, a table or graphs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::images::{ImageProblem, Part};
use crate::problem::Problem;
use crate::source::{ColumnType, Source};

/// A public data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedSet {
    /// Handwritten digits, 28 × 28 grey.
    Mnist,
    /// The digits 5 and 6 of MNIST.
    ToyMnist,
    /// Animals and vehicles, 32 × 32 in colour.
    Cifar10,
    /// Clothes, 28 × 28 grey; classes 0 to 9 as in its files.
    FashionMnist,
    /// Film reviews, for or against.
    ImdbText,
    /// Networks of actors who played together, in action films or romances.
    ImdbGraph,
}

/// What a data set consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetKind {
    /// Pictures, read by [`ImageSource`](crate::ImageSource).
    Images,
    /// Rows, read by [`NamedTable`].
    Table,
    /// Graphs, read by [`GraphSource`](crate::GraphSource).
    Graphs,
}

impl NamedSet {
    /// All sets.
    pub const ALL: [NamedSet; 6] = [
        NamedSet::Mnist,
        NamedSet::ToyMnist,
        NamedSet::Cifar10,
        NamedSet::FashionMnist,
        NamedSet::ImdbText,
        NamedSet::ImdbGraph,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NamedSet::Mnist => "mnist",
            NamedSet::ToyMnist => "toy-mnist",
            NamedSet::Cifar10 => "cifar10",
            NamedSet::FashionMnist => "fashion-mnist",
            NamedSet::ImdbText => "imdb-text",
            NamedSet::ImdbGraph => "imdb-graph",
        }
    }

    /// What it consists of.
    #[must_use]
    pub fn kind(self) -> SetKind {
        match self {
            NamedSet::Mnist | NamedSet::ToyMnist | NamedSet::Cifar10 | NamedSet::FashionMnist => {
                SetKind::Images
            }
            NamedSet::ImdbText => SetKind::Table,
            NamedSet::ImdbGraph => SetKind::Graphs,
        }
    }

    /// The set of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }
}

/// A public table: where its parts lie, what is predicted, and what its columns mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTable {
    /// Which.
    pub set: NamedSet,
    /// The directory that holds it.
    pub data_dir: PathBuf,
}

impl NamedTable {
    /// The public table that `names` stand for, or `None` if they are something else.
    ///
    /// # Errors
    /// If one is named without a data directory.
    pub fn recognise(names: &[String], data_dir: Option<&Path>) -> Result<Option<Self>, DataError> {
        let [name] = names else { return Ok(None) };
        let set = NamedSet::from_name(name).filter(|set| set.kind() == SetKind::Table);
        match (set, data_dir) {
            (None, _) => Ok(None),
            (Some(_), _) if Path::new(name).is_file() => Ok(None),
            (Some(set), Some(data_dir)) => Ok(Some(NamedTable { set, data_dir: data_dir.to_owned() })),
            (Some(_), None) => Err(DataError::new(name, Problem::Image(ImageProblem::NoDataDir))),
        }
    }

    /// The column that is predicted.
    #[must_use]
    pub fn target(&self) -> &'static str {
        "label"
    }

    /// The meaning of its columns, for [`ReadOptions::column_types`](crate::ReadOptions::column_types). The
    /// rating of a review gives its label away, so it is not read.
    #[must_use]
    pub fn column_types(&self) -> BTreeMap<String, ColumnType> {
        let types = [
            ("id", ColumnType::Ignore),
            ("rating", ColumnType::Ignore),
            ("label", ColumnType::Category),
            ("text", ColumnType::Text),
        ];
        types.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect()
    }

    /// The files of a part, the training part first.
    ///
    /// # Errors
    /// If one is not there.
    pub fn sources(&self, part: Part) -> Result<Vec<Source>, DataError> {
        let stems: &[&str] = match part {
            Part::Train => &["train"],
            Part::Test => &["test"],
            Part::All => &["train", "test"],
        };
        stems.iter().map(|stem| self.find(stem).map(Source::Path)).collect()
    }

    fn find(&self, stem: &str) -> Result<PathBuf, DataError> {
        let folder = self.data_dir.join(self.set.name());
        let places: Vec<PathBuf> =
            ["jsonl.xz", "jsonl.gz", "jsonl"].map(|ending| folder.join(format!("{stem}.{ending}"))).into();
        places.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
            let looked = places.iter().map(|path| path.display().to_string()).collect();
            DataError::new(self.set.name(), Problem::Image(ImageProblem::SetNotFound { looked }))
        })
    }
}

/// Whether a name can be that of a set: no path, no ending, not standard input.
pub(crate) fn bare_name(name: &str) -> bool {
    !(name.is_empty() || name.contains(['/', '\\', '.']) || name == "-")
}

/// The directory that holds named sets: the one that is given, or the environment's `IGN_DATA`.
#[must_use]
pub fn data_dir(given: Option<&Path>) -> Option<PathBuf> {
    given.map(Path::to_owned).or_else(|| std::env::var_os("IGN_DATA").map(PathBuf::from))
}
