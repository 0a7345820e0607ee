//! Public data sets by name, below a data directory: images, a table or graphs.

use std::path::{Path, PathBuf};

use crate::datasets::named_table::NamedTable;
use crate::graphs::graphs_are_in;
use crate::images::DatasetPart;

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
    /// Decoys of proteins, and how far they are from the true structure.
    Protein,
    /// Fine dust and weather in Beijing, hour by hour.
    Pm25,
    /// Electricity used in one house, every ten minutes.
    Energy,
    /// Bicycles rented, hour by hour; the target is the sum of two of its columns.
    BikeHour,
    /// The same without these two columns.
    BikeHourClean,
    /// Counts of crimes in rectangles of a map.
    Query,
    /// Noise of wing sections in a wind tunnel.
    Airfoil,
    /// Strength of concrete by its mixture.
    Concrete,
    /// Heating that simulated buildings need.
    EnergyEfficiency,
    /// Prices of houses in the districts of Boston.
    Housing,
    /// Voices of people with Parkinson's disease, and how ill they are.
    Parkinsons,
    /// Flares of regions of the sun.
    Solar,
    /// Red wines, and what tasters think of them.
    Wine,
    /// Resistance of sailing yachts in a towing tank.
    Yacht,
}

/// What a data set consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetKind {
    /// Images, read by [`ImageSource`](crate::ImageSource).
    Images,
    /// Rows, read by [`NamedTable`](crate::NamedTable).
    Table,
    /// Graphs, read by [`GraphSource`](crate::GraphSource).
    Graphs,
}

impl NamedSet {
    /// All sets.
    pub const ALL: [NamedSet; 20] = [
        NamedSet::Mnist,
        NamedSet::ToyMnist,
        NamedSet::Cifar10,
        NamedSet::FashionMnist,
        NamedSet::ImdbText,
        NamedSet::ImdbGraph,
        NamedSet::Protein,
        NamedSet::Pm25,
        NamedSet::Energy,
        NamedSet::BikeHour,
        NamedSet::BikeHourClean,
        NamedSet::Query,
        NamedSet::Airfoil,
        NamedSet::Concrete,
        NamedSet::EnergyEfficiency,
        NamedSet::Housing,
        NamedSet::Parkinsons,
        NamedSet::Solar,
        NamedSet::Wine,
        NamedSet::Yacht,
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
            NamedSet::Protein => "protein",
            NamedSet::Pm25 => "pm25",
            NamedSet::Energy => "energy",
            NamedSet::BikeHour => "bike-hour",
            NamedSet::BikeHourClean => "bike-hour-clean",
            NamedSet::Query => "query",
            NamedSet::Airfoil => "airfoil",
            NamedSet::Concrete => "concrete",
            NamedSet::EnergyEfficiency => "energy-efficiency",
            NamedSet::Housing => "housing",
            NamedSet::Parkinsons => "parkinsons",
            NamedSet::Solar => "solar",
            NamedSet::Wine => "wine",
            NamedSet::Yacht => "yacht",
        }
    }

    /// What it consists of.
    #[must_use]
    pub fn kind(self) -> SetKind {
        match self {
            NamedSet::Mnist | NamedSet::ToyMnist | NamedSet::Cifar10 | NamedSet::FashionMnist => {
                SetKind::Images
            }
            NamedSet::ImdbGraph => SetKind::Graphs,
            _ => SetKind::Table,
        }
    }

    /// The set of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }

    /// Whether all its files are below this data directory.
    #[must_use]
    pub fn is_in(self, data_dir: &Path) -> bool {
        match self.kind() {
            SetKind::Images => self.images_are_in(data_dir),
            SetKind::Table => {
                NamedTable { set: self, data_dir: data_dir.to_owned() }.sources(DatasetPart::All).is_ok()
            }
            SetKind::Graphs => graphs_are_in(self, data_dir),
        }
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
