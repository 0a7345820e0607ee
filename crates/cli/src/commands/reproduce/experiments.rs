//! The experiments of the paper: where their data come from, what they set, and the figures that they are held against.

use data::{NamedSet, Simulated};

/// A configuration's preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preset {
    /// The paper's setting to the letter.
    Paper,
    /// The best known.
    Default,
}

impl Preset {
    pub(crate) const ALL: [Preset; 2] = [Preset::Paper, Preset::Default];

    /// As the configuration and the records call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Preset::Paper => "paper",
            Preset::Default => "default",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }
}

/// Where rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A test function and so many rows.
    Simulated(Simulated, usize),
    /// A table of numbers; of a longer one so many rows from its beginning.
    Numbers(NamedSet, usize),
    /// Texts with parts of their own.
    Texts(NamedSet),
    /// Pictures with parts of their own.
    Images(NamedSet),
    /// Graphs, cross-validated.
    Graphs(NamedSet),
}

impl Origin {
    /// The set that must lie in the data directory.
    pub(crate) fn named(self) -> Option<NamedSet> {
        match self {
            Origin::Simulated(..) => None,
            Origin::Numbers(set, _) | Origin::Texts(set) | Origin::Images(set) | Origin::Graphs(set) => {
                Some(set)
            }
        }
    }
}

/// Mean and deviation as the paper prints them.
pub(crate) type Printed = Option<(f64, f64)>;

/// One row of the paper's tables.
#[derive(Debug)]
pub(crate) struct Experiment {
    /// On the command line, in records and in the notes.
    pub(crate) name: &'static str,
    /// On the page.
    pub(crate) title: &'static str,
    pub(crate) origin: Origin,
    /// Rows and inputs in the paper's words.
    pub(crate) size: &'static str,
    /// Presets that it is run with.
    pub(crate) presets: &'static [Preset],
    /// What the paper sets otherwise, for preset `paper`.
    pub(crate) settings: &'static [&'static str],
    /// Error of numbers, accuracy in per cent of classes: the paper's own.
    pub(crate) paper: Printed,
    /// And of those whom it compares itself with, in the order of [`comparators`].
    pub(crate) others: &'static [Printed],
    /// Preset `paper` may stop at the epoch whose validation error is this low.
    pub(crate) stop_below: Option<f64>,
    /// Rough seconds of a run with `paper` and with `default`, on one thread, or on all where it has them all.
    pub(crate) seconds: [f64; 2],
    /// Presets whose runs get all threads.
    pub(crate) all_threads: &'static [Preset],
    /// Rough memory of a run, MB.
    pub(crate) memory: u64,
}

const BOTH: &[Preset] = &Preset::ALL;

/// What most experiments share.
const NUMBERS: Experiment = Experiment {
    name: "",
    title: "",
    origin: Origin::Simulated(Simulated::Levy, 10_000),
    size: "",
    presets: BOTH,
    settings: &[],
    paper: None,
    others: &[None, None, None, None],
    stop_below: None,
    seconds: [300.0, 60.0],
    all_threads: &[],
    memory: 600,
};

const PICTURES: Experiment = Experiment { others: &[None, None, None], memory: 1500, ..NUMBERS };

/// Everything that can be run, in the order of the paper.
pub(crate) static ALL: [Experiment; 16] = [
    Experiment {
        name: "levy",
        title: "Levy",
        size: "10,000 × 4",
        paper: Some((0.178, 0.011)),
        others: &[Some((0.265, 0.003)), Some((0.312, 0.003)), Some((0.564, 0.010)), Some((0.582, 0.013))],
        seconds: [120.0, 15.0],
        ..NUMBERS
    },
    Experiment {
        name: "griewank",
        title: "Griewank",
        origin: Origin::Simulated(Simulated::Griewank, 10_000),
        size: "10,000 × 6",
        paper: Some((0.053, 0.004)),
        others: &[Some((0.071, 0.0)), Some((0.185, 0.073)), Some((0.132, 0.003)), Some((0.093, 0.005))],
        seconds: [120.0, 18.0],
        ..NUMBERS
    },
    Experiment {
        name: "borehole",
        title: "Borehole",
        origin: Origin::Simulated(Simulated::Borehole, 1_000_000),
        size: "1,000,000 × 8",
        // One training row in a hundred says when the paper's figure is reached; no test row has a say.
        settings: &["train.validation_share=0.01"],
        paper: Some((0.003, 0.001)),
        others: &[Some((0.172, 0.0)), None, Some((0.176, 0.0)), Some((0.173, 0.0))],
        stop_below: Some(0.003),
        seconds: [7200.0, 1200.0],
        all_threads: &[Preset::Default],
        memory: 3000,
        ..NUMBERS
    },
    Experiment {
        name: "protein",
        title: "Protein",
        origin: Origin::Numbers(NamedSet::Protein, usize::MAX),
        size: "45,730 × 9",
        paper: Some((0.642, 0.007)),
        others: &[Some((0.663, 0.006)), Some((0.694, 0.004)), Some((0.715, 0.003)), Some((0.676, 0.004))],
        seconds: [500.0, 70.0],
        ..NUMBERS
    },
    Experiment {
        name: "pm25",
        title: "PM2.5",
        origin: Origin::Numbers(NamedSet::Pm25, usize::MAX),
        size: "41,757 × 15",
        paper: Some((0.314, 0.008)),
        others: &[Some((0.287, 0.002)), Some((0.286, 0.003)), Some((0.638, 0.005)), Some((0.540, 0.010))],
        seconds: [450.0, 90.0],
        ..NUMBERS
    },
    Experiment {
        name: "energy",
        title: "Energy",
        origin: Origin::Numbers(NamedSet::Energy, usize::MAX),
        size: "19,735 × 27",
        paper: Some((0.738, 0.015)),
        others: &[Some((0.786, 0.001)), Some((0.802, 0.067)), Some((0.843, 0.006)), Some((0.795, 0.005))],
        seconds: [220.0, 80.0],
        ..NUMBERS
    },
    Experiment {
        name: "bike-hour",
        title: "Bike-hour",
        origin: Origin::Numbers(NamedSet::BikeHour, usize::MAX),
        size: "17,379 × 15",
        paper: Some((0.006, 0.001)),
        others: &[Some((0.221, 0.002)), Some((0.228, 0.002)), Some((0.276, 0.004)), Some((0.250, 0.010))],
        seconds: [200.0, 35.0],
        ..NUMBERS
    },
    Experiment {
        name: "bike-hour-clean",
        title: "Bike-hour without `casual` and `registered`",
        origin: Origin::Numbers(NamedSet::BikeHourClean, usize::MAX),
        size: "17,379 × 13",
        seconds: [200.0, 32.0],
        ..NUMBERS
    },
    Experiment {
        name: "query",
        title: "Query",
        origin: Origin::Numbers(NamedSet::Query, 100_000),
        size: "100,000 × 4",
        paper: Some((0.077, 0.004)),
        others: &[Some((0.053, 0.0)), None, Some((0.058, 0.002)), Some((0.061, 0.0))],
        seconds: [1100.0, 100.0],
        ..NUMBERS
    },
    Experiment {
        name: "toy-mnist",
        title: "Toy-MNIST",
        origin: Origin::Images(NamedSet::ToyMnist),
        size: "11,339 + 1,850",
        settings: &["gp.inducing=64"],
        paper: Some((99.25, 0.09)),
        others: &[],
        seconds: [200.0, 60.0],
        ..PICTURES
    },
    Experiment {
        name: "mnist",
        title: "MNIST, one network",
        origin: Origin::Images(NamedSet::Mnist),
        size: "60,000 + 10,000",
        settings: &["gp.inducing=32"],
        paper: Some((98.00, 0.0)),
        others: &[Some((96.5, 0.1)), Some((96.5, 0.0)), Some((97.7, 0.0))],
        seconds: [3600.0, 400.0],
        ..PICTURES
    },
    Experiment {
        name: "mnist-independent",
        title: "MNIST, a network for each class",
        origin: Origin::Images(NamedSet::Mnist),
        size: "60,000 + 10,000",
        presets: &[Preset::Paper],
        settings: &["gp.inducing=32", "gp.multiclass=independent"],
        paper: Some((98.00, 0.0)),
        others: &[Some((96.5, 0.1)), Some((96.5, 0.0)), Some((97.7, 0.0))],
        seconds: [9000.0, 0.0],
        ..PICTURES
    },
    Experiment {
        name: "cifar10",
        title: "CIFAR-10, one network",
        origin: Origin::Images(NamedSet::Cifar10),
        size: "50,000 + 10,000",
        settings: &["gp.inducing=16"],
        paper: Some((51.03, 0.2)),
        others: &[Some((46.8, 0.1)), Some((47.4, 0.1)), Some((50.5, 0.1))],
        seconds: [4200.0, 900.0],
        memory: 2500,
        ..PICTURES
    },
    Experiment {
        name: "cifar10-independent",
        title: "CIFAR-10, a network for each class",
        origin: Origin::Images(NamedSet::Cifar10),
        size: "50,000 + 10,000",
        presets: &[Preset::Paper],
        settings: &["gp.inducing=16", "gp.multiclass=independent"],
        paper: Some((51.03, 0.2)),
        others: &[Some((46.8, 0.1)), Some((47.4, 0.1)), Some((50.5, 0.1))],
        seconds: [12_000.0, 0.0],
        memory: 2500,
        ..PICTURES
    },
    Experiment {
        name: "imdb-text",
        title: "IMDB-Text",
        origin: Origin::Texts(NamedSet::ImdbText),
        size: "25,000 + 25,000",
        paper: Some((84.43, 0.96)),
        others: &[Some((84.35, 0.10))],
        seconds: [300.0, 150.0],
        memory: 2500,
        ..NUMBERS
    },
    Experiment {
        name: "imdb-graph",
        title: "IMDB-Graph",
        origin: Origin::Graphs(NamedSet::ImdbGraph),
        size: "1,000, 10 folds",
        paper: Some((73.40, 0.63)),
        others: &[Some((72.49, 0.60))],
        seconds: [15.0, 3.0],
        ..NUMBERS
    },
];

/// Folds of a cross-validation.
pub(crate) const FOLDS: usize = 10;
/// Inducing points of the ablation.
pub(crate) const INDUCING: [usize; 7] = [4, 8, 16, 32, 64, 128, 256];
/// Its sets.
pub(crate) const ABLATED: [&str; 6] = ["protein", "pm25", "energy", "bike-hour", "query", "imdb-text"];

/// A name that stands for several experiments.
pub(crate) const GROUPS: [(&str, &str, &[&str]); 2] = [
    (
        "table1",
        "Table 1: errors of numbers",
        &[
            "levy",
            "griewank",
            "borehole",
            "protein",
            "pm25",
            "energy",
            "bike-hour",
            "bike-hour-clean",
            "query",
        ],
    ),
    (
        "table2",
        "Table 2: accuracy of pictures",
        &["mnist", "mnist-independent", "cifar10", "cifar10-independent"],
    ),
];

/// The ablation, and everything.
pub(crate) const ABLATION: &str = "ablation";
pub(crate) const EVERYTHING: &str = "all";

impl Experiment {
    pub(crate) fn from_name(name: &str) -> Option<&'static Experiment> {
        ALL.iter().find(|experiment| experiment.name == name)
    }

    /// Whether classes are learned.
    pub(crate) fn has_classes(&self) -> bool {
        !matches!(self.origin, Origin::Simulated(..) | Origin::Numbers(..))
    }

    /// Whether runs with this preset get all threads.
    pub(crate) fn wants_all_threads(&self, preset: Preset) -> bool {
        self.all_threads.contains(&preset)
    }
}

/// Every name that can be asked for.
pub(crate) fn names() -> Vec<String> {
    let groups = GROUPS.iter().map(|(name, ..)| *name);
    let names = ALL.iter().map(|experiment| experiment.name).chain(groups).chain([ABLATION, EVERYTHING]);
    names.map(str::to_owned).collect()
}
